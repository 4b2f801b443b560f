"""The key-value example as its users try it: set here, get there, kill, go on, join again."""

import contextlib
import os
import socket
import subprocess
import time
import unittest

from support import TUTTI, WATCHDOG, SystemTest, free_ports, look_at, wait_until

KV = os.path.join(os.path.dirname(TUTTI), "example_kv")


class Store:
    """One member. Commands are answered in order, so each waits for its answer."""

    def __init__(self, name, addresses, folder, *arguments):
        self.path = os.path.join(folder, f"{name}.{len(os.listdir(folder))}")
        with open(self.path, "wb") as output:
            self.process = subprocess.Popen([KV, name, addresses, *arguments],
                                            stdin=subprocess.PIPE, stdout=output, stderr=output)
        self.answered = 0

    def lines(self):
        """Those that are whole: a long one may be written in parts."""
        with open(self.path, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def next_line(self):
        wait_until(lambda: len(self.lines()) > self.answered or self.process.poll() is not None,
                   f"an answer after {self.lines()}")
        self.answered += 1
        return self.lines()[self.answered - 1]

    def tell(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.tell(command)
        return self.next_line()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


class Client:
    """One connection to a member that listens for clients."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=WATCHDOG)
        self.file = self.connection.makefile("rw", encoding="utf-8")

    def ask(self, command):
        self.file.write(command + "\n")
        self.file.flush()
        return self.file.readline().rstrip("\n")

    def end(self):
        self.file.close()
        self.connection.close()


class KeyValueStoreTest(SystemTest):
    def start(self, name, *arguments):
        store = Store(name, self.addresses, self.folder, *arguments)
        self.addCleanup(store.end)
        return store

    def setUp(self):
        super().setUp()
        self.addresses = self.address_list("abc")

    def start_all(self):
        stores = [self.start(name) for name in "abc"]
        for store in stores:
            self.assertEqual(store.next_line(), "ready")
        return stores

    def wait_for_members(self, store, members):
        wait_until(lambda: set(store.ask("members").split()[2:]) == set(members), members)


class KeyValueStore(KeyValueStoreTest):
    def test_what_one_sets_all_have(self):
        a, b, c = self.start_all()
        self.assertEqual(a.ask("set color deep blue"), "ok")
        self.assertEqual(b.ask("set color red"), "ok, was deep blue")
        self.assertEqual(b.ask("get color"), "red")
        self.assertEqual(c.ask("del color"), "ok, was red")
        self.assertEqual(c.ask("get color"), "(none)")
        self.assertEqual(a.ask("del color"), "ok")

    def test_a_member_is_killed_and_comes_back_with_the_state(self):
        for victim in range(3):
            with self.subTest(victim="abc"[victim]):
                stores = self.start_all()
                others = [store for store in stores if store is not stores[victim]]
                for i in range(300):
                    self.assertEqual(others[i % 2].ask(f"set key{i} {'x' * 4000}{i}"), "ok")
                stores[victim].process.kill()
                stores[victim].process.wait(WATCHDOG)  # its port is free
                self.assertEqual(others[0].ask("set after the kill"), "ok")
                back = self.start("abc"[victim], "--join")
                self.assertEqual(back.next_line(), "ready")
                self.assertEqual(back.ask("get after"), "the kill")
                for i in range(300):
                    self.assertEqual(back.ask(f"get key{i}"), f"{'x' * 4000}{i}")
                self.assertEqual(back.ask("set key0 new"), f"ok, was {'x' * 4000}0")
                self.assertEqual(others[1].ask("set key0 newer"), "ok, was new")
                for store in [back, *others]:
                    store.tell("quit")
                for store in [back, *others]:
                    self.assertEqual(store.process.wait(WATCHDOG), 0, store.lines()[-1:])
                self.addresses = self.address_list("abc")

    def test_a_member_is_killed_while_the_state_comes(self):
        """The state is a hundred times what is under way at once, so its coming takes a while."""
        keys, value = 800, "x" * 30_000
        where = dict(part.split("=") for part in self.addresses.split(","))
        a, b, c = self.start_all()
        for i in range(keys):
            a.tell(f"set key{i} {value}{i}")
        for i in range(keys):
            self.assertEqual(a.next_line(), "ok")
        c.end()
        caught = 0
        for i in range(3):
            self.wait_for_members(a, "ab")
            joiner = self.start("c", "--join")
            seen = wait_until(lambda: (s := look_at(where["c"])) and s["state"] != "waiting" and s,
                              "c is let in")
            joiner.end()
            caught += seen["state"] == "joining"
            self.assertEqual(b.ask(f"set kills {i}"), f"ok, was {i - 1}" if i else "ok")
        self.assertGreater(caught, 0, "the state came too quickly: make it larger")
        self.wait_for_members(a, "ab")
        back = self.start("c", "--join")
        self.assertEqual(back.next_line(), "ready")
        self.assertEqual(back.ask("get kills"), "2")
        for i in (0, *range(7, keys, 50), keys - 1):
            self.assertEqual(back.ask(f"get key{i}"), f"{value}{i}")
        self.assertEqual(back.ask("set kills none"), "ok, was 2")
        for store in (a, b, back):
            store.tell("quit")
        for store in (a, b, back):
            self.assertEqual(store.process.wait(WATCHDOG), 0, store.lines()[-1:])

    def test_a_member_leaves_and_the_others_go_on(self):
        a, b, c = self.start_all()
        self.assertEqual(b.ask("set k v"), "ok")
        b.tell("quit")
        self.assertEqual(b.process.wait(WATCHDOG), 0, b.lines())
        self.wait_for_members(a, "ac")
        self.assertEqual(c.ask("set k w"), "ok, was v")
        self.wait_for_members(c, "ac")

    def test_a_minority_says_so_and_ends(self):
        a, b, c = self.start_all()
        b.process.kill()
        c.process.kill()
        wait_until(lambda: "lost the majority" in a.ask("set k v"), "it knows")
        with contextlib.suppress(BrokenPipeError):
            a.tell("get k")
        self.assertEqual(a.process.wait(WATCHDOG), 1)

    def test_usage(self):
        for words in ([], ["a"], ["a", self.addresses, "--what"],
                      ["a", self.addresses, "--bootstrap"], ["a", self.addresses, "--listen", "x"],
                      ["a", self.addresses, "--snapshot-every", "0"]):
            done = subprocess.run([KV, *words], capture_output=True, text=True, timeout=WATCHDOG,
                                  check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("usage: kv", done.stderr)


class AService(KeyValueStoreTest):
    """With --state-dir and --listen: one command line for each member, which never changes."""

    def setUp(self):
        super().setUp()
        self.ports = dict(zip("abc", free_ports(3)))

    def words(self, name):
        return ("--state-dir", os.path.join(self.folder, "state", name), "--listen",
                str(self.ports[name]))

    def start_service(self):
        stores = [self.start(name, *self.words(name)) for name in "abc"]
        for store in stores:
            wait_until(lambda s=store: "ready" in s.lines() or s.process.poll() is not None,
                       "ready")
            self.assertIsNone(store.process.poll(), store.lines())
        return stores

    def bootstrap(self):
        done = subprocess.run([KV, "b", self.addresses, *self.words("b"), "--bootstrap"],
                              capture_output=True, text=True, timeout=WATCHDOG, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the store is new", done.stdout)

    def client(self, name):
        client = Client(self.ports[name])
        self.addCleanup(client.end)
        return client

    def test_it_answers_its_clients(self):
        self.bootstrap()
        self.start_service()
        a, c = self.client("a"), self.client("c")
        self.assertEqual(a.ask("set color deep blue"), "ok")
        self.assertEqual(c.ask("set color red"), "ok, was deep blue")
        self.assertEqual(c.ask("get color"), "red")
        self.assertEqual(self.client("c").ask("get color"), "red")
        time.sleep(0.5)  # a client may be silent for as long as it likes
        self.assertEqual(c.ask("get color"), "red")
        self.assertEqual(a.ask("quit"), "", "the connection is closed")

    def test_a_store_is_new_once(self):
        self.bootstrap()
        self.bootstrap()
        other = subprocess.run([KV, "a", self.addresses, *self.words("b"), "--bootstrap"],
                               capture_output=True, text=True, timeout=WATCHDOG, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn("belongs to node 'b', not to 'a'", other.stderr)


if __name__ == "__main__":
    unittest.main()
