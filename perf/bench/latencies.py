"""One message at a time: from the send to the atomic delivery at the sender."""

from bench.samples import MeasurementFailed, Outcome, Row, Samples, at_most

SIZE = 64
ASLEEP_RATE = 200  # per second: all fall asleep between two messages
TCP_RATE = 500
PACED = 2  # paced runs take so many times longer, for enough samples
NEVER_AWAKE = {"idle": "sleep", "idle_spin_us": 0, "idle_yield_us": 0}


def own(results, percentile):
    """Nanoseconds of each repetition; a run without samples is a failure, not a zero."""
    found = []
    for result in results:
        latency = result["latency_ns"]["own"]
        if latency["samples"] == 0:
            raise MeasurementFailed("a run timed no message; more --seconds may help")
        found.append(latency[percentile])
    return Samples.of(found)


def field(results, name):
    return Samples.of(result[name] for result in results)


def with_p99(name, results, ceiling, p99, target):
    return [Row(name, "ns", own(results, "p50"), ceiling, target),
            Row(f"{name}, p99", "ns", own(results, "p99"), p99)]


def beside_cache_line(session, name, wait, target, **options):
    """wait: how the limit program waits for a word, as the members do."""
    samples_per_second = {"spin": 1_000_000, "yield": 100_000}[wait]
    results = session.side_by_side({
        "ceiling": session.cache_line(wait, session.options.seconds * samples_per_second),
        "tutti": session.tutti(senders="one", size=SIZE, fabric="shm", in_flight=1, **options),
    })
    return with_p99(name, results["tutti"], field(results["ceiling"], "one_way_ns"),
                    field(results["ceiling"], "one_way_ns_p99"), target)


def shm_latency_pair(session, name):
    return Outcome(
        beside_cache_line(session, name, "spin", at_most(8), members=2, drive="caller",
                          idle="spin", spin=True, pin=True),
        ["compared with one hop of a cache line between two spinning processes"])


def shm_latency_threads(session, name):
    return Outcome(
        beside_cache_line(session, name, "yield", at_most(5_000, of="figure"), members=2),
        ["compared with one hop between two processes that yield on two cores"])


def shm_latency_three(session, name):
    return Outcome(
        beside_cache_line(session, name, "yield", at_most(10_000, of="figure"), members=3),
        ["compared with one hop between two processes that yield on two cores"])


def shm_latency_asleep(session, name):
    """1.5 wake-ups per direction: own latency by the round trip of two that sleep on an eventfd, as
    members do. The members are pinned, one per core, because a wake-up within a core costs much
    less than one across. For one message three threads wake up: the sender's node (same core), the
    other node, the sender's node again."""
    seconds = session.options.seconds * PACED
    common = {"members": 2, "senders": "one", "size": SIZE, "fabric": "shm", "pin": True,
              **NEVER_AWAKE}
    results = session.side_by_side({
        "ceiling": session.cache_line("eventfd", seconds * ASLEEP_RATE, rate=ASLEEP_RATE),
        "tutti": session.tutti(**common, rate=ASLEEP_RATE, seconds=seconds),
        "ceiling, closed loop": session.cache_line("eventfd", session.options.seconds * 20_000),
        "tutti, closed loop": session.tutti(**common, in_flight=1),
    })
    rows = []
    for row, loop, target in ((name, "", at_most(1.5)),
                              (f"{name}, closed loop", ", closed loop", None)):
        ceiling = results["ceiling" + loop]
        rows += with_p99(row, results["tutti" + loop], field(ceiling, "one_way_ns").times(2),
                         field(ceiling, "one_way_ns_p99").times(2), target)
    return Outcome(rows, [
        "compared with a wake-up there and one back (limit_cache_line --wait eventfd, twice one "
        f"way), so the ratio is wake-ups per direction; both at {ASLEEP_RATE} per second, pinned, "
        "each member on one core"])


def tcp_latency(session, name):
    """Both asleep between messages and pinned alike; then as users have it, for comparison."""
    seconds = session.options.seconds * PACED
    common = {"members": 3, "senders": "one", "size": SIZE, "fabric": "tcp", "rate": TCP_RATE,
              "seconds": seconds}
    limit = {"size": SIZE, "rate": TCP_RATE, "wait": "sleep", "seconds": seconds,
             "warmup_share": 0.1}
    results = session.side_by_side({
        "ceiling": session.limit("tcp_round_trip", **limit, cpus="apart"),
        "tutti": session.tutti(**common, pin=True, **NEVER_AWAKE),
        "ceiling, not pinned": session.limit("tcp_round_trip", **limit, cpus="free"),
        "tutti, not pinned": session.tutti(**common, **NEVER_AWAKE),
        "tutti, default idle": session.tutti(**common),
    })
    ceilings = {which: (field(results[which], "round_trip_ns_p50"),
                        field(results[which], "round_trip_ns_p99"))
                for which in ("ceiling", "ceiling, not pinned")}
    rows = with_p99(name, results["tutti"], *ceilings["ceiling"], at_most(2.5))
    for variant in ("not pinned", "default idle"):
        rows += with_p99(f"{name}, {variant}", results[f"tutti, {variant}"],
                         *ceilings["ceiling, not pinned"], None)
    return Outcome(rows, [
        "compared with a round trip of raw TCP at the same pace, asleep in epoll_wait; pinned: "
        "the ends on two cores, members in turn; default idle: yields before it sleeps"])
