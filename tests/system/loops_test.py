"""The examples that serve a group and something else in one event loop, as their users try them:
all members print the same, and the other source is served in between."""

import contextlib
import os
import signal
import socket
import subprocess
import unittest

from support import TUTTI, WATCHDOG, SystemTest, free_ports, wait_until

BIN = os.path.dirname(TUTTI)


class Looping:
    """One member: a process whose output goes to a file."""

    def __init__(self, example, name, addresses, folder, *arguments):
        self.name = name
        self.path = os.path.join(folder, name)
        with open(self.path, "wb") as output, open(self.path + ".err", "wb") as error:
            self.process = subprocess.Popen(
                [os.path.join(BIN, example), name, addresses, *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=output, stderr=error)

    def read(self, suffix=""):
        with open(self.path + suffix, encoding="utf-8") as file:
            return file.read()

    def type(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end_input(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.end_input()


class Loops(SystemTest):
    def start_all(self, example, *arguments, of_each=None):
        addresses = self.address_list("abc")
        self.all = []
        for i, name in enumerate("abc"):
            more = [of_each[i]] if of_each else []
            member = Looping(example, name, addresses, self.folder, *arguments, *more)
            self.addCleanup(member.end)
            self.all.append(member)
        return self.all

    def wait_for_line(self, line):
        """Until all members have printed it. They still run: nothing else need happen for it."""
        def printed():
            for member in self.all:
                if member.process.poll() is not None:
                    self.fail(f"{member.name} has ended; it said: {member.read('.err')}")
            return all(line in member.read().splitlines() for member in self.all)
        wait_until(printed, f"'{line}' at all members")

    def expect_same(self, sent):
        """All end, and have printed what was `sent` (name -> lines), in one order."""
        for member in self.all:
            try:
                status = member.process.wait(WATCHDOG)
            except subprocess.TimeoutExpired:
                self.fail(f"{member.name} hangs; it said: {member.read('.err')}")
            self.assertEqual(status, 0, member.read(".err"))
            self.assertEqual(member.read(".err"), "")
        first = self.all[0].read()
        for member in self.all[1:]:
            self.assertEqual(member.read(), first)
        rows = [line.split(" ", 2) for line in first.splitlines()]
        self.assertEqual([int(row[0]) for row in rows], list(range(len(rows))))
        for name, lines in sent.items():
            self.assertEqual([row[2] for row in rows if row[1] == name], lines)
        self.assertEqual(len(rows), sum(len(lines) for lines in sent.values()))

    def test_epoll_serves_the_input_between_messages(self):
        sent = {name: [] for name in "abc"}
        members = self.start_all("example_epoll")
        for number in range(6):
            member = members[number % 3]
            text = f"{member.name} says {number}"
            member.type(text + "\n")
            sent[member.name].append(text)
            self.wait_for_line(f"{number} {member.name} {text}")
        for member in members:
            member.end_input()
        self.expect_same(sent)

    def test_epoll_waits_for_space(self):
        """More than a window at once, in lines that are read in parts; the last has no end."""
        sent = {name: [f"{name} {i} {'x' * 3000}" for i in range(2000)] for name in "ab"}
        sent["c"] = ["", "the only one of c"]
        members = self.start_all("example_epoll")
        for member in members:
            member.type("\n".join(sent[member.name]))
            member.end_input()
        self.expect_same(sent)

    def test_asio_serves_clients_between_messages(self):
        ports = free_ports(3)
        sent = {name: [] for name in "abc"}
        members = self.start_all("example_asio", of_each=ports)
        clients = []
        for port in ports:
            def connected(port=port):
                try:
                    return socket.create_connection(("127.0.0.1", port), WATCHDOG)
                except ConnectionRefusedError:
                    for member in self.all:
                        self.assertIsNone(member.process.poll(), member.read(".err"))
                    return None
            clients.append(wait_until(connected, "a server"))
            self.addCleanup(clients[-1].close)
        for number in range(6):
            name = "abc"[number % 3]
            text = f"{name} says {number}"
            clients[number % 3].sendall(f"{text}\n".encode())
            sent[name].append(text)
            self.wait_for_line(f"{number} {name} {text}")
        many = [f"many {i} {'x' * 3000}" for i in range(2000)]
        clients[0].sendall("".join(line + "\n" for line in many).encode())
        sent["a"] += many
        self.wait_for_line(f"{6 + len(many) - 1} a {many[-1]}")
        for member in members:
            member.process.send_signal(signal.SIGTERM)
        self.expect_same(sent)

    def test_libuv_serves_a_timer_between_messages(self):
        if not os.path.exists(os.path.join(BIN, "example_libuv_c")):
            self.skipTest("the example was not built: there was no libuv (packages.txt has it)")
        self.start_all("example_libuv_c", 25)
        self.expect_same({name: [f"{name} ticks {i}" for i in range(25)] for name in "abc"})

    def test_what_cannot_be_served_is_said(self):
        address = f"a=127.0.0.1:{free_ports(1)[0]}"
        with socket.create_server(("127.0.0.1", 0)) as taken, open(__file__, "rb") as file:
            port = str(taken.getsockname()[1])
            for command, part in ((["example_epoll", "a", address], "it must be a terminal"),
                                  (["example_asio", "a", address, port], f"port {port}: bind")):
                done = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], stdin=file,
                                      capture_output=True, text=True, timeout=WATCHDOG, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(part, done.stderr)

    def test_usage(self):
        for example in ("example_epoll", "example_asio"):
            done = subprocess.run([os.path.join(BIN, example)], capture_output=True, text=True,
                                  timeout=WATCHDOG, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
