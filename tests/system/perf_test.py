"""`tutti perf`: small measurements verify what they deliver, and report sane figures."""

import json
import os
import signal
import subprocess
import sys
import unittest

from support import SUSPECT_AFTER, TUTTI, WATCHDOG, SystemTest, tutti, wait_until

SENDERS = {"all": 3, "half": 2, "one": 1}


class PerfTest(SystemTest):
    def perf(self, command, *arguments):
        done = tutti("perf", command, "--json", "-", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def multicast(self, messages, *arguments, size=64, warmup=0):
        return self.perf("multicast", "--verify", "--warmup", warmup, "--messages", messages,
                         "--size", size, "--suspect-after", SUSPECT_AFTER, *arguments)

    def expect_figures(self, result, delivered, size):
        """`delivered`: messages by each member."""
        for member in result["members"]:
            self.assertEqual(member["delivered_messages"], delivered)
            self.assertEqual(member["delivered_bytes"], delivered * size)
            self.assertGreater(member["cpu_seconds"], 0)
        for name in ("delivered_messages_per_second", "delivered_bytes_per_second", "cpu_seconds",
                     "seconds", "pushes", "writes_posted"):
            self.assertGreater(result[name], 0, name)
        self.assertAlmostEqual(result["delivered_bytes_per_second"],
                               result["delivered_messages_per_second"] * size,
                               delta=result["delivered_bytes_per_second"] * 1e-6)
        for name in ("send", "receive", "delivery"):
            self.assertGreaterEqual(result["batch_mean"][name], 1, name)
        order = result["options"]["order"]
        self.assertEqual(result["token_held_ns"] > 0, order == "token_ring")
        self.assertEqual(result["batch_mean"]["pending"] > 0, order == "lcr")
        self.expect_latencies(result["latency_ns"]["own"])

    def expect_latencies(self, latency):
        self.assertGreater(latency["samples"], 0)
        steps = [latency[name] for name in ("p50", "p90", "p99", "p99.9", "max")]
        self.assertGreater(steps[0], 0)
        self.assertEqual(steps, sorted(steps))


class Multicast(PerfTest):
    def test_senders_on_each_fabric(self):
        for fabric in ("shm", "tcp"):
            for word, count in SENDERS.items():
                with self.subTest(fabric=fabric, senders=word):
                    result = self.multicast(3000, "--fabric", fabric, "--senders", word)
                    self.expect_figures(result, 3000 * count, 64)
                    active = [member["active"] for member in result["members"]]
                    self.assertEqual(active, [True] * count + [False] * (3 - count))

    def test_orders_are_compared(self):
        compared = self.multicast(3000, "--order", "all")
        orders = [result["options"]["order"] for result in compared["results"]]
        self.assertEqual(orders, ["round_robin", "token_ring", "lcr"])
        for result in compared["results"]:
            self.expect_figures(result, 9000, 64)
        done = tutti("perf", "multicast", "--order", "all", "--messages", 100, "--warmup", 0,
                     "--suspect-after", SUSPECT_AFTER)
        self.assertEqual(done.returncode, 0, done.stderr)
        for order in orders:
            self.assertEqual(done.stdout.count(order), 2, "a line of the table, and a bar")
        for words, named in ((("--level", "unordered"), "has no orders"),
                             (("--hosts", "a,b"), "one order"),
                             (("--listen", "127.0.0.1:7400"), "one order")):
            done = tutti("perf", "multicast", "--order", "all", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(named, done.stderr)

    def test_no_link_carries_a_message_twice_along_a_chain(self):
        """Straight from its sender a message leaves it once for each other member."""
        size, messages = 10_000, 500
        for order, most in (("lcr", 1.05), ("round_robin", 4.2)):
            with self.subTest(order=order):
                result = self.multicast(messages, "--order", order, "--fabric", "tcp", "--members",
                                        5, "--senders", "one", size=size)
                posted = [member["node"]["bytes_posted"] / (messages * size)
                          for member in result["members"]]
                self.assertLess(max(posted), most)
                self.assertGreater(posted[0], most * 0.9)

    def test_levels(self):
        for fabric in ("shm", "tcp"):
            for level in ("unordered", "agreed", "atomic"):
                with self.subTest(fabric=fabric, level=level):
                    result = self.multicast(3000, "--fabric", fabric, "--level", level)
                    self.expect_figures(result, 9000, 64)

    def perf_in(self, folder, *arguments):
        os.mkdir(folder)
        done = tutti("perf", "multicast", "--json", "-", "--verify", "--warmup", 0, "--messages",
                     3000, "--size", 64, "--suspect-after", SUSPECT_AFTER, *arguments, cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(os.listdir(folder), [], "files were left behind")
        return json.loads(done.stdout)

    def test_members_that_log(self):
        for number, (fabric, words) in enumerate((
                ("shm", ("--level", "durable")), ("tcp", ("--level", "durable")),
                ("shm", ("--logged",)), ("shm", ("--level", "durable", "--order", "lcr")))):
            with self.subTest(fabric=fabric, words=words):
                result = self.perf_in(os.path.join(self.folder, str(number)), "--fabric", fabric,
                                      *words)
                self.expect_figures(result, 9000, 64)
                self.assertGreater(result["batch_mean"]["persist"], 0)
                if "durable" in words:
                    self.assertGreaterEqual(result["persisted"], 3 * 9000)
                    self.assertGreater(result["logged_bytes"], 3 * 9000 * 64)

    def test_logs_are_where_they_are_wanted_and_what_was_there_stays(self):
        there = os.path.join(self.folder, "logs")
        os.makedirs(os.path.join(there, "m1"))
        self.perf_in(os.path.join(self.folder, "empty"), "--level", "durable", "--state-dir", there)
        self.assertEqual(os.listdir(there), ["m1"])
        done = tutti("perf", "multicast", "--messages", 100, "--logged", "--state-dir", there)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("of an earlier run", done.stderr)
        self.assertEqual(os.listdir(there), ["m1"])

    def test_logs_are_removed_after_a_signal(self):
        with subprocess.Popen([TUTTI, "perf", "multicast", "--logged", "--seconds", str(WATCHDOG),
                               "--suspect-after", SUSPECT_AFTER],
                              cwd=self.folder, stderr=subprocess.PIPE) as process:
            wait_until(lambda: len([path for path, _, files in os.walk(self.folder)
                                    if path.endswith("g0") and "LOCK" in files]) == 3,
                       "all members log")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=WATCHDOG)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn(b"interrupted", said)
        self.assertEqual(os.listdir(self.folder), [])

    def test_sizes(self):
        for fabric in ("shm", "tcp"):
            for size in (0, 1, 7, 8, 16, 1000, 10_240, 1 << 20):
                with self.subTest(fabric=fabric, size=size):
                    messages = 20 if size > 10_000 else 500
                    result = self.multicast(messages, "--window", "4M", "--fabric", fabric,
                                            size=size)
                    self.assertEqual([m["delivered_bytes"] for m in result["members"]],
                                     [3 * messages * size] * 3)

    def test_several_groups(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(500, "--groups", 5, "--fabric", fabric)
                self.expect_figures(result, 5 * 500 * 3, 64)
                result = self.multicast(500, "--groups", 5, "--active-groups", 2, "--fabric",
                                        fabric)
                self.expect_figures(result, 2 * 500 * 3, 64)

    def test_one_active_sender_of_three(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(5000, "--active", "one", "--fabric", fabric)
                self.expect_figures(result, 5000, 64)
                self.assertGreater(result["nulls_sent"], 0)

    def test_pausing_senders(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(100, "--pausing", 1, "--pause-us", 100, "--fabric", fabric)
                self.expect_figures(result, 300, 64)

    def test_caller_drive(self):
        for fabric in ("shm", "tcp"):
            for more in ([], ["--spin"], ["--idle", "spin"]):
                with self.subTest(fabric=fabric, more=more):
                    result = self.multicast(500, "--drive", "caller", "--members", 2, "--fabric",
                                            fabric, *more)
                    self.expect_figures(result, 1000, 64)

    def test_a_delivery_thread_for_each_group(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(2000, "--delivery", "own", "--groups", 2, "--fabric",
                                        fabric)
                self.expect_figures(result, 12_000, 64)

    def test_an_application_takes_batches(self):
        for delivery in ("application", "epoll", "asio"):
            with self.subTest(delivery=delivery):
                result = self.multicast(2000, "--delivery", delivery, "--groups", 2)
                self.expect_figures(result, 12_000, 64)

    def test_one_message_at_a_time(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(200, "--in-flight", 1, "--senders", "one", "--fabric",
                                        fabric)
                self.expect_figures(result, 200, 64)
                self.expect_latencies(result["latency_ns"]["others"])
                self.assertEqual(result["latency_ns"]["own"]["samples"], 200)

    def test_a_tiny_window(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(2000, "--window", 4096, "--window-messages", 2,
                                        "--fabric", fabric)
                self.expect_figures(result, 6000, 64)

    def test_a_rate(self):
        result = self.multicast(50, "--rate", 1000)
        self.expect_figures(result, 150, 64)

    def test_touching_the_header_only(self):
        result = self.perf("multicast", "--touch", "header", "--warmup", 0, "--messages", 1000,
                           "--suspect-after", SUSPECT_AFTER)
        self.expect_figures(result, 3000, 1024)
        self.assertEqual(result["options"]["touch"], "header")

    def test_a_measured_time(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.perf("multicast", "--verify", "--seconds", 1, "--warmup", 0.1,
                                   "--fabric", fabric, "--suspect-after", SUSPECT_AFTER)
                self.assertGreater(result["delivered_messages_per_second"], 0)
                self.expect_latencies(result["latency_ns"]["own"])

    def test_one_member_and_many(self):
        alone = self.multicast(1000, "--members", 1)
        self.assertEqual(alone["members"][0]["delivered_messages"], 1000)
        self.assertEqual(alone["writes_posted"], 0)
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                result = self.multicast(100, "--members", 8, "--fabric", fabric)
                self.expect_figures(result, 800, 64)

    def test_a_file_beside_the_table(self):
        path = os.path.join(self.folder, "result.json")
        done = tutti("perf", "multicast", "--messages", 100, "--warmup", 0, "--json", path,
                     "--suspect-after", SUSPECT_AFTER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(done.stdout, "")
        with open(path, encoding="utf-8") as file:
            self.expect_figures(json.load(file), 300, 1024)


class Pairs(PerfTest):
    def test_orders_are_measured_in_turn(self):
        script = os.path.join(os.path.dirname(__file__), "..", "..", "perf", "pairs.py")
        command = [sys.executable, script, "--programs", os.path.dirname(os.path.abspath(TUTTI)),
                   "--orders", "round_robin,lcr", "--fabrics", "shm,tcp", "--sizes", "64",
                   "--active", "one", "--repeat", "2", "--seconds", "1", "--suspect-after",
                   SUSPECT_AFTER]
        done = subprocess.run([*command, "--json", "-"], capture_output=True, text=True,
                              check=False, timeout=WATCHDOG)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        points = json.loads(done.stdout)["points"]
        self.assertEqual([point["fabric"] for point in points], ["shm", "tcp"])
        for point in points:
            base, other = point["orders"]
            self.assertEqual((base["order"], other["order"]), ("round_robin", "lcr"))
            for name in ("delivered_messages_per_second", "own_p50_ns"):
                self.assertGreater(base[name]["min"], 0)
            rates = [one["delivered_messages_per_second"]["runs"] for one in (base, other)]
            self.assertEqual(other["ratio"]["runs"],
                             [ring / robin for robin, ring in zip(*rates, strict=True)])


class Idle(PerfTest):
    BEAT = float(SUSPECT_AFTER) / 40  # seconds: there are 40 heartbeats in a suspect_after

    def test_nothing_is_written_but_heartbeats(self):
        for fabric in ("shm", "tcp"):
            for groups in (1, 3):
                with self.subTest(fabric=fabric, groups=groups):
                    result = self.perf("idle", "--seconds", 0.3, "--warmup", 0.3, "--groups",
                                       groups, "--fabric", fabric, "--suspect-after",
                                       SUSPECT_AFTER)
                    for name in ("pushes", "nulls_sent", "null_pushes"):
                        self.assertEqual(result[name], 0, name)
                    self.assertEqual(len(result["members"]), 3)
                    # Of 3 members to 2 each; twice as many, for the members' times differ a little.
                    beats = 3 * 2 * 2 * (result["seconds"] / self.BEAT + 2)
                    self.assertLessEqual(result["writes_posted"], beats)
                    self.assertLessEqual(result["doorbells"], beats)
                    self.assertLessEqual(result["bytes_posted"], beats * 4096)


class AMemberFails(PerfTest):
    """A member that is killed is named, not only those that noticed."""

    def start(self, *arguments):
        command = [TUTTI, "perf", "multicast", "--seconds", 1000, "--start-timeout", 1000,
                   "--suspect-after", 1000]
        process = subprocess.Popen([*map(str, command), *arguments], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def members_of(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def fields_of(self, process):
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()

    def state_of(self, process):
        return self.fields_of(process)[0]

    def is_busy(self, member):
        fields = self.fields_of(member)
        return int(fields[11]) + int(fields[12]) >= 10  # ticks of processor time

    def streaming_members_of(self, process):
        wait_until(lambda: len(self.members_of(process)) == 3, "all members start")
        members = self.members_of(process)
        wait_until(lambda: all(map(self.is_busy, members)), "all members stream")
        return members

    def expect_named(self, process, victims):
        _, said = process.communicate(timeout=WATCHDOG)
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said, rf"^tutti: member m[{victims}] was killed by signal 9 \(Killed\)\n")

    def test_in_mid_stream(self):
        for fabric in ("shm", "tcp"):
            for victim in range(3):
                with self.subTest(fabric=fabric, victim=victim):
                    process = self.start("--fabric", fabric)
                    os.kill(self.streaming_members_of(process)[victim], signal.SIGKILL)
                    self.expect_named(process, victim)

    def test_two_at_once(self):
        process = self.start()
        victims = self.streaming_members_of(process)[1:]
        # Else it might see the first one's death, and end the second one itself, before the test.
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: self.state_of(process.pid) == "T", "it is stopped")
        for member in victims:
            os.kill(member, signal.SIGKILL)
        process.send_signal(signal.SIGCONT)
        self.expect_named(process, "12")

    def test_at_the_start(self):
        for victim in range(3):
            with self.subTest(victim=victim):
                process = self.start()
                members = wait_until(lambda p=process, v=victim: self.members_of(p)[v:],
                                     "the member starts")
                os.kill(members[0], signal.SIGKILL)
                self.expect_named(process, victim)


class WrongOptions(PerfTest):
    def test_are_refused(self):
        cases = ((["--members", 0], "1 to 256"), (["--members", 257], "1 to 256"),
                 (["--senders", 4], "--senders"), (["--senders", 0], "--senders"),
                 (["--senders", "some"], "--senders"), (["--active", "x"], "--active"),
                 (["--groups", 0], "1 to 1024"), (["--active-groups", 2], "--active-groups"),
                 (["--seconds", 0], "--seconds"), (["--seconds", "nan"], "--seconds"),
                 (["--warmup", -1], "--warmup"), (["--rate", -1], "--rate"),
                 (["--pause-us", "inf"], "--pause-us"), (["--pausing", 4], "--pausing"),
                 (["--touch", "some"], "--touch"), (["--drive", "x"], "--drive"),
                 (["--delivery", "x"], "--delivery"),
                 (["--delivery", "epoll", "--drive", "caller"], "--drive caller"),
                 (["--idle", "x"], "--idle"),
                 (["--level", "x"], "level"), (["--fabric", "x"], "fabric"),
                 (["--state-dir", "x"], "--logged"), (["--logged", "--level", "agreed"], "logged"),
                 (["--logged", "--listen", "127.0.0.1:7400"], "--state-dir"),
                 (["--size", "2M"], "message_max_bytes"), (["--window", 10], "window_bytes"),
                 (["--window-messages", 3], "window_messages"))
        for arguments, part in cases:
            with self.subTest(arguments=arguments):
                done = tutti("perf", "multicast", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(part, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
