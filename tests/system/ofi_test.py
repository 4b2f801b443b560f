"""Members connected through libfabric, and what is said of providers that cannot connect them."""

import json
import os
import unittest

from support import SUSPECT_AFTER, SystemTest, numbered, tutti, wait_until

FABRICS = ("ofi:tcp", "ofi:tcp;ofi_rxm", "ofi:shm")
SURVIVING = FABRICS[:2]  # of libfabric's shm, members are told that it does not survive a kill


class Libfabric(SystemTest):
    def succeed(self, fabric, *arguments):
        arguments = [*arguments, "--fabric", fabric]
        done = tutti(*arguments, env={**os.environ, "TMPDIR": self.folder}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def text(self, lines):
        path = os.path.join(self.folder, "text")
        with open(path, "wb") as file:
            file.write(numbered(lines, b"line"))
        return path

    def test_all_members_print_the_same(self):
        inputs = {name: numbered(3000, name.encode()) for name in "abc"}
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                members = self.start_cluster(inputs, fabric=fabric)
                self.expect_all_exit(members)
                self.expect_same_outputs(members, inputs)
                for member in members:
                    warned = "a member that is killed there may hang those" in member.said()
                    self.assertEqual(warned, fabric not in SURVIVING)

    def test_the_demo(self):
        path = self.text(1000)
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                said = self.succeed(fabric, "demo", "--repeat", 20, path)
                self.assertIn("identical: the outputs of all 3 members", said)
                self.assertIn(f"fabric {fabric},", said)

    def test_a_member_is_killed_and_comes_again(self):
        for fabric in SURVIVING:
            with self.subTest(fabric=fabric):
                members = self.start_streaming("abc", fabric=fabric)
                members[1].kill()
                members[1].wait()
                addresses = members[0].process.args[members[0].process.args.index("--members") + 1]
                again = self.start_member("b", addresses, "--fabric", fabric, "--join",
                                          data=b"b is here again\n")
                survivors = [members[0], members[2]]
                wait_until(lambda: all(b" b b is here again\n" in m.output() for m in survivors),
                           "the survivors deliver what it sends")
                for member in survivors:
                    member.feeder.finish()
                self.expect_all_exit([*survivors, again])
                printed = [member.output() for member in survivors]
                self.assertEqual(printed[0], printed[1])
                self.assertTrue(printed[0].startswith(members[1].output()))
                self.assertTrue(printed[0].endswith(again.output()))
                self.assertIn(b" b b is here again\n", again.output())

    def test_every_byte_comes_as_it_was_sent(self):
        for fabric in FABRICS:
            for size in (1, 1024, 200_000):
                with self.subTest(fabric=fabric, size=size):
                    said = self.succeed(fabric, "perf", "multicast", "--json", "-", "--verify",
                                        "--warmup", 0, "--messages", 300, "--size", size,
                                        "--suspect-after", SUSPECT_AFTER)
                    result = json.loads(said)
                    self.assertEqual([member["delivered_messages"] for member in result["members"]],
                                     [900] * 3)


class TheLibrary(SystemTest):
    def test_is_loaded_by_those_that_use_it(self):
        for fabric, uses_it in (("auto", False), ("tcp", False), ("ofi:tcp", True)):
            with self.subTest(fabric=fabric):
                member = self.start_member("a", self.address_list("ab"), "--fabric", fabric)
                wait_until(lambda: "waiting for b" in member.said(), "it has started")
                with open(f"/proc/{member.process.pid}/maps", encoding="utf-8") as maps:
                    self.assertEqual("libfabric" in maps.read(), uses_it)
                member.kill()

    def test_is_asked_for_where_it_is_missing(self):
        with open(os.path.join(self.folder, "libfabric.so.1"), "wb"):
            pass  # found first, and no library
        env = {**os.environ, "LD_LIBRARY_PATH": self.folder}
        done = tutti("run", "--name", "a", "--members", self.address_list("ab"), "--group", "log",
                     "--fabric", "ofi:tcp", env=env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot load libfabric: ", done.stderr)
        self.assertIn("install it (libfabric1 of Debian 12), or use another fabric", done.stderr)


class WrongProviders(SystemTest):
    def refused(self, fabric):
        member = self.start_member("a", self.address_list("ab"), "--fabric", fabric)
        self.assertNotEqual(member.wait(), 0, member.said())
        return member.said()

    def test_one_that_libfabric_does_not_have(self):
        for name in ("no-such", "cxi", "tcp;no-such"):
            said = self.refused("ofi:" + name)
            self.assertIn(f"libfabric has no provider '{name}' here: none by that name was built "
                          "in, or there is no device for it", said)
            self.assertRegex(said, "those that will do here: .*tcp")

    def test_one_that_has_nothing_to_sleep_on(self):
        self.assertIn("libfabric's provider 'udp;ofi_rxd' has nothing that members could sleep on",
                      self.refused("ofi:udp;ofi_rxd"))

    def test_one_that_makes_no_one_sided_writes(self):
        said = self.refused("ofi:udp")
        self.assertIn("libfabric's provider 'udp' makes no one-sided writes", said)
        self.assertRegex(said, "those that will do here: .*tcp")

    def test_members_with_different_ones(self):
        for others in ("ofi:tcp;ofi_rxm", "tcp", "auto"):
            with self.subTest(others=others):
                addresses = self.address_list("ab")
                start = lambda name, fabric: self.start_member(
                    name, addresses, "--start-timeout", 60, "--fabric", fabric)
                for member in (start("a", "ofi:tcp"), start("b", others)):
                    self.assertNotIn(member.wait(), (0, 143), member.said())
                    self.assertIn("'ofi:tcp' at a", member.said())
                    self.assertIn(f"'{others}' at b", member.said())
                    self.assertIn("must be the same at all members", member.said())


if __name__ == "__main__":
    unittest.main()
