#!/usr/bin/env python3
"""A small round of the long run, what it does when a round fails, and how it reads what members say.
Times are measured there and judged by nobody here."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

from fire.member import FireMember, View
from fire.nemesis import Kill
from fire.times import distribution, failovers, last_said
from support import WATCHDOG

SOAK = Path(__file__).with_name("soak.py")


def folder_for(test):
    folder = tempfile.mkdtemp(prefix="soak-test-")
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Soak(unittest.TestCase):
    def setUp(self):
        self.folder = folder_for(self)

    def soak(self, *arguments, **environment):
        return subprocess.run([sys.executable, SOAK, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * WATCHDOG,
                              check=False, env={**os.environ, "TMPDIR": self.folder, **environment})

    def test_goes_on_until_each_fabric_had_its_share(self):
        report = os.path.join(self.folder, "report")
        done = self.soak("--fabrics", "shm,tcp", "--members", "3", "--strikes", "2", "--kills", "2",
                         "--stops", "2", "--every", "1", "--join-p99", "0", "--json", report)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(report, encoding="utf-8") as file:
            tallies = json.load(file)
        self.assertEqual([(tally["fabric"], tally["members"]) for tally in tallies],
                         [("shm", 3), ("tcp", 3)])
        for tally in tallies:
            self.assertGreaterEqual(tally["kills"], 1)
            self.assertGreaterEqual(tally["stops"], 1)
            # In a group that was lost because the machine stood still, not all join again.
            if not tally["groups_lost"]:
                self.assertGreaterEqual(len(tally["join_s"]), tally["kills"])
        self.assertIn("1 rounds: ", done.stdout)
        self.assertIn("slowest joins", done.stdout)

    def test_keeps_what_a_failing_round_left_and_says_how_to_repeat_it(self):
        done = self.soak("--fabrics", "tcp", "--members", "5", "--seed", "7", "--rounds", "1",
                         FIRE_MEMBER=shutil.which("false"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("FAILURE tcp5, seed 7: ", done.stdout)
        self.assertIn("again: ./dev soak --fabrics tcp --members 5 --seed 7 --rounds 1 ",
                      done.stdout)
        left = list(Path(self.folder).glob("fire-tcp5-7-*/what-happened"))
        self.assertEqual(len(left), 1, done.stdout)
        self.assertIn("ended with 1", left[0].read_text(encoding="utf-8"))

    def test_slow_joins_are_a_failure_and_leave_their_logs(self):
        done = self.soak("--fabrics", "shm", "--members", "3", "--rounds", "1", "--strikes", "1",
                         "--kills", "1", "--stops", "0", "--join-p99", "0.000001",
                         "--suspect-after", "40")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("joins p99 above", done.stdout)
        self.assertTrue(list(Path(self.folder).glob("soak-join-shm3-*/a.0.err")), done.stdout)


class Times(unittest.TestCase):
    def test_a_failover_ends_with_the_first_delivery_without_the_victim(self):
        views = [View(3, 100, {"a": 1, "b": 1}), View(4, 200, {"a": 1}), View(5, 300, {"a": 1})]
        fit = SimpleNamespace(views=views, first={3: 110, 5: 320}, struck_ns=[90, 330],
                              stood_still=lambda begin_ns, end_ns: end_ns > 320)
        struck = SimpleNamespace(views=views, first={3: 110, 4: 220}, struck_ns=[150])
        stranger = SimpleNamespace(views=views[1:], first={4: 210}, struck_ns=[])
        kill = Kill("b", 1, 120, [fit, struck, stranger])
        self.assertEqual(failovers([kill], [fit]), [(200 / 1e9, True)])

    def test_a_member_stands_still_from_stop_to_continue(self):
        member = FireMember("a", 0, [], folder_for(self))
        self.addCleanup(member.clean_up)
        before = time.monotonic_ns()
        member.pause()
        between = time.monotonic_ns()
        member.go_on()
        after = time.monotonic_ns()
        self.assertTrue(member.stood_still(before, after))
        self.assertTrue(member.stood_still(between, between + 1))
        self.assertTrue(member.stood_still(before, between))
        self.assertFalse(member.stood_still(before - 1, before))
        self.assertFalse(member.stood_still(after, after + 1))

    def test_a_wait_is_the_last_one_named_before_the_join(self):
        said = ("1.5 waiting for b\n2.5 waiting for c\n2.6 member 'b' was lost\n"
                "3.5 waiting for d\n")
        self.assertEqual(last_said(said, before=3.0), "waiting for c")
        self.assertEqual(last_said("1.5 member 'b' was lost\n", before=3.0),
                         "member 'b' was lost")
        self.assertEqual(last_said("", before=3.0), "nothing")

    def test_shares_are_samples(self):
        self.assertEqual(distribution(range(1, 101)),
                         {"p50": 50, "p90": 90, "p99": 99, "max": 100})
        self.assertEqual(distribution([7])["p99"], 7)


if __name__ == "__main__":
    unittest.main()
