#!/usr/bin/env python3
"""A small round of the long run of clients, and what its judge finds."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))

from clients import record, rounds
from clients.judge import judge
from clients.progress import Progress
from support import WATCHDOG

SOAK = Path(__file__).with_name("clients_soak.py")
KINDS = {"ack": record.ACK, "sample": record.SAMPLE, "gap": record.GAP}


class Soak(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="clients-soak-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def soak(self, *arguments, **environment):
        return subprocess.run([sys.executable, SOAK, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=3 * WATCHDOG,
                              check=False, env={**os.environ, "TMPDIR": self.folder, **environment})

    def test_clients_and_relays_are_killed_and_nothing_is_lost(self):
        done = self.soak("--crashes", "60", "--relay-kills", "3", "--round", "20",
                         "--publishers", "4", "--subscribers", "2")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("3 rounds: ", done.stdout)
        self.assertIn("3 relay kills, ", done.stdout)

    def test_a_round_that_fails_leaves_what_it_wrote(self):
        done = self.soak("--crashes", "1", "--relay-kills", "0", TUTTI=shutil.which("false"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("relay a ended with 1", done.stdout)
        self.assertTrue(list(Path(self.folder).glob("clients-soak-*/relay-a.err")), done.stdout)


class Hanging(unittest.TestCase):
    def test_one_that_stands_still_is_found_though_others_go_on(self):
        progress = Progress(10)
        for now in range(25):
            self.assertEqual(progress.look(now, "goes on", now, 0), 0)
            hangs = progress.look(now, "hangs", min(now, 3), 0)
            self.assertEqual(hangs, now - 3 if now > 13 else 0)

    def test_nobody_hangs_while_no_majority_runs(self):
        progress = Progress(10)
        for now in range(25):
            self.assertEqual(progress.look(now, "waits", 1, now), 0)
        self.assertEqual(progress.look(30, "waits", 1, 24), 0)
        self.assertEqual(progress.look(35, "waits", 1, 24), 11)

    def test_a_round_says_who_hangs_where_and_since_when(self):
        """No relay was started, so that a publisher cannot connect."""
        folder = tempfile.mkdtemp(prefix="clients-soak-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        one = rounds.Round(rounds.Options(
            seed=1, members=3, publishers=1, subscribers=0, crashes=1, relay_kills=0, history=1,
            gaps_allowed=False, service="stored", rate=10, life=1), folder)
        child = one._publishers[0]
        child.start()
        self.addCleanup(child.kill)
        deadline = time.monotonic() + WATCHDOG
        while not child.where().startswith("at relay") and time.monotonic() < deadline:
            time.sleep(0.001)
        one._find_hanging(1000.0)
        with self.assertRaisesRegex(
                rounds.Failure, rf"client publisher-0 \(process {child.pid}\) hangs since "
                r"\d\d:\d\d:\d\d, for \d+\.\d s: at relay 127\.0\.0\.1:\d+, it waits for the "
                "connection, and 0 requests are acknowledged; relays that are down: none"):
            one._find_hanging(1001.0 + rounds.HANGS)


def journal(*rows):
    return [(KINDS[kind], *row) for kind, *row in rows]


def sample(position, writer, request):
    return ("sample", 9, position, record.packed(writer, request))


class Judge(unittest.TestCase):
    ALL = (sample(3, 1, 1), sample(4, 2, 1), sample(7, 1, 2))

    def judged(self, *subscriber, writer=(), gaps_allowed=False):
        journals = {"witness": journal(*self.ALL), "subscriber": journal(*subscriber),
                    "writer": journal(*writer)}
        return [text.partition(":")[0] for text in judge(journals, gaps_allowed).violations]

    def test_accepts_what_is_right(self):
        self.assertEqual(self.judged(*self.ALL, writer=[("ack", 1, 2, 7), ("ack", 1, 1, 3),
                                                        ("ack", 2, 1, record.NO_POSITION)]), [])
        gap = [sample(3, 1, 1), ("gap", 9, 4, 7), sample(7, 1, 2)]
        self.assertEqual(self.judged(*gap, gaps_allowed=True), [])
        self.assertEqual(self.judged(*self.ALL[1:], gaps_allowed=True), [])

    def test_finds_what_is_lost(self):
        self.assertEqual(self.judged(*self.ALL[:2]), ["honest gaps"])
        self.assertEqual(self.judged(self.ALL[0], self.ALL[2], gaps_allowed=True), ["honest gaps"])
        gap = [sample(3, 1, 1), ("gap", 9, 4, 7), sample(7, 1, 2)]
        self.assertEqual(self.judged(*gap), ["honest gaps"])
        self.assertEqual(self.judged(*self.ALL, writer=[("ack", 1, 3, 9)]), ["acknowledged"])
        self.assertEqual(self.judged(*self.ALL, writer=[("ack", 2, 1, 7)]), ["acknowledged"])
        self.assertEqual(self.judged(*self.ALL, writer=[("ack", 3, 1, record.NO_POSITION)]),
                         ["acknowledged"])

    def test_finds_what_is_doubled(self):
        self.assertEqual(self.judged(*self.ALL, sample(7, 1, 2)), ["honest gaps"])
        again = (*self.ALL, sample(8, 1, 2))
        self.assertIn("exactly once", self.judged(*again))
        told = (*self.ALL, ("gap", 9, 6, 8))
        self.assertEqual(self.judged(*told, gaps_allowed=True), ["honest gaps"])

    def test_finds_another_order(self):
        self.assertIn("exactly once", self.judged(*self.ALL, sample(8, 2, 3)))
        swapped = [sample(3, 2, 1), sample(4, 1, 1), self.ALL[2]]
        self.assertEqual(self.judged(*swapped)[:2], ["one sequence"] * 2)
        self.assertEqual(self.judged(*self.ALL, ("sample", 8, 9, record.packed(3, 1)))[0],
                         "one sequence")


if __name__ == "__main__":
    unittest.main()
