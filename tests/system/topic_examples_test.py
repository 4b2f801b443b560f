"""The examples of topics, as their users run them."""

import os
import re
import subprocess
import unittest

from support import TUTTI, WATCHDOG, SystemTest, free_ports, wait_until

BIN = os.path.dirname(TUTTI)


class TopicExamplesTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.processes = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, output, example, *arguments):
        with open(self.path(output), "wb") as file:
            process = subprocess.Popen([os.path.join(BIN, example), *map(str, arguments)],
                                       stdin=subprocess.PIPE, stdout=file, stderr=file)
        self.processes.append(process)
        return process

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_a_flight_deck(self):
        addresses = self.address_list(["a", "b", "c"])
        started = [self.start(name, "example_flight_deck", name, addresses,
                              self.path(name + ".state"), 3 if name == "a" else 6,
                              *(["--bootstrap"] if name == "a" else [])) for name in "abc"]
        for process, name in zip(started, "abc"):
            self.assertEqual(process.wait(WATCHDOG), 0, self.text(name))
        alarms = {name: re.findall(r"^alarm (\d+): (.*)$", self.text(name), re.M) for name in "bc"}
        for name in "bc":
            self.assertIn("engine 1: ", self.text(name))
            self.assertTrue(alarms[name], self.text(name))
        # The displays may end at different moments.
        shorter = min(map(len, alarms.values()))
        self.assertEqual(alarms["b"][:shorter], alarms["c"][:shorter])

    def test_what_is_recorded_is_replayed(self):
        port, next_port = free_ports(2)
        while next_port != port + 1:
            port, next_port = next_port, free_ports(1)[0]
        process = self.start("out", "example_record_and_replay", self.path("file"), port)
        self.assertEqual(process.wait(WATCHDOG), 0, self.text("out"))
        self.assertEqual(self.text("out"), "".join(f"{47 + i} 11\n" for i in range(20)))
        self.assertEqual(os.path.getsize(self.path("file")), 20 * (8 + 4 + 16))

    def test_a_chat_goes_on_at_another_relay(self):
        addresses = self.address_list(["a", "b", "c"])
        relays = [f"127.0.0.1:{port}" for port in free_ports(2)]
        servers = [self.start(name, "example_chat", "serve", name, addresses, relay)
                   for name, relay in zip("abc", [*relays, "127.0.0.1:0"])]
        wait_until(lambda: all("serves" in self.text(name) for name in "abc"), "three relays")

        def say(client, text):
            client.stdin.write(text.encode() + b"\n")
            client.stdin.flush()

        ann = self.start("ann", "example_chat", "talk", "ann", ",".join(relays))
        say(ann, "hello")
        wait_until(lambda: self.text("ann") == "ann: hello\n", "ann hears herself")
        servers[0].kill()
        for i in range(5):
            say(ann, f"line {i}")
        expected = "ann: hello\n" + "".join(f"ann: line {i}\n" for i in range(5))
        wait_until(lambda: self.text("ann") == expected, "all lines, once")
        bob = self.start("bob", "example_chat", "talk", "bob", relays[1])
        wait_until(lambda: self.text("bob") == expected, "bob sees what was said")
        say(bob, "hi")
        for name in ("ann", "bob"):
            wait_until(lambda name=name: self.text(name) == expected + "bob: hi\n", "both hear bob")
        for client in (ann, bob):
            client.stdin.close()
            self.assertEqual(client.wait(WATCHDOG), 0)
        for server in servers[1:]:
            server.stdin.close()
            self.assertEqual(server.wait(WATCHDOG), 0, self.text("b"))

    def test_wrong_usage(self):
        for example in ("example_flight_deck", "example_record_and_replay", "example_chat"):
            process = self.start("out", example)
            self.assertEqual(process.wait(WATCHDOG), 2)
            self.assertIn("usage", self.text("out"))


if __name__ == "__main__":
    unittest.main()
