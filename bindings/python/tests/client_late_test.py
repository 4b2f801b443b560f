"""A relay whose member does not know a topic yet: the client gives up nothing, and asks again."""

import asyncio
import time

import tutti_client
from client_machine_test import connect, heard, machine_that_published, opened, said
from cluster import WATCHDOG
from tutti_client import _frames as f


def test_what_was_published_waits_for_a_relay_that_does_not_know_its_topic_yet():
    answers, told = [], []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    machine.on_late = lambda: told.append(True)
    machine.connect()
    machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
    for one in said(machine):
        if isinstance(one, f.Find):
            machine.receive(f.Refused(f.Code.NOT_YET, f.kind_of(f.Find), one.request, "again"))
    assert (answers, len(told)) == ([], 2)
    machine.ask_again()
    asked = {one.name: one.request for one in said(machine)}
    assert set(asked) == {"t", "u"}
    machine.receive(f.Found(asked["t"], f.TopicInfo(
        3, "t", "one", f.Service.STORED, 9, 100, "", 0, "")))
    opened(machine)
    again = heard(machine, f.Publish)
    assert (again.topic, again.request, again.bytes) == (3, 1, b"bytes")


def test_nothing_is_asked_again_on_another_connection():
    machine = machine_that_published([])
    machine.disconnect()
    machine.connect()
    machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
    for one in said(machine):
        if isinstance(one, f.Find):
            machine.receive(f.Refused(f.Code.NOT_YET, f.kind_of(f.Find), one.request, "again"))
    machine.disconnect()
    connect(machine, {"t": "one", "u": "one"})
    said(machine)
    machine.ask_again()
    assert said(machine) == []


def refused(machine, code):
    """Answers each find so."""
    for one in said(machine):
        if isinstance(one, f.Find):
            machine.receive(f.Refused(code, f.kind_of(f.Find), one.request, "refused"))


def test_what_goes_back_waits_for_the_number_of_its_topic():
    answers, found = [], []
    machine = machine_that_published(answers)
    opened(machine)
    first = heard(machine, f.Publish)
    machine.publish("u", 0, b"behind", answers.append)
    machine.find("t", found.append)
    asked = [one for one in said(machine) if isinstance(one, f.Find)][0]
    machine.receive(f.Refused(f.Code.NOT_YET, f.kind_of(f.Find), asked.request, "again"))
    machine.receive(f.GoBack(first.nonce, 2, 0))
    assert (said(machine), answers, found) == ([], [], [])
    machine.ask_again()
    machine.receive(f.Found(heard(machine, f.Find).request, f.TopicInfo(
        3, "t", "one", f.Service.STORED, 9, 100, "", 0, "")))
    again = [(one.request, one.bytes) for one in said(machine) if isinstance(one, f.Publish)]
    assert again == [(1, b"bytes"), (2, b"behind")] and len(found) == 1


def test_a_topic_that_is_asked_for_twice_may_be_unknown_the_first_time():
    told = []
    machine = machine_that_published([])
    said(machine)
    machine.find("nothing", told.append)
    machine.find("nothing", told.append)
    refused(machine, f.Code.UNKNOWN_TOPIC)  # both questions
    assert len(told) == 2
    machine.find("later", told.append)
    refused(machine, f.Code.NOT_YET)
    machine.find("later", told.append)
    refused(machine, f.Code.UNKNOWN_TOPIC)
    assert len(told) == 4
    machine.ask_again()
    assert said(machine) == []


def test_an_answer_is_not_that_of_an_older_question():
    """The topic came between the two."""
    told = []
    machine = machine_that_published([])
    said(machine)
    machine.find("came", told.append)
    first = heard(machine, f.Find)
    machine.find("came", told.append)
    second = heard(machine, f.Find)
    machine.receive(f.Refused(f.Code.UNKNOWN_TOPIC, f.kind_of(f.Find), first.request, "no topic"))
    assert told == []
    machine.receive(f.Found(second.request, f.TopicInfo(
        3, "came", "one", f.Service.STORED, 9, 100, "", 0, "")))
    assert [one.name for one in told] == ["came", "came"]


def test_who_waits_no_more_is_forgotten():
    told = []
    machine = machine_that_published([])
    said(machine)
    machine.find("came", told.append)
    machine.forget("came", told.append)
    machine.find("came", lambda topic: told.append(topic.name))
    for question in [one for one in said(machine) if isinstance(one, f.Find)]:
        machine.receive(f.Found(question.request, f.TopicInfo(
            3, "came", "one", f.Service.STORED, 9, 100, "", 0, "")))
    assert told == ["came"]


class Relay:
    """Its member knows the topic when it is asked for the third time."""

    def __init__(self):
        self.finds = 0

    async def serve(self, reader, writer):
        frames = f.FrameReader(1 << 20)
        while received := await reader.read(65536):
            frames.append(received)
            while (frame := frames.next()) is not None:
                if answer := self.answer(frame):
                    writer.write(f.encode(answer))
        writer.close()

    def answer(self, frame):
        match frame:
            case f.Hello():
                return f.Welcome(1, "a", 1 << 20, 64, 30000)
            case f.Find():
                self.finds += 1
                if self.finds < 3:
                    return f.Refused(f.Code.NOT_YET, f.kind_of(f.Find), frame.request, "again")
                return f.Found(frame.request, f.TopicInfo(
                    0, frame.name, "one", f.Service.STORED, 7, 100, "", 0, ""))
        return None


async def find():
    relay = Relay()
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with tutti_client.AsyncClient([f"127.0.0.1:{port}"]) as client:
        async with asyncio.timeout(60):
            found = await client.topic("t")
    server.close()
    return found.name, relay.finds


def test_a_client_asks_again_by_itself():
    assert asyncio.run(find()) == ("t", 3)


async def cancelled():
    relay = Relay()
    relay.finds = -1_000_000  # it never knows the topic
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with tutti_client.AsyncClient([f"127.0.0.1:{port}"]) as client:
        call = asyncio.create_task(client.topic("t"))
        while relay.finds < -999_998:
            await asyncio.sleep(0)
        assert len(client._machine._topics["t"].waiting) == 1
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        waiting = list(client._machine._topics["t"].waiting)
    server.close()
    return waiting


def test_a_call_that_was_cancelled_is_forgotten():
    assert asyncio.run(cancelled()) == []


async def pauses():
    """Of questions for a topic that is not known yet: on one connection, and on the next one while
    the last of them still lasts."""
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    machine = client._machine
    made = []
    for _ in range(2):
        machine.connect()
        machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
        for _ in range(4):
            machine.on_late()
            made.append((client._pause_again, client._again))
            machine.on_late()  # another topic waits for the same timer
            assert client._again is made[-1][1]
            if len(made) % 4 != 0:
                client._ask_again()
        machine.disconnect()
    await client.close()
    return [pause for pause, _ in made], [timer.cancelled() for _, timer in made]


def test_pauses_begin_anew_on_each_connection():
    lengths, ended = asyncio.run(pauses())
    assert lengths == [0.02, 0.04, 0.08, 0.16] * 2
    assert ended[3]  # it would ask on the connection behind


async def busy():
    """A program that lets the loop run for a moment only, now and then."""
    server = await asyncio.start_server(Relay().serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def compute():
        while True:
            time.sleep(0.1)
            await asyncio.sleep(0)

    computes = asyncio.create_task(compute())
    async with tutti_client.AsyncClient([f"127.0.0.1:{port}"], connect_timeout=0.05) as client:
        async with asyncio.timeout(WATCHDOG):
            info = await client.topic("t")
        computes.cancel()
    server.close()
    return info.name


def test_a_busy_loop_connects():
    assert asyncio.run(busy()) == "t"
