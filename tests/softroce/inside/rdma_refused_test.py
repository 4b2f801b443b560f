"""What cannot work over RDMA is refused with the reason."""

import os
import resource
import unittest

from rdma import TUTTI, RdmaTest, run
from support import numbered, wait_until


def leave_one_descriptor(member):
    """The member may open one more, wherever in its table that is. Returns the limits it had."""
    pid = member.process.pid
    taken = {int(fd) for fd in os.listdir(f"/proc/{pid}/fd")}
    free = min(set(range(len(taken) + 1)) - taken)
    beyond = min(set(range(free + 1, free + len(taken) + 2)) - taken)
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (beyond, hard))


class Refused(RdmaTest):
    def expect_refusal(self, *parts, device=None, command=None, fabric="verbs",
                       status=1):
        """The first of two members does not start, and says why."""
        addresses = self.address_list("ab")
        arguments = ["--fabric", fabric] + (["--rdma-device", device] if device else [])
        member = self.start_member("a", addresses, *arguments, command=command)
        self.expect_exit(member, status)
        for part in parts:
            self.assertIn(part, member.said())

    def test_a_device_that_is_not_there(self):
        self.expect_refusal("no RDMA device or address 'mlx5_7'", "10.9.0.1 belongs to 'rxe0'",
                            device="mlx5_7")
        self.expect_refusal("no RDMA device or address '10.8.0.1'", device="10.8.0.1")
        self.expect_refusal("no RDMA device or address 'mlx5_7'", device="mlx5_7", fabric="auto")

    def test_a_port_or_a_gid_that_is_not_there(self):
        self.expect_refusal("belongs to port 1 of 'rxe0'", device="rxe0:2")
        self.expect_refusal("not with the GID of index 0", "ibv_devinfo -v", device="rxe0:1:0")
        self.expect_refusal("no GID of index 5000", device="rxe0:1:5000")

    def test_a_device_that_is_spelled_wrongly(self):
        for device in ("rxe0:", "rxe0:x", "rxe0:1:", ":1", "rxe0:1:1:1"):
            self.expect_refusal(f"RDMA device '{device}' is not legal", device=device, status=2)

    def test_a_port_that_is_down(self):
        run("ip", "link", "set", "p1", "down")
        try:
            self.expect_refusal("'rxe0', but its port 1 is down", "'rdma link'", device="rxe0")
        finally:
            run("ip", "link", "set", "p1", "up")

    def test_too_little_memory_that_may_be_locked(self):
        command = ["prlimit", "--memlock=65536:65536", "setpriv", "--bounding-set=-ipc_lock", TUTTI]
        self.expect_refusal("cannot register", "may lock 64 KiB", "ulimit -l", command=command)

    def test_members_on_different_fabrics(self):
        for other in ("tcp", "shm"):
            addresses = self.address_list("ab")
            members = [self.start_member(name, addresses, "--fabric", fabric)
                       for name, fabric in (("a", "verbs"), ("b", other))]
            self.expect_all_exit(members, 1)
            for member in members:
                self.assertRegex(member.said(), "fabric is '.*: they have none in common; 'verbs' is "
                                                "for all members or for none")

    def test_a_device_for_a_fabric_without_one(self):
        self.expect_refusal("rdma_device is 'rxe0' with fabric 'tcp'", device="rxe0", fabric="tcp",
                            status=2)


class Accepted(RdmaTest):
    def gid_index(self):
        """Of rxe0's GID that stands for its address."""
        for index in range(16):
            path = f"/sys/class/infiniband/rxe0/ports/1/gids/{index}"
            with open(path, encoding="utf-8") as file:
                if file.read().strip().endswith("ffff:0a09:0001"):
                    return index
        self.fail("rxe0 has no GID for 10.9.0.1")

    def test_a_device_named_in_full(self):
        inputs = {name: numbered(200, name.encode()) for name in "ab"}
        each = self.reports("ab")
        each["a"] += ["--rdma-device", f"rxe0:1:{self.gid_index()}"]
        each["b"] += ["--rdma-device", "10.9.0.2"]
        members = self.start_cluster(inputs, fabric="verbs", each=each)
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)
        self.expect_rdma(members)

    def test_auto_with_verbs(self):
        inputs = {name: numbered(200, name.encode()) for name in "ab"}
        addresses = self.address_list(inputs)
        each = self.reports("ab")
        members = [self.start_member(name, addresses, "--fabric", fabric, *each[name],
                                     data=inputs[name])
                   for name, fabric in (("a", "auto"), ("b", "verbs"))]
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)
        self.expect_rdma(members)

    def test_a_member_that_lacks_descriptors_for_a_while(self):
        inputs = {name: numbered(200, name.encode()) for name in "ab"}
        addresses = self.address_list(inputs)
        each = self.reports("ab")
        b = self.start_member("b", addresses, "--fabric", "verbs", *each["b"], data=inputs["b"])
        wait_until(lambda: "waiting for a" in b.said() or not b.running(), "b waits for a")
        limits = leave_one_descriptor(b)  # for the socket with which it calls
        a = self.start_member("a", addresses, "--fabric", "verbs", *each["a"], data=inputs["a"])
        wait_until(lambda: "b and a cannot be connected by RDMA yet: at b, cannot open the RDMA "
                           "connection: no file descriptor is free" in b.said() or
                   not b.running(), "b says what it lacks")
        resource.prlimit(b.process.pid, resource.RLIMIT_NOFILE, limits)
        self.expect_all_exit([a, b])
        self.expect_same_outputs([a, b], inputs)
        self.expect_rdma([a, b])


if __name__ == "__main__":
    unittest.main()
