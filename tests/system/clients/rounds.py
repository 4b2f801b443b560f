"""One round: members with relays, and clients in processes of their own, which are killed (SIGKILL)
and started again; then relays are left alone, all clients come to their end, and the journals are
judged.

Each client process is a fork of this one, so that it costs milliseconds. This process has no
threads. Of the members one at a time is down: a majority goes on. Only where the topic is
logged, all of them are killed now and then, and go on from their logs.
"""

import ctypes
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass

from support import SUSPECT_AFTER, TUTTI, WATCHDOG, free_ports

from . import library, record
from .judge import judge
from .progress import Progress
from .publisher import Publisher

TOPIC = "soak"
PR_SET_PDEATHSIG = 1  # of prctl(2)
_LOOK = 0.002  # seconds between two looks at what happens
_IN_THE_DARK = 0.2  # share of the kills that wait for no progress
_STOPPED = 0.2  # share of the relays that are told to end, and not killed
_TOTAL = 0.2  # share of the times at which all are killed, where all is in logs
HANGS = WATCHDOG / 2  # seconds without a word in its journal, of a client
_FINISH = 20  # requests that each publisher still publishes in the end


def end_with_parent():
    """In a child: the kernel kills it once this process ends, in whatever way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Failure(Exception):
    """The round did not come to its end."""


@dataclass
class Options:
    seed: int
    members: int
    publishers: int
    subscribers: int
    crashes: int
    relay_kills: int
    history: int
    gaps_allowed: bool
    service: str
    rate: int  # of one publisher, in a second
    life: float  # of a client, at most, in seconds after it made progress


class Child:
    """A client: one process after the other, with one journal."""

    def __init__(self, folder, name, work):
        self.name = name
        self.path = os.path.join(folder, name)
        self._work = work
        self._folder = folder
        self.pid = 0
        self.kill_at = 0.0
        self.blind = False

    def start(self, work=None):
        self._size = self.size()
        self.pid = os.fork()
        if self.pid:
            return
        status = 1
        try:
            end_with_parent()
            random.seed()
            (work or self._work)(record.Journal(self.path))
            status = 0
        except BaseException as problem:  # the parent reads why
            with open(self.path + ".failed", "a", encoding="utf-8") as file:
                file.write(f"{type(problem).__name__}: {problem}\n")
        finally:
            os._exit(status)

    def size(self):
        try:
            return os.path.getsize(self.path)
        except FileNotFoundError:
            return 0

    def made_progress(self):
        return self.size() > self._size

    def kill(self):
        """Returns False if it had ended by itself."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.WIFSIGNALED(status)

    def has_ended(self):
        """Whether it ended by itself; Failure if that was not as it should."""
        if not self.pid:
            return True
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return False
        self.pid = 0
        if status:
            raise Failure(f"client {self.name} ended: {self.said()}")
        return True

    def said(self):
        return self._text(".failed") or "nothing is said of why"

    def where(self):
        """Which relay it has, and what it waits for, as it wrote last."""
        return self._text(record.WHERE) or "it never said where"

    def _text(self, suffix):
        try:
            with open(self.path + suffix, encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""


class Relay:
    def __init__(self, folder, name, members, listen, options):
        self.name, self.address = name, listen
        self._log = os.path.join(folder, f"relay-{name}")
        self._command = [TUTTI, "relay", "--name", name, "--members", members, "--listen", listen,
                         "--suspect-after", SUSPECT_AFTER]
        self._is_logged = options.service == "logged"
        history = "" if self._is_logged else f",history=keep_last({options.history})"
        self._topic = ["--topic", f"{TOPIC}:service={options.service}{history}"]
        if self._is_logged:
            self._command += ["--state-dir", os.path.join(folder, f"state-{name}")]
        self.process = None

    def start(self, names_topic=True, founds=False):
        """Without the topic's name it learns of the topic from the others, while clients ask."""
        self._said = f"{self._log}.out"
        command = self._command + (self._topic if names_topic else [])
        if founds and self._is_logged:
            command.append("--bootstrap")
        with open(self._said, "wb") as out, open(f"{self._log}.err", "ab") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err,
                                            preexec_fn=end_with_parent)

    def serves(self):
        if self.process.poll() is not None:
            raise Failure(f"relay {self.name} ended with {self.process.returncode}")
        return os.path.getsize(self._said) > 0

    def end(self, how):
        self.process.send_signal(how)
        try:
            self.process.wait(WATCHDOG)
        except subprocess.TimeoutExpired:
            raise Failure(f"relay {self.name} does not end") from None


class Round:
    def __init__(self, options, folder):
        self.options = options
        self.crashes = self.relay_kills = 0
        self.verdict = None
        self._random = random.Random(options.seed)
        self._over = os.path.join(folder, "over")  # once it is there, steady publishers end
        names = [chr(ord("a") + i) for i in range(options.members)]
        ports = free_ports(2 * len(names))
        members = ",".join(f"{n}=127.0.0.1:{p}" for n, p in zip(names, ports))
        listens = [f"127.0.0.1:{port}" for port in ports[len(names):]]
        self._relays = [Relay(folder, name, members, listen, options)
                        for name, listen in zip(names, listens)]
        self._publishers = [Child(folder, f"publisher-{i}", self._publishes(listens, i))
                            for i in range(options.publishers)]
        self._subscribers = [
            Child(folder, f"subscriber-{i}",
                  lambda journal: library.subscribe(list(listens), TOPIC, journal))
            for i in range(options.subscribers)]
        self._witness = Child(folder, "witness", lambda journal: library.subscribe(
            list(listens), TOPIC, journal))
        steady = options.publishers
        self._steady = Child(folder, "steady", lambda journal: library.publish(
            list(listens), TOPIC, steady, journal, options.rate,
            lambda: os.path.exists(self._over)))
        self._end = Child(folder, "end", self._publishes(listens, record.END_WRITER, 1))
        self._down = []  # relays
        self._is_coming = False  # they were started again
        self._next_strike = 0.0
        self._progress = Progress(HANGS)
        self._serve_since = 0.0  # of a majority of the relays

    def _publishes(self, relays, writer, count=None):
        nonce = self._random.getrandbits(62) + 1
        rate = self.options.rate

        def work(journal, more=count):
            Publisher(list(relays), TOPIC, writer, nonce, journal, rate).run(more)
        return work

    def _everyone(self):
        return [*self._publishers, *self._subscribers, self._witness, self._steady, self._end]

    def run(self):
        try:
            for relay in self._relays:
                relay.start(founds=relay is self._relays[0])
            self._until("all relays serve", lambda: all(one.serves() for one in self._relays))
            self._witness.start()
            self._steady.start()
            for child in [*self._publishers, *self._subscribers]:
                self._begin(child)
            self._until("clients and relays were killed", self._strike, progress=True)
            self._finish()
        finally:
            self._clean_up()
        self.verdict = judge({child.name: record.read(child.path) for child in self._everyone()
                              if child is not self._end}, self.options.gaps_allowed)

    def _begin(self, child):
        child.start()
        child.blind = self._random.random() < _IN_THE_DARK
        child.kill_at = time.monotonic() + self._random.random() * self.options.life

    def _find_hanging(self, now):
        """Failure if a client does not go on, though a majority of the relays serves."""
        if 2 * len(self._down) >= len(self._relays):
            self._serve_since = now
        for child in [*self._publishers, *self._subscribers, self._witness, self._steady]:
            hangs = self._progress.look(now, child.name, child.size(), self._serve_since)
            if hangs:
                since = time.strftime("%H:%M:%S", time.localtime(time.time() - hangs))
                down = ", ".join(relay.name for relay in self._down) or "none"
                raise Failure(f"client {child.name} (process {child.pid}) hangs since {since}, "
                              f"for {hangs:.1f} s: {child.where()}; relays that are down: {down}")

    def _strike(self):
        """One look; true: there were as many kills as are wanted."""
        now = time.monotonic()
        self._find_hanging(now)
        for child in [*self._publishers, *self._subscribers]:
            if now < child.kill_at or not (child.blind or child.made_progress()):
                if child.has_ended():
                    raise Failure(f"client {child.name} ended too early")
                continue
            if not child.kill():
                raise Failure(f"client {child.name} ended: {child.said()}")
            self.crashes += 1
            self._begin(child)
        for child in (self._witness, self._steady):
            if child.has_ended():
                raise Failure(f"client {child.name} ended too early")
        self._strike_relay(now)
        return self.crashes >= self.options.crashes and \
            self.relay_kills >= self.options.relay_kills and not self._down

    def _strike_relay(self, now):
        if self._down and not self._is_coming:
            if now >= self._next_strike:
                for relay in self._down:
                    relay.start(names_topic=self._random.random() < 0.5)
                self._is_coming = True
            return
        if self._down:
            if all([relay.serves() for relay in self._down]):
                self._down, self._is_coming = [], False
                self._next_strike = now + self._random.random() * 0.2
            return
        # Spread over the round, so that most clients are killed while a relay is down or joins.
        if now < self._next_strike or self.relay_kills >= self.options.relay_kills:
            return
        total = self.options.service == "logged" and self._random.random() < _TOTAL
        self._down = list(self._relays) if total else [self._random.choice(self._relays)]
        stopped = not total and self._random.random() < _STOPPED
        for relay in self._down:
            relay.end(signal.SIGTERM if stopped else signal.SIGKILL)
            self.relay_kills += not stopped
        self._next_strike = now + self._random.random() * 0.3

    def _finish(self):
        for child in self._publishers:
            if child.kill():
                self.crashes += 1
            work = child._work
            child.start(lambda journal, work=work: work(journal, _FINISH))
        with open(self._over, "w", encoding="utf-8"):
            pass
        self._until("publishers end", lambda: all(
            [child.has_ended() for child in [*self._publishers, self._steady]]))
        self._end.start()
        self._until("the last sample is published", self._end.has_ended)
        self._until("subscribers end", lambda: all(
            [child.has_ended() for child in [*self._subscribers, self._witness]]))

    def _until(self, what, condition, progress=False):
        """Fails after WATCHDOG seconds; with `progress`, in which nobody was killed."""
        deadline, before = time.monotonic() + WATCHDOG, None
        while not condition():
            now, kills = time.monotonic(), (self.crashes, self.relay_kills)
            if progress and kills != before:
                deadline, before = now + WATCHDOG, kills
            if now > deadline:
                raise Failure("waited in vain: " + what)
            time.sleep(_LOOK)

    def _clean_up(self):
        for child in self._everyone():
            if child.pid:
                child.kill()
        for relay in self._relays:
            if relay.process and relay.process.poll() is None:
                relay.process.kill()
            if relay.process:
                relay.process.wait()
