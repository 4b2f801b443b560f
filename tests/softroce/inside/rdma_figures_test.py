"""What members on RDMA post and ask completions of: counted, not timed. And `tutti doctor`."""

import json
import unittest

from rdma import RdmaTest, tutti
from support import SUSPECT_AFTER

DEVICES = 4


class Figures(RdmaTest):
    def test_writes_and_completions_of_three_saturated_senders(self):
        # Who sleeps asks for completions, to be woken by them; who has enough to do does not sleep.
        done = tutti("perf", "multicast", "--members", 3, "--fabric", "verbs", "--size", "1K",
                     "--messages", 20_000, "--warmup", 0, "--idle", "yield", "--suspect-after",
                     SUSPECT_AFTER, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        writes = result["writes_posted"]
        delivered = sum(member["delivered_messages"] for member in result["members"])
        messages = 3 * 20_000
        print(f"{writes} writes for {messages} messages: {writes / messages:.3f} each; "
              f"1 in {writes / result['signalled_writes']:.1f} signalled")
        self.assertEqual(delivered, 3 * messages)
        self.assertLessEqual(writes, 0.5 * messages)
        self.assertLessEqual(result["signalled_writes"], writes / 16)


class Idleness(RdmaTest):
    def test_who_has_nothing_to_do_sleeps(self):
        """What members tell each other in order to sleep must not end their sleep."""
        for fabric in ("verbs", "ofi:verbs"):
            done = tutti("perf", "idle", "--fabric", fabric, "--seconds", 2, "--suspect-after",
                         SUSPECT_AFTER, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            print(f"{fabric}: {result['sleeps']} sleeps, {result['doorbells']} doorbells")
            self.assertLess(result["sleeps"], 3000)  # of three members: heartbeats end some


class Doctor(RdmaTest):
    def examine(self, *arguments):
        done = tutti("doctor", "--json", *arguments)
        return {f["subject"]: f for f in json.loads(done.stdout)["findings"]}

    def test_tries_the_devices(self):
        for fabrics in (), ("--fabric", "ofi:verbs"):
            findings = self.examine(*fabrics)
            tried = findings["loopback " + (fabrics[1] if fabrics else "verbs")]
            self.assertEqual(tried["grade"], "good", tried)
            self.assertIn("ordering test passed", tried["what"])

    def test_sees_the_devices(self):
        findings = self.examine("--no-loopback")
        for i in range(DEVICES):
            port = findings[f"rxe{i} port 1"]
            self.assertEqual(port["grade"], "good", port)
            self.assertIn("ACTIVE", port["what"])
            self.assertIn(f"10.9.0.{i + 1}", port["what"])
            self.assertIn("packets of 4096 bytes", port["what"])
        self.assertEqual(findings["RDMA access"]["grade"], "good")
        self.assertEqual(findings["locked memory"]["grade"], "good")


if __name__ == "__main__":
    unittest.main()
