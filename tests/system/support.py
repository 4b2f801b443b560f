"""What the system tests share: free ports, member processes, waits with a deadline, and the check
that outputs are one sequence.

Nothing here sleeps in place of a condition: wait_until() looks again until the condition holds, and
every wait fails loudly after WATCHDOG seconds, with what the processes said.
"""

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

TUTTI = os.environ.get("TUTTI", "tutti")
# Seconds: far above what anything takes, below the watchdog of the test run.
WATCHDOG = int(os.environ.get("TUTTI_TEST_WATCHDOG", "100"))
SUSPECT_AFTER = "40"  # longer than any process is kept from running, so that only the dead are lost
# A member that opens libfabric's verbs in an emulated machine, beside busy ones, needs 30 s for that.
START_TIMEOUT = str(WATCHDOG * 4 // 5)
LEAVE_TIMEOUT = "40"  # as SUSPECT_AFTER: who is told to end leaves in order
FABRICS = ("shm", "tcp", "mixed")

# Below the ports that the kernel gives to outgoing connections, and above those that the command
# takes for members of its own (src/cli/child.cpp).
_PORTS = range(21000, 32000)
_BLOCK = 128  # ports that one test process takes at a time, for as long as it runs
_block = os.getpid()
_free = []  # of the block
_taken = {}  # blocks, the oldest first, and their locks


def _take_block():
    """Ports that no other test process gives out. Two that are free at the same moment may be given
    out by both otherwise, and members of two tests would meet."""
    global _block
    blocks = len(_PORTS) // _BLOCK
    for _ in range(blocks):
        _block += 1
        number = _block % blocks
        # Not below TMPDIR: some tests give their processes one of their own.
        path = f"/tmp/tutti-test-ports-{os.getuid()}-{number}"
        lock = open(path, "w", encoding="utf-8")  # until the process ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        _taken[number] = lock
        return _PORTS[number * _BLOCK:(number + 1) * _BLOCK]
    if not _taken:
        raise RuntimeError("no free ports")
    number = next(iter(_taken))  # ours, used long ago
    _taken[number] = _taken.pop(number)
    return _PORTS[number * _BLOCK:(number + 1) * _BLOCK]


def free_ports(count):
    """Ports of 127.0.0.1 at which nobody listens, and which no other test process gives out."""
    found = []
    while len(found) < count:
        if not _free:
            _free.extend(_take_block())
        port = _free.pop(0)
        with socket.socket() as probe:
            try:
                probe.bind(("0.0.0.0", port))
                found.append(port)
            except OSError:
                pass
    return found


def wait_until(condition, what):
    """Looks until condition() is true, and returns what it returned. `what`: text, or what gives it
    when the time is over."""
    deadline = time.monotonic() + WATCHDOG
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain: " + (what() if callable(what) else what))
        time.sleep(0.002)


def tutti(*arguments, timeout=WATCHDOG, **options):
    """Runs the command to its end; text in and out."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([TUTTI, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="backslashreplace",
                          timeout=timeout, check=False, **options)


def look_at(address):
    """What the member that listens there says of its view, or None if it does not answer: as `tutti
    members`, but quick enough to see what lasts for a moment only."""
    def exactly(connection, count):
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def frame(connection):
        magic, version, length = struct.unpack("<6sHI", exactly(connection, 12))
        assert magic == b"TUTTI\0", magic
        return version, exactly(connection, length)

    host, _, port = address.rpartition(":")
    question = b'{"question":"view"}'
    try:
        with socket.create_connection((host, int(port)), timeout=WATCHDOG) as connection:
            version, _ = frame(connection)  # its own: it answers in no other
            connection.sendall(b"TUTTI\0" + struct.pack("<HI", version, len(question)) + question)
            return json.loads(frame(connection)[1])
    except (OSError, EOFError):
        return None


class Member:
    """One `tutti run` process. Its output and messages go to files, unless told otherwise."""

    def __init__(self, name, arguments, folder, data, stdout=None, stderr=None, command=None,
                 start=0):
        self.name = name
        file_name = name if start == 0 else f"{name}.{start}"
        self.output_path = os.path.join(folder, file_name + ".out")
        self.error_path = os.path.join(folder, file_name + ".err")
        self.killed = False
        self.feeder = None
        own_stdin = None
        if isinstance(data, bytes):
            input_path = os.path.join(folder, file_name + ".in")
            with open(input_path, "wb") as file:
                file.write(data)
            own_stdin = data = open(input_path, "rb")
        own_stdout = open(self.output_path, "wb") if stdout is None else None
        with open(self.error_path, "wb") as error:
            self.process = subprocess.Popen(
                (command or [TUTTI]) + ["run", "--name", name] + arguments, stdin=data,
                stdout=own_stdout or stdout, stderr=error if stderr is None else stderr)
        for file in (own_stdin, own_stdout):
            if file:
                file.close()

    def output(self):
        with open(self.output_path, "rb") as file:
            return file.read()

    def output_size(self):
        return os.path.getsize(self.output_path)

    def said(self):
        with open(self.error_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def running(self):
        return self.process.poll() is None

    def state(self):
        """R, S, T, ...: see proc(5)."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]

    def kill(self):
        self.killed = True
        self.process.kill()

    def wait(self):
        """The exit status."""
        try:
            return self.process.wait(timeout=WATCHDOG)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"member {self.name} hangs; it said:\n{self.said()}") from None

    def clean_up(self):
        if self.running():
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                try:
                    stream.close()
                except OSError:
                    pass


class Feeder(threading.Thread):
    """Writes numbered lines to a member's standard input until told to stop, or it ends. With
    `close` the input then ends, else it stays open. `pause`: seconds after each 500 lines, for
    tests that would else have more to look at than they have time for."""

    LINES_MAX = 3_000_000  # a test that hangs does not fill the disk

    def __init__(self, member, prefix=b"", pause=0):
        super().__init__(daemon=True)
        self.member = member
        member.feeder = self
        self._pipe = member.process.stdin
        self._prefix = prefix
        self._pause = pause
        self._told_to_stop = threading.Event()
        self.sent = []
        self.start()

    def run(self):
        for first in range(0, self.LINES_MAX, 500):
            if self._told_to_stop.is_set():
                return
            block = b"".join(b"%s%d\n" % (self._prefix, i) for i in range(first, first + 500))
            try:
                self._pipe.write(block)
                self._pipe.flush()
            except (OSError, ValueError):
                return
            self.sent.append(block)
            if self._pause:
                self._told_to_stop.wait(self._pause)

    def finish(self, close=True):
        self._told_to_stop.set()
        self.join(WATCHDOG)
        if close:
            try:
                self._pipe.close()
            except OSError:
                pass
        return b"".join(self.sent)


class SystemTest(unittest.TestCase):
    """Each test has a folder of its own, and leaves no process behind."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="system-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.members = []
        self.feeders = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for member in self.members:
            if member.running():
                member.process.kill()
            member.process.wait()
        for feeder in self.feeders:
            feeder.finish()
        for member in self.members:
            member.clean_up()

    def address_list(self, names):
        ports = free_ports(len(names))
        return ",".join(f"{name}=127.0.0.1:{port}" for name, port in zip(names, ports))

    def start_member(self, name, addresses, *arguments, data=b"", group="log", **how):
        """`data`: bytes, or what Popen takes as stdin. A name that was started before has other
        files each time."""
        options = ["--members", addresses, "--group", group, *map(str, arguments)]
        if "--suspect-after" not in options:
            options += ["--suspect-after", SUSPECT_AFTER]
        if "--start-timeout" not in options:
            options += ["--start-timeout", START_TIMEOUT]
        if "--leave-timeout" not in options:
            options += ["--leave-timeout", LEAVE_TIMEOUT]
        starts = sum(member.name == name for member in self.members)
        member = Member(name, options, self.folder, data, start=starts, **how)
        self.members.append(member)
        return member

    def start_cluster(self, inputs, *arguments, fabric="auto", each=None):
        """Members with these inputs (name -> data). fabric "mixed": auto, but for the second, which
        takes tcp. `each`: name -> further arguments."""
        addresses = self.address_list(list(inputs))
        started = []
        for i, (name, data) in enumerate(inputs.items()):
            word = ("tcp" if i == 1 else "auto") if fabric == "mixed" else fabric
            more = (each or {}).get(name, [])
            started.append(self.start_member(name, addresses, "--fabric", word, *arguments, *more,
                                             data=data))
        return started

    def start_streaming(self, names, *arguments, fabric="auto", **how):
        """Members that are fed without an end; returns them once all have printed something."""
        members = self.start_cluster({name: subprocess.PIPE for name in names}, *arguments,
                                     fabric=fabric, **how)
        for member in members:
            self.feeders.append(Feeder(member, member.name.encode() + b" says "))
        wait_until(lambda: all(m.output_size() > 0 for m in members) or
                   any(not m.running() for m in members), "all members print")
        for member in members:
            self.assertTrue(member.running(), f"member {member.name} said:\n{member.said()}")
        return members

    def expect_exit(self, member, status):
        ended = member.wait()
        self.assertEqual(ended, status, f"member {member.name} said:\n{member.said()}")

    def expect_all_exit(self, members, status=0):
        for member in members:
            self.expect_exit(member, status)

    def expect_prefixes(self, members):
        """All outputs are prefixes of the longest one, those of survivors end with a whole line,
        and sequence numbers and each sender's numbered lines have no gap."""
        outputs = {member.name: member.output() for member in members}
        longest = max(outputs.values(), key=len)
        for member in members:
            text = outputs[member.name]
            if not longest.startswith(text):
                self.fail(f"{member.name} has another sequence, from byte "
                          f"{len(os.path.commonprefix([longest, text]))} on")
            if text and not member.killed:
                self.assertTrue(text.endswith(b"\n"), f"{member.name} ends in mid-line")
        counts = {}
        lines = longest.split(b"\n")[:-1]
        for number, line in enumerate(lines):
            seq, sender, text = line.split(b" ", 2)
            self.assertEqual(int(seq), number)
            index = counts.get(sender, 0)
            self.assertEqual(text, b"%s says %d" % (sender, index))
            counts[sender] = index + 1
        return lines

    def expect_same_outputs(self, members, inputs):
        """All members printed the same: every line of each sender once and in order, numbered from
        0 without gaps."""
        reference = members[0].output()
        for member in members[1:]:
            if member.output() != reference:
                self.fail(f"{member.name} and {members[0].name} printed different sequences")
        rows = [line.split(b" ", 2) for line in reference.split(b"\n")[:-1]]
        self.assertEqual([int(row[0]) for row in rows], list(range(len(rows))))
        self.expect_lines_of_senders(rows, inputs)

    def expect_lines_of_senders(self, rows, inputs):
        by_sender = {name: [] for name in inputs}
        for _, sender, line in rows:
            by_sender[sender.decode()].append(line)
        for name, data in inputs.items():
            self.assertEqual(by_sender[name], lines_of(data), f"the lines of {name}")


def lines_of(data):
    """What counts as a line: a last one without newline does."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def numbered(count, prefix):
    return b"".join(b"%s %d\n" % (prefix, i) for i in range(1, count + 1))
