"""Durable groups whose members are all killed, as real processes: they go on from their logs, with one
command line for each that never changes."""

import json
import os
import shutil
import subprocess
import unittest

from support import Feeder, SystemTest, tutti, wait_until

NAMES = "abc"
GROUP = "log"


class RestartTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.addresses = self.address_list(NAMES)
        self.fabric = "shm"

    def state_of(self, name):
        return os.path.join(self.folder, f"{name}.state")

    def bootstrap(self, name="a", *arguments, state=None):
        return tutti("bootstrap", "--name", name, "--members", self.addresses, "--group", GROUP,
                     "--state-dir", state or self.state_of(name), *arguments)

    def expect_founded(self):
        done = self.bootstrap()
        self.assertEqual(done.returncode, 0, done.stderr)

    def start(self, name, *arguments, data=subprocess.PIPE, state=None):
        return self.start_member(name, self.addresses, "--fabric", self.fabric, "--level",
                                 "durable", "--state-dir", state or self.state_of(name),
                                 *arguments, data=data, group=GROUP)

    def start_all(self, life):
        """Each is fed lines "NAME.LIFE says N" without an end."""
        members = [self.start(name) for name in NAMES]
        for member in members:
            self.feed(member, life)
        return members

    def feed(self, member, life):
        self.feeders.append(Feeder(member, b"%s.%d says " % (member.name.encode(), life),
                                   pause=0.05))

    def wait_for(self, members, condition, what):
        wait_until(lambda: all(condition(m) for m in members) or
                   any(not m.running() for m in members), what)
        for member in members:
            self.assertTrue(condition(member), f"{what}: member {member.name} said:\n"
                            f"{member.said()}")

    def wait_for_output(self, members, size):
        self.wait_for(members, lambda m: m.output_size() > size, f"{size} bytes printed by all")

    def wait_for_life(self, members, life):
        """All have printed something that each of the members has sent in that life."""
        def has_all(member):
            output = member.output()
            return all(b"%s.%d says" % (name.encode(), life) in output for name in NAMES)
        self.wait_for(members, has_all, f"messages of life {life}")

    def kill(self, members):
        for member in members:
            member.kill()
        for member in members:
            member.wait()

    def longest(self, members):
        """Of what they printed, of which all are beginnings."""
        outputs = [member.output() for member in members]
        longest = max(outputs, key=len)
        for output in outputs:
            self.assertTrue(longest.startswith(output), "two members printed different sequences")
        return longest

    def expect_numbers(self, text, lives):
        """From 0 on, and so are each sender's lines in each life: nothing twice, nothing missing."""
        counts = {}
        for number, line in enumerate(text.split(b"\n")[:-1]):
            seq, sender, words = line.split(b" ", 2)
            self.assertEqual(int(seq), number)
            prefix, _, index = words.rpartition(b" ")
            self.assertTrue(prefix.startswith(sender + b"."), line)
            self.assertEqual(int(index), counts.get(prefix, 0), line)
            counts[prefix] = int(index) + 1
        for name in NAMES:
            for life in range(1, lives + 1):
                self.assertIn(b"%s.%d says" % (name.encode(), life), counts)

    def digest(self, name):
        done = tutti("log", "info", "--json", os.path.join(self.state_of(name), GROUP))
        self.assertEqual(done.returncode, 0, done.stderr)
        log = json.loads(done.stdout)[0]
        return log["next"], log["digest"]

    def finish(self, members):
        for member in members:
            member.feeder.finish()
        self.expect_all_exit(members)


class AllMembersAreKilled(RestartTest):
    def test_twice_and_nothing_is_lost(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                self.fabric = fabric
                self.expect_founded()
                known = b""
                for life in (1, 2):
                    members = self.start_all(life)
                    self.wait_for_life(members, life)
                    self.kill(members)
                    now = self.longest(members)
                    self.assertTrue(now.startswith(known), "a durable message is lost")
                    known = now
                members = self.start_all(3)
                self.wait_for_life(members, 3)
                self.finish(members)
                for member in members:
                    self.assertEqual(member.output(), members[0].output())
                self.assertTrue(members[0].output().startswith(known), "a durable message is lost")
                self.expect_numbers(members[0].output(), 3)
                self.assertEqual(len({self.digest(name) for name in NAMES}), 1)
                for name in NAMES:
                    shutil.rmtree(self.state_of(name))
                self.addresses = self.address_list(NAMES)

    def test_a_minority_waits_and_says_for_whom(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_life(members, 1)
        self.kill(members)
        known = self.longest(members)
        a = self.start("a")
        self.wait_for([a], lambda m: "waits for b or c" in m.said(), "a waits")
        self.assertEqual(a.output_size(), 0, "nothing is delivered by a minority")
        b = self.start("b")
        for member in (a, b):
            self.feed(member, 2)
        self.wait_for_output([a, b], len(known) + 10_000)
        c = self.start("c")  # and joins
        self.feed(c, 2)
        self.wait_for_life([a, b, c], 2)
        self.finish([a, b, c])
        self.assertEqual(a.output(), b.output())
        self.assertEqual(a.output(), c.output())
        self.assertTrue(a.output().startswith(known), "a durable message is lost")
        self.expect_numbers(a.output(), 2)

    def test_one_whose_disk_is_lost_gets_everything_from_the_others(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_output(members, 10_000)
        self.kill(members)
        known = self.longest(members)
        shutil.rmtree(self.state_of("a"))  # where the group was bootstrapped
        members = self.start_all(2)
        self.wait_for_output(members, len(known) + 10_000)
        self.finish(members)
        for member in members:
            self.assertEqual(member.output(), members[0].output())
        self.assertTrue(members[0].output().startswith(known), "a durable message is lost")
        self.assertEqual(len({self.digest(name) for name in NAMES}), 1)


class OneMemberIsKilled(RestartTest):
    def test_and_comes_again_with_the_same_command_line(self):
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                self.fabric = fabric
                self.expect_founded()
                a, b, c = self.start_all(1)
                self.wait_for_output([a, b, c], 10_000)
                self.kill([b])
                before = b.output()
                self.wait_for_output([a, c], a.output_size() + 10_000)
                b = self.start("b")
                self.feed(b, 2)
                self.wait_for_output([b], a.output_size())
                self.finish([a, b, c])
                self.assertEqual(a.output(), c.output())
                self.assertEqual(a.output(), b.output())
                self.assertTrue(b.output().startswith(before), "it has forgotten something")
                self.assertEqual(len({self.digest(name) for name in NAMES}), 1)
                for name in NAMES:
                    shutil.rmtree(self.state_of(name))
                self.addresses = self.address_list(NAMES)


class WrongFolders(RestartTest):
    def test_bootstrap_at_two_nodes_does_no_harm(self):
        self.expect_founded()
        done = self.bootstrap("c")
        self.assertEqual(done.returncode, 0, done.stderr)
        members = self.start_all(1)
        self.wait_for_life(members, 1)
        self.finish(members)

    def test_of_a_founding_beside_the_group(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_life(members, 1)
        self.kill(members)
        shutil.rmtree(self.state_of("c"))
        done = self.bootstrap("c")
        self.assertEqual(done.returncode, 0, done.stderr)
        a, b, c = self.start_all(2)
        self.assertNotEqual(c.wait(), 0)
        self.assertIn("has been in one already", c.said())
        shutil.rmtree(self.state_of("c"))
        c = self.start("c")
        self.feed(c, 2)
        self.wait_for_life([a, b, c], 2)
        self.finish([a, b, c])

    def test_that_two_nodes_use(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_output(members, 1_000)
        other = self.start("a", state=self.state_of("b"))
        self.assertNotEqual(other.wait(), 0)
        self.assertIn("another node uses", other.said())
        self.finish(members)

    def test_of_another_node(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_output(members, 1_000)
        self.kill(members)
        other = self.start("b", state=self.state_of("a"))
        self.assertNotEqual(other.wait(), 0)
        self.assertIn("'a'", other.said())


class Bootstrap(RestartTest):
    def test_says_what_is_next(self):
        done = self.bootstrap()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"new: group {GROUP} of the members a, b, c", done.stdout)
        self.assertIn(f"--members {self.addresses} --group {GROUP} --level durable", done.stdout)

    def test_as_json(self):
        done = self.bootstrap("b", "--group", "other", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), {
            "name": "b", "members": list(NAMES), "groups": [GROUP, "other"],
            "state_dir": self.state_of("b")})

    def test_may_be_done_twice_before_anything_has_begun(self):
        self.expect_founded()
        self.expect_founded()
        done = self.bootstrap("b", state=self.state_of("a"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("belongs to node 'a', not to 'b'", done.stderr)

    def test_refuses_a_group_that_has_begun(self):
        self.expect_founded()
        members = self.start_all(1)
        self.wait_for_output(members, 1_000)
        running = self.bootstrap()
        self.assertNotEqual(running.returncode, 0, "a node uses that folder")
        self.kill(members)
        done = self.bootstrap()
        self.assertEqual(done.returncode, 2)
        self.assertIn("start the node without bootstrap", done.stderr)

    def test_wrong_usage(self):
        for words, said in (
                (("--name", "z"), "'z' is not among the members"),
                (("--members", "a"), "not of the form NAME=HOST:PORT"),
                (("--group", ""), "group name of 0 bytes"), (("--state-dir", ""), "state_dir"),
                (("--what",), "not understood")):
            with self.subTest(words=words):
                options = {"--name": ["a"], "--members": [self.addresses], "--group": [GROUP],
                           "--state-dir": [self.state_of("a")], **{words[0]: list(words[1:])}}
                done = tutti("bootstrap", *[word for option, values in options.items()
                                            for word in (option, *values)])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
        done = tutti("run", "--name", "a", "--members", self.addresses, "--group", GROUP,
                     "--bootstrap")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--bootstrap: it is for a group that is logged", done.stderr)

    def test_as_an_option_of_the_first_start(self):
        members = [self.start(name, *(["--bootstrap"] if name == "c" else [])) for name in NAMES]
        for member in members:
            self.feed(member, 1)
        self.wait_for_output(members, 1_000)
        self.finish(members)
        self.assertEqual(members[0].output(), members[2].output())


class Demo(SystemTest):
    def test_that_kills_all(self):
        for fabric in ("shm", "tcp"):
            for order in ("round_robin", "token_ring", "lcr"):
                with self.subTest(fabric=fabric, order=order):
                    done = tutti("demo", "--durable", "--kill-all", "--rounds", 3, "--fabric",
                                 fabric, "--order", order)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn("\nnothing is lost: ", done.stdout)
                    self.assertIn("life 3: killed while it started", done.stdout)

    def test_wrong_usage(self):
        for words, said in ((("--kill-all",), "use --durable"),
                            (("--durable", "--rounds", 3), "--kill-all"),
                            (("--durable", "--kill-all", "--kill"), "excludes"),
                            (("--durable", "--kill-all", "x"), "no files")):
            with self.subTest(words=words):
                done = tutti("demo", *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
