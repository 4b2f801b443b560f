"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from . import _frames as f
from ._machine import Machine
from ._types import Ended, Gap, PublicationState, Published, RelayError, Sample

_FRAME_MAX = 17 << 20
_LOOKS = 16  # in the time that a connection may take
_STEADY = 0.1  # seconds: a connection that stood so long ended because its relay did
_STARTS = {"now": f.From.NOW, "stored": f.From.STORED}


def _longer(pause: float) -> float:
    """The pause behind that one, in seconds; 0: there was none."""
    return min(max(pause * 2, 0.02), 2.0)


class AsyncSubscription:
    """What a topic has for this client: `async for` gives each Sample and each Gap."""

    def __init__(self, client: AsyncClient, number: int) -> None:
        self._client, self._number = client, number
        self._queue: asyncio.Queue[Any] = asyncio.Queue()  # bounded by the credit

    async def take(self) -> Sample | Gap:
        """Waits for the next one; StopAsyncIteration once the subscription has ended."""
        one = await self._queue.get()
        if isinstance(one, Ended):
            self._queue.put_nowait(one)
            raise StopAsyncIteration(one.text)
        if isinstance(one, Sample):
            self._client._machine.consumed(self._number, 1)
            self._client._flush()
        return one

    def __aiter__(self) -> AsyncIterator[Sample | Gap]:
        return self

    async def __anext__(self) -> Sample | Gap:
        return await self.take()

    def close(self) -> None:
        self._client._machine.unsubscribe(self._number)
        self._client._flush()
        self._queue.put_nowait(Ended("it was closed"))  # behind what is there, for who waits

    def _left(self) -> Sample | Gap | None:
        """What is there, without waiting; None at the end."""
        one = None if self._queue.empty() else self._queue.get_nowait()
        return None if isinstance(one, Ended) else one


class AsyncClient:
    """Publishes and subscribes through one of the relays, as "host:port"; in one event loop.

    `async with AsyncClient(relays) as client`: connects in the background, and goes on with another
    relay when one is gone. A publication is delivered once, however often it had to be repeated.
    """

    def __init__(self, relays: Sequence[str], name: str = "python", token: str = "",
                 connect_timeout: float = 3.0, log: Callable[[str], None] | None = None,
                 waiting_max: int = 4096) -> None:
        if not relays:
            raise ValueError("name at least one relay, as host:port")
        if not 1 <= waiting_max <= 1_000_000:
            raise ValueError(f"waiting_max is 1 .. 1,000,000, not {waiting_max}")
        if len(name.encode()) > 64 or len(token.encode()) > 1024:
            raise ValueError("name has at most 64 bytes, token at most 1024")
        self._relays = [self._address(one) for one in relays]
        self._machine = Machine(name, token)
        self._machine.on_bye = self._hang_up
        self._machine.on_welcome = self._welcomed
        self._machine.on_late = self._ask_later
        self._machine.on_no_session = self._leave_later
        self._timeout = connect_timeout
        self._waiting_max, self._waiting = waiting_max, 0
        self._log = log or (lambda line: None)
        self._writer: asyncio.StreamWriter | None = None
        self._why = ""
        self._subscriptions = 0
        self._again: asyncio.TimerHandle | None = None
        self._pause_again = 0.0
        self._leaves: asyncio.TimerHandle | None = None
        self._stay = 0.0  # seconds, at a relay that opens no session
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    @staticmethod
    def _address(text: str) -> tuple[str, int]:
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise ValueError(f"{text!r} is no address of a relay: write host:port")
        if not 0 < int(port) < 65536:
            raise ValueError(f"{text!r} is no address of a relay: a port is 1 .. 65535")
        return host.strip("[]"), int(port)

    async def __aenter__(self) -> AsyncClient:
        self._must_be_open()
        self._task = asyncio.create_task(self._stay_connected())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """What has no outcome yet gets one: unknown. Later calls raise RelayError."""
        self._closed = True
        if self._again:
            self._again.cancel()
        try:
            self._machine.close()
            self._flush()
            if self._task:
                self._task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._task
        finally:
            self._machine.abandon()

    @property
    def is_connected(self) -> bool:
        return self._machine.welcome

    async def topic(self, name: str) -> f.TopicInfo:
        """Waits for a relay that knows it; RelayError if it says that there is none."""
        name.encode()  # what cannot be sent must not be remembered
        found = await self._told(lambda told: self._machine.find(name, told),
                                 lambda told: self._machine.forget(name, told))
        self._pause_again = 0.0
        return found

    async def topics(self) -> list[f.TopicInfo]:
        return await self._told(self._machine.list, self._machine.forget_list)

    async def publish(self, topic: str, data: bytes) -> Published:
        """Waits for the outcome. If it is cancelled, the sample may still be delivered, but not if it
        was never sent. RelayError if `waiting_max` publications have no outcome yet: wait for some.
        """
        self._must_be_open()
        if (most := self._machine.most(topic)) is None:
            most = (await self.topic(topic)).sample_bytes_max
        if most == 0:
            raise RelayError(f"clients cannot publish to the topic {topic!r}: its samples have keys, "
                             "or the relay's member is no sender of its bundle")
        if len(data) > most:
            raise ValueError(f"a sample of {len(data)} bytes; clients may publish at most "
                             f"{most} to {topic!r}")
        if self._waiting >= self._waiting_max:
            raise RelayError(f"{self._waiting_max} publications have no outcome yet; wait for some, "
                             "or raise waiting_max")
        made: list[PublicationState] = []
        self._waiting += 1
        try:
            published: Published = await self._told(
                lambda told: made.append(
                    self._machine.publish(topic, time.time_ns(), bytes(data), told)),
                lambda _: self._machine.take_back(made[0]))
            if published.outcome in ("delivered", "sent") and self._leaves is None:
                self._stay = 0.0
            return published
        finally:
            self._waiting -= 1

    async def subscribe(self, topic: str, start: str | int = "now", epoch: int = 0,
                        window: int = 256) -> AsyncSubscription:
        """`start`: "now", "stored" (with what the topic keeps), or a position of `epoch`."""
        self._must_be_open()
        if isinstance(start, str) and start not in _STARTS:
            raise ValueError(f"start is 'now', 'stored' or a position, not {start!r}")
        position = 0 if isinstance(start, str) else start
        for number, what in ((position, "start"), (epoch, "epoch")):
            if not isinstance(number, int) or not 0 <= number < 1 << 64:
                raise ValueError(f"{what} is a number of at most 64 bits, not {number!r}")
        if not 1 <= window <= 1_000_000:
            raise ValueError(f"window is 1 .. 1,000,000, not {window}")
        if self._machine.most(topic) is None:
            await self.topic(topic)
            self._must_be_open()
        self._subscriptions += 1
        subscription = AsyncSubscription(self, self._subscriptions)
        at = _STARTS[start] if isinstance(start, str) else f.From.POSITION
        self._machine.subscribe(self._subscriptions, topic, at, position, epoch, window,
                                subscription._queue.put_nowait)
        self._flush()
        return subscription

    def _must_be_open(self) -> None:
        if self._closed:  # nobody would answer any more
            raise RelayError("the client ended")

    async def _told(self, ask: Callable[[Callable[[Any], None]], None],
                    forget: Callable[[Callable[[Any], None]], None] = lambda told: None) -> Any:
        self._must_be_open()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def told(value: Any) -> None:
            if future.done():
                return
            if isinstance(value, Exception):
                future.set_exception(value)
            else:
                future.set_result(value)

        ask(told)
        self._flush()
        try:
            return await future
        finally:
            if future.cancelled():
                forget(told)

    def _flush(self) -> None:
        if self._writer is not None and self._machine.output:
            self._writer.write(bytes(self._machine.output))
            self._machine.output.clear()

    def _welcomed(self) -> None:
        self._pause_again = 0.0
        if self._again is not None:  # of the connection before, and may be as far as 2 s ahead
            self._again.cancel()
            self._again = None
        self._say(f"connected to the relay of {self._machine.relay}")

    def _ask_later(self) -> None:
        if self._again is None and not self._closed:
            self._pause_again = _longer(self._pause_again)
            self._again = asyncio.get_running_loop().call_later(self._pause_again, self._ask_again)

    def _ask_again(self) -> None:
        self._again = None
        self._machine.ask_again()
        self._flush()

    def _leave_later(self, why: str) -> None:
        """The client stays for a while, longer each time: this relay still serves its subscriptions,
        and the others may be gone."""
        def leave() -> None:
            self._hang_up(why)
            if self._writer is not None:
                self._writer.close()

        if self._leaves is None and not self._closed:
            self._stay = _longer(self._stay)
            self._leaves = asyncio.get_running_loop().call_later(self._stay, leave)

    def _hang_up(self, why: str) -> None:
        self._why = self._why or why or "the relay said goodbye"

    def _say(self, line: str) -> None:
        try:
            self._log(line)
        except Exception as problem:  # the client goes on, whatever its user's function does
            asyncio.get_running_loop().call_exception_handler(
                {"message": "log of a tutti client raised", "exception": problem})

    async def _stay_connected(self) -> None:
        pause, at = 0.0, 0
        while True:
            host, port = self._relays[at % len(self._relays)]
            at += 1
            self._why = ""
            begin = time.monotonic()
            was_welcome = False
            try:
                reader, self._writer = await self._open(host, port)
                await self._converse(reader)
            except Exception as problem:  # such as a host's name that is none: calls must not hang
                self._why = self._why or str(problem) or "it did not answer in time"
            finally:
                was_welcome = self._machine.welcome
                if self._leaves is not None:
                    self._leaves.cancel()
                    self._leaves = None
                if self._writer is not None:
                    self._writer.close()
                    self._writer = None
                self._machine.disconnect()
            self._say(f"not connected to {host}:{port}: {self._why}")
            # The next one at once, unless this one may end again and again.
            was_steady = was_welcome and time.monotonic() - begin >= _STEADY
            pause = 0.0 if was_steady else _longer(pause)
            await asyncio.sleep(pause)

    async def _open(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """In many short waits: a loop that is busy for long takes a turn for each of few steps, and
        a time-out that is over by then would come before what is there."""
        opens = asyncio.ensure_future(asyncio.open_connection(host, port))
        try:
            for _ in range(_LOOKS):
                await asyncio.wait({opens}, timeout=self._timeout / _LOOKS)
                if opens.done():
                    break
            else:
                raise TimeoutError
            return opens.result()
        except BaseException:
            opens.cancel()
            [ended] = await asyncio.gather(opens, return_exceptions=True)
            if not isinstance(ended, BaseException):
                ended[1].close()
            raise

    async def _converse(self, stream: asyncio.StreamReader) -> None:
        frames = f.FrameReader(_FRAME_MAX)
        self._machine.connect()
        self._flush()
        silent = 0
        next_ping = 0.0  # however much the relay says: a session that waits is opened with it
        while not self._why:
            while not self._why and (frame := frames.next()) is not None:
                self._machine.receive(frame)
                self._flush()
            if self._why:
                break
            welcome = self._machine.welcome
            quarter = (self._machine.idle_ms / 1000 if welcome else self._timeout) / 4
            now = time.monotonic()
            if welcome and now >= (next_ping := next_ping or now + quarter):
                next_ping = now + quarter
                self._machine.ping()
                self._flush()
            try:
                async with asyncio.timeout(quarter):
                    received = await stream.read(65536)
            except TimeoutError:
                silent += 1
                if silent >= 4:
                    self._why = "the relay says nothing any more"
                    break
                continue
            silent = 0
            if not received:
                self._why = self._why or "the relay closed the connection"
                break
            frames.append(received)
