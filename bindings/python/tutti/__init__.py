"""Atomic multicast: the members of a group send messages, and every member delivers the same
messages in the same order.

Node joins groups and meets the other members; Group sends and takes messages; Replicated keeps the
same object at all members. docs/python.md is the introduction.
"""

from ._bootstrap import bootstrap
from ._errors import (Complete, Damaged, Error, ErrorCode, InCallback, InvalidArgument, Mismatch,
                      NoSpace, PeerLost, Refused, Stopped, System, TimedOut, Unreachable)
from ._group import Group
from ._node import Node
from ._replicated import Replicated, StateMachine
from ._tutti import Batch, Claim, Message, Run
from ._tutti import version as _version
from ._types import (BatchHistogram, Departure, Drive, FabricChoice, GroupStatistics, LeftReason,
                     Level, MemberLag, NodeStatistics, Order, Service, ViewChange)

__version__ = _version()

__all__ = [
    "Batch", "BatchHistogram", "Claim", "Complete", "Damaged", "Departure", "Drive", "Error",
    "ErrorCode", "FabricChoice", "Group", "GroupStatistics", "InCallback", "InvalidArgument", "LeftReason",
    "Level", "MemberLag", "Message", "Mismatch", "NoSpace", "Node", "NodeStatistics", "Order",
    "PeerLost", "Refused", "Replicated", "Run", "Service", "StateMachine", "Stopped", "System", "TimedOut", "Unreachable",
    "ViewChange", "bootstrap",
]
