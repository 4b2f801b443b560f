"""Groups at level durable as real processes: what a killed member leaves in its log, a disk that is
full, and one that stands still."""

import ctypes
import json
import os
import platform
import shutil
import signal
import subprocess
import unittest

from support import TUTTI, Feeder, SystemTest, tutti, wait_until

NAMES = ("a", "b", "c")
GROUP = "log"
# Mounts a small disk where only this process and its children see it, and runs the rest there.
ON_A_SMALL_DISK = 'mount -t tmpfs -o size=160m none "$1" && shift && exec "$@"'


def small_disk(folder):
    """The words before a command that is to find in that folder a disk of 160 MiB: it takes two
    segments of the log, the one that is written and the next one, and not a third one."""
    unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    return [*unshare, "sh", "-c", ON_A_SMALL_DISK, "sh", folder]


class DurableTest(SystemTest):
    def start_durable(self, *arguments, fabric="shm", command=None, length=0):
        """Members that are fed without an end, once all have printed something. `command`: of b.
        `length`: of the lines, about."""
        addresses = self.addresses = self.address_list(NAMES)
        members = []
        for name in NAMES:
            how = {"command": command} if command and name == "b" else {}
            first = ["--bootstrap"] if name == NAMES[0] else []
            members.append(self.start_member(
                name, addresses, "--fabric", fabric, "--level", "durable", "--state-dir",
                self.state_of(name), *first, *arguments, data=subprocess.PIPE, group=GROUP, **how))
        for member in members:
            self.feeders.append(Feeder(member, member.name.encode() + b" says " + b"-" * length,
                                       pause=0.05))
        wait_until(lambda: all(m.output_size() > 0 for m in members) or
                   any(not m.running() for m in members), "all members print")
        return members

    def state_of(self, name):
        return os.path.join(self.folder, f"{name}.state")

    def look_at_log(self, name):
        done = tutti("log", "info", "--json", os.path.join(self.state_of(name), GROUP))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)[0]

    def logged(self, name):
        """The log, as `tutti run` prints messages."""
        done = tutti("log", "dump", "--json", "--payload", "hex",
                     os.path.join(self.state_of(name), GROUP))
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        return b"".join(b"%d %s %s\n" % (record["seq"], NAMES[record["sender"]].encode(),
                                         bytes.fromhex(record["hex"])) for record in records)

    def expect_more_output(self, member, bytes_more=50_000):
        size = member.output_size() + bytes_more
        wait_until(lambda: member.output_size() >= size or not member.running(),
                   f"{member.name} prints on")
        self.assertTrue(member.running(), f"member {member.name} said:\n{member.said()}")

    def expect_that_the_others_go_on(self, members):
        """Without b."""
        a, _, c = members
        for member in (a, c):
            # Its number is not known: on a slow machine a group may be founded more than once.
            wait_until(lambda m=member: ": a, c (b was lost)" in m.said() or not m.running(),
                       "the next view")
            self.expect_more_output(member)
        for member in (a, c):
            member.feeder.finish()
        self.expect_all_exit([a, c])
        self.assertTrue(a.output() == c.output(), "a and c delivered different messages")
        self.assertTrue(a.output().startswith(members[1].output()),
                        "b delivered what the others did not")


class AMemberIsKilled(DurableTest):
    def test_its_log_is_a_prefix_and_has_all_that_it_delivered(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                members = self.start_durable(fabric=fabric)
                self.expect_more_output(members[1])
                members[1].kill()
                members[1].wait()
                self.expect_that_the_others_go_on(members)
                log = self.logged("b")
                for name in ("a", "c"):
                    self.assertTrue(self.logged(name) == members[0].output(),
                                    f"the log of {name} is not what it delivered")
                self.assertTrue(members[0].output().startswith(log),
                                "the log of b is no prefix of those of the others")
                self.assertTrue(log.startswith(members[1].output()),
                                "b delivered what is not in its log")
                for name in NAMES:
                    shutil.rmtree(self.state_of(name))


class ADiskIsFull(DurableTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.state_of("b"))
        probe = subprocess.run([*small_disk(self.state_of("b")), "true"], check=False,
                               capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest("this user may not mount a small disk, also not in a namespace of its "
                          f"own: {probe.stderr.strip()}")

    def test_ends_that_member_alone_and_it_says_why(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                members = self.start_durable(
                    fabric=fabric, command=[*small_disk(self.state_of("b")), TUTTI],
                    length=1000)
                self.expect_exit(members[1], 1)
                self.assertIn("No space left on device", members[1].said())
                self.assertIn(os.path.join(self.state_of("b"), GROUP), members[1].said())
                self.expect_that_the_others_go_on(members)
                logs = [self.look_at_log(name) for name in ("a", "c")]
                self.assertEqual(logs[0]["digest"], logs[1]["digest"])
                self.assertEqual(logs[0]["next"], members[0].output().count(b"\n"))
                for name in ("a", "c"):
                    shutil.rmtree(self.state_of(name))


class ThreadOfTheLog:
    """That thread of a member, stopped as by a disk that does not answer: where it asks the disk,
    not where it holds a lock that others want. Of all threads but the first it has written most:
    segments full of zeros."""

    SEIZE, INTERRUPT, DETACH, SYSCALL = 0x4206, 0x4207, 17, 24  # of ptrace(2)
    SYSTEM_CALLS = 1  # its option: stops at them are told apart
    WALL = 0x40000000  # of wait(2)
    PWRITE_AND_FDATASYNC = {"x86_64": (18, 75), "aarch64": (68, 83)}

    def __init__(self, test, member):
        if platform.machine() not in self.PWRITE_AND_FDATASYNC:
            test.skipTest(f"the numbers of system calls of {platform.machine()} are not known here")
        test.expect_more_output(member)
        written = self.bytes_written(member)
        self.thread = max(written, key=written.get)
        self.ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2
        self.ptrace.restype = ctypes.c_long
        if self.ptrace(self.SEIZE, self.thread, None, self.SYSTEM_CALLS) != 0:
            test.skipTest("this user may not stop a thread of a child: ptrace: "
                          f"{os.strerror(ctypes.get_errno())}")
        test.addCleanup(self.go_on)  # before the member is waited for
        self.ptrace(self.INTERRUPT, self.thread, None, None)
        while not self.asks_the_disk(os.waitpid(self.thread, self.WALL)[1], member):
            self.ptrace(self.SYSCALL, self.thread, None, None)

    def asks_the_disk(self, status, member):
        if os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
            return False
        with open(f"/proc/{member.process.pid}/task/{self.thread}/syscall",
                  encoding="utf-8") as file:
            number = file.read().split()[0]
        return int(number) in self.PWRITE_AND_FDATASYNC[platform.machine()]

    @staticmethod
    def bytes_written(member):
        """By thread, without the first."""
        pid = member.process.pid
        written = {}
        for thread in set(map(int, os.listdir(f"/proc/{pid}/task"))) - {pid}:
            with open(f"/proc/{pid}/task/{thread}/io", encoding="utf-8") as file:
                written[thread] = int(dict(line.split(": ") for line in file)["wchar"])
        return written

    def go_on(self):
        self.ptrace(self.DETACH, self.thread, None, None)


class ADiskStandsStill(DurableTest):
    def expect_said(self, members, text):
        for member in members:
            wait_until(lambda m=member: text in m.said() or not m.running(), text)
            self.assertIn(text, member.said())

    def test_is_named_to_the_others_and_removes_nobody(self):
        members = self.start_durable()
        others = [members[0], members[2]]
        thread = ThreadOfTheLog(self, members[1])
        self.expect_said(others, "group 'log' waits for the disk of member 'b': it has not got")
        thread.go_on()
        self.expect_said(others, "group 'log' no longer waits for the disk of member 'b'")
        for member in members:
            member.feeder.finish()
        self.expect_all_exit(members)
        for member in members:
            self.assertEqual(member.output(), members[0].output())
            self.assertNotIn("was lost", member.said())
            self.assertTrue(self.logged(member.name) == member.output(),
                            f"the log of {member.name} is not what it delivered")

    def start_by_quorum(self):
        """b's disk stands still, and all go on printing, b beyond what its log has."""
        members = self.start_durable("--durable-quorum")
        thread = ThreadOfTheLog(self, members[1])
        for member in members:
            self.expect_more_output(member)
        logged = len(self.logged("b"))
        wait_until(lambda: members[1].output_size() > logged, "b prints what its log lacks")
        return members, thread

    def test_is_not_waited_for_where_a_majority_is_enough(self):
        members, thread = self.start_by_quorum()
        others = [members[0], members[2]]
        self.expect_said(others, "group 'log': the disk of member 'b' is behind: it has not got")
        for member in members:
            self.expect_more_output(member)
        thread.go_on()
        self.expect_said(others, "group 'log': the disk of member 'b' has got further")
        for member in members:
            member.feeder.finish()
        self.expect_all_exit(members)
        for member in members:
            self.assertEqual(member.output(), members[0].output())
            self.assertTrue(self.logged(member.name) == member.output(),
                            f"the log of {member.name} is not what it delivered")

    def test_loses_nothing_that_was_delivered_when_all_are_killed(self):
        members, thread = self.start_by_quorum()
        for member in members:
            member.kill()
        os.waitpid(thread.thread, thread.WALL)  # else its process does not end
        for member in members:
            member.wait()
        printed = [member.output() for member in members]
        self.assertLess(len(self.logged("b")), len(printed[1]), "b's log has what b delivered")
        again = [self.start_member(name, self.addresses, "--fabric", "shm", "--level",
                                   "durable", "--durable-quorum", "--state-dir",
                                   self.state_of(name), group=GROUP) for name in NAMES]
        self.expect_all_exit(again)
        for member in again:
            self.assertEqual(member.output(), again[0].output())
            for output in printed:
                self.assertTrue(member.output().startswith(output[:output.rfind(b"\n") + 1]),
                                "what was delivered is lost")


if __name__ == "__main__":
    unittest.main()
