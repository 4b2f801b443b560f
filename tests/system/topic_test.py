"""`tutti topic`: each verb as a participant and through a relay, with real processes; bad input."""

import json
import os
import signal
import subprocess
import unittest

from support import LEAVE_TIMEOUT, SUSPECT_AFTER, TUTTI, WATCHDOG, SystemTest, free_ports, tutti, wait_until


class Verb:
    """One `tutti topic` process. What it prints goes to files."""

    def __init__(self, folder, arguments, command="topic"):
        self.path = os.path.join(folder, f"verb.{len(os.listdir(folder))}")
        with open(self.path + ".out", "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen([TUTTI, command, *map(str, arguments)],
                                            stdin=subprocess.PIPE, stdout=out, stderr=err)

    def out(self):
        with open(self.path + ".out", encoding="utf-8") as file:
            return file.read()

    def err(self):
        with open(self.path + ".err", encoding="utf-8") as file:
            return file.read()

    def lines(self):
        return self.out().splitlines()

    def tell(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def wait(self):
        return self.process.wait(timeout=WATCHDOG)


class TopicTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.verbs = []
        self.addCleanup(self.end_verbs)
        self.addresses = self.address_list(["host", "tool"])
        self.listen = f"127.0.0.1:{free_ports(1)[0]}"

    def end_verbs(self):
        for verb in self.verbs:
            verb.process.kill()
            verb.process.wait()
            if not verb.process.stdin.closed:
                try:
                    verb.process.stdin.close()
                except OSError:
                    pass

    def start(self, *arguments):
        verb = Verb(self.folder, arguments)
        self.verbs.append(verb)
        return verb

    def participant(self, name):
        return ["--name", name, "--members", self.addresses, "--suspect-after", SUSPECT_AFTER,
                "--leave-timeout", LEAVE_TIMEOUT]

    def expect(self, verb, status=0):
        self.assertEqual(verb.wait(), status, verb.err())
        return verb

    def serve(self):
        """A participant that is a relay, and one that has created the topic "chat" and writes it."""
        relay = Verb(self.folder, [*self.participant("host"), "--listen", self.listen, "--topic",
                                   "raw:service=stored"], "relay")
        self.verbs.append(relay)
        writer = self.start("pub", "chat", "--create", "service=stored,history=keep_last(5)",
                            *self.participant("tool"))
        wait_until(lambda: relay.out() or relay.process.poll() is not None, "the relay serves")
        self.assertEqual(relay.out(), f"relay of host at {self.listen}\n", relay.err())
        self.client("info", "chat", "--wait", WATCHDOG)
        return relay, writer

    def client(self, verb, *arguments, status=0, **options):
        done = tutti("topic", verb, *arguments, "--relay", self.listen, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_participants_write_and_read(self):
        writer = self.start("pub", "chat", "--create", "service=stored,history=keep_last(10)",
                            "--json", *self.participant("host"))
        reader = self.start("echo", "chat", "--wait", WATCHDOG, "--from-start", "--json",
                            "--count", 3, *self.participant("tool"))
        writer.tell('"one"', '"two \\u00e4"', '"three"')
        self.expect(reader)
        samples = [json.loads(line) for line in reader.lines()]
        self.assertEqual([sample["data"] for sample in samples], ["one", "two ä", "three"])
        self.assertEqual({sample["sender"] for sample in samples}, {"host"})
        positions = [sample["position"] for sample in samples]
        self.assertEqual(positions, sorted(set(positions)))
        self.assertTrue(all(sample["timestamp"] > 0 for sample in samples))
        writer.close()
        self.expect(writer)
        self.assertEqual(json.loads(writer.out()), {"published": 3, "delivered": True})

    def test_participants_record_and_play(self):
        path = os.path.join(self.folder, "recording")
        writer = self.start("pub", "chat", "--create", "service=stored,history=keep_last(9)",
                            *self.participant("host"))
        recorder = self.start("record", "chat", "-o", path, "--wait", WATCHDOG, "--from-start",
                              "--count", 4, *self.participant("tool"))
        writer.tell(*[f'"{i}"' for i in range(4)])
        self.expect(recorder)
        writer.close()
        self.expect(writer)
        # Another domain, in which nobody has the topic.
        self.addresses = self.address_list(["host", "tool"])
        reader = self.start("echo", "chat", "--wait", WATCHDOG, "--from-start", "--count", 4,
                            *self.participant("tool"))
        player = self.start("play", path, "--create", "--rate", 100, "--json",
                            *self.participant("host"))
        self.expect(reader)
        self.assertEqual(reader.lines(), [f'"{i}"' for i in range(4)])
        self.expect(player)
        self.assertEqual(json.loads(player.out()), {"played": 4, "delivered": True})

    def test_a_relays_clients_look(self):
        self.serve()
        self.assertRegex(self.client("ls").stdout, r"(?m)^chat +stored +string +- +-$")
        listed = [json.loads(line) for line in self.client("list", "--json").stdout.splitlines()]
        self.assertEqual([(row["name"], row["service"], row["readers"]) for row in listed],
                         [("chat", "stored", None), ("raw", "stored", None)])
        self.assertIn("string", self.client("info", "chat").stdout)
        self.assertEqual(json.loads(self.client("info", "chat", "--json").stdout)["type"], "string")

    def test_clients_write_and_read(self):
        _, writer = self.serve()
        self.client("pub", "chat", '"from outside"', "--count", 2)
        writer.tell('"from inside"')
        done = self.client("sub", "chat", "--from-start", "--count", 3)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         ['"from inside"', '"from outside"', '"from outside"'])
        # Of seven samples the topic keeps five.
        done = self.client("pub", "chat", input="".join(f'"{i}"\n' for i in range(7)), stdin=None)
        self.assertIn("published 7, all delivered", done.stderr)
        done = self.client("echo", "chat", "--from-start", "--count", 5, "--json")
        samples = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([sample["data"] for sample in samples], list("23456"))
        behind = self.client("echo", "chat", "--from", samples[3]["position"], "--count", 2)
        self.assertEqual(behind.stdout, '"5"\n"6"\n')
        once = self.client("echo", "chat", "--from", samples[4]["position"], "--once")
        self.assertEqual(once.stdout, '"6"\n')

    def test_a_type_without_a_description_is_hexadecimal(self):
        self.serve()
        self.client("pub", "raw", "00ff12")
        self.client("pub", "raw", "00ff1", status=2)
        done = self.client("echo", "raw", "--from-start", "--once", "--json")
        self.assertEqual(json.loads(done.stdout)["data"], "00ff12")

    def test_rates(self):
        _, writer = self.serve()
        started = {name: self.start(name, "chat", "--count", 30, "--relay", self.listen, "--json")
                   for name in ("hz", "bw", "delay")}
        # Nobody knows when they have subscribed, so more are written than they count.
        while any(verb.process.poll() is None for verb in started.values()):
            writer.tell('"tick"')
            if any(verb.process.poll() not in (None, 0) for verb in started.values()):
                break
        for verb in started.values():
            self.expect(verb)
        last = {name: json.loads(verb.lines()[-1]) for name, verb in started.items()}
        self.assertEqual({row["samples"] for row in last.values()}, {30})
        self.assertGreater(last["hz"]["rate"], 0)
        self.assertEqual(last["bw"]["sample_bytes"]["min"], 16)  # as XCDR2
        self.assertGreater(last["delay"]["delay_ns"]["mean"], 0)

    def test_what_is_recorded_is_played(self):
        _, writer = self.serve()
        writer.tell('"a"', '"b"', '"c"')
        path = os.path.join(self.folder, "recording")
        done = self.client("record", "chat", "-o", path, "--from-start", "--count", 3, "--json")
        self.assertEqual(json.loads(done.stdout), {"recorded": 3, "lost": 0})
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.assertEqual(rows[0]["name"], "chat")
        self.assertEqual([row["data"] for row in rows[1:]], ["a", "b", "c"])
        done = self.client("play", path, "--rate", 0)
        self.assertIn("played 3, all delivered", done.stderr)
        done = self.client("echo", "chat", "--from-start", "--count", 5)
        self.assertEqual(done.stdout, '"b"\n"c"\n"a"\n"b"\n"c"\n')
        for damage, said in (("no json\n", "no JSON object"), ('{"topic":"x"}\n', "not described"),
                             ('{"recording":2}\n', "format"), ('{"recording":1}\n', "lacks")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(damage)
            done = self.client("play", path, status=2)
            self.assertIn(said, done.stderr)
            self.assertIn("line 1", done.stderr)
        # What is deep costs no stack, and times that make no sense no time.
        for last, said in (('{"topic":"chat","data":' + "[" * 200000 + "]" * 200000 + "}", "line 2"),
                           ('{"topic":"chat","timestamp":-1,"hex":"0"}', "neither data nor hex")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(rows[0]) + "\n" + last + "\n")
            self.assertIn(said, self.client("play", path, status=2).stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(rows[0]) + "\n")
            for timestamp in (2**64 - 1, 5, 0):
                file.write(json.dumps({**rows[1], "timestamp": timestamp}) + "\n")
        self.client("play", path)

    def test_a_relay_that_is_told_to_end_leaves(self):
        relay, writer = self.serve()
        relay.process.terminate()
        self.expect(relay)
        self.assertIn("told to end: leaving", relay.err())
        writer.tell('"alone"')  # one of two is no majority if the other one was lost
        writer.close()
        self.expect(writer)

    def test_a_relay_that_cannot_serve_leaves(self):
        host = Verb(self.folder, [*self.participant("host"), "--listen", self.listen, "--topic",
                                  "raw:service=stored"], "relay")
        second = f"127.0.0.1:{free_ports(1)[0]}"
        other = Verb(self.folder, [*self.participant("tool"), "--listen", second, "--topic",
                                   "raw:service=atomic"], "relay")
        self.verbs += [host, other]
        refused = wait_until(lambda: next((one for one in (host, other) if one.process.poll()), None),
                             "one of them is refused")
        self.assertIn("differs", refused.err())
        served = host if refused is other else other
        self.listen = self.listen if served is host else second
        self.client("info", "raw", "--wait", WATCHDOG)
        self.assertIsNone(served.process.poll(), served.err())  # one of two that lost the other ends
        served.interrupt()
        self.expect(served)

    def test_an_interrupt_is_no_error(self):
        relay, writer = self.serve()
        reader = self.start("echo", "chat", "--from-start", "--relay", self.listen)
        writer.tell('"x"')
        wait_until(lambda: reader.out() == '"x"\n', "a sample")
        reader.interrupt()
        self.expect(reader)
        self.assertIn("read 1", reader.err())
        writer.interrupt()
        self.expect(writer)
        self.assertIn("published 1", writer.err())
        relay.interrupt()
        self.expect(relay)

    def test_wrong_options(self):
        member = ["--name", "host", "--members", self.addresses]
        for arguments, said in (
                (["ls"], "--relay HOST:PORT"),
                (["ls", "--relay", self.listen, *member], "take one"),
                (["ls", "--name", "host", "--members", "host"], "NAME=HOST:PORT"),
                (["pub", "x", "--create", "service=volatile", *member], "'stored' here"),
                (["pub", "x", "--create", "deadline=3", *member], "'deadline' has no meaning here"),
                (["echo", "x", "--from", "-1", *member], "--from"),
                (["echo", "x", "--once", "--count", "2", *member], "--count"),
                (["record", "x", *member], "--output"),
                (["play", "/nonexistent", *member], "File does not exist: /nonexistent"),
                (["wave"], "topic")):
            done = tutti("topic", *arguments, "--start-timeout", "0.2") if arguments != ["wave"] \
                else tutti("topic", *arguments)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_bad_input(self):
        self.serve()
        for arguments, said in ((["pub", "chat", "{"], "the value"),
                                (["pub", "chat", "17"], "the value"),
                                (["pub", "other", '"x"'], "there are: chat, raw"),
                                (["echo", "other"], "there are: chat, raw")):
            done = tutti("topic", *arguments, "--relay", self.listen)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertIn(said, done.stderr)
        done = self.client("pub", "chat", input='"good"\nbad\n', stdin=None, status=2)
        self.assertIn("line 2", done.stderr)
        done = self.client("echo", "chat", "--from-start", "--once", "--field", "a.b", status=2)
        self.assertIn("has no 'a' there", done.stderr)

    def test_no_relay_there(self):
        done = tutti("topic", "ls", "--relay", self.listen, "--start-timeout", "3")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"the last try was {self.listen}: Connection refused", done.stderr)


if __name__ == "__main__":
    unittest.main()
