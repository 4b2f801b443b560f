#!/usr/bin/env python3
"""Real processes under fire: a group goes on while members are killed, stopped, cut off, leave and
rejoin; what all of them recorded must be what the library promises.

    fire_test.py                                      the seeds of every run of CI
    fire_test.py --seeds A..B [--fabric shm|tcp|net]  those seeds; net: tcp, with partitions

Each seed prints its options. If a seed fails, it also prints what happened when, and the folder
with the histories, which stays. Environment: TUTTI, FIRE_MEMBER: the programs.
"""

import argparse
import os
import signal
import subprocess
import sys
import unittest

from fire.failures import Failure
from fire.nemesis import Options
from fire.network import UNSHARE, why_impossible
from fire.rounds import run_round

FABRICS = ("shm", "tcp", "net")
SEEDS = {"shm": (1, 2), "tcp": (1, 2), "net": (1, 2)}  # first and last


def run_seed(seed, fabric):
    """Returns one line about the run; raises Failure with all that is known."""
    partitions = fabric == "net"
    options = Options.of(seed, "tcp" if partitions else fabric, partitions)
    print(options, flush=True)
    return run_round(options, fabric)


class Fire(unittest.TestCase):
    def run_seeds(self, fabric):
        for seed in range(SEEDS[fabric][0], SEEDS[fabric][1] + 1):
            with self.subTest(seed=seed):
                print(run_seed(seed, fabric), flush=True)

    def test_on_shared_memory(self):
        self.run_seeds("shm")

    def test_on_tcp(self):
        self.run_seeds("tcp")

    def test_with_partitions(self):
        reason = why_impossible()
        if reason:
            print(f"NO PARTITIONS ARE TESTED: no network namespaces here: {reason}")
            self.skipTest(reason)
        self.assertEqual(in_namespace(*SEEDS["net"]), 0)


def in_namespace(first, last):
    """Runs the seeds with partitions as root of a namespace of their own; the exit status."""
    return subprocess.run([*UNSHARE, sys.executable, os.path.abspath(__file__), "--within",
                           "--fabric", "net", "--seeds", f"{first}..{last}"],
                          check=False).returncode


def run_range(first, last, fabric):
    failed = []
    for seed in range(first, last + 1):
        try:
            print(run_seed(seed, fabric), flush=True)
        except Failure as failure:
            print(f"FAILED: {failure}", flush=True)
            failed.append(seed)
    print(f"{fabric}: {last - first + 1 - len(failed)} seeds passed, failed: {failed or 'none'}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", metavar="A..B")
    parser.add_argument("--fabric", choices=FABRICS, help="default: all")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.seeds:
        unittest.main(argv=sys.argv[:1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # leaves no process behind
    first, _, last = arguments.seeds.partition("..")
    first, last = int(first), int(last or first)
    status = 0
    for fabric in [arguments.fabric] if arguments.fabric else FABRICS:
        outside = fabric == "net" and not arguments.within
        run = in_namespace if outside else lambda a, b, fabric=fabric: run_range(a, b, fabric)
        status |= run(first, last)
    return status


if __name__ == "__main__":
    sys.exit(main())
