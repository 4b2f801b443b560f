#!/usr/bin/env python3
"""The long run of clients: thousands of client processes and hundreds of relays are killed.

In rounds, each with its own members, relays and clients (clients/rounds.py). Publishers that are
killed go on with their session, subscribers at their position, and clients of relays that are
killed at the next one. After each round the journals of all are judged (clients/judge.py).
"""

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))

from clients.rounds import Failure, Options, Round  # noqa: E402
from support import TUTTI  # noqa: E402

SHORT_HISTORY = 50  # samples: those that are away for long hear gaps


def options_of(arguments, number):
    """Every third round has a short history, so that there are gaps; a log keeps all."""
    short = number % 3 == 2 and arguments.service == "stored"
    rounds = -(-arguments.crashes // arguments.round)
    return Options(
        seed=arguments.seed + number, members=arguments.members, publishers=arguments.publishers,
        subscribers=arguments.subscribers, crashes=min(arguments.round, arguments.crashes),
        relay_kills=-(-arguments.relay_kills // rounds),
        history=SHORT_HISTORY if short else 1_000_000, gaps_allowed=short,
        service=arguments.service, rate=arguments.rate, life=arguments.life)


class Soak:
    def __init__(self, arguments):
        self._arguments = arguments
        self._sums = dict.fromkeys(("crashes", "relay_kills", "acknowledged", "samples",
                                    "received", "missed"), 0)
        self._failures = 0

    def run(self):
        """Returns the exit status."""
        wanted = self._arguments
        begin = time.monotonic()
        for number in itertools.count():
            if self._sums["crashes"] >= wanted.crashes and \
                    self._sums["relay_kills"] >= wanted.relay_kills:
                break
            if self._failures or (wanted.minutes and
                                  time.monotonic() - begin > 60 * wanted.minutes):
                break
            self._round(options_of(wanted, number))
            sums = ", ".join(f"{value} {name.replace('_', ' ')}"
                             for name, value in self._sums.items())
            print(f"{time.monotonic() - begin:7.1f} s  {number + 1} rounds: {sums}, "
                  f"{self._failures} failed", flush=True)
        return 1 if self._failures else 0

    def _round(self, options):
        folder = tempfile.mkdtemp(prefix="clients-soak-")
        one = Round(options, folder)
        problems = []
        try:
            one.run()
            problems = one.verdict.violations
        except Failure as failure:
            problems = [str(failure)]
        self._sums["crashes"] += one.crashes
        self._sums["relay_kills"] += one.relay_kills
        for name in ("acknowledged", "samples", "received", "missed"):
            self._sums[name] += getattr(one.verdict, name) if one.verdict else 0
        if not problems:
            shutil.rmtree(folder)
            return
        self._failures += 1
        print(f"FAILURE, seed {options.seed}, {len(problems)} in all: {'; '.join(problems[:5])}\n"
              f"journals and logs: {folder}", flush=True)


def parse():
    parser = argparse.ArgumentParser(
        prog="clients_soak", description="Kills clients and relays for a long time, and checks "
        "that nothing is lost, doubled or out of order.",
        epilog="Exit status: 0 nothing was; 1 else; 2 wrong usage. The folder of a round that "
        "fails stays, and no other begins.")
    parser.add_argument("--crashes", type=int, default=10000, metavar="N",
                        help="of client processes (default 10000)")
    parser.add_argument("--relay-kills", type=int, default=200, metavar="N",
                        help="of members with a relay, by SIGKILL (default 200)")
    parser.add_argument("--round", type=int, default=500, metavar="N",
                        help="crashes of one round (default 500)")
    parser.add_argument("--members", type=int, default=3, metavar="N")
    parser.add_argument("--publishers", type=int, default=12, metavar="N")
    parser.add_argument("--subscribers", type=int, default=4, metavar="N")
    parser.add_argument("--rate", type=int, default=50, metavar="N",
                        help="samples of each publisher in a second, at most (default 50)")
    parser.add_argument("--life", type=float, default=0.3, metavar="S",
                        help="of a client process, at most, once it made progress (default 0.3)")
    parser.add_argument("--service", default="stored", choices=("stored", "logged"))
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--minutes", type=float, default=0, metavar="N",
                        help="begin no round after that time")
    return parser.parse_args()


def main():
    arguments = parse()
    if not shutil.which(TUTTI):
        sys.exit(f"clients_soak: there is no {TUTTI}: run ./dev build, and set TUTTI")
    return Soak(arguments).run()


if __name__ == "__main__":
    sys.exit(main())
