"""`tutti log` looks at whole logs, also while they grow, and prints what docs/log.md says."""

import fcntl
import re
import signal
import struct
import subprocess
import termios
import threading
import unittest
from pathlib import Path

from log_support import HEADER_BYTES, RECORD_BYTES, SEGMENT_BYTES, Log, LogTest, crc32c, hexed
from support import TUTTI, WATCHDOG, tutti, wait_until

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "log.md"


class WholeLogs(LogTest):
    def test_ls_lists_segments_and_what_else_is_there(self):
        log = self.log()
        for _ in range(3):
            log.add(*["x" * 1000] * 8)  # two batches do not fit
        (log.directory / "notes").write_text("mine")
        one, = self.json("ls", self.folder)
        self.assertEqual((one["group"], one["node"], one["first"], one["next"]),
                         ("orders", "a", 0, 24))
        self.assertEqual([(s["number"], s["first"], s["next"], s["records"], s["batches"],
                           s["size"], s["state"]) for s in one["segments"]],
                         [(1, 0, 8, 8, 1, SEGMENT_BYTES, "closed"),
                          (2, 8, 16, 8, 1, SEGMENT_BYTES, "closed"),
                          (3, 16, 24, 8, 1, SEGMENT_BYTES, "newest")])
        self.assertEqual([s["file"] for s in one["segments"]], [p.name for p in log.segments()])
        uses = {other["file"]: other["use"] for other in one["others"]}
        self.assertEqual(uses["notes"], "not of the log")
        text = self.succeeds("ls", log.directory)
        self.assertIn("group orders at node a, records 0 to 23", text)
        self.assertRegex(text, r"00000000000000000008\.log +2 +8 +16 +8 +\d+ +16384 +closed\n")

    def test_logs_below_a_directory_are_all_listed(self):
        for name in ("orders", "node/trades"):
            self.ended_log(name)
        (self.folder / "empty").mkdir()
        for what in ("ls", "info", "verify"):
            self.assertEqual([Path(one["directory"]).relative_to(self.folder).as_posix()
                              for one in self.json(what, self.folder)], ["node/trades", "orders"])
        said = self.fails("dump", self.folder, status=2)
        self.assertIn("several logs", said)
        self.assertIn("node/trades", said)
        self.assertEqual(len(self.records("dump", self.folder / "node")), 6)

    def test_info_counts(self):
        log = self.log()
        log.add("abc", "defg", view=1)
        log.do("tick 1 0 77", "write")
        log.add("h", view=3, sender=1)
        one, = self.json("info", log.directory)
        self.assertEqual((one["first"], one["next"], one["records"], one["ticks"], one["bytes"]),
                         (0, 4, 4, 1, 8))
        self.assertEqual(one["views"], [{"view": 1, "first": 0}, {"view": 3, "first": 3}])
        self.assertEqual((one["tail"], one["synced"], one["damage"]), ("clean", False, None))
        log.do("close")
        one, = self.json("info", log.directory)
        self.assertTrue(one["synced"])
        text = self.succeeds("info", log.directory)
        for line in ("records    4, from 0 to 3", "ticks      1", "bytes      8",
                     "views      1 from record 0, 3 from record 3",
                     f"digest     {one['digest']}", "tail       clean, all of it synced"):
            self.assertIn(line + "\n", text)

    def test_digests_are_equal_however_records_are_batched(self):
        one, other = self.log("one"), Log(self, self.folder / "other", node="b", group="one")
        one.add("a", "b", "c")
        for payload in "abc":
            other.add(payload)
        first, second = (self.json("info", log.directory)[0]["digest"] for log in (one, other))
        self.assertEqual(first, second)
        other.add("d")
        self.assertNotEqual(first, self.json("info", other.directory)[0]["digest"])

    def test_dump_says_what_each_record_is(self):
        log = self.log()
        log.add("hello", b"\x00\x1b[2J", view=7, sender=2)
        log.do("tick 8 1 1234567", "write")
        hello, control, tick = self.records("dump", log.directory)
        self.assertEqual(hello, {"seq": 0, "view": 7, "sender": 2, "tick": False, "bytes": 5,
                                 "offset": HEADER_BYTES, "text": "hello",
                                 "file": log.segments()[0].name})
        self.assertEqual((control["offset"], control["hex"]),
                         (HEADER_BYTES + RECORD_BYTES + 8, "001b5b324a"))
        self.assertEqual((tick["tick"], tick["time_ns"], tick["view"]), (True, 1234567, 8))
        self.assertEqual(self.succeeds("dump", log.directory),
                         "0  view 7  sender 2  offset 4096  5 bytes  \"hello\"\n"
                         "1  view 7  sender 2  offset 4136  5 bytes  001b5b324a\n"
                         "2  view 8  sender 1  offset 4224  tick 1234567\n")
        self.assertEqual(self.succeeds("dump", log.directory, "--payload", "text", "--to", "1")
                         .splitlines()[1][-len('"\\x00\\x1b[2J"'):], '"\\x00\\x1b[2J"')
        self.assertNotIn("hello", self.succeeds("dump", log.directory, "--payload", "none"))
        self.assertIn("68656c6c6f", self.succeeds("dump", log.directory, "--payload", "hex"))

    def test_dump_takes_a_range_over_segments(self):
        log = self.log()
        for i in range(12):
            log.add("x" * 3000 + str(i))
        self.assertGreater(len(log.segments()), 2)
        for first, last in ((0, 11), (3, 3), (2, 9)):
            found = self.records("dump", log.directory, "--from", first, "--to", last)
            self.assertEqual([one["seq"] for one in found], list(range(first, last + 1)))
            self.assertEqual([one["text"][3000:] for one in found],
                             [str(i) for i in range(first, last + 1)])
        done = tutti("log", "dump", log.directory, "--from", 50)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("0 to 11", done.stderr)

    def test_what_was_released_or_cut_is_not_shown(self):
        log = self.log()
        for i in range(12):
            log.add("x" * 3000 + str(i))
        log.do("cut 10", "release 5")
        one, = self.json("ls", log.directory)
        self.assertGreater(one["first"], 0)
        self.assertLessEqual(one["first"], 5)
        self.assertEqual([record["seq"] for record in self.records("dump", log.directory)],
                         list(range(one["first"], 10)))
        self.assertIn("what was cut", {other["use"] for other in one["others"]})
        log.do("begin 100")
        log.add("late")
        one, = self.json("info", log.directory)
        self.assertEqual((one["whole_from"], one["next"]), (100, 101))
        self.assertEqual(self.json("verify", log.directory)[0]["good"], True)

    def test_tail_prints_the_last(self):
        log = self.ended_log()
        for words, expected in (((), range(6)), (("-n", 2), (4, 5)), (("-n", 0), ())):
            self.assertEqual([one["seq"] for one in self.records("tail", log.directory, *words)],
                             list(expected))


class Following(LogTest):
    def follow(self, log, *words):
        follower = subprocess.Popen([TUTTI, "log", "tail", "--follow", *map(str, words),
                                     log.directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        def end():
            follower.kill()
            follower.communicate()
        self.addCleanup(end)
        return follower

    def test_what_comes_is_printed_and_ctrl_c_ends_it_with_0(self):
        for poll in ((), ("--poll",)):
            with self.subTest(poll=poll):
                log = self.log("orders" + "".join(poll))
                log.add("there before")
                follower = self.follow(log, *poll)
                self.assertIn('"there before"', follower.stdout.readline())
                for i in range(8):  # over some segments
                    log.add("x" * 3000 + str(i))
                    self.assertTrue(follower.stdout.readline().endswith(f'x{i}"\n'))
                self.assertGreater(len(log.segments()), 1)
                follower.send_signal(signal.SIGINT)
                self.assertEqual(follower.wait(), 0, follower.stderr.read())

    def test_a_cut_and_a_gap_are_told(self):
        log = self.log()
        log.add("0", "1")
        log.add("2", "3")
        follower = self.follow(log, "--payload", "text")
        for i in range(4):
            self.assertIn(f'"{i}"', follower.stdout.readline())
        log.do("cut 2")
        log.add("new 2")
        self.assertRegex(follower.stdout.readline(), '^2 .*"new 2"')
        self.assertIn("goes on from record 2", follower.stderr.readline())
        log.do("begin 70")
        log.add("new 70")
        self.assertRegex(follower.stdout.readline(), '^70 .*"new 70"')
        self.assertIn("records 3 to 69 are not", follower.stderr.readline())

    def test_it_ends_when_nobody_reads_it(self):
        log = self.log()
        log.add("one")
        follower = self.follow(log)
        follower.stdout.readline()
        follower.stdout.close()
        self.assertEqual(follower.wait(), 1)
        self.assertIn("standard output", follower.stderr.read())

    def test_it_ends_when_another_directory_is_there(self):
        for poll in ((), ("--poll",)):
            with self.subTest(poll=poll):
                log = self.log("moved" + "".join(poll))
                log.add("one")
                follower = self.follow(log, *poll)
                follower.stdout.readline()
                log.add("two")
                follower.stdout.readline()  # it follows: it has opened this directory
                log.directory.rename(str(log.directory) + ".old")
                self.log(log.directory.name).add("another one")
                self.assertEqual(follower.wait(WATCHDOG), 1)
                self.assertIn(str(log.directory), follower.stderr.read())
                self.assertEqual(follower.stdout.read(), "")

    def test_it_ends_when_a_directory_above_is_moved(self):
        (self.folder / "state").mkdir()
        log = self.log("state/orders")
        log.add("one")
        follower = self.follow(log)
        follower.stdout.readline()
        (self.folder / "state").rename(self.folder / "old")
        self.assertEqual(follower.wait(), 1)

    def test_a_signal_ends_it_though_its_output_is_not_read(self):
        log = self.log(segment_bytes=1 << 20)
        log.add("one")
        follower = self.follow(log)
        follower.stdout.readline()
        log.add("x" * 200_000)  # more than a pipe holds

        def waiting():
            size = fcntl.ioctl(follower.stdout, termios.FIONREAD, b"\0" * 4)
            return int.from_bytes(size, "little") > 60_000

        wait_until(waiting, "its pipe is full")
        follower.send_signal(signal.SIGTERM)
        self.assertEqual(follower.wait(), 128 + signal.SIGTERM)

    def test_the_commands_read_while_it_is_written(self):
        """No lock is taken, and a log that grows, and lets go of segments, is never damaged."""
        log = self.log()
        log.add("the first")

        def write():
            for i in range(1500):
                log.add(*[str(i) * 20] * 4)
                if i % 100 == 99:
                    log.do(f"release {i * 2}")

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        looks = 0
        while writer.is_alive() or looks == 0:
            self.succeeds("verify", log.directory)
            looks += 1
        self.assertEqual(self.json("info", log.directory)[0]["next"], 6001)


class TheDocument(LogTest):
    """docs/log.md shows what the commands print (`    $ tutti log ...`, then the lines), and has the
    tables of the format."""

    def setUp(self):
        super().setUp()
        self.text = DOCUMENT.read_text(encoding="utf-8")
        log = self.log()
        log.add("set colour blue", "set size 7", view=1, sender=0)
        log.add(b"\x00\x01", view=2, sender=1)
        log.do("tick 2 0 1764201600000000000", "write", "close")
        log.end()
        self.file = log.segments()[0].read_bytes()

    def test_the_examples_are_what_is_printed(self):
        examples = re.findall(r"^    \$ tutti log (.*)\n((?:    (?!\$).*\n)+)", self.text, re.M)
        self.assertGreaterEqual(len(examples), 6)
        for words, expected in examples:
            with self.subTest(command=words):
                done = subprocess.run([TUTTI, "log", *words.split()], cwd=self.folder, text=True,
                                      capture_output=True, check=False)
                shown = re.sub("^    ", "", expected, flags=re.M)
                self.assertEqual(done.stdout, shown)

    def fields(self, what, begin):
        """The fields of that table, read at an offset of the file; numbers, or bytes if longer."""
        head = r"^\| offset \| bytes \| " + what + r" \|.*\n\| ---.*\n"
        table = re.search(head + r"((?:\|.*\n)+)", self.text, re.M)
        found = {}
        for row in table[1].splitlines():
            offset, size, name = [cell.strip() for cell in row.split("|")[1:4]]
            if not size:
                continue  # the data that follows
            data = self.file[begin + int(offset):begin + int(offset) + int(size)]
            found[name] = int.from_bytes(data, "little") if int(size) <= 8 else data.rstrip(b"\0")
        return found

    def checksum(self, salt, offset):
        """Of the record there, as the table says."""
        length = int.from_bytes(self.file[offset + 4:offset + 8], "little")
        data = self.file[offset + 32:offset + 32 + (length + 7) // 8 * 8]
        return crc32c(struct.pack("<QQI", salt, offset, 0) + self.file[offset + 4:offset + 32]
                      + struct.pack("<II", crc32c(data), 0))

    def test_the_format_is_what_is_in_the_file(self):
        header = self.fields("header", 0)
        salt = header.pop("salt")
        self.assertEqual(header, {
            "magic": int.from_bytes(b"TUTTILOG", "little"), "version": 1, "header bytes": 4096,
            "number": 1, "first": 0, "digest": 0, "size": SEGMENT_BYTES, "before": 0,
            "begins": 1,
            "node bytes": 1, "group bytes": 6, "node": b"a", "group": b"orders",
            "checksum": crc32c(self.file[:4092])})
        second = 4096 + 48
        commit = second + 48
        self.assertEqual(self.file[second + 32:commit], b"set size 7" + bytes(6))
        self.assertEqual(self.fields("record", second), {
            "checksum": self.checksum(salt, second), "length": 10, "seq": 1, "view": 1,
            "sender": 0, "flags": 0})
        self.assertEqual(self.fields("record", commit), {
            "checksum": self.checksum(salt, commit), "length": 16, "seq": 2, "view": 1,
            "sender": 2, "flags": 2})
        self.assertEqual(self.fields("commit", commit + 32)["begins"], 4096)
        tick = 4328
        self.assertEqual(self.fields("record", tick)["flags"], 1)
        mark = tick + 40 + 48
        self.assertEqual(self.fields("record", mark), {
            "checksum": self.checksum(salt, mark), "length": 16, "seq": 4, "view": 2, "sender": 0,
            "flags": 2})
        end = self.fields("commit", mark + 32)
        self.assertEqual(end["begins"], mark)
        self.assertEqual(f"{end['digest']:016x}", self.json("info", self.folder)[0]["digest"])
        self.assertEqual(self.file[mark + 48:], bytes(len(self.file) - mark - 48))


if __name__ == "__main__":
    unittest.main()
