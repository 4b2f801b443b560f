#!/usr/bin/env python3
"""The long run: thousands of real members are killed and stopped while their group goes on.

Rounds as those of fire_test.py (fire/nemesis.py), but with more faults that follow each other more
quickly, until every fabric and size has had its share of the kills and stops. The histories of each
round are checked. A member that is killed or removed is started again and joins.

Measured: failover, from a kill to each survivor's first delivery in a view without the victim;
joins, from the start of the process to its first view. Both by CLOCK_MONOTONIC, on a machine that
has the cores for it: where processes are not woken in time, times are the scheduler's.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from fire import member as fire_member  # noqa: E402
from fire.failures import Failure  # noqa: E402
from fire.nemesis import offered, Options  # noqa: E402
from fire.rounds import run_round  # noqa: E402
from fire.tally import Tally, seconds, table  # noqa: E402
from support import TUTTI  # noqa: E402

FABRICS = ("shm", "tcp", "auto")
MORE_FABRICS = ("mixed",)  # only if asked for
SIZES = (3, 5, 7)
STOPS = ("zombie", "zombie", "pause")  # two of three last long enough for a removal
RATES = (1000, 3000, 6000)  # messages per second of all members together
FAILURES_MAX = 10  # then it ends: more would show nothing else
PAUSE_MAX = 0.1
DOWN_MAX = 0.3


def options_of(seed, fabric, members, groups, strikes, kills, stops, suspect_after):
    """What the seed draws for the fire test, at this size and with that mixture of faults."""
    draw = random.Random(f"{seed} {fabric} {members}")
    drawn = draw.choice(["atomic", "atomic", "atomic,atomic", "unordered,atomic", "atomic,agreed"])
    return Options(
        seed=seed, fabric=fabric, partitions=False, members=members,
        order=groups.order, levels=groups.levels or offered(drawn, groups.order),
        rate=draw.choice(RATES) // members, size_max=draw.choice((64, 300, 5000)),
        suspect_after=draw.choice((suspect_after,) if suspect_after else (0.4, 0.6, 0.8)),
        founders=draw.choice((0, members // 2 + 1)), faults=strikes,
        kinds=("kill",) * (kills * len(STOPS)) + STOPS * stops,
        wait_max=PAUSE_MAX, down_max=DOWN_MAX)


class Soak:
    def __init__(self, arguments):
        self._arguments = arguments
        self._tallies = [Tally(fabric, members) for members in arguments.members
                         for fabric in arguments.fabrics]
        self._mixture = smallest_ratio(arguments.kills, arguments.stops)
        self._begin = time.monotonic()

    def run(self):
        """Returns the exit status."""
        try:
            for number in itertools.count():
                tally = self._next()
                if not tally or self._is_over(number):
                    break
                self._round(tally, self._arguments.seed + number)
                if (number + 1) % self._arguments.every == 0:
                    self._tell(number + 1)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        return self._conclude()

    def _next(self):
        """Of those that have not had their share, the one that has had least; None at the end."""
        if self._arguments.rounds:
            return min(self._tallies, key=lambda tally: tally.rounds)
        left = [tally for tally in self._tallies if self._share(tally) < 1]
        return min(left, key=self._share, default=None)

    def _share(self, tally):
        rows = len(self._tallies)
        pairs = ((tally.kills, self._arguments.kills), (tally.stops, self._arguments.stops))
        return min((have * rows / want for have, want in pairs if want), default=1)

    def _is_over(self, rounds):
        minutes, most = self._arguments.minutes, self._arguments.rounds
        return (most and rounds >= most) or \
            sum(tally.failures() for tally in self._tallies) >= FAILURES_MAX or \
            (minutes and time.monotonic() - self._begin > 60 * minutes)

    def _round(self, tally, seed):
        options = options_of(seed, tally.fabric, tally.members, self._arguments,
                             self._arguments.strikes, *self._mixture, self._arguments.suspect_after)
        label = f"{tally.fabric}{tally.members}"
        try:
            run_round(options, label, lambda fire: self._over(tally, fire))
        except Failure as failure:
            print(f"{tally.add_failure(failure).upper()} {label}, seed {seed}: {failure}\n"
                  f"again: {self._again(tally, seed)}", flush=True)

    def _over(self, tally, fire):
        join = tally.add(fire)
        limit = self._arguments.join_p99
        if not join or not limit or join.seconds <= limit:
            return
        logs = tempfile.mkdtemp(prefix=f"soak-join-{tally.fabric}{tally.members}-")
        for life in fire.lives:
            shutil.copy(life.error_path, logs)
        with open(os.path.join(logs, "what-happened"), "w", encoding="utf-8") as file:
            file.write("\n".join([str(fire.options), *fire.log, str(join), ""]))
        print(f"slow join of {join.name}, {join.seconds:.3f} s: {join.said}; logs: {logs}\n"
              f"again: {self._again(tally, fire.options.seed)}", flush=True)

    def _again(self, tally, seed):
        kills, stops = self._mixture
        levels, suspect_after = self._arguments.levels, self._arguments.suspect_after
        return (f"./dev soak --fabrics {tally.fabric} --members {tally.members} --seed {seed} "
                f"--rounds 1 --kills {kills} --stops {stops} --strikes {self._arguments.strikes}" +
                (f" --levels {levels}" if levels else "") +
                (f" --suspect-after {suspect_after:g}" if suspect_after else "") +
                f" --order {self._arguments.order}")

    def _tell(self, rounds):
        total = {name: sum(getattr(tally, name) for tally in self._tallies)
                 for name in ("kills", "stops", "violations", "hangs", "failed")}
        joins = [took for tally in self._tallies for took in tally.join_s]
        print(f"{time.monotonic() - self._begin:7.1f} s  {rounds} rounds: " +
              ", ".join(f"{value} {name}" for name, value in total.items()) +
              f", joins p99 {seconds(joins, 'p99')} s", flush=True)

    def _conclude(self):
        arguments = self._arguments
        print(table(self._tallies), flush=True)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump([tally.to_json() for tally in self._tallies], file, indent=1)
                file.write("\n")
        slow = [tally for tally in self._tallies if tally.too_slow(arguments.join_p99)]
        for tally in slow:
            print(f"{tally.fabric} of {tally.members}: joins p99 above {arguments.join_p99} s")
        if not arguments.rounds and self._next():
            print("ended before all kills and stops were done")
        return 1 if slow or any(tally.failures() for tally in self._tallies) else 0


def smallest_ratio(kills, stops):
    """Numbers of at most 20 in the same ratio: a fault is drawn from a list that long."""
    largest = max(kills, stops, 1)
    scale = 20 / largest if largest > 20 else 1
    return (max(1, round(kills * scale)) if kills else 0,
            max(1, round(stops * scale)) if stops else 0)


def parse():
    parser = argparse.ArgumentParser(
        prog="soak", description="Kills and stops members for a long time, and checks and measures "
        "what becomes of their groups.",
        epilog="Exit status: 0 no violation, hang or other failure, and joins in time; 1 else; "
        "2 wrong usage. The folder of a failing round stays, and how to repeat it is printed.")
    parser.add_argument("--kills", type=int, default=10000, metavar="N",
                        help="of all fabrics and sizes together (default 10000)")
    parser.add_argument("--stops", type=int, default=2000, metavar="N",
                        help="the same for SIGSTOP, long or short (default 2000)")
    parser.add_argument("--fabrics", default=",".join(FABRICS), metavar="LIST",
                        help="shm, tcp, auto, or mixed: auto and tcp in turn (default %(default)s)")
    parser.add_argument("--members", default=",".join(map(str, SIZES)), metavar="LIST",
                        help="sizes of groups (default %(default)s)")
    parser.add_argument("--levels", metavar="LIST",
                        help="a group for each, such as agreed or atomic,agreed (default: drawn)")
    parser.add_argument("--order", default="round_robin", choices=("round_robin", "token_ring", "lcr"),
                        help="of groups that have one (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="of the first round; each round has the next one (default 1)")
    parser.add_argument("--strikes", type=int, default=30, metavar="N",
                        help="in each round, of one or two members each (default 30)")
    parser.add_argument("--rounds", type=int, default=0, metavar="N",
                        help="that many rounds; --kills and --stops are then only their ratio")
    parser.add_argument("--minutes", type=float, default=0, metavar="N",
                        help="begin no round after that time")
    parser.add_argument("--every", type=int, default=10, metavar="N",
                        help="rounds from one line of progress to the next (default 10)")
    parser.add_argument("--suspect-after", type=float, default=0, metavar="S",
                        help="of all rounds; 0: drawn from 0.4, 0.6 and 0.8 (default 0)")
    parser.add_argument("--join-p99", type=float, default=1.0, metavar="S",
                        help="seconds allowed for joins on each fabric and size; 0: report only "
                             "(default 1)")
    parser.add_argument("--json", metavar="FILE", help="write all samples there too")
    arguments = parser.parse_args()
    arguments.fabrics = arguments.fabrics.split(",")
    try:
        arguments.members = [int(word) for word in arguments.members.split(",")]
    except ValueError:
        parser.error("--members takes numbers with commas between them, such as 3,5")
    if not set(arguments.fabrics) <= set(FABRICS + MORE_FABRICS):
        known = ", ".join(FABRICS + MORE_FABRICS)
        parser.error(f"--fabrics takes {known}, with commas between them")
    if not all(3 <= size <= 26 for size in arguments.members):
        parser.error("--members takes 3 to 26: of less no majority is left when one is killed")
    if min(arguments.kills, arguments.stops) < 0 or not arguments.kills + arguments.stops:
        parser.error("--kills and --stops: nothing is to be done")
    if arguments.strikes < 1 or arguments.every < 1 or arguments.rounds < 0:
        parser.error("--strikes and --every are at least 1, --rounds at least 0")
    return arguments


def main():
    arguments = parse()
    for program in (fire_member.PROGRAM, TUTTI):
        if not shutil.which(program):
            sys.exit(f"soak: there is no {program}: run ./dev build")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leaves no process behind
    return Soak(arguments).run()


if __name__ == "__main__":
    sys.exit(main())
