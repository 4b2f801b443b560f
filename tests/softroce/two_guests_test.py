"""Two hosts, as far as members can tell: two guests on one wire, one of which is killed.

The first has the members a and c, the second b; --fabric auto takes shared memory between a and c and
RDMA to b. This file is also the program of the first guest ("inside").
"""

import os
import re
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
    def test_one_is_killed_and_the_other_goes_on(self):
        with tempfile.TemporaryDirectory(prefix="wire-") as folder:
            environment = ["env"] + [f"{name}={os.environ[name]}"
                                     for name in ("TUTTI", "TUTTI_TEST_WATCHDOG")]
            first = Guest(folder, 1, *environment, sys.executable, os.path.abspath(__file__), "inside")
            self.addCleanup(first.kill)
            second = Guest(folder, 2, "bash", "-c",
                           "for ((i = 0; ; ++i)); do echo \"b.1 $i\"; sleep 0.05; done | "
                           f"{os.environ['TUTTI']} run --name b --members {MEMBERS} --group log "
                           f"--start-timeout 300 --suspect-after {SUSPECT_AFTER} >/dev/null")
            self.addCleanup(second.kill)
            others = threading.Thread(target=second.listen)
            others.start()
            self.addCleanup(others.join)
            self.addCleanup(second.kill)
            if not first.listen(until="ALL THREE DELIVER"):
                if first.process.wait() == SKIPPED:
                    print(first.said(), end="")
                    os._exit(SKIPPED)
                self.fail(first.said() + second.said())
            second.kill()
            first.listen()
            self.assertEqual(first.process.wait(), 0, first.said())
            self.assertIn("THE TWO WENT ON", first.said())


def inside():
    """In the first guest."""
    sys.path.insert(0, os.path.join(HERE, "inside"))
    from rdma import RdmaTest  # pylint: disable=import-outside-toplevel
    from support import wait_until  # pylint: disable=import-outside-toplevel

    class Inside(RdmaTest):
        def test_the_two(self):
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
            print("THE TWO WENT ON", flush=True)

    unittest.main(argv=sys.argv[:1], defaultTest="Inside", module=type(
        "module", (), {"Inside": Inside, "__name__": "inside"}))


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        inside()
    else:
        unittest.main()
