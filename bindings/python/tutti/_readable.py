"""Waits of asyncio for descriptors: any number of tasks may wait for the same one."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from weakref import WeakKeyDictionary


class _Descriptor:
    """One that a loop watches. It must not hold the loop: see _watched."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.owner: object | None = None
        self.futures: set[asyncio.Future[None]] = set()
        poll = select.poll()
        poll.register(number, select.POLLIN)
        self._poll = poll.poll

    def wake(self) -> None:
        """Called by the loop, which may have looked before somebody read what was there."""
        waiting = [future for future in self.futures if not future.done()]
        if not waiting:
            if not self.futures:
                self.end(asyncio.get_running_loop())
        elif self._poll(0):
            for future in waiting:
                future.set_result(None)

    def end(self, loop: asyncio.AbstractEventLoop) -> None:
        all_of_loop = _watched.get(loop, {})
        if all_of_loop.get(self.number) is self:
            del all_of_loop[self.number]
            loop.remove_reader(self.number)


_watched: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, _Descriptor]]
_watched = WeakKeyDictionary()
_watched_lock = threading.Lock()  # of which loops there are; what is watched is its loop's alone


def _in_child() -> None:
    global _watched_lock
    _watched_lock = threading.Lock()


os.register_at_fork(after_in_child=_in_child)


class Reading:
    """Waits for a descriptor in the running loop, until end(). `future` is done once the descriptor
    is readable.

    With an `owner`, which keeps the descriptor open, the loop goes on watching it after end() until
    it finds it readable while nobody waits: who soon waits again saves two calls of the kernel."""

    def __init__(self, number: int, owner: object | None = None) -> None:
        self._loop = loop = asyncio.get_running_loop()
        all_of_loop = _watched.get(loop)
        if all_of_loop is None:
            with _watched_lock:  # loops of other threads may be the first time here, too
                for closed in [other for other in _watched if other.is_closed()]:
                    del _watched[closed]  # with what still waited in it
                all_of_loop = _watched[loop] = {}
        descriptor = all_of_loop.get(number)
        if descriptor is None:
            descriptor = all_of_loop[number] = _Descriptor(number)
            loop.add_reader(number, descriptor.wake)
        descriptor.owner = owner
        self._descriptor = descriptor
        self.future: asyncio.Future[None] = loop.create_future()
        descriptor.futures.add(self.future)

    def end(self) -> None:
        """Without an owner at once: the descriptor's number may soon be another one's."""
        descriptor = self._descriptor
        descriptor.futures.discard(self.future)
        self.future.cancel()
        if not descriptor.futures and descriptor.owner is None:
            descriptor.end(self._loop)


async def readable(number: int, owner: object | None = None) -> None:
    """Returns once the descriptor is readable. `owner`: see Reading."""
    reading = Reading(number, owner)
    try:
        await reading.future
    finally:
        reading.end()
