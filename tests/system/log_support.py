"""What the tests of `tutti log` share: logs that the library wrote, and the command's answers."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import tutti

WRITE_LOG = os.environ.get("WRITE_LOG", "write_log")
SEGMENT_BYTES = 16384
HEADER_BYTES = 4096
RECORD_BYTES = 32  # before its bytes


def hexed(text):
    return (text if isinstance(text, bytes) else text.encode()).hex()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Log:
    """A log and the process that writes it."""

    def __init__(self, test, directory, node="a", group="orders", segment_bytes=SEGMENT_BYTES):
        self.directory = Path(directory)
        self.process = subprocess.Popen([WRITE_LOG, directory, node, group, str(segment_bytes)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.end)

    def do(self, *lines):
        """Returns the number behind the last record that is on disk."""
        answer = ""
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        return int(answer.split()[1])

    def add(self, *payloads, view=1, sender=0):
        """A batch of these records."""
        return self.do(*(f"add {view} {sender} {hexed(payload)}" for payload in payloads), "write")

    def end(self):
        """As a node that is killed, but all that it wrote is on disk."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def segments(self):
        return sorted(self.directory.glob("*.log"))


class LogTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def log(self, name="orders", **options):
        return Log(self, self.folder / name, group=name, **options)

    def ended_log(self, name="orders", batches=3):
        """Each batch is of two records of 8 bytes."""
        log = self.log(name)
        for batch in range(batches):
            log.add(f"first {batch:2}", f"secnd {batch:2}", view=1 + batch // 2)
        log.do("close")
        log.end()
        return log

    def succeeds(self, *words, status=0):
        done = tutti("log", *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def json(self, *words, status=0):
        return json.loads(self.succeeds(*words, "--json", status=status))

    def records(self, *words, status=0):
        lines = self.succeeds(*words, "--json", status=status).splitlines()
        return [json.loads(line) for line in lines]

    def fails(self, *words, status=1):
        done = tutti("log", *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("tutti: "), done.stderr)
        return done.stderr
