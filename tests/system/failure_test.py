"""What members do when one of them dies, stops or cannot print: the others say who was lost and go
on without it, as long as they are a majority, and all that was printed is one sequence."""

import os
import signal
import subprocess
import unittest

from support import FABRICS, TUTTI, Feeder, SystemTest, numbered, wait_until

NAMES = ("a", "b", "c")


class FailureTest(SystemTest):
    def expect_more_output(self, member, bytes_more=50_000):
        size = member.output_size() + bytes_more
        wait_until(lambda: member.output_size() >= size or not member.running(),
                   f"{member.name} prints on")
        self.assertTrue(member.running(), f"member {member.name} said:\n{member.said()}")

    def expect_survivors_go_on(self, lost, members, how="was lost"):
        """They say who is gone, print more, and end well once their input does."""
        survivors = [member for member in members if member is not lost]
        names = ", ".join(member.name for member in survivors)
        for member in survivors:
            said = f"tutti: view 2: {names} ({lost.name} {how})\n"
            wait_until(lambda m=member, s=said: s in m.said() or not m.running(), "the next view")
            self.assertIn(said, member.said())
        for member in survivors:
            if member.feeder:
                self.expect_more_output(member)
        self.expect_end(survivors)
        return survivors

    def expect_end(self, survivors):
        """Ends their input; what they sent is printed by all of them, once."""
        for member in survivors:
            if member.feeder:
                member.feeder.finish()
            elif member.process.stdin:
                member.process.stdin.close()
        self.expect_all_exit(survivors)
        lines = self.expect_prefixes(survivors)
        for member in survivors:
            self.assertEqual(member.output(), survivors[0].output(), "survivors differ")
            if member.feeder:
                sent = b"".join(member.feeder.sent).count(b"\n")
                self.assertEqual(sum(line.split(b" ")[1] == member.name.encode()
                                     for line in lines), sent, f"lines of {member.name}")
        return lines

    def expect_prefix_of(self, survivor, lost):
        """At level atomic nobody is delivered what the others will not be."""
        self.assertTrue(survivor.output().startswith(lost.output()),
                        f"{lost.name} printed what {survivor.name} did not")


class AMemberIsKilled(FailureTest):
    def test_in_mid_stream(self):
        for fabric in FABRICS:
            for victim in range(3):
                with self.subTest(fabric=fabric, victim=NAMES[victim]):
                    members = self.start_streaming(NAMES, fabric=fabric)
                    self.expect_more_output(members[victim])
                    members[victim].kill()
                    survivors = self.expect_survivors_go_on(members[victim], members)
                    self.expect_prefix_of(survivors[0], members[victim])

    def test_at_level_agreed(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_streaming(NAMES, "--level", "agreed", fabric=fabric)
                self.expect_more_output(members[0])
                members[0].kill()
                self.expect_survivors_go_on(members[0], members)

    def test_while_nobody_sends(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(dict.fromkeys(NAMES, subprocess.PIPE), fabric=fabric)
                for member in members:
                    member.process.stdin.write(member.name.encode() + b" says 0\n")
                    member.process.stdin.flush()
                wait_until(lambda: all(m.output().count(b"\n") == 3 for m in members),
                           "all members print three lines")
                members[1].kill()
                self.expect_survivors_go_on(members[1], members)
                self.assertEqual(members[0].output().count(b"\n"), 3)
                self.expect_prefix_of(members[0], members[1])

    def test_that_has_reached_the_end_of_its_input(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(
                    {"a": b"a says 0\n", "b": subprocess.PIPE, "c": subprocess.PIPE},
                    fabric=fabric)
                wait_until(lambda: all(m.output_size() > 0 for m in members), "a's line is there")
                members[0].kill()
                self.expect_survivors_go_on(members[0], members)
                self.assertEqual(members[1].output(), b"0 a a says 0\n")

    def test_that_only_listens(self):
        inputs = {"a": subprocess.PIPE, "b": b"", "c": b""}
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(inputs, "--senders", "a", fabric=fabric)
                self.feeders.append(Feeder(members[0], b"a says "))
                self.expect_more_output(members[2])
                members[2].kill()
                self.expect_survivors_go_on(members[2], members)
                self.expect_prefix_of(members[0], members[2])

    def test_that_alone_sends(self):
        inputs = {"a": subprocess.PIPE, "b": b"", "c": b""}
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(inputs, "--senders", "a", fabric=fabric)
                self.feeders.append(Feeder(members[0], b"a says "))
                self.expect_more_output(members[2])
                members[0].kill()
                self.expect_survivors_go_on(members[0], members)
                self.expect_prefix_of(members[1], members[0])

    def test_two_of_three_at_once(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_streaming(NAMES, fabric=fabric)
                self.expect_more_output(members[0])
                members[0].kill()
                members[2].kill()
                self.expect_exit(members[1], 3)
                # It may have gone on with one of them for a moment.
                self.assertRegex(members[1].said(), r"lost the majority of view [12]: '[ac]'")
                self.assertIn("is a prefix of the group's sequence", members[1].said())
                self.expect_prefixes(members)

    def test_and_comes_again_during_the_start(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                inputs = {name: numbered(1000, name.encode()) for name in NAMES}
                addresses = self.address_list(NAMES)
                start = lambda name: self.start_member(name, addresses, "--fabric",
                                                       "auto" if fabric == "mixed" else fabric,
                                                       data=inputs[name])
                first, other = start("a"), start("b")
                wait_until(lambda: "waiting for c" in first.said(), "a and b have met")
                missed = first.said().count("waiting for b")
                other.kill()
                other.wait()  # its port is free
                wait_until(lambda: first.said().count("waiting for b") > missed, "a misses b")
                members = [first, start("b"), start("c")]
                self.expect_all_exit(members)
                self.expect_same_outputs(members, inputs)

    def test_and_does_not_come_again_during_the_start(self):
        addresses = self.address_list(NAMES)
        first = self.start_member("a", addresses, "--start-timeout", 12)
        other = self.start_member("b", addresses, "--start-timeout", 60)
        wait_until(lambda: "waiting for" in other.said(), "b listens")
        other.kill()
        self.expect_exit(first, 1)
        self.assertRegex(first.said(), "start_timeout of 12.000 s is over; still waiting for b")

    def test_leaves_no_files_behind(self):
        def shared_memory():
            return {name for name in os.listdir("/dev/shm") if "tutti" in name}

        before = shared_memory()
        os.environ["TMPDIR"] = self.folder
        self.addCleanup(os.environ.pop, "TMPDIR")
        members = self.start_streaming(NAMES, fabric="shm")
        for member in members:
            with open(f"/proc/{member.process.pid}/maps", encoding="utf-8") as maps:
                held = {line.split(maxsplit=5)[-1].strip() for line in maps}
            held.discard(os.path.realpath(TUTTI))
            named = [p for p in held if p.startswith(("/dev/shm", "/tmp", "/run", "/var"))]
            self.assertEqual(named, [], "a named file is mapped")
        for member in members:
            member.kill()
        for member in members:
            member.wait()
        self.assertEqual(shared_memory() - before, set())
        ours = {m.name + end for m in members for end in (".out", ".err")}
        self.assertEqual(set(os.listdir(self.folder)), ours)


class AMemberPauses(FailureTest):
    def test_nothing_is_lost(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_streaming(NAMES, fabric=fabric)
                paused = members[1]
                self.expect_more_output(paused)
                paused.process.send_signal(signal.SIGSTOP)
                wait_until(lambda: paused.state() == "T", "it is stopped")
                self.wait_for_standstill(members[0])
                paused.process.send_signal(signal.SIGCONT)
                self.expect_more_output(members[0])
                sent = {feeder.member.name: feeder.finish() for feeder in self.feeders[-3:]}
                self.expect_all_exit(members)
                self.expect_same_outputs(members, sent)

    def wait_for_standstill(self, member):
        """At level atomic nothing is delivered that the stopped member does not have."""
        sizes = [-1] * 20

        def still():
            sizes.append(member.output_size())
            return len(set(sizes[-20:])) == 1

        wait_until(still, "no delivery without the stopped member")


class AMemberIsToldToEnd(FailureTest):
    def test_by_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for fabric in FABRICS:
                with self.subTest(signal=number, fabric=fabric):
                    members = self.start_streaming(NAMES, fabric=fabric)
                    members[2].process.send_signal(number)
                    self.expect_exit(members[2], 128 + number)
                    self.assertIn("told to end: leaving the group", members[2].said())
                    self.expect_survivors_go_on(members[2], members, how="left")
                    self.expect_prefix_of(members[0], members[2])

    def test_at_once_by_a_second_signal(self):
        """The others are stopped, so it cannot leave in order."""
        members = self.start_streaming(NAMES)
        self.stop_still(members[:2])
        members[2].process.send_signal(signal.SIGTERM)
        wait_until(lambda: "told to end" in members[2].said(), "it leaves")
        members[2].process.send_signal(signal.SIGINT)
        self.expect_exit(members[2], 130)
        self.assertIn("interrupted, stopping at once", members[2].said())

    def test_at_once_when_it_cannot_leave_in_order(self):
        members = self.start_streaming(NAMES, "--leave-timeout", 1)
        self.stop_still(members[:2])
        members[2].process.send_signal(signal.SIGTERM)
        self.expect_exit(members[2], 143)
        self.assertIn("for at most 3 s", members[2].said())

    def stop_still(self, members):
        for member in members:
            member.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: all(member.state() == "T" for member in members), "they are stopped")

    def test_but_not_by_a_hangup_that_it_was_started_to_ignore(self):
        addresses = self.address_list(["a", "b"])
        ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            member = self.start_member("a", addresses)
        finally:
            signal.signal(signal.SIGHUP, ignored)
        wait_until(lambda: "waiting for b" in member.said(), "it waits")
        member.process.send_signal(signal.SIGHUP)
        other = self.start_member("b", addresses)
        self.expect_all_exit([member, other])

    def test_while_it_waits_for_the_others(self):
        member = self.start_member("a", self.address_list(NAMES))
        wait_until(lambda: "waiting for b" in member.said(), "it waits")
        member.process.terminate()
        self.expect_exit(member, 143)


class AMemberCannotPrint(FailureTest):
    def start_with_output_of_b(self, stdout, fabric):
        addresses = self.address_list(NAMES)
        words = {"a": fabric, "b": fabric, "c": fabric}
        if fabric == "mixed":
            words = {"a": "auto", "b": "tcp", "c": "auto"}
        members = []
        for name in NAMES:
            member = self.start_member(name, addresses, "--fabric", words[name],
                                       data=subprocess.PIPE,
                                       stdout=stdout if name == "b" else None)
            self.feeders.append(Feeder(member, name.encode() + b" says "))
            members.append(member)
        return members

    def expect_failure_of_b(self, members, reason):
        """And the others go on: what b could not print it was not delivered."""
        self.expect_exit(members[1], 1)
        self.assertIn("cannot write to standard output: " + reason, members[1].said())
        self.expect_survivors_go_on(members[1], members)

    def test_because_the_reader_has_gone(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_with_output_of_b(subprocess.PIPE, fabric)
                self.assertEqual(len(members[1].process.stdout.read(1000)), 1000)
                members[1].process.stdout.close()
                self.expect_failure_of_b(members, "Broken pipe")

    def test_because_the_disk_is_full(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric), open("/dev/full", "wb") as full:
                members = self.start_with_output_of_b(full, fabric)
                self.expect_failure_of_b(members, "No space left on device")

    def test_with_nothing_more_to_send(self):
        with open("/dev/full", "wb") as full:
            members = self.start_with_output_of_b(full, "auto")
            for feeder in self.feeders:
                feeder.finish()
            self.expect_exit(members[1], 1)
            self.assertIn("cannot write to standard output: No space left", members[1].said())
            self.expect_end([members[0], members[2]])
            for member in (members[0], members[2]):
                self.assertIn("(b was lost)", member.said())

    def test_because_standard_output_is_closed(self):
        addresses = self.address_list(["a"])
        shell = ["sh", "-c", 'exec "$0" "$@" >&-', TUTTI]
        member = self.start_member("a", addresses, data=b"line\n", command=shell)
        self.expect_exit(member, 1)
        self.assertIn("cannot write to standard output", member.said())

    def test_a_slow_reader_only_slows_the_group(self):
        inputs = {name: numbered(60_000, name.encode()) for name in NAMES}
        addresses = self.address_list(NAMES)
        members = [self.start_member(name, addresses, "--window", 65536, "--message-max", 1024,
                                     data=inputs[name],
                                     stdout=subprocess.PIPE if name == "b" else None)
                   for name in NAMES]
        # The window of a and c fills up while nobody reads b's output.
        size = members[0].output_size
        seen = [-1] * 20
        wait_until(lambda: (seen.append(size()) or len(set(seen[-20:])) == 1) and size() > 0,
                   "the group stands still")
        text = members[1].process.stdout.read()
        self.expect_all_exit(members)
        self.assertEqual(text, members[0].output())
        self.expect_same_outputs([members[0], members[2]], inputs)


if __name__ == "__main__":
    unittest.main()
