"""Errors of the library as exceptions: one class for each code."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """What went wrong, for programs. In the order of the library's codes."""

    invalid_argument = "invalid_argument"  #: out of range; nothing was changed
    mismatch = "mismatch"  #: members were started with options that contradict each other
    unreachable = "unreachable"  #: a member did not answer before the deadline
    timed_out = "timed_out"  #: a wait ended at its deadline; the event may still happen
    peer_lost = "peer_lost"  #: a member died or its connection broke
    stopped = "stopped"  #: the node or the group no longer takes messages
    in_callback = "in_callback"  #: a call that waits, made inside a callback of its node
    system = "system"  #: the operating system refused: memory, descriptors, sockets
    complete = "complete"  #: all senders finished, and every member has delivered everything
    refused = "refused"  #: the other member's on_request answered with an error, or it has none
    no_space = "no_space"  #: no space right now, and the call does not wait; nothing was sent
    damaged = "damaged"  #: a log has bytes that are not what was written; nothing was changed


class Error(Exception):
    """An error of Tutti: `code` is for programs, `message` for people."""

    code: ErrorCode
    message: str
    #: Of an error of Group.send_many: how many messages were sent before it.
    sent: int

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code, message)
        self.code = ErrorCode(code)
        self.message = message
        self.sent = 0

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.code, self.message)


class InvalidArgument(Error, ValueError):
    """An option or argument is outside its range; nothing was changed."""


class Mismatch(Error):
    """Members were started with options that contradict each other."""


class Unreachable(Error):
    """A member did not answer before the deadline."""


class TimedOut(Error, TimeoutError):
    """A wait ended at its deadline; the awaited event may still happen."""


class PeerLost(Error):
    """A member died or its connection broke."""


class Stopped(Error):
    """The node or the group no longer takes messages."""


class InCallback(Error):
    """A call that waits, made inside a callback of its node; nothing was changed."""


class System(Error):
    """The operating system refused: memory, descriptors, sockets."""


class Complete(Error):
    """All senders have finished, and every member has delivered everything."""


class Refused(Error):
    """The other member's on_request answered with an error, or it has none."""


class NoSpace(Error):
    """No space right now, and the call does not wait; nothing was sent."""


class Damaged(Error):
    """A log has bytes that are not what was written; nothing was changed."""


_CODES = list(ErrorCode)
_CLASSES: dict[ErrorCode, type[Error]] = {
    ErrorCode.invalid_argument: InvalidArgument,
    ErrorCode.mismatch: Mismatch,
    ErrorCode.unreachable: Unreachable,
    ErrorCode.timed_out: TimedOut,
    ErrorCode.peer_lost: PeerLost,
    ErrorCode.stopped: Stopped,
    ErrorCode.in_callback: InCallback,
    ErrorCode.system: System,
    ErrorCode.complete: Complete,
    ErrorCode.refused: Refused,
    ErrorCode.no_space: NoSpace,
    ErrorCode.damaged: Damaged,
}


def error_of(number: int, message: str) -> Error:
    """The exception for a code of the library, by its place in the enumeration."""
    code = _CODES[number]
    return _CLASSES[code](code, message)
