"""Enumerations and records, with the names that they have in C++."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Order(StrEnum):
    """What defines the sequence. Where an enumeration is wanted, its word does as well."""

    none = "none"  #: each sender's messages in its order; members may interleave senders differently
    round_robin = "round_robin"  #: the senders in turn
    token_ring = "token_ring"  #: the member that has the token, which goes round the members
    lcr = "lcr"  #: the senders in turn, each member handing all messages to the one behind it


class Level(StrEnum):
    """When a member delivers a message."""

    unordered = "unordered"  #: on receipt; goes with Order.none
    agreed = "agreed"  #: once all earlier messages have arrived here
    atomic = "atomic"  #: once every member has it as well
    durable = "durable"  #: as atomic, and once it is in every member's log, on disk; with logged


class Service(StrEnum):
    """What the sender of one message asks for."""

    of_level = "of_level"  #: what Level says
    safe = "safe"  #: as at Level.atomic; for Order.token_ring at Level.agreed


class FabricChoice(StrEnum):
    """Which fabric carries the messages between members."""

    automatic = "automatic"  #: shared memory on this host; else RDMA if both have it, else TCP
    shm = "shm"
    tcp = "tcp"
    verbs = "verbs"  #: RDMA
    ofi = "ofi"  #: libfabric, by the option provider


class Drive(StrEnum):
    """Which thread runs the predicate loop."""

    own_thread = "own_thread"
    caller = "caller"  #: a thread of the application, in Node.poll and in calls that wait


class LeftReason(StrEnum):
    """Why a member is not in the view any more."""

    left = "left"  #: it asked to, with Node.leave
    suspected = "suspected"  #: it died, or could not be reached for too long


@dataclass(frozen=True, slots=True)
class Departure:
    member: str
    incarnation: int
    reason: LeftReason


@dataclass(frozen=True, slots=True)
class ViewChange:
    """A view, and what changed from the one before."""

    view: int  #: its number: 1, 2, 3, ...; 0: there is none yet
    members: list[str]  #: names by rank
    incarnations: list[int]  #: a different number for each start of a member
    rank: int  #: of this node, among the members
    joined: list[str]  #: members that were not in the view before
    left: list[Departure]  #: members that are not in this view, and were in the one before


@dataclass(frozen=True, slots=True)
class MemberLag:
    """How far a member is behind in a group, as another one sees it."""

    member: str
    messages: int
    bytes: int
    behind: float  #: seconds
    holds_window: bool  #: no space for another message until this member has delivered more


@dataclass(frozen=True, slots=True)
class BatchHistogram:
    """How many batches had a size in [2^i, 2^(i+1)), in bucket i."""

    buckets: tuple[int, ...]
    batches: int
    items: int

    def mean(self) -> float:
        """Mean batch size, 0 if there was none."""
        return self.items / self.batches if self.batches else 0.0


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """The counters of a group; include/tutti/statistics.hpp says what each counts."""

    sent_messages: int
    sent_bytes: int
    received_messages: int
    delivered_messages: int
    delivered_bytes: int
    nulls_sent: int
    null_pushes: int
    pushes: int
    sender_waits: int
    token_visits: int
    token_rests: int
    token_parked_ns: int
    token_held_ns: int
    frames_handed_on: int
    bytes_handed_on: int
    persisted: int
    logged_bytes: int
    send: BatchHistogram
    receive: BatchHistogram
    delivery: BatchHistogram
    pending: BatchHistogram
    persist: BatchHistogram
    replayed: int
    snapshots: int
    snapshot_before: int
    log_from: int


@dataclass(frozen=True, slots=True)
class NodeStatistics:
    """The counters of a node; include/tutti/statistics.hpp says what each counts."""

    passes: int
    working_passes: int
    sleeps: int
    writes_posted: int
    bytes_posted: int
    doorbells: int
    posting_ns: int
    signalled_writes: int


def view_of(record: dict[str, Any]) -> ViewChange:
    left = [Departure(one["member"], one["incarnation"], LeftReason(one["reason"]))
            for one in record["left"]]
    return ViewChange(**{**record, "left": left})


def group_statistics_of(record: dict[str, Any]) -> GroupStatistics:
    fields: dict[str, Any] = {
        name: BatchHistogram(**value) if isinstance(value, dict) else value
        for name, value in record.items()}
    return GroupStatistics(**fields)
