"""`tutti run` through views: members die, pause, come again and join, one after the other and at
once, and the others print one sequence."""

import random
import signal
import subprocess
import unittest

from support import FABRICS, Feeder, SystemTest, numbered, wait_until

NAMES = ("a", "b", "c")


class ViewsTest(SystemTest):
    def start_fed(self, name, addresses, *arguments, fabric="auto"):
        """A member that is fed without an end; its lines tell its starts apart."""
        word = ("tcp" if name == "b" else "auto") if fabric == "mixed" else fabric
        member = self.start_member(name, addresses, "--fabric", word, *arguments,
                                   data=subprocess.PIPE)
        starts = sum(other.name == name for other in self.members)
        member.prefix = b"%s.%d" % (name.encode(), starts)
        self.feeders.append(Feeder(member, member.prefix + b" ", pause=0.02))
        return member

    def await_view(self, members, *parts):
        """All of them say something with each of `parts` in one line that tells of a view."""
        def said(member):
            return any(all(part in line for part in parts)
                       for line in member.said().splitlines() if "view " in line)

        def missing():
            return [member for member in members if not said(member)]

        members = list(members)
        def who():
            return f"{parts} was not said by" + "".join(
                f" {member.name}, which said:\n{member.said()}" for member in missing())

        wait_until(lambda: not missing() or not all(m.running() for m in missing()), who)
        self.assertFalse(missing(), who())

    def await_more(self, members, more=20_000):
        goals = {member: member.output_size() + more for member in members}
        for member, goal in goals.items():
            wait_until(lambda m=member, g=goal: m.output_size() >= g or not m.running(),
                       f"{member.name} prints on")
            self.assertTrue(member.running(), f"member {member.name} said:\n{member.said()}")

    def make_leave(self, member):
        """By a line that is too long, after which it leaves in order. How many it has sent."""
        sent = member.feeder.finish(close=False)
        try:
            member.process.stdin.write(b"x" * 100_000 + b"\n")
            member.process.stdin.close()
        except OSError:
            pass
        self.expect_exit(member, 1)
        return sent

    def first_number(self, member):
        printed = member.output()
        return int(printed.split(b" ", 1)[0]) if printed else 0

    def expect_one_sequence(self, ended, dead=()):
        """The input of `ended` ends, and they end well. What all printed is part of one sequence
        that has all lines of each start of a member that ended well, the first ones of the dead."""
        for member in ended:
            member.feeder.finish()
        self.expect_all_exit(ended)
        lines = []
        for member in sorted([*ended, *dead], key=self.first_number):
            printed = member.output().split(b"\n")[:-1]
            first = self.first_number(member)
            if first > len(lines):
                self.fail(f"nobody printed what {member.name} came after")
            again = lines[first:first + len(printed)]
            if printed[:len(again)] != again:
                self.fail(f"{member.name} printed something else than others")
            lines += printed[len(again):]
        for number, line in enumerate(lines):
            if int(line.split(b" ", 1)[0]) != number:
                self.fail(f"line {number} has another number: {line}")
        by_start = {}
        for line in lines:
            _, sender, start, number = line.split(b" ")
            self.assertTrue(start.startswith(sender))
            self.assertEqual(int(number), by_start.get(start, 0), line)
            by_start[start] = int(number) + 1
        for member in ended:
            self.assertEqual(by_start.get(member.prefix, 0),
                             b"".join(member.feeder.sent).count(b"\n"), f"lines of {member.name}")
        return lines


class MembersDie(ViewsTest):
    def test_two_of_five_at_once(self):
        for fabric in FABRICS:
            for victims in ("ab", "ce"):
                with self.subTest(fabric=fabric, victims=victims):
                    addresses = self.address_list("abcde")
                    members = {name: self.start_fed(name, addresses, fabric=fabric)
                               for name in "abcde"}
                    self.await_more(members.values())
                    for name in victims:
                        members[name].kill()
                    dead = [members[name] for name in victims]
                    survivors = [m for m in members.values() if m not in dead]
                    for name in victims:
                        self.await_view(survivors, f"{name} was lost")
                    self.await_more(survivors)
                    self.expect_one_sequence(survivors, dead)

    def test_and_come_again_and_again(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list(NAMES)
                members = {name: self.start_fed(name, addresses, fabric=fabric) for name in NAMES}
                dead = []
                for i in range(10):
                    self.await_more(members.values())
                    victim = NAMES[i % 3]
                    members[victim].kill()
                    members[victim].wait()  # its port is free
                    dead.append(members[victim])
                    others = [m for m in members.values() if m.name != victim]
                    # The first starts do not wait for the loss to be found.
                    if i >= 5:
                        self.await_view(others, f"view {2 * i + 2}:", f"{victim} was lost")
                    members[victim] = self.start_fed(victim, addresses, *["--join"] * (i % 2),
                                                     fabric=fabric)
                    self.await_view(members.values(), f"view {2 * i + 3}:", victim)
                self.await_more(members.values())
                self.expect_one_sequence(list(members.values()), dead)

    def test_before_the_group_is_founded_and_come_again(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list(NAMES)
                first = self.start_fed("b", addresses, fabric=fabric)
                source = random.Random(fabric)
                for _ in range(5):
                    hasty = self.start_fed("c", addresses, fabric=fabric)
                    wait_until(lambda m=hasty, r=source: r.random() < 0.05 or m.said(), "some time")
                    hasty.kill()
                    hasty.wait()
                members = [first] + [self.start_fed(name, addresses, fabric=fabric)
                                     for name in "ac"]
                self.await_more(members)
                self.expect_one_sequence(members)


class MembersJoin(ViewsTest):
    def test_two_that_come_after_three_founders(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list("abcde")
                founders = ["--founders", 3]
                members = [self.start_fed(name, addresses, *founders, fabric=fabric)
                           for name in "dbe"]
                self.await_view(members, "view 1: b, d, e")
                self.await_more(members)
                members += [self.start_fed(name, addresses, *founders, fabric=fabric)
                            for name in "ac"]
                for name in "ac":
                    self.await_view(members[:3], f"{name} joined")
                self.await_more(members)
                self.expect_one_sequence(members)

    def test_one_that_is_killed_half_way(self):
        source = random.Random(3)
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list("abcd")
                founders = ["--founders", 3]
                members = [self.start_fed(name, addresses, *founders, fabric=fabric)
                           for name in NAMES]
                self.await_more(members)
                dead = []
                for _ in range(10):
                    dead.append(self.start_fed("d", addresses, "--join", fabric=fabric))
                    wait_until(lambda m=dead[-1], r=source: r.random() < 0.05 or m.said(),
                               "some time")
                    dead[-1].kill()
                    dead[-1].wait()
                    self.await_more(members)
                members.append(self.start_fed("d", addresses, "--join", fabric=fabric))
                self.await_more(members)
                self.expect_one_sequence(members, dead)

    def test_where_there_is_no_group(self):
        addresses = self.address_list(NAMES)
        members = [self.start_member(name, addresses, "--join", "--start-timeout", 3)
                   for name in "ab"]
        for member in members:
            self.expect_exit(member, 1)
            self.assertIn("start_timeout of 3.000 s is over; there is no group to join",
                          member.said())
            self.assertIn("c (127.0.0.1:", member.said())

    def test_a_member_that_leaves_in_order_is_not_missed(self):
        """It ends its input; a line that is too long makes it leave."""
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list(NAMES)
                members = {name: self.start_fed(name, addresses, fabric=fabric) for name in NAMES}
                self.await_more(members.values())
                leaver = members.pop("a")
                sent = self.make_leave(leaver)
                others = list(members.values())
                self.await_view(others, "b, c (a left)")
                self.await_more(others)
                lines = self.expect_one_sequence(others, [leaver])
                self.assertEqual(sum(line.split(b" ")[2] == leaver.prefix for line in lines),
                                 sent.count(b"\n"))


class AMemberIsStoppedForTooLong(ViewsTest):
    def test_learns_that_it_was_removed_and_may_come_again(self):
        for fabric, victim in zip(FABRICS, "aca"):
            with self.subTest(fabric=fabric, victim=victim):
                addresses = self.address_list(NAMES)
                # Longer than a busy host holds one up. One that suspects soon is enough, and so no
                # two suspect each other falsely.
                hasty = "b"
                members = {name: self.start_fed(name, addresses, "--suspect-after",
                                                10 if name == hasty else 60, fabric=fabric)
                           for name in NAMES}
                self.await_more(members.values())
                stopped = members.pop(victim)
                stopped.process.send_signal(signal.SIGSTOP)
                others = list(members.values())
                self.await_view(others, "view 2:", f"{victim} was lost")
                self.await_more(others)
                stopped.process.send_signal(signal.SIGCONT)
                self.assertIn(stopped.wait(), (1, 3), stopped.said())
                # TCP may have had no room for the word of it: then it sees all others go.
                self.assertRegex(stopped.said(), "removed" if fabric == "shm" else
                                 "removed|lost the majority of view 1")
                self.assertRegex(stopped.said(), "[Ss]tart (this member|it) again")
                again = self.start_fed(victim, addresses, "--join", fabric=fabric)
                self.await_view(others, "view 3:", f"{victim} joined")
                self.await_more([*others, again])
                self.expect_one_sequence([*others, again], [stopped])


class AMinority(ViewsTest):
    def test_stops_and_says_so(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                addresses = self.address_list("abcde")
                members = {name: self.start_fed(name, addresses, fabric=fabric) for name in "abcde"}
                self.await_more(members.values())
                # The two are stopped meanwhile, else there would be time for views of 4, 3, 2.
                for name in "ce":
                    members[name].process.send_signal(signal.SIGSTOP)
                    wait_until(lambda m=members[name]: m.state() == "T", "it is stopped")
                for name in "bad":
                    members[name].kill()
                    members[name].wait()
                for name in "ce":
                    members[name].process.send_signal(signal.SIGCONT)
                for name in "ce":
                    self.expect_exit(members[name], 3)
                    self.assertRegex(members[name].said(), "lost the majority of view 1: '[a-e]'")
                    self.assertIn("is a prefix of the group's sequence", members[name].said())
                outputs = [member.output() for member in members.values()]
                longest = max(outputs, key=len)
                for output in outputs:
                    self.assertTrue(longest.startswith(output))


if __name__ == "__main__":
    unittest.main()
