"""What an application pays whose event loop takes the messages, beside callbacks."""

from bench.latencies import PACED, SIZE, own
from bench.rates import samples
from bench.samples import Outcome, Row, at_most

LOOPS = ("epoll", "asio")
PACE = 500  # messages per second: all sleep between two
MEMBERS = 3


def loop_latency(session, name):
    """A paced sender, as most programs with an event loop have, then with the threads of each member
    on one core, where the wake-up of the loop is cheap; and one message at a time."""
    common = {"members": MEMBERS, "senders": "one", "size": SIZE, "fabric": "shm"}
    paced = {"rate": PACE, "seconds": session.options.seconds * PACED}
    ways = {"paced": paced, "paced, pinned": {**paced, "pin": True}, "closed loop": {"in_flight": 1}}
    results = session.side_by_side({
        f"{delivery}, {way}": session.tutti(**common, **options, delivery=delivery)
        for way, options in ways.items() for delivery in ("predicate", "own", *LOOPS)})
    rows = []
    for way in ways:
        predicate = own(results[f"predicate, {way}"], "p50")
        rows.append(Row(f"{name}, own, {way}", "ns", own(results[f"own, {way}"], "p50"), predicate))
        rows += [Row(f"{name}, {loop}, {way}", "ns", own(results[f"{loop}, {way}"], "p50"),
                     predicate, at_most(1.3) if "paced" in way else None) for loop in LOOPS]
    return Outcome(rows, [
        "from the send to the delivery at the sender, compared with a callback on the node's "
        f"thread; paced: {PACE} messages a second; own: a callback on a thread of the group's"])


def loop_idle(session, name):
    results = session.side_by_side(
        {loop: session.tutti("idle", members=MEMBERS, fabric="shm", delivery=loop)
         for loop in LOOPS})

    def most(result):
        return max(100 * m["cpu_seconds"] / m["seconds"] for m in result["members"])

    return Outcome([Row(f"{name}, {loop}", "percent", samples(results[loop], most),
                        target=at_most(1, of="figure")) for loop in LOOPS],
                   ["of a core, node and loop together; the loop serves a timer of 10 ms"])
