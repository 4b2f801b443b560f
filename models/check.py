#!/usr/bin/env python3
"""Searches all states of models/view_change.pml, then wants every planted mistake to be found.

    check.py           what ./dev test runs: under a minute on one core, 0.4 GB
    check.py --full    larger sizes too: half a minute more, 0.9 GB
    check.py --only X  only runs whose name contains X

One line per run: name, states, seconds, memory, what was found. Exits 1 if a search of the protocol
finds anything or is not complete, or if a mistake is found by another property than the one named.
Needs spin and a C compiler (${CC}, default cc).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).resolve().with_name("view_change.pml")
DEPTH = 500
WATCHDOG_S = 300

EDGE = "N=5 SENDERS=1 PLACES=2 AGREED=1 EDGE=1 DARK=0 FINE=0"

# Name, sizes, property that must fail (None: no error, all states seen).
CORRECT = [
    ("3 members, 2 senders", "CRASHES=1 FALSE_SUSPICIONS=1"),
    ("3, two failures more", "SENDERS=1 CRASHES=2 FALSE_SUSPICIONS=1 FINE=0"),
    ("3, rounds with a null", "PLACES=2 NULLS=2 CRASHES=0 FALSE_SUSPICIONS=1 DARK=0 FINE=0"),
    ("3, a join", "SENDERS=1 CHANGE=1 FINE=0"),
    ("3, the leader leaves", "SENDERS=1 CHANGE=2 LEAVER=0 FINE=0"),
    ("3, another leaves", "SENDERS=1 CHANGE=2 LEAVER=2 FINE=0"),
    ("3, the suspected stop", "IN_RETURN=2 FINE=0"),
    ("3, the suspected go on", "IN_RETURN=0 FINE=0"),
    ("3, a broken link", "SENDERS=0 CRASHES=0 LINK=1 IN_RETURN=2 PROGRESS=1"),
    ("4, one sender, a crash", "N=4 SENDERS=1 FALSE_SUSPICIONS=0"),
    ("5, leader and successor crash", "N=5 SENDERS=0 CRASHES=2 FALSE_SUSPICIONS=0 DARK=0"),
    ("5, one false suspicion", "N=5 SENDERS=0 CRASHES=0 DARK=0 IN_RETURN=2 PROGRESS=1"),
    ("5, any quorums", "N=5 SENDERS=0 CRASHES=0 FALSE_SUSPICIONS=0 DARK=0 CHANGE=1 ANY_QUORUM=1"),
    ("agreed: 3 members", "SENDERS=1 PLACES=2 AGREED=1 DARK=0 FINE=0"),
    ("agreed: 3, 2 senders", "AGREED=1 DARK=0 FINE=0"),
    ("agreed: 3, another leaves", "SENDERS=1 CHANGE=2 LEAVER=2 AGREED=1 DARK=0 FINE=0"),
    ("agreed: 5 at the edge", f"{EDGE} IN_RETURN=0"),
    ("agreed: 5 at the edge, a crash", f"{EDGE} CRASHES=2 FALSE_SUSPICIONS=0"),
]
FULL = [
    ("full: 3, two false suspicions", "SENDERS=1 FALSE_SUSPICIONS=2 FINE=0"),
    ("full: 3, rounds, a crash", "PLACES=2 NULLS=2 CRASHES=1 FALSE_SUSPICIONS=0 FINE=0"),
    ("full: 4, one sender", "N=4 SENDERS=1 DARK=0 FINE=0"),
    ("full: 5, two crashes, rows lost", "N=5 SENDERS=0 CRASHES=2 FALSE_SUSPICIONS=0"),
    ("full: agreed, rows lost", "SENDERS=1 PLACES=2 AGREED=1 FINE=0"),
    ("full: agreed, 5 at the edge", f"{EDGE} CRASHES=2 IN_RETURN=0"),
    ("full: 5, a broken link", "N=5 SENDERS=0 CRASHES=0 LINK=1 DARK=0 IN_RETURN=2 PROGRESS=1"),
]
BROKEN = [
    ("IGNORES_ACCEPTED", "agreement", "DARK=0"),
    ("TAKES_LOWEST_BALLOT", "agreement", "N=5 SENDERS=0 DARK=0 CHANGE=1 ANY_QUORUM=1"),
    ("NO_PROMISE", "agreement", "DARK=0"),
    ("ACCEPTED_BEFORE_PROMISE", "agreement", "DARK=0"),
    ("RECEIVES_WEDGED", "uniform", "DARK=0"),
    ("RECEIVED_BEFORE_WEDGED", "uniform", "DARK=0"),
    ("NO_WEDGE_WAIT", "has_the_cut", "DARK=0"),
    ("CUT_MAXIMUM", "has_the_cut", "DARK=0"),
    ("MINORITY_DECIDES", "agreement", "DARK=0"),
    ("MAJORITY_OF_UNSUSPECTED", "majority_rule", "DARK=0"),
    ("ACCEPTS_SUSPECTED", "agreement", "DARK=0"),
    ("LEARNS_FLAG", "agreement", "DARK=0"),
    ("STABLE_UNSUSPECTED", "uniform", "DARK=0"),
    ("SILENT_EVICTED", "no_deadlock", "DARK=1"),
    ("PROPOSES_UNSETTLED", "has_the_cut", EDGE),
    ("AWAITS_SUSPECTED", "no_deadlock", EDGE),
    ("CUT_MINIMUM", "uniform", EDGE),
    ("DELIVERS_WEDGED", "uniform", EDGE),
    ("LEADER_PASSES", "no_deadlock", f"{EDGE} CRASHES=2"),
    ("GUARD_BEFORE_BYTES", "has_bytes", EDGE),
    ("GUARD_STAYS", "has_bytes", EDGE),
    ("LOOKS_ONCE", "has_bytes", EDGE),
]
# Not a mistake in what is agreed, but what it costs: docs/protocol.md.
COSTLY = [
    ("5, suspecting in return spreads", "somebody_goes_on",
     "N=5 SENDERS=0 CRASHES=0 DARK=0 IN_RETURN=1 PROGRESS=1"),
    ("4, a broken link stops all", "somebody_goes_on",
     "N=4 SENDERS=0 CRASHES=0 DARK=0 LINK=1 IN_RETURN=2 PROGRESS=1"),
    ("agreed: the evicted may be ahead", "uniform", EDGE.replace("AGREED=1", "AGREED=2")),
]


def command(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False,
                          timeout=WATCHDOG_S)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def search(sizes, optimize):
    """Returns states, seconds, megabytes, the property that failed or None, whether it is complete."""
    with tempfile.TemporaryDirectory() as folder:
        command(["spin", "-a", *(f"-D{size}" for size in sizes.split()), str(MODEL)], folder)
        command([*os.environ.get("CC", "cc").split(), optimize, "-w", "-DSAFETY",
                 "-DNOREDUCE", "-DMEMLIM=1500", "-o", "pan", "pan.c"], folder)
        start = time.monotonic()
        out = command(["./pan", f"-m{DEPTH}", "-n"], folder)
        seconds = time.monotonic() - start
    found = re.search(r"assertion violated (\w+)", out)
    errors = int(re.search(r"errors: (\d+)", out)[1])
    states = int(re.search(r"(\d+) states, stored", out)[1])
    memory = float(re.search(r"([\d.]+)\s+total actual memory usage", out)[1])
    complete = not re.search(r"not completed|depth too small|out of memory", out)
    name = found[1] if found else ("unknown" if errors else None)
    return states, seconds, memory, name, complete


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    runs = [(name, None, sizes) for name, sizes in CORRECT + (FULL if options.full else [])]
    runs += [(name, wanted, f"{sizes} BROKEN={name}") for name, wanted, sizes in BROKEN]
    runs += COSTLY
    runs = [run for run in runs if options.only in run[0]]
    bad = 0
    print(f"{'run':34} {'states':>9} {'s':>6} {'MB':>5}  found")
    for name, wanted, sizes in runs:
        states, seconds, memory, found, complete = search(sizes, "-O0" if wanted else "-O1")
        good = found == wanted and (complete or wanted is not None)
        bad += not good
        verdict = found or ("nothing, complete" if complete else "nothing, NOT COMPLETE")
        note = "" if good else f"   WRONG: wanted {wanted or 'nothing'} ({sizes})"
        print(f"{name:34} {states:9} {seconds:6.1f} {memory:5.0f}  {verdict}{note}", flush=True)
    print(f"{len(runs)} runs, {bad} wrong")
    return 1 if bad or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
