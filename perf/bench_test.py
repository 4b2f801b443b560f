#!/usr/bin/env python3
"""perf/bench.py and perf/pairs.py with forged programs: verdicts, clear errors, no process
left behind.

No sleeps: wait_until() looks again until the condition holds, and fails loudly.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True

from bench.links import Links, NoLinks  # noqa: E402
from bench.process import ProgramFailed, run_program  # noqa: E402
from bench.report import target_text, with_spread  # noqa: E402
from bench.samples import MeasurementFailed, Row, Samples, at_least, at_most  # noqa: E402
from bench.session import PROGRAMS, Options, Session, bytes_of, size_name  # noqa: E402

BENCH = Path(__file__).with_name("bench.py")
PAIRS = Path(__file__).with_name("pairs.py")
COMPARE = Path(__file__).with_name("compare_dds.py")
WATCHDOG = 60  # seconds; far above what anything takes


def wait_until(condition, what):
    deadline = time.monotonic() + WATCHDOG
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.002)


def alive(pid):
    """A zombie is not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        return status.rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Rows(unittest.TestCase):
    def test_the_median_of_the_ratios_of_each_repetition_decides(self):
        row = Row("a", "messages/s", Samples.of([6, 1, 9]), Samples.of([10, 10, 10]), at_least(0.6))
        self.assertEqual(row.ratio.values, (0.6, 0.1, 0.9))
        self.assertTrue(row.met)
        self.assertFalse(Row("a", "ns", row.figure, row.ceiling, at_most(0.5)).met)

    def test_a_target_may_be_of_the_figure_itself(self):
        figure = Samples.of([4000, 5000, 9000])
        self.assertTrue(Row("a", "ns", figure, target=at_most(5000, of="figure")).met)
        self.assertFalse(Row("a", "ns", figure, target=at_most(4999, of="figure")).met)

    def test_a_row_without_target_has_no_verdict(self):
        self.assertIsNone(Row("a", "ns", Samples.of([1])).met)

    def test_a_comparison_with_nothing_is_a_failure(self):
        with self.assertRaisesRegex(MeasurementFailed, "measured nothing"):
            Row("a", "ns", Samples.of([1, 1]), Samples.of([1, 0]))

    def test_the_unit_fits_the_median(self):
        self.assertEqual(with_spread(Samples.of([900, 1500, 21000]), "ns"), "1.5 (0.9..21) us")
        self.assertEqual(with_spread(Samples.of([0]), "count"), "0 (0..0)")
        self.assertEqual(target_text(Row("a", "ns", Samples.of([1]),
                                         target=at_most(5000, of="figure"))), "<= 5 us")


class CompareDds(unittest.TestCase):
    def test_arguments(self):
        for arguments, status, said in ((["--help"], 0, "--sizes"), (["--sizes", "x"], 2, "no list"),
                                        (["--sizes", "64,4"], 2, "no list"), (["--runs", "0"], 2, "")):
            done = subprocess.run([sys.executable, COMPARE, *arguments], capture_output=True, text=True,
                                  check=False, timeout=WATCHDOG)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(said, done.stdout + done.stderr)


class Commands(unittest.TestCase):
    def setUp(self):
        self.session = Session(Options(runs=1, seconds=2, warmup=0.5), "/", "bin", print)

    def test_limits_measure_as_long_as_tutti(self):
        self.assertIn("2.5", self.session.limit("ring", size=64))
        self.assertEqual(self.session.tutti(pin=True, idle_spin_us=0)[1:8],
                         ["perf", "multicast", "--pin", "--idle-spin-us", "0", "--seconds", "2"])

    def test_large_windows_have_slots_for_small_messages(self):
        self.assertEqual(self.session.window("4M", 64), {"window": "4M"})
        self.assertEqual(self.session.window("16M", 64),
                         {"window": "16M", "window_messages": 262144})

    def test_sizes_have_names(self):
        for name in ("100", "256K", "4M", "1G"):
            self.assertEqual(size_name(bytes_of(name)), name)


class Programs(unittest.TestCase):
    def fails(self, script, *words, timeout=WATCHDOG):
        with self.assertRaises(ProgramFailed) as caught:
            run_program(["sh", "-c", script], timeout, "/")
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_the_object_that_is_printed_is_returned(self):
        self.assertEqual(run_program(["echo", '{"a": 1}'], WATCHDOG, "/"), {"a": 1})

    def test_failures_say_command_ending_and_last_words(self):
        self.fails("echo lost a member >&2; exit 3", "sh -c", "status 3", "lost a member")
        self.fails("kill -SEGV $$", "signal 11")
        self.fails("echo nonsense", "no JSON", "nonsense")
        with self.assertRaisesRegex(ProgramFailed, "cannot be started"):
            run_program(["/nowhere"], WATCHDOG, "/")

    def test_what_takes_too_long_is_killed_with_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            pids = Path(folder, "pids")
            self.fails(f"sleep 1000 & echo $! $$ > {pids}; wait", "did not end", timeout=5)
            for pid in pids.read_text(encoding="ascii").split():
                wait_until(lambda pid=pid: not alive(pid), "the end of all processes")


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.json = self.folder / "result.json"

    def start(self, script, *words):
        """perf/bench.py where every program is that script."""
        for name in PROGRAMS:
            program = self.folder / name
            program.write_text("#!/bin/sh\n" + script, encoding="ascii")
            program.chmod(0o755)
        return subprocess.Popen(
            [sys.executable, BENCH, "--programs", self.folder, "--json", self.json, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_failure_is_told_and_the_rest_is_measured(self):
        bench = self.start("echo no such fabric >&2; exit 1\n", "--only", "idle,silent_group")
        printed, said = bench.communicate(timeout=WATCHDOG)
        self.assertEqual((bench.returncode, said), (1, ""))
        self.assertEqual(printed.count("FAILED"), 2)
        self.assertIn("no such fabric", printed)
        found = json.loads(self.json.read_text(encoding="utf-8"))["measurements"]
        self.assertEqual([one["name"] for one in found], ["idle", "silent_group"])
        self.assertIn("status 1", found[0]["error"])

    def test_what_a_log_has_written_is_removed(self):
        where = self.folder / "disk"
        where.mkdir()
        script = "while [ $1 != --dir ]; do shift; done; touch $2/left; ls $2 >&2; exit 1\n"
        bench = self.start(script, "--only", "log_one", "--dir", where)
        printed, _ = bench.communicate(timeout=WATCHDOG)
        self.assertEqual(bench.returncode, 1)
        self.assertIn("left", printed)
        self.assertEqual(list(where.iterdir()), [])

    def test_an_interrupt_kills_what_runs_and_keeps_what_was_found(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            pids = self.folder / "pids"
            pids.unlink(missing_ok=True)
            script = f"sleep 1000 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait\n"
            bench = self.start(script, "--only", "idle")
            wait_until(pids.exists, "the program to start")
            bench.send_signal(number)
            printed, said = bench.communicate(timeout=WATCHDOG)
            self.assertEqual((bench.returncode, said), (128 + number, ""))
            self.assertIn("interrupted", printed)
            self.assertTrue(json.loads(self.json.read_text(encoding="utf-8"))["interrupted"])
            for pid in pids.read_text(encoding="ascii").split():
                wait_until(lambda pid=pid: not alive(pid), "the end of all processes")

    def test_wrong_options_say_what_is_legal(self):
        for option, value, expected in (("--only", "shm_al", "shm_all_64"),
                                        ("--runs", "0", "1 to 1000"),
                                        ("--seconds", "x", "0.05 to 300"),
                                        ("--dir", "/nowhere", "is no directory")):
            bench = self.start("", option, value)
            _, said = bench.communicate(timeout=WATCHDOG)
            self.assertEqual(bench.returncode, 2)
            self.assertIn(expected, said)
        missing = subprocess.run([sys.executable, BENCH, "--programs", os.devnull],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("./dev build", missing.stderr)


class Pairs(unittest.TestCase):
    """perf/pairs.py where tutti is a script."""

    RESULT = """{"delivered_messages_per_second": %s, "latency_ns": {"own": {"p50": 2000}}}"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_pairs(self, script, *words):
        program = self.folder / "tutti"
        program.write_text("#!/bin/sh\n" + script, encoding="ascii")
        program.chmod(0o755)
        return subprocess.run([sys.executable, PAIRS, "--programs", self.folder, *words],
                              capture_output=True, text=True, check=False, timeout=WATCHDOG)

    def test_orders_run_in_turn_and_back_and_ratios_are_of_each_repetition(self):
        runs = self.folder / "runs"
        script = (f"echo $4 >> {runs}; n=$(wc -l < {runs})\n"
                  f"echo '{self.RESULT}' | sed s/%s/$((n * n * 100))/\n")
        done = self.run_pairs(script, "--orders", "lcr,round_robin", "--sizes", "64", "--active",
                              "one", "--repeat", "3", "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(runs.read_text(encoding="ascii").split(),
                         ["lcr", "round_robin", "round_robin", "lcr", "lcr", "round_robin"])
        base, other = json.loads(done.stdout)["points"][0]["orders"]
        self.assertEqual(base["delivered_messages_per_second"]["runs"], [100, 1600, 2500])
        self.assertIsNone(base["ratio"])
        self.assertEqual(other["ratio"]["runs"], [400 / 100, 900 / 1600, 3600 / 2500])
        self.assertEqual(other["ratio"]["median"], 3600 / 2500)
        self.assertEqual(other["own_p50_ns"]["median"], 2000)

    def test_a_failure_is_told_and_the_rest_is_measured(self):
        script = ('case "$*" in *"--active one"*) echo no such load >&2; exit 1;; esac\n'
                  f"echo '{self.RESULT % 5000}'\n")
        path = self.folder / "result.json"
        done = self.run_pairs(script, "--sizes", "1K", "--active", "one,all", "--json", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--active one", done.stderr)
        self.assertIn("no such load", done.stderr)
        self.assertIn("FAILED", done.stdout)
        self.assertIn("5 (5..5) k/s", done.stdout)
        failed, found = json.loads(path.read_text(encoding="utf-8"))["points"]
        self.assertIn("status 1", failed["error"])
        self.assertEqual([one["order"] for one in found["orders"]],
                         ["round_robin", "token_ring", "lcr"])

    def test_a_rate_of_nothing_is_a_failure(self):
        done = self.run_pairs(f"echo '{self.RESULT % 0}'", "--sizes", "64", "--active", "all")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was delivered", done.stderr)

    def test_wrong_options_say_what_is_legal(self):
        for option, value, expected in (
                ("--orders", "lcr", "at least two"), ("--orders", "lcr,x", "token_ring"),
                ("--orders", "lcr,lcr", "twice"), ("--fabrics", "udp", "tcp"),
                ("--members", "1", "2 to 256"), ("--sizes", "6y", "10K"),
                ("--active", "none", "half"), ("--repeat", "0", "1 to 1000"),
                ("--seconds", "0", "0.05 to 300"), ("--links", "0", "1 to 100000"),
                ("--links", "fast", "1 to 100000")):
            done = self.run_pairs("", option, value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"argument {option}", done.stderr)
            self.assertIn(expected, done.stderr)

    def test_links_are_for_tcp_and_few_members(self):
        for option, value, expected in (("--fabrics", "shm", "only the fabric tcp"),
                                        ("--members", "33", "at most 32")):
            done = self.run_pairs("", "--links", "100", option, value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)


class LinksOfMembers(unittest.TestCase):
    """perf/bench/links.py where `ip` and `tc` are forged, for any user."""

    def setUp(self):
        self.ran = []
        self.fails_at = None
        for what, forged in (("os.geteuid", lambda: 0), ("shutil.which", lambda name: name),
                             ("subprocess.run", self.run_forged)):
            patch = unittest.mock.patch(what, forged)
            patch.start()
            self.addCleanup(patch.stop)

    def run_forged(self, words, **_):
        self.ran.append(" ".join(words))
        fails = self.fails_at is not None and self.fails_at in self.ran[-1]
        return subprocess.CompletedProcess(words, 1 if fails else 0, "", "File exists")

    def made_and_taken_away(self):
        made = [line.split()[-1] for line in self.ran if " netns add " in line]
        gone = [line.split()[-1] for line in self.ran if " netns del " in line]
        return made, gone

    def test_each_member_has_a_link_limited_at_both_ends(self):
        with Links(3, 50) as links:
            limits = [line for line in self.ran if "tbf rate 50mbit" in line]
            self.assertEqual(len(limits), 6)
            self.assertEqual(links.hosts(2)["hosts"], "198.18.77.1,198.18.77.2")
        made, gone = self.made_and_taken_away()
        self.assertEqual(made, ["tutti-links", "198.18.77.1", "198.18.77.2", "198.18.77.3"])
        self.assertEqual(sorted(gone), sorted(made))

    def test_what_was_made_is_taken_away_when_a_later_step_fails(self):
        self.fails_at = "netns add 198.18.77.2"
        with self.assertRaisesRegex(NoLinks, "File exists.*ip netns del"), Links(3, 50):
            self.fail("there are no links")
        self.assertEqual(self.made_and_taken_away()[1], ["198.18.77.1", "tutti-links"])


if __name__ == "__main__":
    unittest.main()
