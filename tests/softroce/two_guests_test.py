"""Two hosts, as far as members can tell: two guests on one wire.

The first has the members a and c, the second b; --fabric auto takes shared memory between a and c and
RDMA to b, or TCP where RDMA does not come through. This file is also the program of the first guest.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
GUEST = os.path.join(HERE, "guest.sh")
MEMBERS = "a=10.9.1.1:7001,b=10.9.1.2:7002,c=10.9.1.1:7003"
SUSPECT_AFTER = "40"
SKIPPED = 77
GOOD_END = "THE TWO MADE IT"
RUN_B = (f"{os.environ.get('TUTTI')} run --name b --members {MEMBERS} --group log "
         f"--start-timeout 300 --suspect-after {SUSPECT_AFTER}")


class Guest:
    """A guest of its own process group, whose words are kept."""

    def __init__(self, folder, number, *command):
        self.lines = []
        self.process = subprocess.Popen(
            [GUEST, "-m", "1536", "-t", "1500", "-w", f"{folder}:{number}", "--", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)

    def listen(self, until=None):
        """Reads on, to the end or until it says that; whether it did."""
        for line in self.process.stdout:
            self.lines.append(line)
            if until and until in line:
                return True
        return False

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()

    def said(self):
        return "".join(self.lines)


class TwoGuests(unittest.TestCase):
    def start(self, test, second_command, before=""):
        """The first guest runs that test of Inside, the other one the command in a shell."""
        folder = tempfile.TemporaryDirectory(prefix="wire-")
        self.addCleanup(folder.cleanup)
        environment = ["env"] + [f"{name}={os.environ[name]}"
                                 for name in ("TUTTI", "TUTTI_TEST_WATCHDOG")]
        inside = [*environment, sys.executable, os.path.abspath(__file__), "inside", test]
        first = Guest(folder.name, 1, "bash", "-c", before + shlex.join(inside))
        self.addCleanup(first.kill)
        second = Guest(folder.name, 2, "bash", "-c", second_command)
        self.addCleanup(second.kill)
        others = threading.Thread(target=second.listen)
        others.start()
        self.addCleanup(others.join)
        self.addCleanup(second.kill)
        return first, second

    def expect_said(self, first, second, words):
        if not first.listen(until=words):
            if first.process.wait() == SKIPPED:
                print(first.said(), end="")
                os._exit(SKIPPED)
            self.fail(first.said() + second.said())

    def expect_good_end(self, first):
        first.listen()
        self.assertEqual(first.process.wait(), 0, first.said())
        self.assertIn(GOOD_END, first.said())

    def test_one_is_killed_and_the_other_goes_on(self):
        first, second = self.start(
            "test_the_other_guest_is_killed",
            "for ((i = 0; ; ++i)); do echo \"b.1 $i\"; sleep 0.05; done | " + RUN_B + " >/dev/null")
        self.expect_said(first, second, "ALL THREE DELIVER")
        second.kill()
        self.expect_good_end(first)

    def test_where_rdma_does_not_come_through_they_take_tcp(self):
        # RDMA asks for routes through its device; TCP leaves that open.
        without = "ip rule add pref 10 oif eth0 prohibit && "
        first, second = self.start("test_without_rdma", without + "seq -f 'b says %g' 1000 | " +
                                   RUN_B + " >/dev/null", before=without)
        self.expect_said(first, second, GOOD_END)
        self.expect_good_end(first)
        said = first.said() + second.said()
        for pair in ("a and b|b and a", "b and c|c and b"):  # whose end failed says so
            self.assertRegex(said, f"({pair}) cannot be connected by RDMA: .*; they take TCP")


def inside(test):
    """In the first guest."""
    sys.path.insert(0, os.path.join(HERE, "inside"))
    from rdma import RdmaTest  # pylint: disable=import-outside-toplevel
    from support import numbered, wait_until  # pylint: disable=import-outside-toplevel

    class Inside(RdmaTest):
        def test_the_other_guest_is_killed(self):
            reports = self.reports("ac")
            members = [self.start_fed(name, MEMBERS, "--start-timeout", 300, *reports[name])
                       for name in "ac"]
            wait_until(lambda: all(re.search(rb"^\d+ b b.1 1\d$", m.output(), re.M)
                                   for m in members) or not all(m.running() for m in members),
                       "b is heard")
            print("ALL THREE DELIVER", flush=True)
            self.await_view(members, "view 2:", "b was lost")
            self.await_more(members)
            for member in members:
                member.feeder.finish()
            self.expect_all_exit(members)
            self.assertEqual(members[0].output(), members[1].output())
            self.expect_rdma(members)
            print(GOOD_END, flush=True)

        def test_without_rdma(self):
            reports = self.reports("ac")
            inputs = {name: numbered(1000, name.encode() + b" says") for name in "ac"}
            members = [self.start_member(name, MEMBERS, "--start-timeout", 300, "--suspect-after",
                                         SUSPECT_AFTER, *reports[name], data=inputs[name])
                       for name in "ac"]
            self.expect_all_exit(members)
            self.expect_same_outputs(members, {**inputs, "b": numbered(1000, b"b says")})
            for member in members:
                self.assertEqual(self.report_of(member)["node"]["signalled_writes"], 0)
                print(member.said())
            print(GOOD_END, flush=True)

    unittest.main(argv=sys.argv[:1], defaultTest="Inside." + test, module=type(
        "module", (), {"Inside": Inside, "__name__": "inside"}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2])
    else:
        unittest.main()
