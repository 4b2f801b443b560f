"""What the tests that run in the guest share: members that are reached by RDMA, each on a device of
its own, and the wire between the devices."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "system"))

from support import TUTTI, SystemTest, free_ports, tutti  # noqa: E402, F401
from views_test import ViewsTest as SystemViewsTest  # noqa: E402


def run(*command):
    """Runs it; what it prints."""
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


class RdmaTest(SystemViewsTest):
    """10.9.0.1 belongs to rxe0, 10.9.0.2 to rxe1, and so on: a member uses the device of the address
    where it listens."""

    def address_list(self, names):
        ports = free_ports(len(names))
        return ",".join(f"{name}=10.9.0.{i}:{port}"
                        for i, (name, port) in enumerate(zip(names, ports), start=1))

    def report_of(self, member):
        with open(os.path.join(self.folder, member.name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def reports(self, names):
        return {name: ["--report", os.path.join(self.folder, name + ".json")] for name in names}

    def expect_rdma(self, members):
        """Only RDMA has completions that are asked for."""
        for member in members:
            self.assertGreater(self.report_of(member)["node"]["signalled_writes"], 0, member.name)
