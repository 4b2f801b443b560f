"""`tutti perf topic`: small measurements verify what they deliver, and report sane figures."""

import json
import os
import unittest

from perf_test import PerfTest
from support import SUSPECT_AFTER, tutti


class Topics(PerfTest):
    def topic(self, messages, *arguments, size=64):
        return self.perf("topic", "--verify", "--warmup", 0, "--messages", messages, "--size", size,
                         "--suspect-after", SUSPECT_AFTER, *arguments)

    def test_services(self):
        for fabric in ("shm", "tcp"):
            for service in ("unordered", "atomic", "stored"):
                with self.subTest(fabric=fabric, service=service):
                    result = self.topic(2000, "--fabric", fabric, "--service", service)
                    self.expect_figures(result, 6000, 64)
                    self.assertEqual(result["benchmark"], "topic")

    def test_a_service_that_logs(self):
        done = tutti("perf", "topic", "--json", "-", "--verify", "--warmup", 0, "--messages", 1000,
                     "--size", 64, "--service", "logged", "--suspect-after", SUSPECT_AFTER,
                     cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(os.listdir(self.folder), [], "files were left behind")
        self.assertGreaterEqual(json.loads(done.stdout)["persisted"], 3 * 3000)

    def test_sizes_senders_and_quiet_topics(self):
        for size in (0, 7, 16, 1000, 10_240):
            with self.subTest(size=size):
                result = self.topic(300, "--senders", "one", "--topics", 5, size=size)
                self.assertEqual([m["delivered_bytes"] for m in result["members"]],
                                 [300 * size] * 3)

    def test_one_at_a_time_without_time_stamps_over_groups(self):
        result = self.topic(100, "--in-flight", 1, "--groups", 2, "--no-source-timestamps",
                            "--delivery", "own")
        self.expect_figures(result, 600, 64)
        self.assertFalse(result["options"]["source_timestamps"])

    def test_wrong_options(self):
        for arguments, part in ((["--service", "x"], "--service"), (["--topics", -1], "--topics"),
                                (["--delivery", "epoll"], "--delivery"),
                                (["--level", "atomic"], "--level")):
            with self.subTest(arguments=arguments):
                done = tutti("perf", "topic", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
