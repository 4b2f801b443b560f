"""What the application gets of a client, and what the client remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import _frames as f


class RelayError(Exception):
    """The relay refused something, or ended the conversation."""


@dataclass(slots=True, frozen=True)
class Published:
    """What became of a publication."""

    outcome: str  # "delivered", "sent", "unknown" or "refused"
    position: int | None = None
    text: str = ""


@dataclass(slots=True, frozen=True)
class Sample:
    position: int
    epoch: int
    sender: int
    timestamp_ns: int
    data: bytes


@dataclass(slots=True, frozen=True)
class Gap:
    """Samples at start <= position < end are gone; end None: another epoch begins."""

    start: int
    end: int | None


@dataclass(slots=True, frozen=True)
class Ended:
    """The subscription is over, and why."""

    text: str


@dataclass(slots=True)
class TopicState:
    waiting: list[Callable[[Any], None]] = field(default_factory=list)
    gone: bool = False
    number: int | None = None
    info: f.TopicInfo | None = None
    most: int = 0  # bytes of a sample, at the last relay that takes any, or at the one asked last

    def is_of(self, bundle: str) -> bool:
        return self.info is not None and self.info.bundle == bundle


@dataclass(slots=True)
class PublicationState:
    topic: str
    timestamp_ns: int
    data: bytes
    answered: Callable[[Published], None]
    request: int = 0  # 0: it has no number yet, so it was never sent
    sent: int = 0
    empty: bool = False  # sent last without its bytes
    given_up: bool = False  # answered, it only has to take its turn

    def why_empty(self, topic: TopicState, bundle: str) -> str:
        """Why it only takes its turn; empty: it goes with its bytes."""
        if self.given_up or topic.number is None or topic.info is None or not topic.is_of(bundle):
            return f"the topic {self.topic} is gone"
        if len(self.data) <= topic.info.sample_bytes_max:
            return ""
        # Each relay has a limit of its own; more than that would end the connection.
        return (f"a sample of {len(self.data)} bytes; this relay takes at most "
                f"{topic.info.sample_bytes_max} of the topic {self.topic}")


@dataclass(slots=True)
class SessionState:
    number: int = f.NONE
    nonce: int = 0
    next_request: int = 1
    opening: bool = False
    opens_by: int = 0  # the number of a topic, as it was said
    open: bool = False
    busy: bool = False  # there was no room for it: opened at the next ping
    opened_last: int = 0
    unanswered: list[PublicationState] = field(default_factory=list)


@dataclass(slots=True)
class SubscriptionState:
    topic: str
    start: f.From
    epoch: int
    next: int
    credit: int
    received: Callable[[Any], None]
    placed: bool
    asked: bool = False
    granted: int = 0
    held: int = 0
    consumed: int = 0


def answer_of(frame: f.Published) -> Published:
    """What the relay's answer means to the application."""
    position = None if frame.position == f.NONE else frame.position
    match frame.status:
        case f.Status.DELIVERED | f.Status.DUPLICATE:
            return Published("delivered", position)
        case f.Status.SENT:
            return Published("sent")
        case f.Status.UNFIT:
            return Published("refused", text="no sample of the topic, by its size, or the topic was deleted")
    return Published("unknown", text="its session expired before it was answered")
