"""What the Python client says where its topics change, or a bundle has no room for its session."""

from tutti_client import _frames as f
from tutti_client._machine import NO_TOPIC, Machine

NUMBERS = {"t": 3, "u": 7}


def said(machine):
    reader = f.FrameReader(1 << 20)
    reader.append(bytes(machine.output))
    machine.output.clear()
    return list(iter(reader.next, None))


def heard(machine, kind):
    return next(one for one in said(machine) if isinstance(one, kind))


def connect(machine, bundles, most=100):
    """Answers each find by the bundle that the topic is in now. `most`: bytes of a sample."""
    machine.connect()
    machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
    for one in said(machine):
        if isinstance(one, f.Find):
            machine.receive(f.Found(one.request, f.TopicInfo(
                NUMBERS[one.name], one.name, bundles[one.name], f.Service.STORED, 9, most, "", 0,
                "")))


def opened(machine, last=0):
    """`last`: the request that took its turn last."""
    machine.receive(f.Opened(3, 20, heard(machine, f.Open).nonce, last))


def expired(machine, nonce):
    machine.receive(f.Refused(f.Code.EXPIRED, f.kind_of(f.Publish), nonce, "expired"))


def machine_that_published(answers):
    machine = Machine("test", "")
    for name in NUMBERS:
        machine.find(name, lambda told: None)
    connect(machine, {"t": "one", "u": "one"})
    machine.publish("t", 0, b"bytes", answers.append)
    return machine


def repeated_without_topic(answers):
    """The machine, and what it says again of what it had published to a topic that moved."""
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "one"})
    opened(machine)
    return machine, heard(machine, f.Publish)


def test_what_was_published_to_a_topic_that_moved_takes_its_turn_without_bytes():
    answers = []
    machine, again = repeated_without_topic(answers)
    assert (again.topic, again.request, again.bytes) == (NO_TOPIC, 1, b"")
    machine.receive(f.Published(again.nonce, 1, f.Status.UNFIT, 30))
    assert [one.outcome for one in answers] == ["refused"]


def test_what_was_delivered_is_not_called_refused_though_it_was_repeated_without_bytes():
    """Through the relay before, with its bytes."""
    answers = []
    machine, again = repeated_without_topic(answers)
    machine.receive(f.Published(again.nonce, 1, f.Status.DELIVERED, 30))
    assert [one.outcome for one in answers] == ["delivered"]


def test_what_took_its_turn_is_not_called_delivered_if_its_session_expires():
    """It may have taken it with its bytes or, after that topic had moved, without."""
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "one"})
    opened(machine, 1)
    expired(machine, heard(machine, f.Publish).nonce)
    assert [one.outcome for one in answers] == ["unknown"]


def test_what_took_no_turn_is_published_in_the_next_session():
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "one", "u": "one"})
    opened(machine)
    nonce = heard(machine, f.Publish).nonce
    expired(machine, nonce)
    opened(machine)
    again = heard(machine, f.Publish)
    assert not answers and again.nonce != nonce and again.bytes == b"bytes"


def test_what_was_published_is_answered_though_its_bundle_has_no_topic_any_more():
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "two"})
    assert [one.outcome for one in answers] == ["unknown"]


def test_what_is_published_later_comes_behind_what_was_given_up():
    """The relay before may still send it, with its bytes."""
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    first = heard(machine, f.Publish)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "two"})
    machine.disconnect()
    connect(machine, {"t": "one", "u": "one"})
    machine.publish("t", 0, b"later", answers.append)
    opening = heard(machine, f.Open)
    assert (opening.session, opening.nonce) == (20, first.nonce)
    machine.receive(f.Opened(3, 20, first.nonce, 0))
    sent = [(one.request, one.topic == NO_TOPIC, one.bytes) for one in said(machine)]
    assert sent == [(1, True, b""), (2, False, b"later")]
    machine.receive(f.Published(first.nonce, 1, f.Status.DELIVERED, 30))
    machine.receive(f.Published(first.nonce, 2, f.Status.DELIVERED, 31))
    assert [(one.outcome, one.position) for one in answers] == [
        ("unknown", answers[0].position), ("delivered", 31)]


def test_what_was_given_up_ends_with_its_session():
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "two"})
    machine.disconnect()
    connect(machine, {"t": "one", "u": "two"})
    opening = heard(machine, f.Open)
    machine.receive(f.Refused(f.Code.EXPIRED, f.kind_of(f.Open), opening.topic, "none"))
    assert len(answers) == 1 and said(machine) == []


def test_a_session_for_which_there_is_no_room_is_opened_later_on_the_same_connection():
    said_goodbye, answers = [], []
    machine = machine_that_published(answers)
    machine.on_bye = said_goodbye.append
    opening = heard(machine, f.Open)
    machine.receive(f.Refused(f.Code.BUSY, f.kind_of(f.Open), opening.topic, "full"))
    assert not said(machine)
    machine.ping()
    opened(machine)
    assert heard(machine, f.Publish).bytes == b"bytes"
    assert not said_goodbye and not answers


def test_a_session_whose_requests_were_given_up_begins_anew():
    answers = []
    machine = machine_that_published(answers)
    opened(machine)
    machine.disconnect()
    connect(machine, {"t": "two", "u": "two"})
    assert [one.outcome for one in answers] == ["unknown"]
    connect_again = {"t": "one", "u": "two"}
    machine.disconnect()
    connect(machine, connect_again)
    machine.publish("t", 0, b"more", answers.append)
    opened(machine)
    assert heard(machine, f.Publish).request == 1


def test_a_refused_session_is_known_by_the_number_that_was_said():
    machine = machine_that_published([])
    opening = heard(machine, f.Open)
    machine.find("t", lambda told: None)
    asked = heard(machine, f.Find)
    machine.receive(f.Found(asked.request, f.TopicInfo(
        11, "t", "two", f.Service.STORED, 9, 100, "", 0, "")))
    machine.receive(f.Refused(f.Code.BUSY, f.kind_of(f.Open), opening.topic, "full"))
    machine.ping()
    assert heard(machine, f.Open).topic == NUMBERS["u"]
