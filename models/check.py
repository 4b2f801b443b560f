#!/usr/bin/env python3
"""Searches all states of a model, then wants every mistake that is planted in it to be found.

    check.py MODEL           what ./dev test runs: of view_change 160 s, of token 25 s, of chain_cut
                             50 s, of restart 130 s, on one core
    check.py MODEL --full    larger sizes too: a minute or two more, 0.9 GB
    check.py MODEL --only X  only runs whose name contains X

The model is MODEL.pml beside this file; MODEL_runs.py has its sizes and mistakes.

One line per run: name, states, seconds, memory, what was found. Exits 1 if a search of the protocol
finds anything or is not complete, or if a mistake is found by another property than the one named.
Needs spin and a C compiler (${CC}, default cc).
"""

import argparse
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MODELS = sorted(path.stem for path in FOLDER.glob("*.pml"))
WATCHDOG_S = 300


def command(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False,
                          timeout=WATCHDOG_S)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def search(model, depth, sizes, optimize):
    """Returns states, seconds, megabytes, the property that failed or None, whether complete."""
    source = str(FOLDER / f"{model}.pml")
    with tempfile.TemporaryDirectory() as folder:
        command(["spin", "-a", *(f"-D{size}" for size in sizes.split()), source], folder)
        command([*os.environ.get("CC", "cc").split(), optimize, "-w", "-DSAFETY",
                 "-DNOREDUCE", "-DMEMLIM=1500", "-o", "pan", "pan.c"], folder)
        start = time.monotonic()
        out = command(["./pan", f"-m{depth}", "-n"], folder)
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
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    model = importlib.import_module(f"{options.model}_runs")
    correct = model.CORRECT + (model.FULL if options.full else [])
    runs = [(name, None, sizes) for name, sizes in correct]
    runs += [(name, wanted, f"{sizes} BROKEN={name}") for name, wanted, sizes in model.BROKEN]
    runs += model.COSTLY
    runs = [run for run in runs if options.only in run[0]]
    bad = 0
    print(f"{'run':34} {'states':>9} {'s':>6} {'MB':>5}  found")
    for name, wanted, sizes in runs:
        states, seconds, memory, found, complete = search(
            options.model, model.DEPTH, sizes, "-O0" if wanted else "-O1")
        good = found == wanted and (complete or wanted is not None)
        bad += not good
        verdict = found or ("nothing, complete" if complete else "nothing, NOT COMPLETE")
        note = "" if good else f"   WRONG: wanted {wanted or 'nothing'} ({sizes})"
        print(f"{name:34} {states:9} {seconds:6.1f} {memory:5.0f}  {verdict}{note}", flush=True)
    print(f"{len(runs)} runs, {bad} wrong")
    return 1 if bad or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
