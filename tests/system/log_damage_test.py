"""`tutti log` looks at logs that are damaged at a known byte, and at what is none."""

import os
import stat
import unittest
from pathlib import Path

from log_support import HEADER_BYTES, RECORD_BYTES, SEGMENT_BYTES, Log, LogTest, crc32c
from support import tutti


class DamagedLogs(LogTest):
    """A byte of the second batch is another one; the third is whole."""

    def damaged(self):
        log = self.ended_log()
        segment = log.segments()[0]
        second = HEADER_BYTES + 2 * (RECORD_BYTES + 8) + RECORD_BYTES + 16
        self.offset = second  # of its first record
        data = bytearray(segment.read_bytes())
        data[second + RECORD_BYTES] ^= 1
        segment.write_bytes(data)
        return log

    def test_verify_says_where_and_what_to_do(self):
        log = self.damaged()
        one, = self.json("verify", log.directory, status=4)
        self.assertFalse(one["good"])
        self.assertEqual((one["first"], one["next"]), (0, 2))
        self.assertEqual((one["damage"]["file"], one["damage"]["offset"], one["damage"]["seq"]),
                         (str(log.segments()[0]), self.offset, 2))
        text = self.succeeds("verify", log.directory, status=4)
        for part in ("DAMAGED", str(log.segments()[0]), f"offset {self.offset}", "record 2",
                     f"tutti log repair {log.directory}"):
            self.assertIn(part, text)
        self.assertIn(": good, records 0 to 5", self.succeeds(
            "verify", self.ended_log("whole").directory))

    def test_the_others_show_what_is_before_it_and_end_with_4(self):
        log = self.damaged()
        for what in ("ls", "info"):
            self.assertIn("damage: ", self.succeeds(what, log.directory, status=4))
            self.assertEqual(self.json(what, log.directory, status=4)[0]["damage"]["seq"], 2)
        self.assertEqual(len(self.records("dump", log.directory, status=4)), 2)
        self.assertEqual(len(self.records("dump", log.directory, "--to", 1)), 2)
        self.assertEqual(len(self.records("tail", log.directory, "--follow", status=4)), 2)

    def test_repair_cuts_and_keeps(self):
        log = self.damaged()
        before = {path: path.read_bytes() for path in log.directory.iterdir()}
        said = self.succeeds("repair", log.directory, status=4)
        self.assertIn("With --yes", said)
        self.assertEqual({path: path.read_bytes() for path in log.directory.iterdir()}, before)
        done = self.json("repair", log.directory, "--yes")
        self.assertTrue(done["done"])
        kept = b"".join(Path(path).read_bytes() for path in done["kept"])
        self.assertIn(b"secnd  2", kept)
        self.assertEqual([one["seq"] for one in self.records("dump", log.directory)], [0, 1])
        self.assertIn("nothing to repair", self.succeeds("repair", log.directory))
        again = Log(self, log.directory)
        self.assertEqual(again.add("goes on"), 3)
        self.assertEqual(len(self.records("dump", log.directory)), 3)

    def test_repair_refuses_while_a_node_has_the_log(self):
        log = self.log()
        for _ in range(3):
            log.add("a record")
        segment = log.segments()[0]
        with open(segment, "r+b") as file:
            file.seek(HEADER_BYTES + RECORD_BYTES)
            file.write(b"A")
        before = segment.read_bytes()
        said = self.fails("repair", log.directory, "--yes")
        self.assertIn(str(log.process.pid), said)
        self.assertEqual(segment.read_bytes(), before)

    def test_a_segment_that_is_missing(self):
        log = self.log()
        for _ in range(3):
            log.add(*["x" * 1000] * 8)
        log.end()
        log.segments()[1].unlink()
        one, = self.json("verify", log.directory, status=4)
        self.assertEqual((one["next"], one["damage"]["seq"]), (8, 8))
        self.json("repair", log.directory, "--yes")
        self.assertEqual(self.json("verify", log.directory)[0]["next"], 8)

    def test_a_log_without_any_good_record_cannot_be_repaired(self):
        log = self.ended_log()
        segment = log.segments()[0]
        segment.write_bytes(b"\xff" * SEGMENT_BYTES)
        self.succeeds("verify", log.directory, status=4)
        said = self.fails("repair", log.directory, "--yes", status=4)
        self.assertIn("move the directory away", said)
        self.assertEqual(segment.read_bytes(), b"\xff" * SEGMENT_BYTES)

    def test_a_torn_tail_is_no_damage(self):
        log = self.log()
        log.add("whole")
        log.add("torn")
        log.end()
        segment = log.segments()[0]
        data = bytearray(segment.read_bytes())
        torn = data.index(b"torn")
        data[torn + 8:] = bytes(len(data) - torn - 8)  # its commit is missing
        segment.write_bytes(data)
        one, = self.json("verify", log.directory)
        self.assertEqual((one["good"], one["next"], one["tail"]), (True, 1, "torn"))


class WrongInput(LogTest):
    COMMANDS = ("ls", "info", "dump", "verify", "repair", "tail")

    def test_what_is_no_log(self):
        file = self.folder / "file"
        file.write_text("text")
        (self.folder / "empty").mkdir()
        for what in self.COMMANDS:
            with self.subTest(what=what):
                self.assertIn("No such file", self.fails(what, self.folder / "none"))
                self.assertIn("not a directory", self.fails(what, file))
                self.assertIn("no log is there", self.fails(what, self.folder / "empty"))

    def test_what_only_has_the_name_of_a_segment(self):
        name = "00000000000000000000.log"
        for number, make in enumerate(
                (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero"))):
            directory = self.folder / str(number)
            directory.mkdir()
            make(directory / name)
            for what in self.COMMANDS:
                self.assertIn("not a file", self.fails(what, directory))
        for number, data in enumerate((b"", b"hello\n", b"\xff" * 100000)):
            directory = self.folder / f"data {number}"
            directory.mkdir()
            (directory / name).write_bytes(data)
            for what in self.COMMANDS:
                done = tutti("log", what, directory)
                self.assertEqual(done.returncode, 4, done.stdout + done.stderr)

    def test_a_log_of_another_version(self):
        log = self.ended_log()
        segment = log.segments()[0]
        data = bytearray(segment.read_bytes())
        data[8:12] = (9).to_bytes(4, "little")
        data[HEADER_BYTES - 4:HEADER_BYTES] = crc32c(data[:HEADER_BYTES - 4]).to_bytes(4, "little")
        segment.write_bytes(data)
        for what in self.COMMANDS:
            said = self.fails(what, log.directory)
            self.assertIn("version 9", said)
            self.assertIn(str(segment), said)

    def test_random_bytes_behind_a_header_do_no_harm(self):
        log = self.ended_log()
        segment = log.segments()[0]
        data = segment.read_bytes()
        for seed in range(20):
            noise = bytes((i * i * 7 + seed * i + (i >> 3) * seed) & 0xff for i in range(4096))
            at = HEADER_BYTES + 40 * seed
            segment.write_bytes((data[:at] + noise + data[at + len(noise):])[:len(data)])
            for what in self.COMMANDS:
                done = tutti("log", what, log.directory)
                self.assertIn(done.returncode, (0, 4), done.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_log_of_another_user(self):
        log = self.ended_log()
        log.directory.chmod(0)
        self.addCleanup(log.directory.chmod, stat.S_IRWXU)
        for what in self.COMMANDS:
            self.assertIn("Permission denied", self.fails(what, log.directory))

    def test_options(self):
        log = self.ended_log()
        for words, part in ((("dump", log.directory, "--payload", "base64"), "--payload"),
                            (("dump", log.directory, "--from", "-1"), "--from"),
                            (("dump", log.directory, "--from", "5", "--to", "4"), "--from"),
                            (("tail", log.directory, "-n", "x"), "--records"), (("ls",), "DIR"),
                            ((), "subcommand"), (("frobnicate", log.directory), "frobnicate")):
            self.assertIn(part, self.fails(*words, status=2))


if __name__ == "__main__":
    unittest.main()
