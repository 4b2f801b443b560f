"""What readers, silent senders, slow senders, silent groups and idleness cost."""

from bench.rates import delivered, samples
from bench.samples import Outcome, Row, at_least, at_most
from bench.session import size_name

READERS = (2, 3, 4, 6, 8)
PAUSES_US = (1, 100, 1000)
AWAKE_US = 1_000_000  # a sender that pauses so long is awake and sends next to nothing

IDLE_MEMBERS = 3
BEATS_PER_SECOND = 40  # to each other member, with the default suspect_after


def cpu_per_delivery(result):
    return result["cpu_ns_per_delivery"]


def limit_cpu_per_delivery(result):
    deliveries = delivered(result) * result["members"] * result["seconds"]
    return sum(result["cpu_seconds"]) * 1e9 / max(1, deliveries)


def shm_readers(session, name):
    common = {"senders": "one", "size": 1024}
    bare = (READERS[0], READERS[-1])
    results = session.side_by_side(
        {f"{count} members": session.tutti(members=count, fabric="shm", **common)
         for count in READERS} |
        {f"bare loop, {count} members": session.limit("shared_table", members=count, **common)
         for count in bare})
    cpu = {count: samples(results[f"{count} members"], cpu_per_delivery) for count in READERS}
    first = READERS[0]
    rows = [Row(f"{name}, {first} members", "ns", cpu[first])]
    rows += [Row(f"{name}, {count} members", "ns", cpu[count], cpu[first], at_most(1.2))
             for count in READERS[1:]]
    few, many = (samples(results[f"bare loop, {count} members"], limit_cpu_per_delivery)
                 for count in bare)
    rows.append(Row(f"{name}, bare loop, {bare[1]}", "ns", many, few))
    return Outcome(rows, [f"1 KB; processor time per delivery, compared with {first} members"])


def nulls_one_active(session, name):
    rows = []
    for fabric, size in (("shm", 64), ("shm", 1024), ("tcp", 1024)):
        common = {"members": 3, "size": size, "fabric": fabric}
        results = session.side_by_side({
            "one declared": session.tutti(senders="one", **common),
            "one active": session.tutti(senders="all", active="one", **common),
        })
        rows.append(Row(f"{name}, {fabric} {size_name(size)}", "messages/s",
                        samples(results["one active"], delivered),
                        samples(results["one declared"], delivered), at_least(0.9)))
    return Outcome(rows, ["all may send and one does, compared with one declared sender"])


def sent_by_others(result):
    """Messages per second that m0 and m1 sent, together; m2 is the one that pauses."""
    return sum(member["sent_messages"] / member["seconds"] for member in result["members"][:2])


def nulls_pausing(session, name):
    common = {"members": 3, "senders": "all", "size": 1024, "fabric": "shm"}
    pausing = {pause: session.tutti(**common, pausing=1, pause_us=pause)
               for pause in (*PAUSES_US, AWAKE_US)}
    results = session.side_by_side(
        {"two active": session.tutti(**common, active=2)} |
        {f"pause of {pause} us": command for pause, command in pausing.items()})
    ceiling = samples(results["two active"], sent_by_others)
    rows = [Row(f"{name}, {pause} us", "messages/s",
                samples(results[f"pause of {pause} us"], sent_by_others), ceiling,
                at_least(0.9) if pause in PAUSES_US else None)
            for pause in (*PAUSES_US, AWAKE_US)]
    return Outcome(rows, [
        "1 KB; what the two others send, compared with the third not active at all. It pauses "
        "awake, yielding: the row of 1 s shows what that alone costs"])


def per_member(figure):
    """The largest of the members of a result."""
    return lambda result: max(figure(member) for member in result["members"])


def idle(session, name):
    figures = (
        ("cpu", "percent", 1, lambda m: 100 * m["cpu_seconds"] / m["seconds"]),
        ("pushes", "count", 0, lambda m: m["group"]["pushes"]),
        ("writes/s", "count", BEATS_PER_SECOND * (IDLE_MEMBERS - 1),
         lambda m: m["node"]["writes_posted"] / m["seconds"]),
        ("nulls", "count", 0, lambda m: m["group"]["nulls_sent"]),
    )
    results = session.side_by_side(
        {fabric: session.tutti("idle", members=IDLE_MEMBERS, fabric=fabric) for fabric in ("shm", "tcp")})
    rows = [Row(f"{name}, {fabric}, {what}", unit, samples(results[fabric], per_member(figure)),
                target=at_most(limit, of="figure"))
            for fabric in results for what, unit, limit, figure in figures]
    return Outcome(rows, ["of the member that did most, after the group has come to rest; the writes "
                          "are heartbeats"])


def silent_group(session, name):
    rows = []
    for size in (64, 1024):
        common = {"members": 3, "senders": "all", "size": size, "fabric": "shm"}
        results = session.side_by_side({
            "alone": session.tutti(groups=1, **common),
            "beside a silent one": session.tutti(groups=2, active_groups=1, **common),
        })
        rows.append(Row(f"{name}, {size_name(size)}", "messages/s",
                        samples(results["beside a silent one"], delivered),
                        samples(results["alone"], delivered), at_least(0.98)))
    return Outcome(rows, ["the busy group beside a silent one, compared with the same alone"])
