#!/usr/bin/env python3
"""How fast Tutti is, beside what this machine can do at all.

Question: does each figure reach its target, a ratio to a program with no library around it
(perf/limits), or a time? Set-up: every repetition runs both in turn, A B A B, after a warm-up each;
the ratio is taken per repetition. Unit: per row; the median of the repetitions and their spread.
What is measured and why: docs/performance.md.

Command: ./dev bench, or perf/bench.py after ./dev build. On a quiet machine: with other work on the
cores the figures say nothing.
"""

import argparse
import contextlib
import os
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from bench import catalogue, machine  # noqa: E402
from bench.arguments import (PROGRAMS_DEFAULT, ROOT, Interrupted, add_suspect_after,  # noqa: E402
                             duration, folder, interrupt_on_signals, open_for_json,
                             programs_folder, whole)
from bench.report import Progress, Report  # noqa: E402
from bench.samples import MeasurementFailed  # noqa: E402
from bench.session import PROGRAMS, Options, Session  # noqa: E402

DEFAULTS = Options(runs=5, seconds=1.5, warmup=0.5)
QUICK = Options(runs=3, seconds=0.3, warmup=0.1)


def parse(words):
    parser = argparse.ArgumentParser(
        prog="bench", description="Measures Tutti beside the ceilings of this machine.",
        epilog="Exit status: 0 all was measured, targets met or not; 1 a measurement failed; "
               "2 wrong usage.")
    parser.add_argument("--list", action="store_true", help="what there is to measure")
    parser.add_argument("--only", metavar="NAME[,NAME]", default="*",
                        help="measure these only; shm_* is understood")
    parser.add_argument("--quick", action="store_true",
                        help=f"{QUICK.runs} repetitions of {QUICK.seconds} s: does it work?")
    parser.add_argument("--runs", type=whole, metavar="N",
                        help=f"repetitions (default {DEFAULTS.runs})")
    parser.add_argument("--seconds", type=duration, metavar="S",
                        help=f"measured time of each run (default {DEFAULTS.seconds})")
    add_suspect_after(parser)
    parser.add_argument("--json", metavar="FILE", help="write all figures and commands there too")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--dir", metavar="DIR", default=".", type=folder,
                        help="where log_* write their files, which are removed (default: here)")
    parser.add_argument("--programs", metavar="DIR", default=PROGRAMS_DEFAULT,
                        help="where tutti and the limit programs are (default build/release/bin)")
    arguments = parser.parse_args(words)
    try:
        arguments.measurements = catalogue.choose(arguments.only)
    except ValueError as error:
        parser.error(f"--only: {error}")
    base = QUICK if arguments.quick else DEFAULTS
    arguments.options = Options(arguments.runs or base.runs, arguments.seconds or base.seconds,
                                base.warmup, arguments.dir, arguments.suspect_after)
    return arguments


def measure(arguments, programs):
    """Returns the report and how it ended: None, or Interrupted."""
    options = {**vars(arguments.options),
               "only": [measurement.name for measurement in arguments.measurements]}
    report = Report(machine.describe(ROOT), options, arguments.markdown)
    progress = Progress(sys.stderr)
    try:
        for number, measurement in enumerate(arguments.measurements, 1):
            place = f"{number} of {len(arguments.measurements)}, {measurement.name}: "
            session = Session(arguments.options, ROOT, programs,
                              lambda text, place=place: progress.show(place + text))
            run_one(report, progress, session, measurement)
    except Interrupted as interrupted:
        progress.clear()
        return report, interrupted
    return report, None


def run_one(report, progress, session, measurement):
    load = machine.OtherLoad()
    try:
        outcome = measurement.run(session, measurement.name)
    except MeasurementFailed as error:
        progress.clear()
        report.add_failure(measurement, session.commands, error)
        return
    progress.clear()
    report.add(measurement, outcome, session.commands, load.share())


def main():
    arguments = parse(sys.argv[1:])
    if arguments.list:
        for measurement in arguments.measurements:
            print(f"{measurement.name:<20} {measurement.target}")
        return 0
    programs = programs_folder("bench", arguments.programs, PROGRAMS)
    interrupt_on_signals()
    with contextlib.ExitStack() as stack:
        file = None
        if arguments.json:
            file = stack.enter_context(open_for_json("bench", arguments.json))
        report, interrupted = measure(arguments, programs)
        report.close(interrupted is not None)
        if file:
            report.write(file)
    if interrupted:
        return interrupted.status
    return 1 if report.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # nobody reads the table any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
