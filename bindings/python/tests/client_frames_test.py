"""The frames of the Python client have the bytes that those of the relay have."""

import random
from pathlib import Path

import pytest

from tutti_client import _frames as f

GOLDEN = Path(__file__).resolve().parents[3] / "tests/unit/relay/golden_frames.txt"
PAYLOAD = b"\xde\xad\xbe\xef"
EPOCH = 0x1122334455667788
TOPIC = f.TopicInfo(3, "prices", "stored", f.Service.STORED, EPOCH, 4096, "Price", 0x99, "{}")

# The same as tests/unit/relay/some_frames.hpp.
ONE_OF_EACH = {
    "hello": f.Hello(f.MAGIC, f.VERSION, 1, 2, "c", "secret"),
    "welcome": f.Welcome(f.VERSION, "a", 1 << 20, 64, 30000),
    "refused": f.Refused(f.Code.UNKNOWN_TOPIC, 9, 7, "no topic"),
    "bye": f.Bye(f.Code.IDLE, "idle"),
    "ping": f.Ping(5),
    "pong": f.Pong(6),
    "list": f.List(8),
    "topics": f.Topics(8, True, (TOPIC,)),
    "find": f.Find(9, "prices"),
    "found": f.Found(9, TOPIC),
    "open": f.Open(3, f.NONE, 0xABCDEF),
    "opened": f.Opened(3, 41, 0xABCDEF, 2),
    "publish": f.Publish(3, 0xABCDEF, 3, 1000, PAYLOAD),
    "published": f.Published(0xABCDEF, 3, f.Status.DELIVERED, 57),
    "go_back": f.GoBack(0xABCDEF, 5, 3),
    "close": f.Close(0xABCDEF),
    "closed": f.Closed(0xABCDEF),
    "subscribe": f.Subscribe(1, 3, f.From.POSITION, EPOCH, 58, 256),
    "subscribed": f.Subscribed(1, EPOCH, 58),
    "sample": f.Sample(1, 58, 2, 1000, PAYLOAD),
    "gap": f.Gap(1, 58, 70),
    "credit": f.Credit(1, 128),
    "unsubscribe": f.Unsubscribe(1),
    "ended": f.Ended(1, "deleted"),
}


def test_frames_have_the_golden_bytes():
    golden = dict(line.split() for line in GOLDEN.read_text().splitlines())
    assert {name: f.encode(frame).hex() for name, frame in ONE_OF_EACH.items()} == golden


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_frame_comes_out_as_it_went_in(name):
    frame = ONE_OF_EACH[name]
    body = f.encode(frame)[4:]
    assert f.decode(body) == frame
    for size in range(len(body)):
        with pytest.raises(f.FrameError):
            f.decode(body[:size])
    with pytest.raises(f.FrameError):
        f.decode(body + b"\0")


def test_spoilt_frames_are_refused_or_sound():
    chance = random.Random(1)
    refused = 0
    for _ in range(300):
        for frame in ONE_OF_EACH.values():
            body = bytearray(f.encode(frame)[4:])
            body[chance.randrange(len(body))] = chance.randrange(256)
            try:
                f.encode(f.decode(body))
            except f.FrameError:
                refused += 1
    assert refused > 300


def test_frames_come_in_pieces_and_lengths_have_a_limit():
    reader = f.FrameReader(1 << 16)
    frames = []
    for byte in b"".join(map(f.encode, ONE_OF_EACH.values())):
        reader.append(bytes((byte,)))
        if (frame := reader.next()) is not None:
            frames.append(frame)
    assert frames == list(ONE_OF_EACH.values())
    reader.append(b"\xff\xff\xff\xff")
    with pytest.raises(f.FrameError, match="4294967295"):
        reader.next()
