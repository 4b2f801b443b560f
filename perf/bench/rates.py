"""Messages and bytes per second: against the bare loops, and over the windows."""

import itertools

from bench.samples import Outcome, Row, Samples, at_least
from bench.session import WINDOWS, bytes_of, size_name

WINDOW_CHOICES = ("256K", "512K", "1M", "2M", "4M", "8M", "16M")
WINDOW_SIZES = (64, 1024, 10240)
BLOCKS = ("16K", "64K", "256K")

# Aeron 1.51, one shared log on one host, three publishers, header only: messages per second. From
# another machine (2 vCPU of an AMD EPYC), so the ratio says less than those of one run.
AERON = {64: 7.6e6, 1024: 5.6e6}


def delivered(result):
    return result["delivered_messages_per_second"]


def delivered_bytes(result):
    return result["delivered_bytes_per_second"]


def received(result):
    return result["received_messages_per_second"]


def samples(results, figure):
    return Samples.of(figure(result) for result in results)


def with_best_windows(session, name, size, target, tutti, limit):
    """tutti(**more) and limit(**more) are commands; limit is (command, figure). Both choose their
    window: the ceiling the best of WINDOWS, tutti its default and, for comparison, its best."""
    limit_command, limit_figure = limit
    window = session.best(
        {w: lambda s, w=w: limit_command(window_bytes=w, seconds=s) for w in WINDOWS},
        limit_figure)
    own = session.best(
        {w: lambda s, w=w: tutti(**session.window(w, size), seconds=s) for w in WINDOWS}, delivered)
    results = session.side_by_side({
        "ceiling": limit_command(window_bytes=window),
        "default": tutti(),
        "best": tutti(**session.window(own, size)),
    })
    default = size_name(results["default"][0]["options"]["window_bytes"])
    ceiling = samples(results["ceiling"], limit_figure)
    return Outcome(
        [Row(name, "messages/s", samples(results["default"], delivered), ceiling, target),
         Row(f"{name}, window {own}", "messages/s", samples(results["best"], delivered), ceiling)],
        [f"windows: the ceiling's {window}, tutti's {default} (its default); "
         f"in short runs {own} was the best of {', '.join(WINDOWS)} for tutti"])


def shm_all(session, name, size, share):
    common = {"members": 3, "senders": "all", "size": size, "touch": "all"}
    return with_best_windows(
        session, name, size, at_least(share),
        lambda **more: session.tutti(**common, fabric="shm", **more),
        (lambda **more: session.limit("shared_table", **common, **more), delivered))


def shm_one(session, name, size, share):
    return with_best_windows(
        session, name, size, at_least(share),
        lambda **more: session.tutti(members=2, senders="one", size=size, fabric="shm", **more),
        (lambda **more: session.limit("ring", size=size, touch="all", **more), received))


def shm_header(session, name, size, times):
    """Senders write all bytes, receivers read the first 8: `--touch write` in the bare loop."""
    common = {"members": 3, "senders": "all", "size": size}
    window = session.best(
        {w: lambda s, w=w: session.limit("shared_table", **common, touch="write", window_bytes=w,
                                         seconds=s) for w in WINDOWS}, delivered)
    results = session.side_by_side({
        "ceiling": session.limit("shared_table", **common, touch="write", window_bytes=window),
        "tutti": session.tutti(**common, touch="header", fabric="shm"),
    })
    figure = samples(results["tutti"], delivered)
    aeron = Samples.of([AERON[size]] * session.options.runs)
    return Outcome(
        [Row(f"{name}, by Aeron", "messages/s", figure, aeron, at_least(times)),
         Row(f"{name}, by bare loop", "messages/s", figure,
             samples(results["ceiling"], delivered))],
        [f"Aeron's figure, {AERON[size] / 1e6:g} M/s, is from another machine"])


def tcp_all(session, name, size, share):
    block = session.best(
        {b: lambda s, b=b: session.limit("tcp_fanout", members=3, block=b, seconds=s)
         for b in BLOCKS}, delivered_bytes)
    results = session.side_by_side({
        "ceiling": session.limit("tcp_fanout", members=3, block=block),
        "tutti": session.tutti(members=3, senders="all", size=size, fabric="tcp"),
    })
    return Outcome(
        [Row(name, "bytes/s", samples(results["tutti"], delivered_bytes),
             samples(results["ceiling"], delivered_bytes), at_least(share))],
        [f"raw TCP: blocks of {block}, the best of {', '.join(BLOCKS)} in short runs"])


def ofi_all(session, name, size, share):
    common = {"members": 3, "senders": "all", "size": size}
    results = session.side_by_side({
        "tcp": session.tutti(**common, fabric="tcp"),
        "ofi": session.tutti(**common, fabric="ofi:tcp"),
    })
    return Outcome(
        [Row(name, "bytes/s", samples(results["ofi"], delivered_bytes),
             samples(results["tcp"], delivered_bytes), at_least(share))],
        ["the ceiling is our own tcp: the same protocol, without libfabric"])


def window_choice(session, name):
    """Per window and size the rate, as a share of the size's best; the window whose worst share is
    the highest is the best choice for all sizes."""
    combinations = list(itertools.product(WINDOW_SIZES, WINDOW_CHOICES))
    commands = {
        (size, window): session.tutti(members=3, senders="all", size=size, fabric="shm",
                                      **session.window(window, size))
        for size, window in combinations}
    results = session.side_by_side(commands)
    rates = {key: samples(results[key], delivered).median for key in combinations}
    worst = {}
    table = [["window", *(f"{size} B" for size in WINDOW_SIZES), "worst share of the best"]]
    for window in WINDOW_CHOICES:
        cells = []
        for size in WINDOW_SIZES:
            share = rates[size, window] / max(rates[size, w] for w in WINDOW_CHOICES)
            worst[window] = min(worst.get(window, share), share)
            cells.append(f"{rates[size, window] / 1e6:.3g} M/s ({share:.2f})")
        table.append([window, *cells, f"{worst[window]:.2f}"])
    details = [Row(f"{name}, {size} B, {window}", "messages/s",
                   samples(results[size, window], delivered)) for size, window in combinations]
    best = max(WINDOW_CHOICES, key=lambda window: (worst[window], -bytes_of(window)))
    return Outcome([], [f"the best choice for all sizes here: {best}"],
                   {"3 members, all send, shm; medians": table}, details)
