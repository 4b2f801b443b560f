"""The durable log beside a plain program that appends to a growing file and syncs it as often."""

import tempfile

from bench.rates import samples
from bench.samples import Outcome, Row, at_least, at_most
from bench.session import size_name

BATCH_BYTES = 1 << 20


def rate(result):
    return result["bytes_per_second"]


def records(result):
    return result["records_per_second"]


def side_by_side(session, size, batch, **variants):
    """{"plain": ..., and each variant, which is options of the log's program}, in a folder that is
    removed, whatever ends them."""
    with tempfile.TemporaryDirectory(prefix="tutti-log-", dir=session.options.dir) as folder:
        return session.side_by_side(
            {"plain": session.limit("append", bytes=size * batch, dir=folder)} |
            {name: session.log(size=size, records=batch, dir=folder, **options)
             for name, options in variants.items()})


def log_batches(session, name, size, share):
    results = side_by_side(session, size, BATCH_BYTES // size, log={"release": "yes"},
                           fresh={"release": "no"})
    plain = samples(results["plain"], rate)
    return Outcome(
        [Row(name, "bytes/s", samples(results["log"], rate), plain, at_least(share)),
         Row(f"{name}, records", "messages/s", samples(results["log"], records)),
         Row(f"{name}, nothing released", "bytes/s", samples(results["fresh"], rate), plain)],
        ["batches of 1 MB, bytes of the records; the plain program writes as many bytes a sync. "
         "Segments are used again once released; else each is filled with zeros first"])


def log_one(session, name):
    rows = []
    for size in (64, 1024, 10240):
        results = side_by_side(session, size, 1, log={"release": "no"})
        part = f"{name}, {size_name(size)}"
        for percentile, target in (("p50", at_most(1.3)), ("p99", None)):
            rows.append(Row(part if target else f"{part}, {percentile}", "ns",
                            samples(results["log"], lambda r, p=percentile: r[f"write_ns_{p}"]),
                            samples(results["plain"], lambda r, p=percentile: r[f"turn_ns_{p}"]),
                            target))
        rows.append(Row(f"{part}, rate", "bytes/s", samples(results["log"], rate),
                        samples(results["plain"], rate)))
        rows.append(Row(f"{part}, records", "messages/s", samples(results["log"], records)))
    return Outcome(rows, ["one record, written and synced, compared with a write and a sync of as "
                          "many bytes at the end of a growing file"])
