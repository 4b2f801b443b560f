#!/usr/bin/env python3
"""How long a group stands still when one of its members is killed.

Question: from kill -9 of one member, when does each survivor deliver again, in the next view?
Set-up: 3 members in processes of their own (fire_member), default options, each sends 64 B messages
at a rate; a random one is killed, the survivors go on, it is started again and joins, and so on.
With several --groups one group of each kind runs, and a kill in one follows a kill in another.
Unit: ms from just before the kill to the first delivery in the next view, one sample for each
survivor; all by CLOCK_MONOTONIC. What is measured and why: docs/performance.md.

Command: perf/failover.py after ./dev build. On a quiet machine: the processes must be woken.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from bench import machine  # noqa: E402
from fire import member as fire  # noqa: E402
from fire.times import distribution  # noqa: E402
from support import free_ports  # noqa: E402

NAMES = ("a", "b", "c")
TARGETS_MS = {"shm": 10, "tcp": 120}  # p99
KINDS = ("round_robin/atomic", "round_robin/agreed", "token_ring/atomic", "token_ring/agreed",
         "lcr/atomic")
PATIENCE = 60  # seconds; then something hangs
LOOK = 0.001


class Failed(Exception):
    """A member ended, or hangs."""


class Cluster:
    def __init__(self, fabric, kind, rate, folder):
        order, level = kind.split("/")
        ports = free_ports(len(NAMES))
        self._arguments = ["--fabric", fabric, "--rate", rate, "--size-max", 64, "--order", order, "--levels",
                           level, "--members",
                           ",".join(f"{name}=127.0.0.1:{port}"
                                    for name, port in zip(NAMES, ports))]
        self._folder = folder
        self._lives = 0
        self.members = {}
        for name in NAMES:
            self._start(name)
        self.wait(self._whole, "the group begins")

    def _start(self, name, *more):
        self._lives += 1
        self.members[name] = fire.FireMember(name, self._lives, [*self._arguments, *more],
                                             self._folder)

    def _whole(self):
        numbers = {member.view.number for member in self.members.values()}
        return len(numbers) == 1 and all(
            len(member.view.members) == len(NAMES) and member.view.number in member.first
            for member in self.members.values())

    def wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            for member in self.members.values():
                if not member.running():
                    raise Failed(f"{member.name} ended\n" + self._state())
            if time.monotonic() > deadline:
                raise Failed(f"waited in vain: {what}\n" + self._state())
            time.sleep(LOOK)

    def _state(self):
        return "\n".join(f"{member.name}, view {member.view.number} of "
                         f"{','.join(member.view.members)}: {member.said()}"
                         for member in self.members.values())

    def kill(self, name):
        """{"view": ms to each survivor's next view, "delivery": to its first delivery there}."""
        victim = self.members.pop(name)
        view = victim.view.number + 1
        begin = time.monotonic_ns()
        victim.kill()
        self.wait(lambda: all(view in member.first for member in self.members.values()),
                  "the survivors deliver")
        survivors = self.members.values()
        found = {
            "view": [(installed.time_ns - begin) / 1e6 for member in survivors
                     for installed in member.views if installed.number == view],
            "delivery": [(member.first[view] - begin) / 1e6 for member in survivors],
        }
        victim.clean_up()
        begin = time.monotonic_ns()
        self._start(name, "--join")
        self.wait(self._whole, f"{name} comes again")
        first = self.members[name].first[self.members[name].view.number]
        found["rejoin"] = [(first - begin) / 1e6]
        return found

    def close(self):
        for member in self.members.values():
            member.clean_up()


def measure(fabric, kinds, kills, rate, seed):
    """One result for each kind of group."""
    draw = random.Random(seed)
    samples = {kind: {"view": [], "delivery": [], "rejoin": []} for kind in kinds}
    folder = tempfile.mkdtemp(prefix="failover-")
    load = machine.OtherLoad()
    clusters = {}
    try:
        for kind in kinds:
            place = os.path.join(folder, kind)
            os.makedirs(place)
            clusters[kind] = Cluster(fabric, kind, rate, place)
        for _ in range(kills):
            for kind, cluster in clusters.items():
                time.sleep(draw.uniform(0.0, 0.05))  # at any moment of what goes on regularly
                for what, values in cluster.kill(draw.choice(NAMES)).items():
                    samples[kind][what] += values
    finally:
        for cluster in clusters.values():
            cluster.close()
        shutil.rmtree(folder, ignore_errors=True)
    share = round(load.share(), 4)
    return [result_of(fabric, kind, kills, samples[kind], share) for kind in kinds]


def result_of(fabric, kind, kills, samples, other_load):
    figures = {what: distribution(values) for what, values in samples.items()}
    return {"fabric": fabric, "group": kind, "kills": kills, "figures_ms": figures,
            "samples_ms": samples, "target_p99_ms": TARGETS_MS[fabric],
            "met": figures["delivery"]["p99"] <= TARGETS_MS[fabric], "other_load": other_load}


def show(result):
    words = {"view": "kill to the next view", "delivery": "kill to the next delivery",
             "rejoin": "start to delivery as a joiner"}
    print(f"{result['fabric']}, {result['group']}")
    for what, figures in result["figures_ms"].items():
        line = f"     {words[what]:<31}" + "".join(
            f"{name} {value:8.2f} ms  " for name, value in figures.items())
        if what == "delivery":
            line += f"target p99 <= {result['target_p99_ms']} ms: " + (
                "met" if result["met"] else "NOT MET")
        print(line.rstrip(), flush=True)
    if result["other_load"] > 0.05:
        print(f"     other work took {result['other_load']:.0%} of the cores meanwhile: "
              "measure again", flush=True)


def compare(results):
    """Each kind of group against the first one, by what half of the survivors needed."""
    first = results[0]
    for result in results[1:]:
        ratios = (f"{what} {of['p50'] / first['figures_ms'][what]['p50']:.2f}"
                  for what, of in result["figures_ms"].items())
        print(f"     {result['group']} against {first['group']}, ratios of p50: "
              + ", ".join(ratios))


def parse():
    parser = argparse.ArgumentParser(
        prog="failover", description="Kills members and measures when the others deliver again.",
        epilog="Exit status: 0 all was measured, targets met or not; 1 a member failed.")
    parser.add_argument("--fabric", choices=TARGETS_MS, help="default: each in turn")
    parser.add_argument("--groups", nargs="+", default=["round_robin/atomic"],
                        metavar="ORDER/LEVEL", choices=KINDS,
                        help=f"side by side: {' '.join(KINDS)} (default round_robin/atomic)")
    parser.add_argument("--kills", type=int, default=200, metavar="N",
                        help="for each fabric and group (default 200)")
    parser.add_argument("--rate", type=int, default=1000, metavar="N",
                        help="messages per second of each member; 0: as fast as it goes "
                             "(default 1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="write all samples there too")
    return parser.parse_args()


def main():
    arguments = parse()
    if not os.access(fire.PROGRAM, os.X_OK):
        sys.exit(f"failover: there is no {fire.PROGRAM}: run ./dev build")
    about = machine.describe(ROOT)
    print(f"{about['cpu_model']}, {about['cores']} cores; commit {about['commit'][:12]}; "
          f"{about['date']}; {arguments.kills} kills, {arguments.rate} messages/s of each member")
    results = []
    for fabric in [arguments.fabric] if arguments.fabric else TARGETS_MS:
        try:
            found = measure(fabric, arguments.groups, arguments.kills, arguments.rate,
                            arguments.seed)
        except Failed as failure:
            sys.exit(f"failover: {fabric}: {failure}")
        for result in found:
            show(result)
        compare(found)
        results += found
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({**about, "rate": arguments.rate, "seed": arguments.seed,
                       "results": results}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
