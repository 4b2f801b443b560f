"""`tutti demo --topics`: participants as processes, one joins late, one is killed, readers compared."""

import os
import re
import signal
import subprocess
import unittest

from support import TUTTI, SystemTest, tutti, wait_until


class DemoTopicsTest(SystemTest):
    def demo(self, *arguments):
        return tutti("demo", "--topics", *arguments, env={**os.environ, "TMPDIR": self.folder})

    def expect_success(self, *arguments):
        done = self.demo("--seconds", 2, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        for word in ("identical", "complete", "in order"):
            self.assertIn(f"\n{word}: ", done.stdout)
        rows = {row[0]: row[1:] for row in
                re.findall(r"^(a|b|c|late|client)(?: \(killed\))? +([\d,-]+) +([\d,-]+) +([\d,]+) +([\d,]+)$",
                           done.stdout, re.M)}
        self.assertEqual(set(rows), {"a", "b", "c", "late", "client"}, done.stdout)
        # What b had sent before it was killed: one without order may have more of it.
        self.assertEqual(rows["a"][1:], rows["c"][1:])
        self.assertEqual(rows["late"][3], rows["a"][3])
        self.assertEqual(rows["client"][2:], rows["a"][2:])
        self.assertEqual(os.listdir(self.folder), [], "files were left behind")

    def test_shared_memory(self):
        self.expect_success()

    def test_tcp(self):
        self.expect_success("--fabric", "tcp")

    def test_wrong_options(self):
        for arguments, said in ((["--kill"], "leave out FILE, --durable, --kill"),
                                (["/etc/passwd"], "leave out FILE"),
                                (["--level", "atomic"], "--level excludes --topics"),
                                (["--seconds", "0"], "--seconds"),
                                (["--fabric", "pigeon"], "pigeon")):
            done = self.demo(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(os.listdir(self.folder), [])

    def test_an_interrupt_leaves_nothing_behind(self):
        process = subprocess.Popen([TUTTI, "demo", "--topics", "--seconds", "600"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "TMPDIR": self.folder})
        try:
            wait_until(lambda: os.listdir(self.folder), "a folder")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.assertIn("interrupted", said)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
