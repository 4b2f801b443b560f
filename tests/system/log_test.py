"""What members log, where nobody reads it: they take part in the group all the same."""

import fcntl
import os
import subprocess
import unittest

from failure_test import NAMES, FailureTest
from support import Feeder, look_at, wait_until


class NobodyReadsStandardError(FailureTest):
    """As where someone pressed Ctrl-S, or a supervisor stands still."""

    def full_pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b".")
        except BlockingIOError:
            os.set_blocking(writer, True)
        return reader, writer

    def start_with_full_stderr_of_a(self):
        """Returns the members, and the end of the pipe that nobody reads."""
        reader, writer = self.full_pipe()
        addresses = self.address_list(NAMES)
        members = []
        for name in NAMES:
            member = self.start_member(name, addresses, data=subprocess.PIPE,
                                       stderr=writer if name == "a" else None)
            self.feeders.append(Feeder(member, name.encode() + b" says "))
            members.append(member)
        os.close(writer)
        wait_until(lambda: all(m.output_size() > 0 for m in members) or
                   any(not m.running() for m in members), "all members print")
        return members, reader

    def wait_for_text(self, reader, wanted):
        """Reads until it has come; returns all that was read."""
        text = b""
        os.set_blocking(reader, False)

        def has_come():
            nonlocal text
            try:
                text += os.read(reader, 65536)
            except BlockingIOError:
                pass
            return wanted in text.decode()

        wait_until(has_come, wanted)
        return text.decode()

    def test_the_group_goes_on_after_a_loss(self):
        (a, b, c), reader = self.start_with_full_stderr_of_a()
        self.expect_more_output(a)
        c.kill()
        said = "tutti: view 2: a, b (c was lost)\n"
        wait_until(lambda: said in b.said() or not b.running(), "the next view")
        self.assertIn(said, b.said())
        self.expect_more_output(a)
        self.expect_more_output(b)
        text = self.wait_for_text(reader, said)
        self.assertIn("...tutti: ", text)
        self.assertIn("tutti: view 1: a, b, c\n", text)
        self.expect_end([a, b])

    def test_a_member_ends_all_the_same(self):
        (a, b, c), _ = self.start_with_full_stderr_of_a()
        c.kill()
        self.expect_end([a, b])

    def test_a_signal_ends_a_member_all_the_same(self):
        _, writer = self.full_pipe()
        addresses = self.address_list(NAMES)
        member = self.start_member("a", addresses, stderr=writer)
        os.close(writer)
        wait_until(lambda: look_at(addresses.split(",")[0].split("=")[1]) or not member.running(),
                   "it listens")
        member.process.terminate()
        self.expect_exit(member, 143)


if __name__ == "__main__":
    unittest.main()
