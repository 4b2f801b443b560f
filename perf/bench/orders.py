"""Points of `tutti perf multicast`, each measured in several orders in turn."""

import shlex
from dataclasses import asdict, dataclass

from bench.report import say, with_spread
from bench.samples import MeasurementFailed, Samples
from bench.session import bytes_of

ORDERS = ("round_robin", "token_ring", "lcr")
ACTIVE = ("all", "half", "one")
HEADINGS = ("fabric", "members", "size", "active", "order", "delivered", "ratio", "own p50")
WIDTHS = (6, 7, 4, 6, 11, 24, 20, 22)


@dataclass(frozen=True)
class Point:
    """One load, whatever the order."""
    fabric: str
    members: int
    size: str  # as `tutti perf` reads it: 64, 10K
    active: str

    def command(self, session, order, links=None):
        """Over these links, if there are any."""
        where = {"members": self.members}
        if links:
            where = {**links.hosts(self.members), "program": session.program("tutti")}
        return session.tutti(order=order, fabric=self.fabric, **where, size=self.size,
                             active=self.active)


@dataclass(frozen=True)
class InOrder:
    """What one order gave at a point: a figure for each repetition."""
    order: str
    command: list
    delivered: Samples  # messages per second
    ratio: Samples      # to the first order, by repetition; None for that one
    own_p50: Samples    # ns, at the sender

    def to_json(self):
        return {"order": self.order, "command": shlex.join(self.command),
                "delivered_messages_per_second": self.delivered.to_json(),
                "ratio": self.ratio and self.ratio.to_json(),
                "own_p50_ns": self.own_p50.to_json()}


def measure(session, point, orders, links=None):
    """Each repetition runs all orders, every other one backwards: none always comes first."""
    commands = {order: point.command(session, order, links) for order in orders}
    results = session.side_by_side(commands, back_and_forth=True)
    delivered = {order: Samples.of(result["delivered_messages_per_second"]
                                   for result in results[order]) for order in orders}
    base = delivered[orders[0]]
    if base.least <= 0:
        raise MeasurementFailed(f"{orders[0]}: nothing was delivered in one of the repetitions; "
                                "more --seconds may help")
    return [InOrder(order, commands[order], delivered[order],
                    delivered[order].over(base) if order != orders[0] else None,
                    Samples.of(result["latency_ns"]["own"]["p50"] for result in results[order]))
            for order in orders]


class Table:
    """Prints the lines of a point when it is measured."""

    def __init__(self, markdown):
        self._markdown = markdown
        self._line(HEADINGS)
        if markdown:
            self._line(["---"] * len(HEADINGS))

    def add(self, point, found):
        for one in found:
            self._line((point.fabric, str(point.members), point.size, point.active, one.order,
                        with_spread(one.delivered, "messages/s"), with_spread(one.ratio, "ratio"),
                        with_spread(one.own_p50, "ns")))

    def add_failure(self, point):
        self._line((point.fabric, str(point.members), point.size, point.active, "FAILED",
                    "", "", ""))

    def _line(self, cells):
        if self._markdown:
            say("| " + " | ".join(cells) + " |")
        else:
            say(" ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS)).rstrip())


def point_json(point, found, other_load):
    return {**asdict(point), "size_bytes": bytes_of(point.size),
            "orders": [one.to_json() for one in found], "other_load": round(other_load, 4)}
