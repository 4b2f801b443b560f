"""Frames of the client protocol (docs/client-protocol.md) as values, and as bytes.

A frame is its length (u32: of what follows), its kind (u8) and its fields: numbers little-endian,
text and bytes behind their length (u32), a list behind its count (u32). Bytes from a relay are
input: FrameError says that they are no frame.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, ClassVar

MAGIC = 0x43545554
VERSION = 1
NONE = (1 << 64) - 1  # no position, no session
HELLO_BYTES_MAX = 4096
TEXT_BYTES_MAX = 65536


class FrameError(ValueError):
    """These bytes are no frame."""


class Code(IntEnum):
    MALFORMED = 0
    VERSION = 1
    TOKEN = 2
    BUSY = 3
    UNKNOWN_TOPIC = 4
    EXPIRED = 5
    NOT_OFFERED = 6
    TOO_LARGE = 7
    STOPPED = 8
    IDLE = 9
    NOT_YET = 10


class Service(IntEnum):
    UNORDERED = 0
    ATOMIC = 1
    STORED = 2
    LOGGED = 3


class From(IntEnum):
    NOW = 0
    STORED = 1
    POSITION = 2


class Status(IntEnum):
    DELIVERED = 0
    DUPLICATE = 1
    EXPIRED = 2
    SENT = 3
    UNFIT = 4


_NUMBERS = {"u8": struct.Struct("<B"), "u16": struct.Struct("<H"), "u32": struct.Struct("<I"),
            "u64": struct.Struct("<Q")}
_ENUMS: dict[str, type[IntEnum]] = {"Code": Code, "Service": Service, "From": From,
                                    "Status": Status}


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self.rest = data

    def raw(self, size: int) -> memoryview:
        if size > len(self.rest):
            raise FrameError(f"{size} bytes announced, {len(self.rest)} left")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def number(self, kind: str) -> int:
        form = _NUMBERS[kind]
        return form.unpack(self.raw(form.size))[0]


def _put(kind: str, value: Any, into: bytearray) -> None:
    if kind in _NUMBERS:
        into += _NUMBERS[kind].pack(value)
    elif kind in _ENUMS:
        into.append(value)
    elif kind == "bool":
        into.append(1 if value else 0)
    elif kind == "text":
        _put("blob", value.encode("utf-8")[:TEXT_BYTES_MAX], into)
    elif kind == "blob":
        into += _NUMBERS["u32"].pack(len(value))
        into += value
    elif kind == "topic":
        _put_fields(value, into)
    else:
        into += _NUMBERS["u32"].pack(len(value))
        for one in value:
            _put_fields(one, into)


def _take(kind: str, reader: _Reader) -> Any:
    if kind in _NUMBERS:
        return reader.number(kind)
    if kind in _ENUMS:
        value = reader.number("u8")
        try:
            return _ENUMS[kind](value)
        except ValueError:
            raise FrameError(f"{value} is no {kind}") from None
    if kind == "bool":
        value = reader.number("u8")
        if value > 1:
            raise FrameError(f"{value} is neither 0 nor 1")
        return value == 1
    if kind == "text":
        size = reader.number("u32")
        if size > TEXT_BYTES_MAX:
            raise FrameError(f"a text of {size} bytes")
        return bytes(reader.raw(size)).decode("utf-8", "replace")
    if kind == "blob":
        return bytes(reader.raw(reader.number("u32")))
    if kind == "topic":
        return _take_fields(TopicInfo, reader)
    count = reader.number("u32")
    if count > len(reader.rest):
        raise FrameError(f"a list of {count}, {len(reader.rest)} bytes left")
    return tuple(_take_fields(TopicInfo, reader) for _ in range(count))


def _put_fields(value: Any, into: bytearray) -> None:
    for field, kind in zip(fields(value), value.LAYOUT, strict=True):
        _put(kind, getattr(value, field.name), into)


def _take_fields(cls: Any, reader: _Reader) -> Any:
    return cls(*[_take(kind, reader) for kind in cls.LAYOUT])


@dataclass(slots=True)
class TopicInfo:
    LAYOUT: ClassVar = ("u32", "text", "text", "Service", "u64", "u32", "text", "u64", "text")
    topic: int  # its number on this connection
    name: str
    bundle: str
    service: Service
    epoch: int  # of the bundle's sequence: positions are those of one epoch
    sample_bytes_max: int  # that a client may publish; 0: it may not
    type: str
    type_hash: int
    description: str


@dataclass(slots=True)
class Hello:
    LAYOUT: ClassVar = ("u32", "u16", "u64", "u64", "text", "text")
    magic: int
    version: int
    client_high: int
    client_low: int
    name: str
    token: str


@dataclass(slots=True)
class Welcome:
    LAYOUT: ClassVar = ("u16", "text", "u32", "u32", "u32")
    version: int
    relay: str
    frame_bytes_max: int
    unanswered_max: int
    idle_ms: int


@dataclass(slots=True)
class Refused:
    LAYOUT: ClassVar = ("Code", "u8", "u64", "text")
    code: Code
    about: int
    id: int
    text: str


@dataclass(slots=True)
class Bye:
    LAYOUT: ClassVar = ("Code", "text")
    code: Code
    text: str


@dataclass(slots=True)
class Ping:
    LAYOUT: ClassVar = ("u64",)
    number: int


@dataclass(slots=True)
class Pong:
    LAYOUT: ClassVar = ("u64",)
    number: int


@dataclass(slots=True)
class List:
    LAYOUT: ClassVar = ("u32",)
    request: int


@dataclass(slots=True)
class Topics:
    LAYOUT: ClassVar = ("u32", "bool", "topics")
    request: int
    last: bool
    topics: tuple[TopicInfo, ...]


@dataclass(slots=True)
class Find:
    LAYOUT: ClassVar = ("u32", "text")
    request: int
    name: str


@dataclass(slots=True)
class Found:
    LAYOUT: ClassVar = ("u32", "topic")
    request: int
    topic: TopicInfo


@dataclass(slots=True)
class Open:
    LAYOUT: ClassVar = ("u32", "u64", "u64")
    topic: int
    session: int
    nonce: int


@dataclass(slots=True)
class Opened:
    LAYOUT: ClassVar = ("u32", "u64", "u64", "u64")
    topic: int
    session: int
    nonce: int
    last: int


@dataclass(slots=True)
class Publish:
    LAYOUT: ClassVar = ("u32", "u64", "u64", "u64", "blob")
    topic: int
    nonce: int
    request: int
    timestamp_ns: int
    bytes: bytes


@dataclass(slots=True)
class Published:
    LAYOUT: ClassVar = ("u64", "u64", "Status", "u64")
    nonce: int
    request: int
    status: Status
    position: int


@dataclass(slots=True)
class GoBack:
    LAYOUT: ClassVar = ("u64", "u64", "u64")
    nonce: int
    request: int
    last: int


@dataclass(slots=True)
class Close:
    LAYOUT: ClassVar = ("u64",)
    nonce: int


@dataclass(slots=True)
class Closed:
    LAYOUT: ClassVar = ("u64",)
    nonce: int


@dataclass(slots=True)
class Subscribe:
    LAYOUT: ClassVar = ("u32", "u32", "From", "u64", "u64", "u32")
    subscription: int
    topic: int
    start: From
    epoch: int
    position: int
    credit: int


@dataclass(slots=True)
class Subscribed:
    LAYOUT: ClassVar = ("u32", "u64", "u64")
    subscription: int
    epoch: int
    position: int


@dataclass(slots=True)
class Sample:
    LAYOUT: ClassVar = ("u32", "u64", "u32", "u64", "blob")
    subscription: int
    position: int
    sender: int
    timestamp_ns: int
    bytes: bytes


@dataclass(slots=True)
class Gap:
    LAYOUT: ClassVar = ("u32", "u64", "u64")
    subscription: int
    start: int
    end: int


@dataclass(slots=True)
class Credit:
    LAYOUT: ClassVar = ("u32", "u32")
    subscription: int
    samples: int


@dataclass(slots=True)
class Unsubscribe:
    LAYOUT: ClassVar = ("u32",)
    subscription: int


@dataclass(slots=True)
class Ended:
    LAYOUT: ClassVar = ("u32", "text")
    subscription: int
    text: str


# A frame's kind is its place here, from 1.
KINDS: tuple[Any, ...] = (
    Hello, Welcome, Refused, Bye, Ping, Pong, List, Topics, Find, Found, Open, Opened, Publish,
    Published, GoBack, Close, Closed, Subscribe, Subscribed, Sample, Gap, Credit, Unsubscribe,
    Ended)
_KIND_OF = {cls: kind for kind, cls in enumerate(KINDS, 1)}


def kind_of(cls: Any) -> int:
    return _KIND_OF[cls]


def encode(frame: Any) -> bytes:
    """The frame with its length."""
    body = bytearray((_KIND_OF[type(frame)],))
    _put_fields(frame, body)
    return _NUMBERS["u32"].pack(len(body)) + bytes(body)


def decode(body: bytes | memoryview) -> Any:
    """Of a frame without its length."""
    reader = _Reader(memoryview(body))
    kind = reader.number("u8")
    if not 1 <= kind <= len(KINDS):
        raise FrameError(f"{kind} is no kind of frame")
    frame = _take_fields(KINDS[kind - 1], reader)
    if reader.rest:
        raise FrameError(f"{len(reader.rest)} bytes behind a frame of kind {kind}")
    return frame


class FrameReader:
    """Puts together what comes in pieces."""

    def __init__(self, frame_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()

    def append(self, received: bytes) -> None:
        self._buffer += received

    def next(self) -> Any | None:
        """The next frame; None: more must be received."""
        if len(self._buffer) < 4:
            return None
        (length,) = struct.unpack_from("<I", self._buffer)
        if not 0 < length <= self.frame_bytes_max:
            raise FrameError(f"a frame of {length} bytes, at most {self.frame_bytes_max} may come")
        if len(self._buffer) < 4 + length:
            return None
        body = bytes(self._buffer[4:4 + length])
        del self._buffer[:4 + length]
        return decode(body)
