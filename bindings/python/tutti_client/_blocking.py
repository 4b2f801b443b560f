"""The client whose calls block: that for asyncio, in a thread of its own."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

from . import _frames as f
from ._client import AsyncClient, AsyncSubscription
from ._types import Gap, Published, RelayError, Sample


class Subscription:
    """Iterate over it, or take(): Sample and Gap objects."""

    def __init__(self, client: Client, inner: AsyncSubscription) -> None:
        self._client, self._inner = client, inner
        # What calls have taken, until they return it: one that Ctrl-C interrupts leaves it here.
        self._taken: collections.deque[Sample | Gap] = collections.deque()

    def take(self, timeout: float | None = None) -> Sample | Gap:
        """TimeoutError: nothing came in time. EOFError: the subscription has ended."""

        async def take() -> None:
            if self._taken:  # by a call that was interrupted a moment ago
                return
            try:
                # Within the loop: a sample that comes at the same moment stays in the queue.
                async with asyncio.timeout(timeout):
                    self._taken.append(await self._inner.take())
            except StopAsyncIteration as ended:
                raise EOFError(str(ended)) from None

        while True:
            with contextlib.suppress(IndexError):  # none, or another thread was faster
                return self._taken.popleft()
            try:
                self._client._run(take(), None)
            except (_ClosedError, EOFError, TimeoutError) as problem:
                if self._taken:
                    continue
                if not isinstance(problem, _ClosedError):
                    raise
                if (one := self._inner._left()) is None:
                    raise EOFError(str(problem)) from None
                return one

    def __iter__(self) -> Iterator[Sample | Gap]:
        with contextlib.suppress(EOFError):
            while True:
                yield self.take()

    def close(self) -> None:
        async def close() -> None:
            self._inner.close()

        with contextlib.suppress(_ClosedError):
            self._client._run(close(), None)


class _ClosedError(RelayError):
    pass


class Client:
    """AsyncClient with calls that block, from any thread; `with Client(relays) as client`."""

    def __init__(self, relays: Sequence[str], **options: Any) -> None:
        self._inner = AsyncClient(relays, **options)
        self._lock = threading.Lock()
        self._closing = False  # of _lock: nothing is begun in the loop any more
        self._ended = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tutti-client",
                                        daemon=True)
        self._thread.start()
        self._run(self._inner.__aenter__(), None)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Calls of other threads end with an error. Waits if another thread closes it."""
        with self._lock:
            closes, self._closing = not self._closing, True
        if not closes:
            self._ended.wait()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._ended.set()

    async def _end(self) -> None:
        """What waits in the loop is answered, and has returned when this does."""
        try:
            await self._inner.close()
        finally:
            if others := asyncio.all_tasks() - {asyncio.current_task()}:
                _, waiting = await asyncio.wait(others, timeout=1)
                for task in waiting:
                    task.cancel()
                if waiting:
                    await asyncio.wait(waiting)

    @property
    def is_connected(self) -> bool:
        return self._inner.is_connected

    def topic(self, name: str, timeout: float | None = None) -> f.TopicInfo:
        return self._run(self._inner.topic(name), timeout)

    def topics(self, timeout: float | None = None) -> list[f.TopicInfo]:
        return self._run(self._inner.topics(), timeout)

    def publish(self, topic: str, data: bytes, timeout: float | None = None) -> Published:
        """After TimeoutError the sample may still be delivered."""
        return self._run(self._inner.publish(topic, data), timeout)

    def subscribe(self, topic: str, start: str | int = "now", epoch: int = 0, window: int = 256,
                  timeout: float | None = None) -> Subscription:
        made: list[AsyncSubscription] = []

        async def subscribe() -> None:
            made.append(await self._inner.subscribe(topic, start, epoch, window))

        def close() -> None:
            for one in made:
                one.close()

        try:
            self._run(subscribe(), timeout)
            return Subscription(self, made[0])
        except BaseException:  # such as Ctrl-C: nobody has what was made meanwhile
            with self._lock:
                if not self._closing:
                    self._loop.call_soon_threadsafe(close)
            raise

    def _run(self, work: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
        future: concurrent.futures.Future[Any] | None = None
        try:
            with self._lock:
                if self._closing:
                    work.close()
                    raise _ClosedError("the client ended")
                future = asyncio.run_coroutine_threadsafe(work, self._loop)
            return future.result(timeout)
        except concurrent.futures.CancelledError:
            raise _ClosedError("the client ended") from None
        except BaseException:  # also Ctrl-C: what nobody waits for shall take nothing
            if future is not None:
                future.cancel()
            raise
