"""What the Python client says to a relay that offers less than the one before, or nothing; and what
it refuses because no relay could be told."""

import asyncio

import pytest
import tutti_client
from client_late_test import Relay
from client_limits_test import found
from client_machine_test import connect, heard, machine_that_published, opened, said
from cluster import WATCHDOG
from tutti_client import _frames as f
from tutti_client._machine import NO_TOPIC, UNANSWERED_MAX


def requests(machine):
    return {one.request for one in said(machine) if isinstance(one, f.Publish)}


def refuse(machine, find):
    machine.receive(f.Refused(f.Code.UNKNOWN_TOPIC, f.kind_of(f.Find), find.request, "no topic"))


def test_what_is_too_large_for_it_takes_its_turn():
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "one", "u": "one"}, most=4)
    opened(machine)
    again = heard(machine, f.Publish)
    assert (again.topic, again.bytes) == (NO_TOPIC, b"")
    machine.receive(f.Published(again.nonce, 1, f.Status.UNFIT, 30))
    assert answers[0].outcome == "refused"
    assert "a sample of 5 bytes; this relay takes at most 4" in answers[0].text
    machine.publish("t", 0, b"abc", answers.append)
    assert heard(machine, f.Publish).bytes == b"abc"


def test_a_topic_that_was_gone_is_asked_for_when_it_is_subscribed_to():
    machine = machine_that_published([])
    received = []
    said(machine)
    machine.find("u", lambda told: None)
    refuse(machine, heard(machine, f.Find))
    machine.subscribe(5, "u", f.From.STORED, 0, 0, 10, received.append)
    find = heard(machine, f.Find)
    machine.receive(f.Found(find.request, f.TopicInfo(7, "u", "one", f.Service.STORED, 9, 100, "", 0,
                                                      "")))
    assert heard(machine, f.Subscribe).subscription == 5
    machine.find("u", lambda told: None)
    refuse(machine, heard(machine, f.Find))
    machine.subscribe(6, "u", f.From.STORED, 0, 0, 10, received.append)
    refuse(machine, heard(machine, f.Find))
    assert [type(one).__name__ for one in received] == ["Ended", "Ended"]


def test_requests_are_within_the_window_of_the_oldest_without_an_answer():
    answers = []
    machine = machine_that_published(answers)
    for _ in range(69):
        machine.publish("t", 0, b"bytes", answers.append)
    nonce = heard(machine, f.Open).nonce
    machine.receive(f.Opened(3, 20, nonce, 0))
    assert len(requests(machine)) == UNANSWERED_MAX
    for request in range(2, UNANSWERED_MAX + 1):
        machine.receive(f.Published(nonce, request, f.Status.DELIVERED, 100 + request))
    assert requests(machine) == set()
    machine.receive(f.Published(nonce, 1, f.Status.DELIVERED, 101))
    assert requests(machine) == set(range(65, 71))


def test_a_relay_that_opens_no_session_is_told_of_and_asked_later():
    machine = machine_that_published([])
    told, ends = [], []
    machine.on_no_session, machine.on_bye = told.append, ends.append
    opening = heard(machine, f.Open)
    machine.receive(f.Refused(f.Code.NOT_OFFERED, f.kind_of(f.Open), opening.topic, "no sender"))
    assert (told, ends) == (["no sender"], [])
    machine.publish("t", 0, b"bytes", lambda answer: None)
    assert not any(isinstance(one, f.Open) for one in said(machine))
    machine.ping()
    assert heard(machine, f.Open)


async def test_what_no_relay_could_be_told_is_refused_and_not_remembered():
    for wrong in ({"name": "x" * 65}, {"token": "x" * 1025}):
        with pytest.raises(ValueError, match="at most"):
            tutti_client.AsyncClient(["127.0.0.1:1"], **wrong)
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    with pytest.raises(UnicodeEncodeError):
        await client.topic("\udcff")
    found(client._machine)
    for wrong in ({"start": -1}, {"start": None}, {"start": 1 << 64}, {"start": 0, "epoch": -1},
                  {"start": 0.5}):
        with pytest.raises(ValueError, match="(start|epoch) is a number"):
            await client.subscribe("t", **wrong)
    client._machine.disconnect()
    found(client._machine)
    assert client._machine._topics.keys() == {"t"} and not client._machine._subscriptions


class ForPublishers(Relay):
    """Its member is a sender of the topic's bundle, or not."""

    def __init__(self, is_sender):
        super().__init__()
        self.is_sender = is_sender
        self.welcomed = asyncio.Event()

    def answer(self, frame):
        match frame:
            case f.Hello():
                self.welcomed.set()
                return f.Welcome(1, "a", 1 << 20, 64, 30000)
            case f.Find():
                most = 100 if self.is_sender else 0
                return f.Found(frame.request, f.TopicInfo(
                    0, frame.name, "one", f.Service.STORED, 7, most, "", 0, ""))
            case f.Open() if self.is_sender:
                return f.Opened(frame.topic, 20, frame.nonce, 0)
            case f.Open():
                return f.Refused(f.Code.NOT_OFFERED, f.kind_of(f.Open), frame.topic, "no sender")
            case f.Publish():
                return f.Published(frame.nonce, frame.request, f.Status.DELIVERED, 9)
        return None


async def test_a_relay_that_takes_nothing_is_left_for_one_that_does():
    sender, other = ForPublishers(True), ForPublishers(False)
    servers = [await asyncio.start_server(one.serve, "127.0.0.1", 0) for one in (sender, other)]
    relays = [f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    async with tutti_client.AsyncClient(relays) as client, asyncio.timeout(WATCHDOG):
        await client.topic("t")
        client._writer.close()  # the connection to the first one breaks
        await other.welcomed.wait()
        assert (await client.publish("t", b"x")).outcome == "delivered"
    for server in servers:
        server.close()


async def test_a_topic_that_takes_nothing_of_clients_is_refused_at_once():
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    found(client._machine)
    client._machine._topics["t"].most = 0
    with pytest.raises(tutti_client.RelayError, match="cannot publish"):
        await client.publish("t", b"")
