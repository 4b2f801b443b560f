"""Nodes: what is written in Python above the library's calls."""

from __future__ import annotations

import atexit
import os
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from . import _log, _tutti
from ._errors import Error, TimedOut, error_of
from ._group import Group
from ._readable import readable
from ._types import (Drive, FabricChoice, Level, NodeStatistics, Order, ViewChange, view_of)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Seconds = float | timedelta

#: Seconds that a with statement gives a node to stop.
STOP_TIMEOUT = 10.0
#: Seconds that the interpreter, when it ends, gives an apply() that runs.
EXIT_TIMEOUT = 1.0

_nodes: WeakSet[Node] = WeakSet()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given: the library has a default for each of the others."""
    return {name: value for name, value in options.items() if value is not None}


class Node(_tutti.Node):
    """One member of a cluster: joins groups, meets the other members, drives the protocol, stops.

    Order of calls: Node(...), join() once per group and reserve(), start(), then calls of the groups
    from any thread and joins of further groups, then stop() or leave(). As a context manager it stops at the end of the with statement
    (STOP_TIMEOUT), or leaves at once if its body raised.

    `on_request(member, data)` answers the requests of other members (send_to): it returns the reply as
    bytes, on a thread of the node. What it raises, its caller gets as the text of a Refused.

    Options have the names of C++ (include/tutti/options.hpp says what each means and may be); None
    is the library's default. Durations are seconds or a timedelta.
    """

    def __init__(
        self,
        name: str,
        members: Mapping[str, str] | Iterable[tuple[str, str]],
        *,
        fabric: FabricChoice | str | None = None,
        provider: str | None = None,
        rdma_device: str | None = None,
        drive: Drive | str | None = None,
        idle_spin: Seconds | None = None,
        idle_yield: Seconds | None = None,
        idle_sleep: bool | None = None,
        start_timeout: Seconds | None = None,
        founders: int | None = None,
        join_only: bool | None = None,
        suspect_after: Seconds | None = None,
        slow_after: Seconds | None = None,
        remove_after: Seconds | None = None,
        litmus_rounds: int | None = None,
        request_max_bytes: int | None = None,
        on_request: Callable[[str, bytes], ReadableBuffer] | None = None,
        state_dir: str | None = None,
        bootstrap: bool | None = None,
    ) -> None:
        options = {key: value for key, value in locals().items()
                   if key not in ("self", "__class__")}
        super().__init__(_given(options))
        self._threads: list[threading.Thread] = []
        self._starting: list[threading.Thread] = []
        self._inside: list[int] = []  # threads in an apply() or a query()
        _log.start()
        _nodes.add(self)

    def join(
        self,
        name: str,
        *,
        members: Iterable[str] | None = None,
        senders: Iterable[str] | None = None,
        order: Order | str | None = None,
        level: Level | str | None = None,
        message_max_bytes: int | None = None,
        window_bytes: int | None = None,
        window_messages: int | None = None,
        alignment: int | None = None,
        tick_every: Seconds | None = None,
        logged: bool | None = None,
        durable_quorum: bool | None = None,
        deliver_from: int | None = None,
        snapshot_every_bytes: int | None = None,
        snapshot_every: Seconds | None = None,
        keep_log_bytes: int | None = None,
        log_segment_bytes: int | None = None,
        personal_window: int | None = None,
        accelerated_window: int | None = None,
        global_window: int | None = None,
        maximum_gap: int | None = None,
        stateful: bool | None = None,
        save_state: Callable[[], Any] | None = None,
        load_state: Callable[[bytes], object] | None = None,
        timeout: Seconds | None = None,
    ) -> Group:
        """Before start() declares a group, which lasts as long as the nodes: every node joins every
        such group with the same options.

        Once the node has started: joins a group at run time, and opens it if nobody is in it. Its
        options are those of places that were reserved (reserve). Waits for a view in which this node
        is in it, at most `timeout`; raises TimedOut, Mismatch if the group is open with other
        options, or why the node ended. This member is not in the group then. After a Ctrl-C what was
        asked for stands until `timeout`, and a group that is joined by then is left at once. Group.leave
        leaves it.

        Stateful groups give their state to members that join: `save_state()` returns it as bytes,
        `load_state(bytes)` takes it over. Both are called on a thread of the node, while this
        member delivers nothing.
        """
        options = {key: value for key, value in locals().items()
                   if key not in ("self", "__class__", "timeout")}
        group = Group(self, _given(options), timeout)
        group._keep()  # an interrupt before this leaves a group that was joined at run time
        return group

    def reserve(
        self,
        count: int,
        *,
        order: Order | str | None = None,
        level: Level | str | None = None,
        message_max_bytes: int | None = None,
        window_bytes: int | None = None,
        window_messages: int | None = None,
        alignment: int | None = None,
    ) -> None:
        """Reserves places for `count` groups that are joined after start(), 64 at most in all; before
        start() only, and in the same order at all nodes. The options are those that the groups will
        be joined with: order round_robin at level atomic. Each place costs the memory of a group
        (window_bytes for each node), whether it is in use or not."""
        options = {key: value for key, value in locals().items()
                   if key not in ("self", "__class__", "count")}
        self.reserve_places(count, _given(options))

    def start(self) -> None:
        """Connects to the other nodes, and founds the groups or joins those that exist. Blocks until
        this node is in a view, at most for start_timeout."""
        super().start()
        starting, self._starting = self._starting, []
        for thread in starting:
            thread.start()
            self._threads.append(thread)

    def stop(self, timeout: Seconds | None = STOP_TIMEOUT) -> None:
        """Ends the groups together: sends no more, and waits until every member has finished and
        delivered everything. What the others have sent must be taken before, or by another thread.
        At the time-out, or after a Ctrl-C, this node leaves at once."""
        super().stop(timeout)

    def leave(self, timeout: Seconds | None = STOP_TIMEOUT) -> None:
        """Leaves while the others go on: waits until what this member has sent is delivered and the
        next view is without it."""
        super().leave(timeout)

    def close(self) -> None:
        """Leaves at once if stop() was not called, and frees the node; waits for an apply() that
        runs. May be called twice."""
        super().close()
        if threading.get_ident() in self._inside:
            return  # they may wait for this very thread; they end soon after
        for thread in self._threads:
            thread.join()

    def _close_at_exit(self) -> None:
        super().close()
        for thread in self._threads:
            thread.join(EXIT_TIMEOUT)
            if thread.is_alive():
                _log.logger.warning("%s: thread %s is still in an apply() %g s after the end of the "
                                    "program, which goes on without it", self.name, thread.name,
                                    EXIT_TIMEOUT)

    def wait(self, timeout: Seconds | None = None) -> None:
        """With Drive.caller: sleeps until poll() may have something to do, at most 20 ms."""
        super().wait(timeout)

    def send_to(self, member: str, data: ReadableBuffer, timeout: Seconds | None = None) -> bytes:
        """Sends a request to one other member and waits for its reply. Each request is handled at most
        once; an error says why there is no reply, and leaves open whether it was handled."""
        return _tutti.send_to(self, member, data, timeout)

    async def request(self, member: str, data: ReadableBuffer,
                      timeout: Seconds | None = None) -> bytes:
        """As send_to(), for asyncio; but if there is no space for the request right now, it raises
        NoSpace at once. A task that is cancelled drops the reply."""
        asking = _tutti.Asking(self, member, data, timeout)
        while (reply := asking.fetch()) is None:
            await readable(asking.fileno())
        return reply

    def view(self) -> ViewChange:
        """The view this node is in; its number is 0 before the first one."""
        return view_of(self.current_view())

    def next_view(self, timeout: Seconds | None = None) -> ViewChange | None:
        """The next view that this node installed, in order; waits for it. None: the node has ended,
        and all were taken. The newest 4,096 are kept."""
        record = self.next_view_record(timeout)
        return None if record is None else view_of(record)

    def views(self) -> _Views:
        """The views that this node installs: `for view in node.views()`, or `async for`."""
        return _Views(self)

    def failure(self) -> Error | None:
        """The error that ended the groups, if one did."""
        what = self.failure_of()
        return None if what is None else error_of(*what)

    def statistics(self) -> NodeStatistics:
        """The counters of this node."""
        return NodeStatistics(**self.counters())

    def _takes(self, thread: threading.Thread) -> None:
        """A thread that takes messages: it begins once the node has started, and ends with it."""
        self._starting.append(thread)

    def __enter__(self) -> Node:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            if kind is None and not self.closed:
                self.stop()
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<tutti.Node {self.name!r}{' closed' if self.closed else ''}>"


class _Views:
    def __init__(self, node: Node) -> None:
        self._node = node

    def __iter__(self) -> Iterator[ViewChange]:
        while (view := self._node.next_view()) is not None:
            yield view

    async def __aiter__(self) -> AsyncIterator[ViewChange]:
        while True:
            await readable(self._node.views_descriptor)
            try:
                view = self._node.next_view(0)
            except TimedOut:
                continue  # another task has taken it
            if view is None:
                return
            yield view


def _close_all() -> None:
    """Before the interpreter ends no thread of the library may be left that calls into it."""
    for node in list(_nodes):
        try:
            node._close_at_exit()
        except BaseException:  # the others are closed all the same
            traceback.print_exc()
    _log.end()
    _tutti.end_interpreter(threads_stay=_is_child or threading.active_count() > 1)


def _in_child() -> None:
    global _is_child
    _is_child = True
    _nodes.clear()  # they are the parent's


_is_child = False  # of a fork: threads of the parent are not there, and what they held stays

atexit.register(_close_all)
os.register_at_fork(after_in_child=_in_child)
