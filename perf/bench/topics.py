"""What topics cost beside the group that carries them."""

from bench.costs import cpu_per_delivery
from bench.rates import delivered, samples
from bench.samples import Outcome, Row, at_least, at_most

QUIET = 1000
MEMBERS = 3


def topic(session, name, size, senders):
    """Readers are handed batches, as the group's callback is, and read the first 8 bytes."""
    common = {"members": MEMBERS, "senders": senders, "size": size, "touch": "header",
              "fabric": "shm"}
    results = session.side_by_side({
        "group": session.tutti(**common),
        "topic": session.tutti("topic", **common),
        "unstamped": session.tutti("topic", **common, no_source_timestamps=True),
    }, back_and_forth=True)
    cpu = {who: samples(results[who], cpu_per_delivery) for who in results}
    rates = {who: samples(results[who], delivered) for who in results}
    return Outcome(
        [Row(name, "ns", cpu["topic"], cpu["group"], at_most(1.05)),
         Row(f"{name}, no time stamps", "ns", cpu["unstamped"], cpu["group"]),
         Row(f"{name}, rate", "messages/s", rates["topic"], rates["group"]),
         Row(f"{name}, rate, no time stamps", "messages/s", rates["unstamped"], rates["group"])],
        ["processor time of all members for each delivery, compared with the plain group"])


def topic_quiet(session, name):
    common = {"members": MEMBERS, "senders": "all", "size": 64, "touch": "header", "fabric": "shm"}
    results = session.side_by_side({
        "alone": session.tutti("topic", **common),
        "beside quiet ones": session.tutti("topic", **common, topics=QUIET),
    }, back_and_forth=True)
    rows = [Row(name, "messages/s", samples(results["beside quiet ones"], delivered),
                samples(results["alone"], delivered), at_least(0.97)),
            Row(f"{name}, processor time", "ns",
                samples(results["beside quiet ones"], cpu_per_delivery),
                samples(results["alone"], cpu_per_delivery))]
    return Outcome(rows, [f"{QUIET} quiet topics with a reader at each member, in the same bundle"])
