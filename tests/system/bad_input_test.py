"""What is wrong with a command line, with the other members or with a line of input is said
clearly: which field, which value, what would be legal. Exit 2 for usage, other non-zero statuses
else."""

import signal
import socket
import subprocess
import tempfile
import unittest

from support import FABRICS, TUTTI, SystemTest, free_ports, numbered, tutti, wait_until

GOOD = {"--name": "a", "--members": "a=127.0.0.1:7001,b=127.0.0.1:7002", "--group": "log"}


class WrongUsage(unittest.TestCase):
    def expect_refused(self, words, *parts):
        """Exit 2, nothing printed, and each of `parts` is said."""
        done = tutti(*words)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}")
        self.assertEqual(done.stdout, "")
        for part in parts:
            self.assertIn(part, done.stderr, f"{words}")

    def expect_run_refused(self, changes, *parts):
        options = {**GOOD, **changes}
        words = [w for name, value in options.items() if value is not None for w in (name, value)]
        self.expect_refused(["run", *words], *parts)

    def test_names(self):
        self.expect_run_refused({"--name": "z"}, "name 'z' is not among the members", "a, b")
        self.expect_run_refused({"--name": ""}, "name ''", "1 .. 255 bytes of letters")
        self.expect_run_refused({"--name": "a b"}, "name 'a b'", "letters")
        self.expect_run_refused({"--members": "a=h:1,a=h:2"}, "name 'a'", "twice", "unique")
        self.expect_run_refused({"--members": "a=h:1,b/c=h:2"}, "'b/c'", "letters")
        long_name = "n" * 256
        self.expect_run_refused({"--members": f"a=h:1,{long_name}=h:2"}, long_name, "255")

    def test_control_characters_are_never_printed(self):
        for words in (["run", "--name", "\x1b[2J", "--members", GOOD["--members"]],
                      ["run", "--name", "a", "--members", "a=h:1,\x1b]0;x\x07=h:2"],
                      ["run", "--name", "a", "--members", "a=h:1,b=\x1b[31m"],
                      ["run", "--name", "a", "--members", "a=h:1,b\x1b[31m"],
                      ["run", "--name", "a", "--members", "a=h:1,b=h:2", "--senders", "\r\x1b[K"],
                      ["members", "\x1b[2J:1"], ["\x1b[2J"], ["sim", "--scenario", "\x1b[2J"],
                      ["sim", "--level", "\x1b[2J"], ["sim", "--story", "\x1b[2J"], ["sim", "--figure", "\x1b[2J"]):
            with self.subTest(words=words):
                group = ["--group", "log"] if words[0] == "run" else []
                done = tutti(*words, *group)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertNotRegex(done.stderr + done.stdout, r"[\x00-\x09\x0b-\x1f\x7f]")

    def test_jobs_of_the_simulator(self):
        for jobs in ("100000", "0", "-1", "x"):
            self.expect_refused(["sim", "--seeds", "1..2", "--jobs", jobs], "--jobs", jobs)
        self.expect_refused(["sim", "--jobs", "257"], "257 not in range 1 to 256")

    def test_a_story_that_cannot_be_told_and_a_figure_that_is_not_there(self):
        self.expect_refused(["sim", "--figure", "nonsense"], "'nonsense'", "accelerated_ring, links")
        self.expect_refused(["sim", "--story", "/no/such"], "--story", "/no/such", "cannot be read")
        with tempfile.NamedTemporaryFile("w", suffix=".md") as story:
            story.write("# A story\n\n```\nnodes a b\ndance a\n----\n```\n")
            story.flush()
            self.expect_refused(["sim", "--story", story.name], "line 5, 'dance a'", "run [30]")

    def test_the_largest_seeds_of_the_simulator(self):
        largest = 2 ** 64 - 1
        for first in (largest, largest - 1):
            done = tutti("sim", "--scenario", "calm", "--seeds", f"{first}..{largest}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{largest - first + 1} seeds, 0 violations", done.stdout)

    def test_a_trace_without_a_seed_to_replay(self):
        self.expect_refused(["sim", "--seeds", "1..2", "--trace"], "--trace requires --replay")
        self.expect_refused(["sim", "--order", "none"], "--level unordered")
        self.expect_refused(["sim", "--order", "lcr", "--level", "agreed"], "atomic by nature")

    def test_the_help_says_what_a_status_means(self):
        """3 is for a member that had to stop: FailureTest shows that survivors end with 0."""
        said = " ".join(tutti("--help").stdout.split())
        self.assertIn("0 success, even if the group went on without a member", said)
        self.assertIn("3 this member stopped because the majority was lost", said)

    def test_addresses(self):
        for address in ("h:0", "h:65536", "h:-1", "h:99999999999999999999", "h:x", "h:", "h", ":7",
                        "[::1:7", "::1", "h:7:8", "[]:7", "h: 7", "h :7", "h:+7", "h:7 "):
            with self.subTest(address=address):
                self.expect_run_refused({"--members": f"a=127.0.0.1:7001,b={address}"},
                                        "members: b", address)
        self.expect_run_refused({"--members": "a=h:7,b=h:7"}, "'h:7'", "both a and b")
        self.expect_run_refused({"--members": "a=[::1]:7,b=[::1]:7"}, "[::1]:7", "both a and b")

    def test_member_lists(self):
        for text, part in (("a=h:7,", "''"), (",a=h:7", "''"), ("a=h:7,,b=h:8", "''"),
                           ("a", "'a'"), ("=h:7", "'=h:7'"), ("a=", "'a='"), ("a:7", "'a:7'")):
            with self.subTest(text=text):
                self.expect_run_refused({"--members": text}, "--members", part, "NAME=HOST:PORT")
        self.expect_run_refused({"--members": ""}, "--members")
        many = ",".join(f"m{i}=h:{i + 1}" for i in range(257))
        self.expect_run_refused({"--members": many, "--name": "m0"}, "257", "1 .. 256")

    def test_words(self):
        self.expect_run_refused({"--level": "strong"}, "level 'strong'",
                                "atomic, agreed, unordered")
        self.expect_run_refused({"--fabric": "rdma"}, "fabric 'rdma'", "auto, shm, tcp")
        self.expect_run_refused({"--idle": "never"}, "--idle", "'never'", "spin, yield, sleep")
        self.expect_run_refused({"--order": "total"}, "order 'total'", "round_robin", "token_ring", "lcr")
        self.expect_run_refused({"--ordering": "total"}, "--ordering")
        self.expect_run_refused({"--senders": "a,z"}, "senders", "'z'", "a, b")
        self.expect_run_refused({"--senders": "a,a"}, "senders", "'a'", "twice")
        self.expect_run_refused({"--senders": "a,"}, "senders", "''")
        self.expect_run_refused({"--group": ""}, "group name", "1 .. 255 bytes")
        self.expect_run_refused({"--group": "a\nb"}, "group name", "control characters")

    def test_sizes(self):
        self.expect_run_refused({"--window": "4095"}, "window_bytes", "4095", "4096 .. 1073741824")
        self.expect_run_refused({"--window": "2G"}, "window_bytes", "2147483648")
        self.expect_run_refused({"--window": "8K", "--message-max": "2049"}, "message_max_bytes",
                                "2049", "window_bytes", "1 .. 2048")
        self.expect_run_refused({"--message-max": "0"}, "message_max_bytes", "1 .. 16777216")
        self.expect_run_refused({"--message-max": "16777217"}, "message_max_bytes", "16777217")
        self.expect_run_refused({"--message-max": "5G"}, "--message-max", "16 MiB")

    def test_what_is_no_size(self):
        for text in ("-1", "-4K", "x", "", "1.5", "99999999999999999999", "20000000T", "4Q", "4KK"):
            for option, legal in (("--window", "4K to 1G"), ("--message-max", "1 to 16M")):
                with self.subTest(option=option, text=text):
                    self.expect_run_refused({option: text}, f"{option}: '{text}'", legal)
            for option, legal in (("--window", "4K to 1G"), ("--size", "0 to 16M")):
                with self.subTest(command="perf", option=option, text=text):
                    self.expect_refused(["perf", "multicast", option, text],
                                        f"{option}: '{text}'", legal)

    def test_counts_below_zero(self):
        for option, legal in (("--members", "1 to 256"), ("--groups", "1 to 1024"),
                              ("--window-messages", "2 to 4194304"),
                              ("--messages", "0 to 1000000000000")):
            with self.subTest(option=option):
                self.expect_refused(["perf", "multicast", option, -1], f"{option}: Value -1", legal)
        for option, legal in (("--members", "2 to 16"), ("--repeat", "0 to 1000000")):
            with self.subTest(option=option):
                self.expect_refused(["demo", option, -1, __file__], f"{option}: Value -1", legal)

    def test_times(self):
        for text in ("0", "-1", "86401", "nan", "inf", "x", ""):
            with self.subTest(text=text):
                self.expect_run_refused({"--start-timeout": text}, "--start-timeout")
        self.expect_run_refused({"--start-timeout": "0.0000001"}, "start_timeout", "1 ms .. 1 day")

    def test_what_is_missing_or_unknown(self):
        for option in GOOD:
            self.expect_run_refused({option: None}, option)
        self.expect_refused([], "subcommand")
        self.expect_refused(["sing"], "sing")
        self.expect_refused(["run", "--nmae", "a"])
        self.expect_refused(["perf"], "subcommand")

    def test_a_report_that_cannot_be_written(self):
        address = f"a=127.0.0.1:{free_ports(1)[0]}"
        done = tutti("run", "--name", "a", "--members", address, "--group", "g", "--report",
                     "/nonexistent/report.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent/report.json", done.stderr)


class MembersThatDiffer(SystemTest):
    def expect_both_fail(self, first, second, *parts, lists=(None, None), groups=("log", "log")):
        addresses = self.address_list(["a", "b"])
        started = [self.start_member(name, members or addresses, "--start-timeout", 60, *arguments,
                                     group=group)
                   for name, members, arguments, group in zip("ab", lists, (first, second), groups)]
        for member in started:
            self.assertNotIn(member.wait(), (0, 143), member.said())
            self.assertNotIn("start_timeout", member.said())
            for part in parts:
                self.assertIn(part, member.said())

    def test_options_of_the_group(self):
        cases = ((["--level", "agreed"], [], "level", "'agreed'", "'atomic'"),
                 (["--level", "unordered"], [], "order", "'none'", "'round_robin'"),
                 (["--window", "1M"], ["--window", "2M"], "window_bytes", "1048576", "2097152"),
                 (["--message-max", "99"], [], "message_max_bytes", "99", "65536"),
                 (["--senders", "a"], ["--senders", "b"], "senders", "'a'", "'b'"),
                 (["--senders", "a,b"], ["--senders", "b,a"], "senders", "'a,b'", "'b,a'"))
        for fabric in ("auto", "tcp"):
            for first, second, *parts in cases:
                with self.subTest(fabric=fabric, option=parts[0]):
                    word = ["--fabric", fabric]
                    self.expect_both_fail(first + word, second + word, *parts, "at a", "at b")

    def test_windows_that_are_rounded_to_the_same_do_not_differ(self):
        inputs = {"a": b"one\n", "b": b"two\n"}
        windows = {"a": ["--window", "3M"], "b": ["--window", "4M"]}
        members = self.start_cluster(inputs, each=windows)
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)

    def test_the_groups_name(self):
        self.expect_both_fail([], [], "group '", "has not joined it", groups=("log", "other"))

    def test_the_fabric(self):
        self.expect_both_fail(["--fabric", "shm"], ["--fabric", "tcp"], "shm", "tcp")

    def test_the_member_list(self):
        one, two, other = free_ports(3)
        a, b = f"a=127.0.0.1:{one}", f"b=127.0.0.1:{two}"
        self.expect_both_fail([], [], "number of members", "2", "3",
                              lists=(f"{a},{b}", f"{a},{b},c=127.0.0.1:{other}"))
        self.expect_both_fail([], [], "member list", "address", f"127.0.0.1:{other}",
                              lists=(f"{a},{b},c=127.0.0.1:{other}",
                                     f"{a},{b},c=127.0.0.2:{other}"))

    def test_one_of_three_differs_and_ends_with_whom_it_met(self):
        """The other waits on, for the two to come again with the right options."""
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list("abc")
                inputs = {name: numbered(100, name.encode()) for name in "abc"}
                start = lambda name, *more: self.start_member(
                    name, addresses, "--start-timeout", 60, "--fabric",
                    "tcp" if fabric == "tcp" or (name, fabric) == ("b", "mixed") else "auto", *more,
                    data=inputs[name])
                members = {name: start(name) for name in "ac"}
                wait_until(lambda: all("waiting for b" in m.said() for m in members.values()),
                           "the two that agree have met")
                members["b"] = start("b", "--message-max", 99)
                self.expect_exit(members["b"], 1)
                wait_until(lambda: any(not members[name].running() for name in "ac"),
                           "whom it met ends as well")
                ended = [name for name in "ac" if not members[name].running()]
                for name in ["b", *ended]:
                    self.expect_exit(members[name], 1)
                    for part in ("message_max_bytes", "99", "65536"):
                        self.assertIn(part, members[name].said())
                # If b met both of them, the other may be about to end.
                for name in ["b", *ended]:
                    members[name] = start(name)
                wait_until(lambda: any(not m.running() for m in members.values()), "one ends")
                for name in "ac":
                    if not members[name].running() and members[name].wait() == 1:
                        self.assertIn("message_max_bytes", members[name].said())
                        members[name] = start(name)
                self.expect_all_exit(members.values())
                self.expect_same_outputs(list(members.values()), inputs)


class WrongPeers(SystemTest):
    def test_a_member_that_never_comes(self):
        addresses = self.address_list(["a", "b", "c", "d"])
        members = [self.start_member(name, addresses, "--start-timeout", 2) for name in "bd"]
        for member in members:
            self.expect_exit(member, 1)
            self.assertIn("start_timeout of 2", member.said())
            self.assertRegex(member.said(), r"a \(127.0.0.1:\d+: connection refused at 127.*"
                             r"c \(127.0.0.1:\d+: (connection refused|it never connected)")

    def test_a_host_that_does_not_resolve(self):
        port = free_ports(1)[0]
        members = f"a=no-such-host.invalid:7001,b=127.0.0.1:{port}"
        member = self.start_member("b", members, "--start-timeout", 1)
        self.expect_exit(member, 1)
        self.assertIn("no-such-host.invalid", member.said())

    def test_another_member_answers_at_the_address(self):
        one, two = free_ports(2)
        # x thinks that it is alone with y; b takes x's port for the one of a.
        members = [self.start_member("x", f"x=127.0.0.1:{one},y=127.0.0.1:{two}"),
                   self.start_member("b", f"a=127.0.0.1:{one},b=127.0.0.1:{two}",
                                     "--start-timeout", 60)]
        self.expect_exit(members[1], 1)
        self.assertIn("wrong peer", members[1].said())
        for part in ("'a'", "'x'"):
            self.assertIn(part, members[1].said())
        members[0].process.terminate()
        self.assertEqual(members[0].wait(), 128 + signal.SIGTERM)

    def test_something_else_answers_at_the_address(self):
        one, two = free_ports(2)
        with socket.create_server(("127.0.0.1", one)) as server:
            member = self.start_member("b", f"a=127.0.0.1:{one},b=127.0.0.1:{two}",
                                       "--start-timeout", 8)
            server.settimeout(60)
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            self.expect_exit(member, 1)
            connection.close()
        self.assertIn("wrong peer", member.said())
        self.assertIn(f"127.0.0.1:{one}", member.said())

    def test_a_port_in_use(self):
        one, two = free_ports(2)
        with socket.create_server(("127.0.0.1", one)):
            member = self.start_member("a", f"a=127.0.0.1:{one},b=127.0.0.1:{two}")
            self.expect_exit(member, 1)
            for part in (f"cannot listen at 127.0.0.1:{one}", "in use", "another port"):
                self.assertIn(part, member.said())

    def test_an_address_of_another_host(self):
        member = self.start_member("a", "a=192.0.2.1:7001,b=127.0.0.1:7002")
        self.expect_exit(member, 1)
        self.assertIn("cannot listen at 192.0.2.1:7001", member.said())

    def test_a_name_that_runs_twice(self):
        addresses = self.address_list(["a", "b", "c"])
        first = self.start_member("b", addresses, data=b"first\n")
        wait_until(lambda: "waiting for" in first.said(), "b listens")
        second = self.start_member("b", addresses, data=b"second\n")
        self.expect_exit(second, 1)
        self.assertIn("in use", second.said())
        others = [self.start_member(name, addresses, data=b"x\n") for name in "ac"]
        self.expect_all_exit([first, *others])

    def test_a_group_of_two_ends_with_one_of_them_and_can_be_started_again(self):
        addresses = self.address_list(["a", "b"])
        running = [self.start_member(name, addresses, data=subprocess.PIPE) for name in "ab"]
        running[0].process.stdin.write(b"line\n")
        running[0].process.stdin.flush()
        wait_until(lambda: running[1].output_size() > 0, "the group runs")
        running[1].clean_up()  # killed, and its port is free
        self.expect_exit(running[0], 3)
        alone = self.start_member("b", addresses, "--start-timeout", 1)
        self.expect_exit(alone, 1)
        self.assertIn("a (127.0.0.1:", alone.said())
        inputs = {"a": b"one\n", "b": b"two\n"}
        again = [self.start_member(name, addresses, data=inputs[name]) for name in "ba"]
        self.expect_all_exit(again)
        self.expect_same_outputs(again, inputs)


class LinesThatAreTooLong(SystemTest):
    def expect_line_refused(self, data, *parts, good=b"", arguments=()):
        """Line 1 is `ok`; `data` follows once all have delivered that. What is `good` of it, before
        the bad line, is sent; then the member leaves in order and the others go on without it."""
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(dict.fromkeys("abc", subprocess.PIPE), *arguments,
                                             fabric=fabric)
                lines = members[0].process.stdin
                lines.write(b"ok\n")
                lines.flush()
                wait_until(lambda: all(m.output_size() > 0 for m in members), "the group runs")
                try:
                    lines.write(data)
                    lines.close()
                except BrokenPipeError:
                    pass  # it had seen enough
                self.expect_exit(members[0], 1)
                for part in parts:
                    self.assertIn(part, members[0].said())
                inputs = {"a": b"ok\n" + good, "b": b"b\n", "c": b"c\n"}
                for member in members[1:]:
                    wait_until(lambda m=member: "view 2" in m.said(), "the view without a")
                    self.assertIn("view 2: b, c (a left)", member.said())
                for member in members[1:]:
                    member.process.stdin.write(inputs[member.name])
                    member.process.stdin.close()
                self.expect_all_exit(members[1:])
                self.expect_same_outputs(members[1:], inputs)

    def test_by_one_byte(self):
        self.expect_line_refused(b"x" * 65537 + b"\nok\n", "line 2", "65537 bytes",
                                 "maximum is 65536", "--message-max 65537")

    def test_the_last_one_without_newline(self):
        self.expect_line_refused(b"\n\n12345678901", "line 4", "11 bytes", "maximum is 10",
                                 good=b"\n\n", arguments=("--message-max", 10))

    def test_without_an_end(self):
        self.expect_line_refused(b"x" * 20_000_000, "line 2", "more than", "maximum is 65536",
                                 "split the line")


class OddStarts(SystemTest):
    def test_standard_input_that_cannot_be_read(self):
        addresses = self.address_list(["a"])
        with open(self.folder + "/write-only", "wb") as file:
            member = self.start_member("a", addresses, data=file)
            self.expect_exit(member, 1)
        self.assertIn("cannot read standard input", member.said())

    def test_a_limit_on_file_sizes_below_the_row(self):
        shell = ["sh", "-c", 'ulimit -f 100; exec "$0" "$@"', TUTTI]
        member = self.start_member("a", self.address_list(["a"]), command=shell)
        self.expect_exit(member, 1)
        self.assertIn("File too large; raise the limit on file sizes (ulimit -f)", member.said())

    def test_quiet_says_nothing(self):
        members = self.start_cluster({"a": numbered(10, b"a"), "b": b""}, "--quiet")
        self.expect_all_exit(members)
        self.assertEqual([member.said() for member in members], ["", ""])

    def test_a_member_that_is_interrupted_at_the_start(self):
        member = self.start_member("a", self.address_list(["a", "b"]))
        wait_until(lambda: "waiting for b" in member.said(), "it waits")
        member.process.send_signal(signal.SIGINT)
        self.expect_exit(member, 130)


if __name__ == "__main__":
    unittest.main()
