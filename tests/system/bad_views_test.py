"""Names that are started twice: at once, later, elsewhere. One lives, the other says why not, and the
group loses nothing."""

import subprocess
import unittest

from support import Feeder, SystemTest, free_ports, wait_until

NAMES = ("a", "b", "c")


class ANameThatRunsTwice(SystemTest):
    def start_fed(self, names, addresses):
        members = []
        for name in names:
            members.append(self.start_member(name, addresses, data=subprocess.PIPE))
            self.feeders.append(Feeder(members[-1], name.encode() + b" says ", pause=0.02))
        return members

    def expect_in_use(self, member, address):
        self.expect_exit(member, 1)
        self.assertIn(f"cannot listen at {address}, the address of {member.name} (this member): "
                      "Address already in use; end the process that uses it, or take another port",
                      member.said())
        self.assertEqual(member.output(), b"")

    def expect_good_end(self, members):
        sent = {member.name: member.feeder.finish() for member in members}
        self.expect_all_exit(members)
        self.expect_same_outputs(members, sent)
        for member in members:
            self.assertNotIn("view 2", member.said())

    def test_started_at_the_same_time(self):
        """One of the two has the address; it does not matter which."""
        addresses = self.address_list(NAMES)
        where = dict(part.split("=") for part in addresses.split(","))
        for name in NAMES:
            with self.subTest(name=name):
                twins = self.start_fed([name, name], addresses)
                wait_until(lambda t=twins: not all(m.running() for m in t), "one of them ends")
                loser = next(m for m in twins if not m.running())
                winner = next(m for m in twins if m is not loser)
                others = self.start_fed([n for n in NAMES if n != name], addresses)
                self.expect_in_use(loser, where[name])
                members = sorted([winner, *others], key=lambda m: m.name)
                wait_until(lambda: all(m.output_size() > 0 or not m.running() for m in members),
                           "the group runs")
                self.expect_good_end(members)

    def test_started_again_while_the_first_lives(self):
        addresses = self.address_list(NAMES)
        where = dict(part.split("=") for part in addresses.split(","))
        members = self.start_fed(NAMES, addresses)
        wait_until(lambda: all(m.output_size() > 0 for m in members), "the group runs")
        for name in NAMES:
            self.expect_in_use(self.start_member(name, addresses, "--join"), where[name])
        self.expect_good_end(members)

    def test_started_elsewhere_while_the_first_lives(self):
        """With an address of its own it must have another member list, and that is what differs."""
        addresses = self.address_list(NAMES)
        members = self.start_fed(NAMES, addresses)
        wait_until(lambda: all(m.output_size() > 0 for m in members), "the group runs")
        kept, _, theirs = addresses.rpartition(",c=")
        own = f"127.0.0.1:{free_ports(1)[0]}"
        second = self.start_member("c", f"{kept},c={own}", "--start-timeout", 60)
        self.expect_exit(second, 1)
        self.assertRegex(second.said(), f"member list: address of c is '{own}' at c but "
                                        f"'{theirs}' at [ab]; it must be the same at all members; "
                                        "[ab] runs already and goes on without c")
        self.assertEqual(second.output(), b"")
        self.expect_good_end(members)


if __name__ == "__main__":
    unittest.main()
