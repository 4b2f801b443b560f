"""Members that are connected by RDMA: multicast, a death and a return, leaving, a wire that loses
packets, and `tutti demo`."""

import os
import re
import unittest

from rdma import RdmaTest, run, tutti
from support import numbered

NAMES = ("a", "b", "c")
TEXT = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "protocol.md")


class Multicast(RdmaTest):
    def expect_multicast(self, names, lines=2000):
        inputs = {name: numbered(lines, name.encode() + b" says") for name in names}
        members = self.start_cluster(inputs, fabric="verbs", each=self.reports(names))
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)
        self.expect_rdma(members)

    def test_among_three(self):
        self.expect_multicast(NAMES)

    def test_among_four(self):
        self.expect_multicast("abcd")

    def test_through_libfabric(self):
        inputs = {name: numbered(2000, name.encode() + b" says") for name in NAMES}
        members = self.start_cluster(inputs, fabric="ofi:verbs")
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)

    def test_over_a_wire_that_loses_packets(self):
        """RDMA's reliable connections send them again: nobody notices."""
        for i in (1, 2, 3):
            run("tc", "qdisc", "add", "dev", f"p{i}", "root", "netem", "loss", "2%")
        try:
            self.expect_multicast(NAMES)
            dropped = sum(int(count) for i in (1, 2, 3) for count in re.findall(
                r"dropped (\d+)", run("tc", "-s", "qdisc", "show", "dev", f"p{i}")))
        finally:
            for i in (1, 2, 3):
                run("tc", "qdisc", "del", "dev", f"p{i}", "root")
        self.assertGreater(dropped, 0)

    def test_demo(self):
        for words in ((), ("--order", "token_ring", "--kill"), ("--order", "lcr", "--kill")):
            with self.subTest(words=words):
                done = tutti("demo", "--fabric", "verbs", "--members", 3, *words, "--repeat", 20, TEXT)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("identical", done.stdout)


class Views(RdmaTest):
    def test_members_die_and_come_again_and_the_others_go_on(self):
        self.expect_returns("verbs", ("b", "c", "a"))

    def test_they_do_so_through_libfabric(self):
        self.expect_returns("ofi:verbs", ("b",))

    def expect_returns(self, fabric, victims):
        addresses = self.address_list(NAMES)
        members = {name: self.start_fed(name, addresses, fabric=fabric) for name in NAMES}
        dead = []
        for i, victim in enumerate(victims):
            self.await_more(members.values())
            members[victim].kill()
            members[victim].wait()
            dead.append(members[victim])
            others = [m for m in members.values() if m.name != victim]
            self.await_view(others, f"view {2 * i + 2}:", f"{victim} was lost")
            self.await_more(others)
            members[victim] = self.start_fed(victim, addresses, "--join", fabric=fabric)
            self.await_view(members.values(), f"view {2 * i + 3}:", victim)
        self.await_more(members.values())
        self.expect_one_sequence(list(members.values()), dead)

    def test_a_member_leaves_in_order(self):
        addresses = self.address_list(NAMES)
        members = {name: self.start_fed(name, addresses, fabric="verbs") for name in NAMES}
        self.await_more(members.values())
        leaver = members.pop("a")
        self.make_leave(leaver)
        others = list(members.values())
        self.await_view(others, "b, c (a left)")
        self.await_more(others)
        self.expect_one_sequence(others, [leaver])


if __name__ == "__main__":
    unittest.main()
