"""Groups: what is written in Python above the library's calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from . import _tutti
from ._errors import Complete, TimedOut
from ._readable import Reading, readable
from ._types import GroupStatistics, MemberLag, group_statistics_of
from ._tutti import Batch, Claim

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ._node import Node


class Group(_tutti.Group):
    """One group of a node: send to it, and take what is delivered. Made by Node.join.

    Any number of threads may send at once; one thread takes at a time, and one batch is held at a
    time. The object may outlive its node: then its calls raise Stopped.

    `for batch in group` and `async for batch in group` take until the group is complete. They
    release each batch when the next one is asked for.
    """

    def __init__(self, node: Node, options: dict[str, Any],
                 timeout: float | timedelta | None) -> None:
        super().__init__(node, options, timeout)
        self._node = node
        # Those who wait in delivered(): by ticket, with their loop.
        self._tickets: list[tuple[int, asyncio.Future[None]]] = []
        self._tickets_lock = threading.Lock()

    def __iter__(self) -> _Batches:
        return _Batches(self)

    def __aiter__(self) -> _Batches:
        return _Batches(self)

    def send_many(
        self,
        data: ReadableBuffer,
        sizes: int | Iterable[int] | ReadableBuffer,
        timeout: float | timedelta | None = None,
        service: str | None = None,
    ) -> int:
        """Sends the messages that lie in `data`, one behind the other: all of one size, if `sizes`
        is a number, or else each of its own. Returns the ticket of the last one. An error's
        attribute `sent` says how many were sent before it."""
        if not isinstance(sizes, (int, list, tuple)) and not _tutti.lends_bytes(sizes):
            # A generator runs as long as it likes, outside of the module.
            sizes = list(cast("Iterable[int]", sizes))
        return super().send_many(data, sizes, timeout, service)

    async def sent(self, data: ReadableBuffer, service: str | None = None) -> int:
        """As send(), for asyncio: waits until there is space. Returns the ticket."""
        try:
            return self.send(data, timeout=0, service=service)
        except TimedOut:
            copy = memoryview(data).tobytes()
        claim = await self.claimed(len(copy), service)
        claim[:] = copy
        return claim.commit()

    async def claimed(self, size: int, service: str | None = None) -> Claim:
        """As claim(), for asyncio: waits until there is space; those that wait get it in the order
        in which they asked. Commit the claim soon: what this member sends later waits for it."""
        try:
            return self.claim(size, timeout=0, service=service)
        except TimedOut:
            space = _tutti.Space(self, size, service)
        try:
            while (claim := space.fetch()) is None:
                await readable(space.fileno())
            return claim
        finally:
            space.give_up()

    async def taken(self, max: int = 256) -> Batch:
        """As take(), for asyncio: waits until there is something to take."""
        while True:
            batch = self.take(max, timeout=0)
            if len(batch) > 0:
                return batch
            await readable(self.fileno(), self)

    async def delivered(self, ticket: int) -> None:
        """As wait(), for asyncio. A task must take meanwhile: in this loop, or in another thread."""
        if self.is_delivered(ticket):
            return
        if ticket == 0:
            self.wait(ticket, timeout=0)  # says what is wrong
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        entry = (ticket, done)
        ended = Reading(self._node.ended_descriptor)
        with self._tickets_lock:
            self._tickets.append(entry)
            self.on_release = self._settle
        try:
            # A batch may have been released between the first look and the line above.
            while not self.is_delivered(ticket):
                await asyncio.wait([done, ended.future], return_when=asyncio.FIRST_COMPLETED)
                if ended.future.done() and not self.is_delivered(ticket):
                    self.wait(ticket, timeout=0)
        finally:
            ended.end()
            with self._tickets_lock:
                self._tickets.remove(entry)
                if not self._tickets:
                    self.on_release = None

    def _settle(self) -> None:
        # On the thread that released a batch.
        for ticket, done in list(self._tickets):
            if self.is_delivered(ticket):
                try:
                    done.get_loop().call_soon_threadsafe(_finish, done)
                except RuntimeError:
                    pass  # its loop is closed: nobody waits there

    def statistics(self) -> GroupStatistics:
        """The counters of this group."""
        return group_statistics_of(self.counters())

    def lags(self) -> list[MemberLag]:
        """How far each member of the view is behind, in rank order, this one included."""
        return [MemberLag(**record) for record in self.lag_records()]

    def __repr__(self) -> str:
        return f"<tutti.Group {self.name!r} of node {self._node.name!r}>"


class _Batches:
    """Takes batch after batch. Each is released when the next one is asked for, and the last one
    with this object."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._last: Batch | None = None

    def __iter__(self) -> _Batches:
        return self

    def __aiter__(self) -> _Batches:
        return self

    def __next__(self) -> Batch:
        self._release()
        try:
            self._last = self._group.take()
        except Complete:
            raise StopIteration from None
        return self._last

    async def __anext__(self) -> Batch:
        self._release()
        try:
            self._last = await self._group.taken()
        except Complete:
            raise StopAsyncIteration from None
        return self._last

    def _release(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.release()

    def __del__(self) -> None:
        try:
            self._release()
        except BufferError:
            pass  # the views that are left hold the batch until they go


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
