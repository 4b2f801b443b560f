"""A state machine of which every member of a group has a copy."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakMethod

from ._errors import Complete, Error, ErrorCode, InCallback, Stopped, TimedOut
from ._log import logger
from ._node import Node

_NUMBER = struct.Struct("=Q")  # which command of its member it is: in front of its bytes


class StateMachine(Protocol):
    """What Replicated needs. Two copies in the same state that apply the same command must come to
    the same state: no clocks, no random numbers, no order of a set."""

    def apply(self, command: bytes) -> Any:
        """Changes the state; execute() returns its value, or raises what it raised."""

    def save(self) -> bytes:
        """The whole state."""

    def load(self, state: bytes) -> None:
        """Takes over a state instead of its own."""

    # A machine may have on_tick(self, time_ns: int): it is told of the ticks of its group (the
    # option tick_every of Node.join), between the commands and at the same place at all members.


Machine = TypeVar("Machine", bound=StateMachine)
Answer = TypeVar("Answer")


class Replicated(Generic[Machine]):
    """Runs commands at all members in the same order, and gives the state to members that join.

    A thread of this object takes the messages and applies the commands, so a slow apply() holds up
    this group alone. An apply() that raises stops nobody: the exception is logged, and given to
    whoever waits in execute() here. Make it before Node.start.
    """

    def __init__(self, node: Node, name: str, machine: Machine, **options: Any) -> None:
        """Joins the group `name` with `machine` as the initial state; options as for Node.join."""
        self._machine = machine
        self._lock = threading.RLock()  # of the machine
        self._pending: dict[int, Future[Any]] = {}
        self._pending_lock = threading.Lock()
        self._numbers = 0
        self._ended: Error | None = None
        self._inside = node._inside
        save, load = WeakMethod(self._save), WeakMethod(self._load)
        self.group = node.join(name, stateful=True, save_state=lambda: _live(save)(),
                               load_state=lambda state: _live(load)(state), **options)
        self._thread = threading.Thread(target=self._run, name=f"tutti-{name}", daemon=True)
        node._takes(self._thread)

    def submit(self, command: bytes, timeout: float | timedelta | None = None) -> Future[Any]:
        """Sends a command; the future has what the local apply() returned or raised. For asyncio:
        `await asyncio.wrap_future(machine.submit(command))`. Waits only for space, at most
        `timeout` seconds (None: for ever; 0: not at all, also inside apply(), query() and what a
        future calls)."""
        if timeout != 0 and threading.get_ident() in self._inside:
            raise InCallback(ErrorCode.in_callback,
                             f"group {self.group.name!r}: a command sent inside apply(), query() or "
                             "what a future calls would wait for itself; submit it with timeout=0, "
                             "or send it from another thread")
        future: Future[Any] = Future()
        with self._pending_lock:
            if self._ended is not None:
                raise type(self._ended)(self._ended.code, self._ended.message)
            self._numbers += 1
            number = self._numbers
            self._pending[number] = future
        try:
            # Not bytes(), which makes so many zeros of a number.
            self.group.send(_NUMBER.pack(number) + memoryview(command).tobytes(), timeout)
        except BaseException:
            with self._pending_lock:
                self._pending.pop(number, None)
            raise
        return future

    def execute(self, command: bytes, timeout: float | timedelta | None = None) -> Any:
        """Applies the command at all members; returns what the local apply() returned, once it
        has. After a time-out it may still be applied."""
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        begun = time.monotonic()
        future: Future[Any] | None = None
        try:
            future = self.submit(command, seconds)
            if seconds is not None:
                seconds = min(max(begun + seconds - time.monotonic(), 0), threading.TIMEOUT_MAX)
            return future.result(seconds)
        except TimeoutError as error:
            if isinstance(error, Error):
                raise
            if future is not None and future.done():
                return future.result()  # apply() raised it, or returned just now
            raise TimedOut(ErrorCode.timed_out,
                           f"group {self.group.name!r}: the command was not applied before the "
                           "deadline; it may still be") from None

    def query(self, read: Callable[[Machine], Answer]) -> Answer:
        """Reads the local copy, which may be behind the others'. Deliveries wait meanwhile."""
        with self._lock, self._counted():
            return read(self._machine)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        # Calls that wait for the thread of this object are refused meanwhile, or do not wait.
        ident = threading.get_ident()
        self._inside.append(ident)
        try:
            yield
        finally:
            self._inside.remove(ident)

    def _save(self) -> bytes:
        with self._lock:
            return self._machine.save()

    def _load(self, state: bytes) -> None:
        with self._lock:
            self._machine.load(state)

    def _run(self) -> None:
        try:
            for batch in self.group:
                with batch:
                    # Copied first: what lies in a batch may be overwritten once the others have
                    # removed this member. Then nothing of it is applied, nor what follows.
                    copies = [(m.tick, bytes(m), m.ticket != 0) for m in batch]
                    if not batch.intact():
                        raise Stopped(ErrorCode.stopped, f"group {self.group.name!r}: the others "
                                      "have gone on without this member while it read what they "
                                      "had sent; start it again to join them")
                    for tick, data, own in copies:
                        if tick is not None:
                            self._tick(tick)
                        else:
                            self._deliver(data, own)
            self._end(Complete(ErrorCode.complete, f"group {self.group.name!r} is complete"))
        except Error as error:
            self._end(error)
        except BaseException as error:
            self._end(Stopped(ErrorCode.stopped, f"group {self.group.name!r}: the thread that "
                              f"applies its commands has ended: {error!r}"))
            raise

    def _deliver(self, data: bytes, own: bool) -> None:
        if len(data) < _NUMBER.size:
            return  # not sent by execute()
        future = None
        if own:  # sent by this process: numbers of earlier runs, in the log, are others
            with self._pending_lock:
                future = self._pending.pop(_NUMBER.unpack_from(data)[0], None)
        if future is not None and not future.set_running_or_notify_cancel():
            future = None
        try:
            with self._lock, self._counted():
                reply = self._machine.apply(data[_NUMBER.size:])
        except BaseException as error:  # of the application, SystemExit too
            logger.exception("apply() of group %r raised", self.group.name)
            if future is not None:
                with self._counted():  # it runs what was added to the future
                    future.set_exception(error)
        else:
            if future is not None:
                with self._counted():
                    future.set_result(reply)

    def _tick(self, time_ns: int) -> None:
        on_tick = getattr(self._machine, "on_tick", None)
        if on_tick is None:
            return
        try:
            with self._lock, self._counted():
                on_tick(time_ns)
        except BaseException:  # of the application, SystemExit too
            logger.exception("on_tick() of group %r raised", self.group.name)

    def _end(self, error: Error) -> None:
        with self._pending_lock:
            self._ended = error
            pending, self._pending = list(self._pending.values()), {}
        for future in pending:
            if future.set_running_or_notify_cancel():
                with self._counted():
                    future.set_exception(type(error)(error.code, error.message))


def _live(method: Any) -> Any:
    live = method()
    if live is None:
        raise Stopped(ErrorCode.stopped, "the Replicated object of this group is gone")
    return live
