"""RDMA beside perftest's programs, in a guest with SoftRoCE (perf/rdma.py)."""

import sys

from bench.samples import Outcome, Row, Samples, at_least, at_most

GUEST_SECONDS = 1800


def columns(pairs, factor=1):
    ours, theirs = zip(*pairs)
    return Samples.of(ours).times(factor), Samples.of(theirs).times(factor)


def rdma(session, name):
    result = session.run([sys.executable, "perf/rdma.py", "--json", "--runs",
                          str(session.options.runs), "--programs", str(session.programs)],
                         timeout=GUEST_SECONDS)
    push, write_lat = columns(result["latency_ns"])
    multicast, write_bw = columns(result["mb_per_second"], 1e6)
    return Outcome(
        [Row(f"{name}, push of 8 bytes", "ns", push, write_lat, at_most(1.25)),
         Row(f"{name}, 10k among 3", "bytes/s", multicast, write_bw, at_least(0.7))],
        ["compared with ib_write_lat (64 bytes) and ib_write_bw in the same guest, whose processors "
         "are emulated: the ratios mean something, the figures do not"])
