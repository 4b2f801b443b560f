"""`tutti perf` across hosts: members that join by connection, by ssh, and under Slurm. The hosts are
all this one; what reaches them is what would reach others."""

import json
import os
import socket
import stat
import subprocess
import unittest

from support import SUSPECT_AFTER, TUTTI, WATCHDOG, SystemTest, free_ports, wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEASURE = ("multicast", "--messages", "500", "--warmup", "0", "--size", "64", "--verify",
           "--fabric", "tcp", "--suspect-after", SUSPECT_AFTER)


class ClusterTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.parent_address = f"127.0.0.1:{free_ports(1)[0]}"

    def begin(self, *arguments, **options):
        process = subprocess.Popen([TUTTI, "perf", *map(str, arguments)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def begin_parent(self, members, *arguments):
        return self.begin(*MEASURE, "--json", "-", "--listen", self.parent_address, "--members",
                          members, *arguments)

    def join(self, *arguments):
        return self.begin("join", self.parent_address, *arguments)

    def result_of(self, parent, members, senders=None):
        """What the parent measured, once it has ended well with all of its members."""
        out, said = parent.communicate(timeout=WATCHDOG)
        self.assertEqual(parent.returncode, 0, said)
        for member in members:
            self.assertEqual(member.wait(WATCHDOG), 0, member.stderr.read())
        result = json.loads(out)
        for measured in result["members"]:
            self.assertEqual(measured["delivered_messages"], 500 * (senders or len(result["members"])))
            self.assertEqual(measured["host"], socket.gethostname())
        return result

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path


class ThatJoin(ClusterTest):
    def test_they_come_in_any_order(self):
        early = [self.join(), self.join("--rank", 0, "--host", "127.0.0.2")]
        parent = self.begin_parent(3)
        result = self.result_of(parent, [*early, self.join()])
        self.assertEqual([member["name"] for member in result["members"]], ["m0", "m1", "m2"])
        self.assertGreater(result["latency_ns"]["others"]["samples"], 0)  # one host, one clock

    def test_ranks_are_as_asked_for(self):
        parent = self.begin_parent(2, "--senders", "one")
        second = self.join("--rank", 1)
        result = self.result_of(parent, [self.join("--rank", 0), second], senders=1)
        self.assertEqual([member["active"] for member in result["members"]], [True, False])

    def test_strangers_are_let_go(self):
        parent = self.begin_parent(2)
        host, port = self.parent_address.split(":")

        def talk(text):
            wait_until(lambda: self.is_there(host, port), "the parent listens")
            with socket.create_connection((host, int(port)), timeout=WATCHDOG) as stranger:
                stranger.sendall(text)
                return stranger.makefile().readline()

        self.assertIn("no JSON", talk(b"GET / HTTP/1.1\r\n\r\n"))
        self.assertIn("no member of a measurement", talk(b"{}\n"))
        self.assertIn("run the same version",
                      talk(b'{"hello": "tutti perf member", "version": "0.0"}\n'))
        silent = socket.create_connection((host, int(port)), timeout=WATCHDOG)
        self.addCleanup(silent.close)
        first = self.join("--rank", 1)
        high = self.join("--rank", 7)
        self.assertEqual(high.wait(WATCHDOG), 1)
        self.assertIn("rank 7 of 2 members", high.stderr.read())
        while "has come, 1 missing" not in (said := parent.stderr.readline()):
            self.assertTrue(said, "the parent ended")
        other = self.join("--rank", 1)
        self.assertEqual(other.wait(WATCHDOG), 1)
        self.assertIn("rank 1 is taken", other.stderr.read())
        self.result_of(parent, [first, self.join()])

    def is_there(self, host, port):
        try:
            socket.create_connection((host, int(port)), timeout=WATCHDOG).close()
            return True
        except ConnectionRefusedError:
            return False

    def test_those_that_are_missing_are_counted(self):
        parent = self.begin_parent(3, "--start-timeout", 1)
        one = self.join("--wait", 20)  # it may come when the parent has ended
        said = parent.communicate(timeout=WATCHDOG)[1]
        self.assertEqual(parent.returncode, 1)
        self.assertRegex(said, "[23] of 3 members have not come")
        self.assertEqual(one.wait(WATCHDOG), 1)
        self.assertRegex(one.stderr.read(), "no measurement to take part in|nobody answers at")

    def test_a_parent_that_never_comes(self):
        alone = self.join("--wait", 0.3)
        self.assertEqual(alone.wait(WATCHDOG), 1)
        self.assertIn(f"nobody answers at {self.parent_address}", alone.stderr.read())

    def test_a_member_that_is_killed_is_named(self):
        parent = self.begin(*MEASURE[:1], "--seconds", 60, "--warmup", 0, "--listen",
                            self.parent_address, "--members", 2, "--fabric", "tcp")
        victim, other = self.join("--rank", 0), self.join("--rank", 1)
        wait_until(lambda: self.are_connected(victim, other), "they have met")
        victim.kill()
        said = parent.communicate(timeout=WATCHDOG)[1]
        self.assertEqual(parent.returncode, 1)
        self.assertIn("member m", said)
        self.assertEqual(other.wait(WATCHDOG), 1)

    def are_connected(self, *members):
        """Each has threads of a node that runs."""
        return all(len(os.listdir(f"/proc/{member.pid}/task")) > 2 for member in members)

    def test_bad_words(self):
        for arguments, part in (
                ((*MEASURE, "--listen", "here"), "has no port"),
                ((*MEASURE, "--listen", "127.0.0.1:0"), "not in 1 .. 65535"),
                ((*MEASURE, "--listen", "192.0.2.1:7400"), "cannot listen"),
                (("join", "nowhere"), "has no port"),
                (("join", self.parent_address, "--wait", "0"), "--wait"),
                ((*MEASURE, "--hosts", "a,,b"), "is no host"),
                ((*MEASURE, "--hosts", "-oProxyCommand=x"), "is no host"),
                ((*MEASURE, "--numa-node", "999"), "has no node 999")):
            process = self.begin(*arguments)
            said = process.communicate(timeout=WATCHDOG)[1]
            self.assertIn(process.returncode, (1, 2), arguments)
            self.assertIn(part, said)


class BySsh(ClusterTest):
    def setUp(self):
        super().setUp()
        self.ssh = self.script("ssh", 'echo "$1" >> "$(dirname "$0")/called"\nshift\nexec "$@"\n')

    def test_each_host_runs_a_member(self):
        port = free_ports(1)[0]
        hosts = "127.0.0.1,someone@127.0.0.2,127.0.0.3"
        parent = self.begin(*MEASURE, "--json", "-", "--hosts", hosts, "--ssh", self.ssh,
                            "--program", TUTTI, "--port", port)
        self.assertEqual(len(self.result_of(parent, [])["members"]), 3)
        with open(os.path.join(self.folder, "called"), encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().split()), sorted(hosts.split(",")))

    def test_a_host_that_is_not_reached_is_named(self):
        fails = self.script("fails", "echo no route to host >&2\nexit 255\n")
        parent = self.begin(*MEASURE, "--hosts", "h1,h2", "--ssh", fails)
        said = parent.communicate(timeout=WATCHDOG)[1]
        self.assertEqual(parent.returncode, 1)
        self.assertRegex(said, r"member m[01] on h[12] ended with status 255")
        self.assertIn("no route to host", said)

    def test_a_node_of_memory_may_be_chosen(self):
        result = self.result_of(self.begin(*MEASURE, "--json", "-", "--numa-node", "0", "--pin"),
                                [])
        self.assertEqual(result["options"]["numa_node"], 0)


class UnderSlurm(ClusterTest):
    def test_the_first_task_is_the_parent_too(self):
        self.script("scontrol", 'test "$1 $2 $3" = "show hostnames nodes[1-3]" && '
                                'printf "127.0.0.1\\nother\\n"\n')
        where = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"], "TUTTI": TUTTI,
                 "SLURM_JOB_NODELIST": "nodes[1-3]", "SLURM_NTASKS": "3",
                 "TUTTI_PERF_PORT": self.parent_address.split(":")[1]}
        tasks = [subprocess.Popen(
            [os.path.join(ROOT, "deploy", "slurm", "tutti-perf"), *MEASURE, "--json", "-"],
            env={**where, "SLURM_PROCID": str(rank)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in (2, 0, 1)]
        for task in tasks:
            self.addCleanup(lambda t=task: (t.kill(), t.communicate()))
        outputs = [task.communicate(timeout=WATCHDOG) for task in tasks]
        for task, (_, said) in zip(tasks, outputs):
            self.assertEqual(task.returncode, 0, said)
        self.assertEqual([bool(out) for out, _ in outputs], [False, True, False])
        self.assertEqual(len(json.loads(outputs[1][0])["members"]), 3)


if __name__ == "__main__":
    unittest.main()
