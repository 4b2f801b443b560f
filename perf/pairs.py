#!/usr/bin/env python3
"""How two or more orders compare at the same load, on this machine.

Question: how many messages does each order deliver a second, beside the first one named? Set-up:
`tutti perf multicast` at each combination of the fabrics, numbers of members, sizes and active
senders that are named. Every repetition runs all orders, A B then B A, so that what else the
machine does meets all of them; the ratio is taken per repetition. Unit: messages per second at each member,
and the median latency at the sender; of both the median of the repetitions (lowest..highest).

With --links each member has a link of that rate to a switch (bench/links.py): there the network is
the limit, not the two processors that all members share.

Command: perf/pairs.py after ./dev build. docs/choosing-an-order.md has its figures.
"""

import argparse
import contextlib
import itertools
import json
import os
import re
import sys
from dataclasses import asdict

sys.dont_write_bytecode = True  # the source tree stays as it is

from bench import machine, orders  # noqa: E402
from bench.arguments import (PROGRAMS_DEFAULT, ROOT, Interrupted, add_suspect_after,  # noqa: E402
                             duration, interrupt_on_signals, open_for_json, programs_folder,
                             whole)
from bench.links import Links, NoLinks  # noqa: E402
from bench.report import Progress, say  # noqa: E402
from bench.samples import MeasurementFailed  # noqa: E402
from bench.session import Options, Session  # noqa: E402

WARMUP = 0.2  # seconds
LINKS_MAX = 32


def parse(words):
    parser = argparse.ArgumentParser(
        prog="pairs", description="Runs `tutti perf multicast` in several orders in turn.",
        epilog="Several values: with commas. Exit status: 0 all was measured; 1 a measurement "
               "failed; 2 wrong usage.")
    for option, of, default, text in (
            ("--orders", one_of(orders.ORDERS), "round_robin,token_ring,lcr",
             "the first is what the others are compared with"),
            ("--fabrics", fabric, "tcp", "shm, tcp, verbs, auto or ofi:PROVIDER"),
            ("--members", members, "3", "2 to 256"),
            ("--sizes", size, "64,1K,10K", "of messages, in bytes; 64K and 4M are understood"),
            ("--active", one_of(orders.ACTIVE), "all,one",
             "how many members send: all, half or one")):
        parser.add_argument(option, type=list_of(of), default=default, metavar="A[,B]",
                            help=f"{text} (default {default})")
    parser.add_argument("--links", type=mbit, metavar="MBIT",
                        help="put each member behind a link of so many Mbit/s, 1 to 100000: for "
                             "the fabric tcp, at most 32 members; needs root (default: all "
                             "members on this host's loopback)")
    parser.add_argument("--repeat", type=whole, default=5, metavar="N",
                        help="repetitions of each point (default 5)")
    parser.add_argument("--seconds", type=duration, default=0.5, metavar="S",
                        help="measured time of each run (default 0.5)")
    add_suspect_after(parser)
    parser.add_argument("--json", metavar="FILE", help="write all figures and commands there too; "
                                                       "-: to standard output, no table")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--programs", metavar="DIR", default=PROGRAMS_DEFAULT,
                        help="where tutti is (default build/release/bin)")
    arguments = parser.parse_args(words)
    if len(arguments.orders) < 2:
        parser.error(f"argument --orders: {arguments.orders[0]} alone: name at least two")
    if arguments.links and arguments.fabrics != ["tcp"]:
        parser.error("argument --links: only the fabric tcp goes over links")
    if arguments.links and max(arguments.members) > LINKS_MAX:
        parser.error(f"argument --links: at most {LINKS_MAX} members")
    return arguments


def list_of(each):
    def read(text):
        values = [each(word) for word in text.split(",")]
        for value in values:
            if values.count(value) > 1:
                raise argparse.ArgumentTypeError(f"{value} stands there twice")
        return values
    return read


def one_of(words):
    def read(text):
        if text not in words:
            raise argparse.ArgumentTypeError(f"'{text}' is unknown; known: {', '.join(words)}")
        return text
    return read


def fabric(text):
    if not re.fullmatch(r"shm|tcp|verbs|auto|ofi:[ -~]+", text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is unknown; known: shm, tcp, verbs, auto, ofi:PROVIDER")
    return text


def members(text):
    if not text.isascii() or not text.isdigit() or not 2 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"'{text}': must be 2 to 256")
    return int(text)


def size(text):
    if not re.fullmatch(r"[0-9]{1,8}[KM]?", text):
        raise argparse.ArgumentTypeError(f"'{text}': must be bytes, such as 64, 10K or 1M")
    return text


def mbit(text):
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"'{text}': must be 1 to 100000 Mbit/s")
    return int(text)


def measure(arguments, programs, table, links):
    """Returns what was found for the JSON file, the failures as text, and what interrupted it."""
    options = Options(arguments.repeat, arguments.seconds, WARMUP,
                      suspect_after=arguments.suspect_after)
    points = [orders.Point(*values) for values in itertools.product(
        arguments.fabrics, arguments.members, arguments.sizes, arguments.active)]
    progress = Progress(sys.stderr)
    results, failures = [], []
    for number, point in enumerate(points, 1):
        place = f"{number} of {len(points)}, "
        session = Session(options, ROOT, programs,
                          lambda text, place=place: progress.show(place + text))
        load = machine.OtherLoad()
        try:
            found = orders.measure(session, point, arguments.orders, links)
        except MeasurementFailed as error:
            progress.clear()
            failures.append(str(error))
            results.append({**asdict(point), "error": str(error)})
            if table:
                table.add_failure(point)
            continue
        except Interrupted as interrupted:
            progress.clear()
            return results, failures, interrupted
        progress.clear()
        results.append(orders.point_json(point, found, load.share()))
        if table:
            table.add(point, found)
    return results, failures, None


def main():
    arguments = parse(sys.argv[1:])
    programs = programs_folder("pairs", arguments.programs, ["tutti"])
    interrupt_on_signals()
    about = machine.describe(ROOT)
    table = None
    with contextlib.ExitStack() as stack:
        links = None
        if arguments.links:
            try:
                links = stack.enter_context(Links(max(arguments.members), arguments.links))
            except NoLinks as why:
                sys.exit(f"pairs: --links: {why}")
        file = None
        if arguments.json == "-":
            file = sys.stdout
        elif arguments.json:
            file = stack.enter_context(open_for_json("pairs", arguments.json))
        if arguments.json != "-":
            say(f"{about['cpu_model']}, {about['cores']} cores; commit {about['commit'][:12]}; "
                f"{about['date']}; median (lowest..highest) of {arguments.repeat} repetitions of "
                f"{arguments.seconds:g} s"
                + (f"; links of {arguments.links} Mbit/s" if links else "") + f"; ratio to {arguments.orders[0]}\n")
            table = orders.Table(arguments.markdown)
        load = machine.OtherLoad()
        results, failures, interrupted = measure(arguments, programs, table, links)
        if table:
            say(f"\n{len(failures)} points failed" + (", interrupted" if interrupted else "")
                + f"; other work took {load.share():.0%} of the cores meanwhile")
        for failure in failures:
            print(f"pairs: {failure}", file=sys.stderr)
        if file:
            json.dump({**about, "orders": arguments.orders, "repeat": arguments.repeat,
                       "seconds": arguments.seconds, "warmup": WARMUP,
                       "links_mbit": arguments.links,
                       "other_load": round(load.share(), 4), "points": results,
                       "interrupted": interrupted is not None}, file, indent=1)
            file.write("\n")
    if interrupted:
        return interrupted.status
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # nobody reads the table any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
