"""`tutti members`: the view of a running member, asked from outside."""

import json
import socket
import struct
import subprocess
import threading
import unittest

from support import FABRICS, WATCHDOG, Feeder, SystemTest, free_ports, tutti, wait_until

NAMES = ("a", "b", "c")


def look(address, *more):
    """What the member at that address says, or None if nobody answers."""
    done = tutti("members", address, "--json", *(more or ("--timeout", WATCHDOG)))
    return json.loads(done.stdout) if done.returncode == 0 else None


class MembersTest(SystemTest):
    def start_all(self, fabric="auto"):
        listed = self.address_list(NAMES)
        self.addresses = dict(part.split("=") for part in listed.split(","))
        words = {name: "tcp" if (name, fabric) == ("b", "mixed") else
                 "auto" if fabric == "mixed" else fabric for name in NAMES}
        members = {}
        for name in NAMES:
            members[name] = self.start_member(name, listed, "--fabric", words[name],
                                              data=subprocess.PIPE)
            self.feeders.append(Feeder(members[name], name.encode() + b" says ", pause=0.02))
        wait_until(lambda: all(m.output_size() > 0 or not m.running() for m in members.values()),
                   "all members print")
        return listed, members

    def expect_view(self, asked, names, number):
        """Each of those asked is in that view of these members, which says the same of all."""
        views = []
        for name in asked:
            seen = wait_until(lambda n=name: (s := look(self.addresses[n])) and
                              s["view"] >= number and s["state"] == "in_view" and s,
                              f"{name} is in view {number}")
            self.assertEqual((seen["name"], seen["view"]), (name, number))
            self.assertEqual([member["name"] for member in seen["members"]], list(names))
            self.assertEqual([member["rank"] for member in seen["members"]],
                             list(range(len(names))))
            for member in seen["members"]:
                self.assertEqual(member["address"], self.addresses[member["name"]])
            own = [m for m in seen["members"] if m["name"] == name]
            self.assertEqual(own[0]["incarnation"], seen["incarnation"])
            self.assertEqual({node["name"] for node in seen["absent"]}, set(NAMES) - set(names))
            self.assertEqual(seen["groups"], ["log"])
            views.append(seen["members"])
        for view in views:
            self.assertEqual(view, views[0])
        return {member["name"]: member["incarnation"] for member in views[0]}


class OfAGroupThatRuns(MembersTest):
    def test_the_view_follows_who_dies_and_comes_again(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                listed, members = self.start_all(fabric)
                before = self.expect_view(NAMES, NAMES, 1)
                self.assertEqual(len(set(before.values())), 3)
                members["a"].kill()
                members["a"].wait()
                self.assertEqual(tutti("members", self.addresses["a"]).returncode, 1)
                after = self.expect_view("bc", "bc", 2)
                self.assertEqual(after, {name: before[name] for name in "bc"})
                again = self.start_member("a", listed, "--join", data=subprocess.PIPE)
                back = self.expect_view(NAMES, "bca", 3)
                self.assertNotEqual(back["a"], before["a"])
                again.process.stdin.close()
                for name in "bc":
                    members[name].feeder.finish()
                self.expect_all_exit([members["b"], members["c"], again])

    def test_looks_without_end_disturb_nothing(self):
        _, members = self.start_all()
        for i in range(60):
            self.assertEqual(look(self.addresses[NAMES[i % 3]])["view"], 1)
        sent = {name: member.feeder.finish() for name, member in members.items()}
        self.expect_all_exit(members.values())
        self.expect_same_outputs(list(members.values()), sent)

    def test_people_can_read_it(self):
        _, members = self.start_all()
        done = tutti("members", self.addresses["b"], "--timeout", WATCHDOG)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, head, *rows = done.stdout.splitlines()
        self.assertEqual(first, "member b of group log: in view 1")
        self.assertEqual(head.split(), ["rank", "name", "address", "incarnation"])
        self.assertEqual([row.split()[:3] for row in rows],
                         [[str(i), name, self.addresses[name]] for i, name in enumerate(NAMES)])
        self.assertEqual([row.split()[4:] for row in rows], [[], ["answered"], []])
        for member in members.values():
            member.feeder.finish()
        self.expect_all_exit(members.values())


class OfAMemberThatWaits(MembersTest):
    def test_for_the_others(self):
        addresses = self.address_list("ab")
        where = addresses.split(",")[0].partition("=")[2]
        member = self.start_member("a", addresses, data=b"")
        seen = wait_until(lambda: look(where), "it listens")
        self.assertEqual((seen["state"], seen["view"], seen["members"]), ("waiting", 0, []))
        self.assertEqual([node["name"] for node in seen["absent"]], ["a", "b"])
        done = tutti("members", where, "--timeout", WATCHDOG)
        self.assertIn("member a of group log: waiting for the others, in no view yet", done.stdout)
        self.expect_all_exit([member, self.start_member("b", addresses, data=b"")])


class WhereNoMemberAnswers(SystemTest):
    def expect_refused(self, status, address, *parts, timeout=60):
        done = tutti("members", address, "--timeout", timeout)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def serve(self, says):
        """The address of a stranger that says this, and then nothing."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def answer():
            connection, _ = server.accept()
            self.addCleanup(connection.close)
            connection.sendall(says)

        threading.Thread(target=answer, daemon=True).start()
        return "127.0.0.1:%d" % server.getsockname()[1]

    def test_nobody_listens(self):
        address = f"127.0.0.1:{free_ports(1)[0]}"
        self.expect_refused(1, address, "nobody listens at " + address)

    def test_a_stranger_that_never_answers(self):
        address = self.serve(b"")
        self.expect_refused(1, address, f"no answer from {address} within 5.000 s",
                            "is it a node of Tutti?", timeout=5)

    def test_a_stranger_that_speaks_of_something_else(self):
        address = self.serve(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        self.expect_refused(1, address, "no node of Tutti answers at " + address)

    def test_a_member_of_another_version(self):
        address = self.serve(b"TUTTI\0" + struct.pack("<HI", 999, 100))
        self.expect_refused(1, address, "protocol version is 999 there but", address)

    def test_a_host_that_does_not_resolve(self):
        self.expect_refused(1, "no-such-host.invalid:7001", "no-such-host.invalid")

    def test_wrong_usage(self):
        self.expect_refused(2, "127.0.0.1", "has no port")
        self.expect_refused(2, "127.0.0.1:7001", "--timeout", timeout=0)
        self.assertEqual(tutti("members").returncode, 2)


if __name__ == "__main__":
    unittest.main()
