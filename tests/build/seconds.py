#!/usr/bin/env python3
"""Prints how long the steps of a build took, by folder, from what Ninja wrote down.

    seconds.py BUILD_FOLDER [--since NS]   only steps whose output is newer (nanoseconds since 1970)
    seconds.py --self-test

Steps run side by side, so their sum is about the processor time of the build. Nothing is printed if
nothing was built. A folder that grows is a reason to look: mostly at a header that became heavy.
"""

import argparse
import collections
import re
import sys
import textwrap
import unittest
from pathlib import Path

COLUMNS = 100
# What a target is called -> the folder of its sources (CMakeLists.txt, tests/, perf/).
FOLDERS = ((r"(?:.*/)?CMakeFiles/tutti_test_support\.dir/.*", "tests/support"),
           (r"(?:.*/)?CMakeFiles/tutti_(\w+)\.dir/.*", r"src/\1"),
           (r"(?:.*/)?CMakeFiles/example_\w+\.dir/.*", "examples"),
           (r"tests/CMakeFiles/unit_(\w+)\.dir/.*", r"tests/unit/\1"),
           (r"tests/CMakeFiles/fire_member\.dir/.*", "tests/fire"),
           (r"tests/CMakeFiles/(\w+)\.dir/.*", r"tests/\1"),
           (r"perf/CMakeFiles/.*", "perf"),
           (r"(?:bin|lib)/.*", "links"))


def folder_of(output):
    for pattern, folder in FOLDERS:
        if match := re.fullmatch(pattern, output):
            return match.expand(folder)
    return "other"


def steps(log, since):
    """(output, seconds) of each step: of several runs of one, the last; of several outputs of one,
    such as a library and its symbolic links, one."""
    found = {}
    for line in log.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 5:
            continue
        begin_ms, end_ms, changed_ns = map(int, fields[:3])
        output, command = fields[3:]
        if changed_ns >= since:
            found[command] = (output, (end_ms - begin_ms) / 1000)
    return found.values()


def report(log, since):
    """Lines of text; none if there were no steps."""
    seconds = collections.Counter()
    count = 0
    for output, took in steps(log, since):
        seconds[folder_of(output)] += took
        count += 1
    if count == 0:
        return []
    parts = [f"{folder} {took:.0f}" for folder, took in seconds.most_common()]
    text = f"{sum(seconds.values()):.0f} s in {count} steps: " + ", ".join(parts)
    return textwrap.wrap(text, COLUMNS, initial_indent="  ", subsequent_indent="    ",
                         break_on_hyphens=False)


class SelfTest(unittest.TestCase):
    LOG = "\n".join(("# ninja log v5",
                     "0\t2000\t100\tCMakeFiles/tutti_cli.dir/Unity/unity_0_cxx.cxx.o\ta",
                     "0\t9000\t200\tCMakeFiles/tutti_cli.dir/Unity/unity_0_cxx.cxx.o\ta",
                     "10\t1510\t201\ttests/CMakeFiles/unit_node.dir/bootstrap_test.cpp.o\tb",
                     "10\t510\t202\tbin/unit_node\tc", "half a line", ""))

    def test_adds_up_by_folder_the_longest_first(self):
        self.assertEqual(report(self.LOG, 0),
                         ["  11 s in 3 steps: src/cli 9, tests/unit/node 2, links 0"])

    def test_leaves_out_what_is_older(self):
        self.assertEqual(report(self.LOG, 201), ["  2 s in 2 steps: tests/unit/node 2, links 0"])
        self.assertEqual(report(self.LOG, 203), [])

    def test_knows_the_folders(self):
        for output, folder in (
                ("CMakeFiles/tutti_sim.dir/src/sim/core.cpp.o", "src/sim"),
                ("CMakeFiles/example_kv.dir/examples/kv.cpp.o", "examples"),
                ("tests/CMakeFiles/tutti_test_support.dir/Unity/unity_0_cxx.cxx.o", "tests/support"),
                ("tests/CMakeFiles/conformance.dir/Unity/unity_0_cxx.cxx.o", "tests/conformance"),
                ("tests/CMakeFiles/fire_member.dir/Unity/unity_0_cxx.cxx.o", "tests/fire"),
                ("perf/CMakeFiles/limit_ring.dir/limits/ring.cpp.o", "perf"),
                ("lib/libtutti.a", "links"), ("build.ninja", "other")):
            with self.subTest(output=output):
                self.assertEqual(folder_of(output), folder)

    def test_long_reports_are_wrapped(self):
        log = "\n".join(f"0\t1000\t1\ttests/CMakeFiles/unit_{i:020}.dir/a.o\t{i}" for i in range(20))
        lines = report(log, 0)
        self.assertGreater(len(lines), 1)
        self.assertLessEqual(max(map(len, lines)), COLUMNS)


def main():
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, metavar="BUILD_FOLDER")
    parser.add_argument("--since", type=int, default=0, metavar="NS")
    options = parser.parse_args()
    log = options.folder / ".ninja_log"
    for line in report(log.read_text(encoding="utf-8") if log.exists() else "", options.since):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
