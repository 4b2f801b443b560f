"""Waits of asyncio for descriptors: any number of tasks may wait for the same one."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

_waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, set[asyncio.Future[None]]]]
_waiting = WeakKeyDictionary()


def readable(descriptor: int) -> asyncio.Future[None]:
    """Done once the descriptor is readable. Cancel it to wait no longer."""
    loop = asyncio.get_running_loop()
    all_of_loop = _waiting.setdefault(loop, {})
    futures = all_of_loop.get(descriptor)
    if futures is None:
        futures = all_of_loop[descriptor] = set()
        loop.add_reader(descriptor, _wake, futures)
    future: asyncio.Future[None] = loop.create_future()
    futures.add(future)

    def gone(ended: asyncio.Future[None]) -> None:
        futures.discard(ended)
        if not futures and all_of_loop.get(descriptor) is futures:
            del all_of_loop[descriptor]
            loop.remove_reader(descriptor)

    future.add_done_callback(gone)
    return future


def _wake(futures: set[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
