"""One fire_member process, and what it prints about its views."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("FIRE_MEMBER", str(ROOT / "build/release/bin/fire_member"))


@dataclass
class View:
    number: int = 0
    time_ns: int = 0                             # when it was installed there
    members: dict = field(default_factory=dict)  # name -> incarnation


class FireMember:
    """`life` counts the starts of the same name; each start has files of its own."""

    def __init__(self, name, life, arguments, folder, prefix=()):
        self.name = name
        base = os.path.join(folder, f"{name}.{life}")
        self.history = base + ".history"
        self.error_path = base + ".err"
        self.view = View()
        self.views = []          # all of them, the first one first
        self.first = {}          # view -> time_ns of the first delivery in it
        self.count = None        # the last answer to `count`
        self.ending = ""         # why it ended, as it printed
        self.joins = "--join" in arguments
        self.struck_ns = []      # when a fault began there
        self._stops_ns = []      # (when, whether it continued then)
        self.started_ns = time.monotonic_ns()
        with open(self.error_path, "wb") as error:
            self.process = subprocess.Popen(
                [*prefix, PROGRAM, "--name", name, *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "view":
                members = dict(word.rsplit(":", 1) for word in words[3].split(","))
                self.view = View(int(words[1]), int(words[2]),
                                 {name: int(number) for name, number in members.items()})
                self.views.append(self.view)
            elif words[0] == "first":
                self.first[int(words[1])] = int(words[2])
            elif words[0] == "count":
                self.count = tuple(map(int, words[1:]))
            elif words[0] == "stopped":
                self.ending = words[1]

    def running(self):
        if self.process.poll() is None:
            return True
        self._reader.join()  # the reader has read all that it printed
        return False

    def said(self):
        with open(self.error_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def tell(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has just ended

    def kill(self):
        self.process.kill()

    def stood_still(self, begin_ns, end_ns):
        """Whether it was stopped at some time between the two times."""
        last = [goes_on for time_ns, goes_on in self._stops_ns if time_ns <= begin_ns][-1:]
        return last == [False] or any(begin_ns < time_ns < end_ns for time_ns, _ in self._stops_ns)

    def pause(self):
        self._stops_ns.append((time.monotonic_ns(), False))
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self._stops_ns.append((time.monotonic_ns(), True))

    def clean_up(self):
        if self.running():
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
