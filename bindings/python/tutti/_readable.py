"""Waits of asyncio for descriptors: any number of tasks may wait for the same one."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

_waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, set[asyncio.Future[None]]]]
_waiting = WeakKeyDictionary()


class Reading:
    """Waits for a descriptor in the running loop, until end(). `future` is done once the descriptor
    is readable."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        for loop in [loop for loop in _waiting if loop.is_closed()]:
            del _waiting[loop]  # with what still waited in it
        all_of_loop = _waiting.setdefault(self._loop, {})
        futures = all_of_loop.get(descriptor)
        if futures is None:
            futures = all_of_loop[descriptor] = set()
            self._loop.add_reader(descriptor, _wake, futures)
        self._futures = futures
        self.future: asyncio.Future[None] = self._loop.create_future()
        futures.add(self.future)

    def end(self) -> None:
        """At once: the descriptor's number may soon be another one's."""
        self._futures.discard(self.future)
        self.future.cancel()
        all_of_loop = _waiting.get(self._loop, {})
        if not self._futures and all_of_loop.get(self._descriptor) is self._futures:
            del all_of_loop[self._descriptor]
            self._loop.remove_reader(self._descriptor)


async def readable(descriptor: int) -> None:
    """Returns once the descriptor is readable."""
    reading = Reading(descriptor)
    try:
        await reading.future
    finally:
        reading.end()


def _wake(futures: set[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
