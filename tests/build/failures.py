#!/usr/bin/env python3
"""What the tests that failed said last.

    failures.py REPORT [--lines N]      REPORT: of `ctest --output-junit`

A log of thousands of tests has the output of one that failed somewhere in it. This says it once
more, to be printed at the end of a run.
"""

import argparse
import sys
import xml.etree.ElementTree
from pathlib import Path


def failures(report, lines):
    """Name and last lines of each test that failed."""
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        skipped = case.find("skipped")
        why = "" if skipped is None else skipped.get("message", "")
        if case.get("status") == "notrun" and not why.startswith("SKIP_"):
            yield case.get("name"), [why]  # ctest could not run it
        if case.get("status") == "fail":
            said = (case.findtext("system-out") or "").rstrip().split("\n")
            yield case.get("name"), said[-lines:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--lines", type=int, default=60, help="of each test, at most")
    arguments = parser.parse_args()
    try:
        for name, said in failures(arguments.report, arguments.lines):
            print(f"FAILED {name}")
            print("\n".join(f"    {line}" for line in said))
    except xml.etree.ElementTree.ParseError as error:
        print(f"{arguments.report}: {error}")


if __name__ == "__main__":
    sys.exit(main())
