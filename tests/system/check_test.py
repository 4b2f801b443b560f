"""`tutti check`: reads the histories of a run, says what is wrong with it, and by which exit status."""

import json
import struct
import tempfile
import unittest
from pathlib import Path

from support import tutti

SEND, DELIVER, INSTALL, VIEW_MEMBER = 1, 4, 9, 10  # EventKind
ATOMIC = 2


def event(kind, node, detail=0, peer=0, view=1, number=0, position=0, length=0, crc=0, extra=0,
          peer_incarnation=0):
    return struct.pack("<BBHHHQQQQQIIII", kind, detail, node, 0, peer, 100 + node, view, 0, number,
                       position, peer_incarnation, length, crc, extra)


def header(node, events, closed=1):
    name = b"member"
    return struct.pack("<8sIIQQQQHBBI264s", b"TUTTIHST", 1, 320, 100 + node, 0, events, 0, node,
                       closed, len(name), 0, name)


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def events(self, node, crc=7):
        """Two members; each sends one message and delivers both."""
        view = [event(INSTALL, node, number=99, length=2)]
        view += [event(VIEW_MEMBER, node, detail=3, peer=m, number=100 + m, extra=m)
                 for m in range(2)]
        deliveries = [event(DELIVER, node, detail=ATOMIC, peer=m, peer_incarnation=100 + m,
                            number=1, position=m, length=10, crc=crc) for m in range(2)]
        return view + [event(SEND, node, number=1, length=10, crc=7)] + deliveries

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def history(self, node, crc=7, closed=1):
        events = self.events(node, crc)
        return self.write(f"{node}.history", header(node, len(events), closed) + b"".join(events))

    def test_a_good_run(self):
        done = tutti("check", self.history(0), self.history(1))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("12 events of 2 members, 0 violations\n"),
                        done.stdout)
        self.assertIn("not checked: V1: ", done.stdout)

    def test_violations_are_named_with_their_events(self):
        bad = self.history(1, crc=8)
        done = tutti("check", self.history(0), bad)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stdout.startswith("12 events of 2 members, 2 violations\n"),
                        done.stdout)
        for part in ("D1: ", str(bad), "event 4", "ticket 1 of 0:64", "crc 8"):
            self.assertIn(part, done.stdout)

    def test_json(self):
        done = tutti("check", "--json", self.history(0), self.history(1, crc=8))
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["events"], report["members"], report["violations"]), (12, 2, 2))
        self.assertEqual(report["by_property"], {"D1": 2})
        self.assertEqual(report["shown"][0]["property"], "D1")
        self.assertEqual(report["shown"][0]["events"][0]["index"], 4)
        self.assertTrue(report["not_checked"])

    def test_one_history_of_two(self):
        one = self.history(0)
        self.assertEqual(tutti("check", one).returncode, 1)
        done = tutti("check", "--incomplete", one)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("not complete", done.stdout)

    def test_a_file_that_a_crash_has_cut(self):
        whole = self.history(1, closed=0).read_bytes()
        cut = self.write("1.history", whole[:-13])
        done = tutti("check", "--incomplete", self.history(0), cut)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("11 events of 2 members", done.stdout)
        self.assertIn("51 bytes at the end are an incomplete event", done.stderr)

    def test_files_that_cannot_be_read(self):
        good = self.history(0).read_bytes()
        for name, data, part in (("none", None, "No such file"),
                                 ("empty", b"", "ends within its header"),
                                 ("text", b"hello\n" * 100, "not a history"),
                                 ("version", good[:8] + b"\x09" + good[9:], "version 9"),
                                 ("kind", good[:384] + b"\xff" + good[385:], "at byte 384"),
                                 ("more", good + good[-64:], "more than the 6 events")):
            with self.subTest(name=name):
                path = self.folder / name if data is None else self.write(name, data)
                done = tutti("check", path)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(part, done.stderr)
                self.assertIn(str(path), done.stderr)

    def test_the_same_history_twice(self):
        one = self.history(0)
        done = tutti("check", one, one)
        self.assertEqual(done.returncode, 2)
        self.assertIn("both of 0:64", done.stderr)

    def test_options(self):
        good = [self.history(0), self.history(1)]
        self.assertEqual(tutti("check", "--level", "0=atomic", *good).returncode, 0)
        self.assertEqual(tutti("check", "--level", "0=agreed", *good).returncode, 0, "all are safe")
        done = tutti("check", "--level", "0=unordered", *good)
        self.assertEqual(done.returncode, 1)
        self.assertIn("D14: ", done.stdout)
        done = tutti("check", "--round-robin", *good)
        self.assertEqual(done.returncode, 0, done.stdout)
        for words, part in ((["--level", "0"], "GROUP=LEVEL"), (["--level", "x=atomic"], "'x="),
                            (["--level", "0=strong"], "'strong'"), (["--level", "70000=atomic"], "--level"),
                            (["--view-bound", "-1"], "--view-bound"), (["--show", "x"], "--show")):
            with self.subTest(words=words):
                done = tutti("check", *words, *good)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(part, done.stderr)
        self.assertEqual(tutti("check").returncode, 2)


if __name__ == "__main__":
    unittest.main()
