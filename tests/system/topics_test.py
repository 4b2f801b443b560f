"""The example with a topic of each service, as its users try it: run twice with one folder, the
second run finds the samples of the logged topic of the first."""

import os
import subprocess
import unittest

from support import TUTTI, WATCHDOG, SystemTest, free_ports

EXAMPLE = os.path.join(os.path.dirname(TUTTI), "example_topics")
READINGS = """readings.unordered: sensor 1 has 20.5
readings.atomic: sensor 1 has 20.5
readings.stored: sensor 0 has 24.0
readings.stored: sensor 1 has 25.0
"""
ORDER = "orders: Ada ordered 2 articles\n"


class Topics(SystemTest):
    def run_example(self):
        port = next(port for port in iter(lambda: free_ports(2), None) if port[1] == port[0] + 1)[0]
        done = subprocess.run([EXAMPLE, os.path.join(self.folder, "state"), str(port)],
                              capture_output=True, text=True, timeout=WATCHDOG, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_the_log_outlives_a_run(self):
        self.assertEqual(self.run_example(), READINGS + ORDER)
        self.assertEqual(self.run_example(), READINGS + ORDER + ORDER)


if __name__ == "__main__":
    unittest.main()
