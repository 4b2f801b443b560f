"""Strangers at a member's port: whatever they send, or do not send, the group starts and runs as if
they had not come. And bytes that change between two members: an error, never another sequence.

The last needs a proxy between the two: both have the same member list, but with the private
/etc/hosts of a mount namespace the name in it leads b to the proxy, and a to its own address.
"""

import os
import random
import socket
import struct
import subprocess
import threading
import unittest

from support import TUTTI, Feeder, SystemTest, free_ports, numbered, wait_until

MAGIC = b"TUTTI\0"
HTTP = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def hello(length, body=b"", protocol=1):
    return MAGIC + struct.pack("<HI", protocol, length) + body


GREETINGS = {
    "garbage": random.Random(5).randbytes(100_000),
    "http": HTTP,
    "a huge length": hello(0xffffffff, b"x" * 1000),
    "no length": hello(0),
    "the largest length, then silence": hello(1 << 20, b"{"),
    "half a hello": hello(500, b'{"name": "b", "to": "a"'),
    "half a magic": MAGIC[:3],
    "nothing": b"",
    "no JSON": hello(9, b"not JSON!"),
    "JSON of another kind": hello(2, b"[]"),
    "an empty object": hello(2, b"{}"),
    "wrong types": hello(30, b'{"name": 7, "members": "none"}'),
    "deep nesting": hello(100_000, b"[" * 100_000),
    "no UTF-8": hello(4, b'"\xff\xfe"'),
    "a data frame": struct.pack("<IIQQQ", 0x44747554, 64, 0, 0, 0) + b"\0" * 64,
}


class StrangerTest(SystemTest):
    def connect(self, port):
        stranger = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.addCleanup(stranger.close)
        return stranger

    def greet(self, port, greeting):
        stranger = self.connect(port)
        try:
            stranger.sendall(greeting)
        except OSError:
            pass  # it was closed before it had said all
        return stranger

    def run_with(self, disturb, fabric):
        """Starts a and b, disturbs their ports while they wait for c, then starts c."""
        ports = free_ports(3)
        addresses = ",".join(f"{n}=127.0.0.1:{p}" for n, p in zip("abc", ports))
        inputs = {name: numbered(2000, name.encode()) for name in "abc"}
        start = lambda name: self.start_member(name, addresses, "--fabric", fabric,
                                               data=inputs[name])
        members = [start("a"), start("b")]
        wait_until(lambda: all("waiting for" in m.said() for m in members), "both listen")
        for port in ports[:2]:
            disturb(port)
        members.append(start("c"))
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)
        return members


class AtTheStart(StrangerTest):
    def test_greetings_of_all_kinds(self):
        for fabric in ("auto", "tcp"):
            with self.subTest(fabric=fabric):
                self.run_with(lambda port: [self.greet(port, g) for g in GREETINGS.values()],
                              fabric)

    def test_a_stranger_is_told_of(self):
        members = self.run_with(lambda port: self.greet(port, HTTP), "auto")
        for member in members[:2]:
            self.assertIn("stranger", member.said())

    def test_a_hundred_connections_at_once(self):
        for fabric in ("auto", "tcp"):
            with self.subTest(fabric=fabric):
                self.run_with(lambda port: [self.connect(port) for _ in range(100)], fabric)

    def test_more_of_them_than_a_has_descriptors(self):
        ports = free_ports(2)
        addresses = ",".join(f"{n}=127.0.0.1:{p}" for n, p in zip("ab", ports))
        inputs = {name: numbered(2000, name.encode()) for name in "ab"}
        first = self.start_member("a", addresses, data=inputs["a"],
                                  command=["prlimit", "--nofile=64:64", TUTTI])
        wait_until(lambda: "waiting for" in first.said(), "a listens")
        for _ in range(100):
            self.connect(ports[0])
        members = [first, self.start_member("b", addresses, data=inputs["b"])]
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)
        self.assertRegex(first.said(), "closing 127.0.0.1:.*(descriptor|Too many open files)")

    def test_strangers_that_reset(self):
        def reset(port):
            for greeting in GREETINGS.values():
                stranger = self.greet(port, greeting)
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                stranger.close()

        self.run_with(reset, "auto")

    def test_strangers_that_keep_coming(self):
        stop = threading.Event()
        threads = []

        def pester(port):
            source = random.Random(port)
            while not stop.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
                        stranger.sendall(source.choice(list(GREETINGS.values())))
                except OSError:
                    pass

        def begin(port):
            threads.append(threading.Thread(target=pester, args=(port,), daemon=True))
            threads[-1].start()

        try:
            self.run_with(begin, "auto")
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class WhileTheGroupRuns(StrangerTest):
    def test_nobody_is_let_in(self):
        for fabric in ("auto", "tcp"):
            with self.subTest(fabric=fabric):
                members = self.start_streaming("abc", fabric=fabric)
                arguments = " ".join(members[0].process.args)
                ports = [int(part.split(",")[0].split()[0])
                         for part in arguments.split("127.0.0.1:")[1:]]
                self.assertEqual(len(ports), 3)
                for port in ports:
                    for greeting in (HTTP, hello(10, b"0123456789")):
                        try:
                            self.greet(port, greeting)
                        except OSError:
                            pass  # refused, as it should be
                sent = {feeder.member.name: feeder.finish() for feeder in self.feeders[-3:]}
                self.expect_all_exit(members)
                self.expect_same_outputs(members, sent)


def mount_namespace():
    """The words that run a command with mounts of its own, or None."""
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        probe = words + ["mount", "--bind", "/etc/hosts", "/etc/hosts"]
        try:
            if subprocess.run(probe, capture_output=True, timeout=60, check=False).returncode == 0:
                return words
        except OSError:
            pass
    return None


class Proxy(threading.Thread):
    """Carries one connection's bytes both ways; `change(data, at)` returns what goes on to the
    caller, of bytes that begin `at` bytes into the stream, and None cuts the connection."""

    def __init__(self, listen, target, change):
        super().__init__(daemon=True)
        self._server = socket.create_server(listen)
        self._target = target
        self._change = change
        self._sockets = []
        self.start()

    def run(self):
        try:
            caller, _ = self._server.accept()
            callee = None
            while callee is None:
                try:
                    callee = socket.create_connection(self._target)
                except ConnectionRefusedError:
                    threading.Event().wait(0.01)  # a does not listen yet: ask again
            self._sockets = [caller, callee]
            back = threading.Thread(target=self._carry, args=(caller, callee, lambda d, at: d),
                                    daemon=True)
            back.start()
            self._carry(callee, caller, self._change)
            back.join()
        except OSError:
            pass

    def _carry(self, source, sink, change):
        at = 0
        try:
            while data := source.recv(65536):
                changed = change(data, at)
                if changed is None:
                    break
                sink.sendall(changed)
                at += len(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        for one in (self._server, *self._sockets):
            one.close()


class BytesThatChangeOnTheWay(StrangerTest):
    HOSTS = {"a": "127.0.0.1", "b": "127.0.0.2"}  # what the name stands for, at each of the two

    def setUp(self):
        super().setUp()
        self.namespace = mount_namespace()
        if self.namespace is None:
            self.skipTest("no mount namespaces here, so no proxy between two members")

    def start_through_proxy(self, change, data=None, arguments=()):
        first, second = free_ports(2)
        addresses = f"a=a.test:{first},b=127.0.0.1:{second}"
        proxy = Proxy((self.HOSTS["b"], first), (self.HOSTS["a"], first), change)
        self.addCleanup(proxy.close)
        members = []
        for name, host in self.HOSTS.items():
            hosts = os.path.join(self.folder, "hosts." + name)
            with open(hosts, "w", encoding="utf-8") as file:
                file.write(f"127.0.0.1 localhost\n{host} a.test\n")
            script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
            command = self.namespace + ["sh", "-c", script, "sh", hosts, TUTTI]
            members.append(self.start_member(name, addresses, "--fabric", "tcp", *arguments,
                                             command=command,
                                             data=data[name] if data else subprocess.PIPE))
        return members

    def stream(self, change):
        members = self.start_through_proxy(change)
        for member in members:
            self.feeders.append(Feeder(member, member.name.encode() + b" says "))
        return members

    def test_unchanged(self):
        inputs = {name: numbered(20_000, name.encode()) for name in "ab"}
        members = self.start_through_proxy(lambda data, at: data, inputs)
        self.expect_all_exit(members)
        self.expect_same_outputs(members, inputs)

    def test_zeros_in_mid_stream(self):
        members = self.stream(lambda data, at: data if at < 500_000 else bytes(len(data)))
        self.expect_failures(members)

    def test_garbage_in_mid_stream(self):
        source = random.Random(17)
        members = self.stream(lambda data, at: data if at < 500_000 else
                              source.randbytes(len(data)))
        self.expect_failures(members)

    def test_bytes_left_out(self):
        members = self.stream(lambda data, at: data if at < 500_000 else data[1:])
        self.expect_failures(members)

    def test_cut_in_mid_frame(self):
        members = self.stream(lambda data, at: data if at < 500_000 else None)
        self.expect_failures(members)

    def test_a_hello_with_a_wrong_byte(self):
        for place in (0, 7, 9, 20):
            with self.subTest(place=place):
                def flip(data, at, place=place):
                    return bytes(b ^ 0x55 if at + i == place else b for i, b in enumerate(data))

                members = self.start_through_proxy(flip, {"a": b"x\n", "b": b"y\n"},
                                                   ["--start-timeout", 2])
                for member in members:
                    self.assertIn(member.wait(), (1, 3), member.said())
                self.assertEqual([m.output() for m in members], [b"", b""])

    def expect_failures(self, members):
        for member in members:
            self.expect_exit(member, 3)
            self.assertRegex(member.said(), "member '[ab]' (was lost|is corrupt)")
        self.expect_prefixes(members)


if __name__ == "__main__":
    unittest.main()
