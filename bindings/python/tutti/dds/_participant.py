"""Participants, topics, readers and writers: what is written in Python above the library's calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from .. import _tutti
from .._errors import ErrorCode, Mismatch, NoSpace, Stopped
from .._readable import Reading
from ._types import describe
from ._values import from_plain, to_plain

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from .._node import Node

Seconds = float | timedelta

_PAUSE_FIRST, _PAUSE_MOST = 0.001, 0.02  # seconds between two looks for space


@dataclass(frozen=True, slots=True)
class ParticipantStatistics:
    """Of what this participant has delivered; include/tutti/dds/participant.hpp says what each is."""

    samples: int
    unknown: int
    malformed: int
    reader_waits: int


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic of the domain, and who reads and writes it: by participant, (readers, writers)."""

    name: str
    type: str
    options: str  #: as Topic.options
    endpoints: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that was taken. It may be held for any time."""

    data: Any  #: an object of the topic's class, or the dict that JSON makes; None: see valid
    sender: str  #: the participant that wrote it
    position: int  #: grows from sample to sample of a topic; the same at all participants
    view: int
    timestamp_ns: int  #: since the Unix epoch, by its writer's clock; 0: not told
    lost_before: int  #: samples that this reader missed before it
    raw: _tutti.RawSample  #: its bytes, in place, by the buffer protocol
    valid: bool = True  #: False: its bytes are no value of the type, or the class refuses them


class DomainParticipant(_tutti.DomainParticipant):
    """A node's part in topics; one per node, made before Node.start(). All nodes of the cluster make
    one with the same bundles.

    `bundles` are dicts with the fields of BundleOptions (include/tutti/dds/options.hpp); without,
    there are the four of default_bundles(). `timeout`: how long calls that create or delete
    something wait for the others.
    """

    def __init__(self, node: Node, *, bundles: Iterable[Mapping[str, Any]] | None = None,
                 topics_max: int | None = None, timeout: Seconds | None = None) -> None:
        options: dict[str, Any] = {}
        if bundles is not None:
            options["bundles"] = [dict(bundle) for bundle in bundles]
        if topics_max is not None:
            options["topics_max"] = topics_max
        if timeout is not None:
            options["timeout"] = timeout
        super().__init__(node, options)
        self._node = node

    def create_topic(self, name: str, type: type, options: str = "",  # type: ignore[override]
                     **more: object) -> Topic:
        """Creates the topic, or joins it if it is there with the same type and options.

        `type` is a class that @structure has made one. Options have the names of TopicOptions:
        `service="stored", history="keep_last(10)", max_bytes=1 << 20`, or all in one text, as the
        command line has them. Waits for the other participants, at most for `timeout`. Raises
        Mismatch, which names both, if the topic has another type or other options.
        """
        text = ",".join(filter(None, [options, *(f"{key}={value}" for key, value in more.items())]))
        return Topic(self._node, super().create_topic(name, describe(type), text), type)

    def find_topic(self, name: str, type: type | None = None) -> Topic:  # type: ignore[override]
        """Joins the topic of that name as it is. Without a class its samples are dicts, as JSON has
        them (include/tutti/dds/json.hpp); with one it must have the topic's type."""
        found = Topic(self._node, super().find_topic(name), type)
        if type is not None:
            found._must_be(type)
        return found

    def topics(self) -> list[TopicDescription]:
        """All topics of the domain that are known here. Never waits."""
        return [TopicDescription(one["name"], one["type"]["name"], one["options"]["text"],
                                 {of["participant"]: (of["readers"], of["writers"])
                                  for of in one["endpoints"]})
                for one in self.topic_records()]

    def statistics(self) -> ParticipantStatistics:
        return ParticipantStatistics(**self.counters())


class Topic:
    """A name for samples of one type; made by DomainParticipant.create_topic and find_topic."""

    def __init__(self, node: Node, raw: _tutti.Topic, cls: type | None) -> None:
        self.node = node
        self.raw = raw
        self._cls = cls
        self.name = raw.name
        self.type_name: str = raw.info_record()["name"]
        self.options: str = raw.options_record()["text"]  #: all of them, as the command line has them
        self._plain = to_plain(cls) if cls else None
        self._made = from_plain(cls) if cls else None

    def _must_be(self, cls: type) -> None:
        theirs = self.raw.type_record()
        if theirs is not None and describe(cls) != theirs:
            raise Mismatch(ErrorCode.mismatch,
                           f"topic '{self.name}': its type is {self.type_name}, and "
                           f"{cls.__name__} is not the same: compare names, types, keys and order "
                           "of the fields")

    @property
    def dtype(self) -> Any:
        """The numpy.dtype of a sample that is sent as it lies in memory:
        numpy.frombuffer(sample.raw, topic.dtype)[0], without a copy. None: it is encoded."""
        from ._dtype import dtype_of
        described = self.raw.type_record()
        return dtype_of(described) if described and described["in_place"] else None

    def writer(self, *, source_timestamps: bool = True) -> DataWriter:
        """This participant writes the topic from now on. Waits for the other participants."""
        return DataWriter(self, source_timestamps)

    def reader(self, start: str | int = "now") -> DataReader:
        """This participant reads the topic from now on. With `start` "stored" or a position it begins
        with what a stored or logged topic has. Waits for the other participants."""
        return DataReader(self, start)

    def name_of(self, sender: int) -> str:
        return self.raw.name_of(sender)

    def to_text(self, data: Any) -> str:
        """An object as the JSON that it is sent for."""
        return json.dumps(self._plain(data) if self._plain else data, allow_nan=False)

    def _sample(self, raw: _tutti.RawSample) -> Sample:
        data, valid = None, True
        try:
            data = json.loads(self.raw.to_json(raw))
            if self._made is not None:
                data = self._made(data)
        except Exception:  # the other samples of the batch are taken as well
            data, valid = None, False
        return Sample(data, self.raw.name_of(raw.sender), raw.position, raw.view, raw.timestamp_ns,
                      raw.lost_before, raw, valid)

    def __repr__(self) -> str:
        return f"<tutti.dds.Topic {self.name!r} of {self.type_name}>"


class DataWriter(_tutti.Writer):
    """Writes samples to a topic; made by Topic.writer. Any number of threads may use it at once."""

    def __init__(self, topic: Topic, source_timestamps: bool) -> None:
        super().__init__(topic.raw, source_timestamps)
        self.topic = topic

    def write(self, data: Any, timeout: Seconds | None = None) -> int:
        """Writes an object of the topic's class, or a dict as JSON has it. Returns the ticket. Waits
        while there is no space, at most `timeout` seconds (None: for ever); with 0 it raises
        NoSpace."""
        return self.write_json(self.topic.to_text(data), timeout)

    async def written(self, data: Any) -> int:
        """As write(), for asyncio. Nothing is written once it is cancelled."""
        text, pause = self.topic.to_text(data), _PAUSE_FIRST
        while True:
            try:
                return self.write_json(text, 0)
            except NoSpace:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _PAUSE_MOST)


class DataReader(_tutti.Reader):
    """Takes the samples of a topic; made by Topic.reader. `for sample in reader` and `async for`
    take until the node has ended. One thread takes at a time."""

    def __init__(self, topic: Topic, start: str | int) -> None:
        super().__init__(topic.raw, start)
        self.topic = topic

    def take(self, max: int = 256, timeout: Seconds | None = None) -> list[Sample]:
        """The next samples, at most `max`. Waits until there are some, at most `timeout` seconds
        (None: for ever): TimedOut. With 0 it never waits, and the list may be empty. Raises Stopped
        once the node has ended and all was taken."""
        return [self.topic._sample(raw) for raw in self.take_raw(max, timeout)]

    async def taken(self, max: int = 256) -> list[Sample]:
        """As take(), for asyncio."""
        while True:
            samples = self.take(max, timeout=0)
            if samples:
                return samples
            await self._readable()

    async def _readable(self) -> None:
        """There may be something to take, or the node has ended."""
        # No owner: the loop would keep the reader.
        here, ended = Reading(self.fileno()), Reading(self.topic.node.ended_descriptor)
        try:
            await asyncio.wait([here.future, ended.future],
                               return_when=asyncio.FIRST_COMPLETED)
        finally:
            here.end()
            ended.end()

    def __iter__(self) -> Iterator[Sample]:
        try:
            while True:
                yield from self.take(1)  # who leaves the loop has taken no more than it has seen
        except Stopped:
            return

    async def __aiter__(self) -> AsyncIterator[Sample]:
        try:
            while True:
                for sample in await self.taken(1):
                    yield sample
        except Stopped:
            return
