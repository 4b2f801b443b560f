"""`tutti run`: all members print the same sequence, whatever carries it and whatever the lines."""

import random
import unittest

from support import FABRICS, SystemTest, numbered

LINES = 20_000


def three_inputs(count=LINES):
    return {name: numbered(count, name.encode()) for name in ("a", "b", "c")}


class SameSequence(SystemTest):
    def run_and_compare(self, inputs, *arguments, senders=None, fabric="auto"):
        members = self.start_cluster(inputs, *arguments, fabric=fabric)
        self.expect_all_exit(members)
        sent = {name: data for name, data in inputs.items() if senders is None or name in senders}
        self.expect_same_outputs(members, sent)
        return members

    def test_three_members_on_each_fabric_and_ordered_level(self):
        for fabric in FABRICS:
            for level in ("atomic", "agreed"):
                with self.subTest(fabric=fabric, level=level):
                    self.run_and_compare(three_inputs(), "--level", level, fabric=fabric)

    def test_unordered_keeps_each_senders_order(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                inputs = three_inputs()
                members = self.start_cluster(inputs, "--level", "unordered", fabric=fabric)
                self.expect_all_exit(members)
                for member in members:
                    rows = [line.split(b" ", 2) for line in member.output().split(b"\n")[:-1]]
                    self.expect_lines_of_senders(rows, inputs)
                    for name in inputs:
                        numbers = [int(seq) for seq, sender, _ in rows if sender == name.encode()]
                        self.assertEqual(numbers, list(range(LINES)))

    def test_a_subset_of_senders(self):
        for fabric in FABRICS:
            for senders in ("b", "a,c", "c,a"):
                with self.subTest(fabric=fabric, senders=senders):
                    members = self.run_and_compare(three_inputs(2000), "--senders", senders,
                                                   senders=senders.split(","), fabric=fabric)
                    for member in members:
                        told = "standard input is not read" in member.said()
                        self.assertEqual(told, member.name not in senders.split(","))

    def test_one_member_alone(self):
        for fabric in ("shm", "tcp", "auto"):
            with self.subTest(fabric=fabric):
                self.run_and_compare({"only": numbered(LINES, b"line")}, fabric=fabric)

    def test_five_members(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                self.run_and_compare({n: numbered(3000, n.encode()) for n in "abcde"},
                                     fabric=fabric)

    def test_lengths_that_differ_wildly(self):
        inputs = {"a": numbered(50_000, b"a"), "b": b"", "c": b"a single line\n"}
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                self.run_and_compare(inputs, fabric=fabric)

    def test_each_idle_policy(self):
        for idle in ("spin", "yield", "sleep"):
            for fabric in ("shm", "tcp"):
                with self.subTest(idle=idle, fabric=fabric):
                    self.run_and_compare(three_inputs(500), "--idle", idle, fabric=fabric)

    def test_a_window_that_holds_two_lines(self):
        inputs = {name: numbered(300, name.encode() * 500) for name in "abc"}
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                self.run_and_compare(inputs, "--window", 4096, "--message-max", 1024,
                                     fabric=fabric)

    def test_two_clusters_at_once(self):
        first, second = three_inputs(5000), {n: numbered(5000, n.encode()) for n in "xyz"}
        one = self.start_cluster(first)
        other = self.start_cluster(second, fabric="tcp")
        self.expect_all_exit(one + other)
        self.expect_same_outputs(one, first)
        self.expect_same_outputs(other, second)

    def test_members_that_start_in_reverse_order(self):
        inputs = three_inputs(1000)
        addresses = self.address_list(list(inputs))
        started = [self.start_member(name, addresses, data=inputs[name]) for name in "cba"]
        self.expect_all_exit(started)
        self.expect_same_outputs(started, inputs)


class OddLines(SystemTest):
    def expect_carried(self, inputs, *arguments):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(inputs, *arguments, fabric=fabric)
                self.expect_all_exit(members)
                self.expect_same_outputs(members, inputs)

    def test_nothing_at_all(self):
        self.expect_carried({"a": b"", "b": b"", "c": b""})

    def test_empty_lines(self):
        self.expect_carried({"a": b"\n" * 1000, "b": b"\n", "c": b"x\n\n\ny\n"})

    def test_last_line_without_newline(self):
        self.expect_carried({"a": b"one\ntwo", "b": b"x", "c": b"\n "})

    def test_lines_up_to_the_default_maximum(self):
        full = b"m" * 65536
        self.expect_carried({"a": full, "b": (full + b"\n") * 100,
                             "c": b"".join(b"c" * i + b"\n" for i in range(65400, 65537))})

    def test_a_maximum_raised_to_a_quarter_of_the_window(self):
        inputs = {"a": b"L" * 1048576 + b"\n" + b"s\n" * 100,
                  "b": b"".join(b"b" * i + b"\n" for i in range(1048560, 1048577)), "c": b"short\n"}
        self.expect_carried(inputs, "--message-max", "1M", "--window", "4M")

    def test_the_largest_message_there_is(self):
        line = random.Random(7).randbytes(1 << 24).replace(b"\n", b"\0")
        inputs = {"a": (line + b"\n") * 3, "b": b"little\n" * 10}
        self.expect_carried(inputs, "--message-max", "16M", "--window", "64M")

    def test_bytes_of_all_kinds(self):
        source = random.Random(11)
        block = source.randbytes(300_000)
        lines = b"\n".join(bytes([i]) for i in range(256) if i != 10)
        self.expect_carried({"a": block, "b": lines, "c": b"\r\n\0\0\n\xff\xfe\n\x1b[31m\n"})

    def test_random_sizes_through_a_small_window(self):
        source = random.Random(13)
        inputs = {name: b"".join(b"%c" % source.choice(b"xyz") * source.randrange(0, 4097) + b"\n"
                                 for _ in range(1000)) for name in "abc"}
        self.expect_carried(inputs, "--window", 16384, "--message-max", 4096)


if __name__ == "__main__":
    unittest.main()
