"""What a program pays that uses the C interface, beside one in C++ that does the same."""

from bench.rates import samples
from bench.samples import Outcome, Row, at_least
from bench.session import size_name

MEMBERS = 3


def rate(result):
    return result["messages_per_second"]


def c_interface(session, name):
    """perf/interface: claims, fills, commits and callbacks, one group, all send, over shm."""
    rows = []
    for size in (64, 1024):
        results = session.side_by_side(
            {language: session.interface(language, members=MEMBERS, size=size)
             for language in ("cpp", "c")}, back_and_forth=True)
        rows.append(Row(f"{name}, {size_name(size)}", "messages/s", samples(results["c"], rate),
                        samples(results["cpp"], rate), at_least(0.98)))
    return Outcome(rows, [f"{MEMBERS} members over shared memory, all send, headers read; in C, "
                          "compared with the same program in C++"])
