"""Commands of `tutti perf` and of the limit programs, and their repetitions side by side."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from bench.process import run_program

LIMITS = ("shared_table", "ring", "cache_line", "tcp_fanout", "tcp_round_trip", "append")
PROGRAMS = ("tutti", *(f"limit_{name}" for name in LIMITS), "interface_c", "interface_cpp",
            "log_append")

WINDOWS = ("256K", "1M", "4M", "16M")  # a ceiling is the best of these, found by short runs
WINDOW_MESSAGES = 65536  # the default of `tutti perf`
SHORT_RUNS = 2           # of each candidate
GRACE_SECONDS = 150      # for start, warm-up and end of a program, whatever the machine does


@dataclass(frozen=True)
class Options:
    runs: int
    seconds: float
    warmup: float
    dir: str = "."  # where files of logs are written
    suspect_after: float | None = None  # of members, but those of idle, which counts heartbeats


def bytes_of(size):
    """4M -> 4194304."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(size[:-1]) * units[size[-1]] if size[-1] in units else int(size)


def size_name(count):
    """4194304 -> 4M."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def words_of(options):
    """{"idle_spin_us": 0, "pin": True} -> --idle-spin-us 0 --pin"""
    words = []
    for name, value in options.items():
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(f"{value:g}" if isinstance(value, float) else str(value))
    return words


class Session:
    """Runs commands from the project's root; commands are lists of words."""

    def __init__(self, options, root, programs, progress):
        self.options = options
        self.root = Path(root)
        self.programs = programs  # the folder as it appears in commands
        self.commands = []        # all that were run since it was last cleared, each once
        self._progress = progress

    def program(self, name):
        """Where it is, from any folder."""
        return str(self.root / self.programs / name)

    def tutti(self, what="multicast", seconds=None, **options):
        """`tutti perf WHAT`; options by their names, True for a flag."""
        times = {"seconds": float(seconds or self.options.seconds),
                 "warmup": float(self.options.warmup)}
        if self.options.suspect_after is not None and what != "idle":
            times["suspect_after"] = self.options.suspect_after
        return [f"{self.programs}/tutti", "perf", what, *words_of({**options, **times}),
                "--json", "-"]

    def limit(self, name, seconds=None, warmup_share=0.2, **options):
        """A limit program that measures as long as `tutti perf` does; its warm-up is a share of
        what it is told."""
        told = float(seconds or self.options.seconds) / (1 - warmup_share)
        return [f"{self.programs}/limit_{name}", *words_of({**options, "seconds": told})]

    def interface(self, language, **options):
        """The program of perf/interface/ in that language: c or cpp."""
        return [f"{self.programs}/interface_{language}",
                *words_of({**options, "seconds": float(self.options.seconds),
                           "warmup": float(self.options.warmup)})]

    def log(self, **options):
        """The program of perf/log/, which measures as long as limit() does."""
        told = float(self.options.seconds) / 0.8
        return [f"{self.programs}/log_append", *words_of({**options, "seconds": told})]

    def cache_line(self, wait, samples, **options):
        """The limit program that counts samples instead of seconds."""
        return [f"{self.programs}/limit_cache_line",
                *words_of({"wait": wait, **options, "samples": max(100, int(samples))})]

    def run(self, command, timeout=None):
        text = shlex.join(command)
        if text not in self.commands:
            self.commands.append(text)
        return run_program(command, timeout or self.options.seconds * 10 + GRACE_SECONDS, self.root)

    def side_by_side(self, commands, back_and_forth=False):
        """{name: command} -> {name: [result of each repetition]}; A B C A B C ..., or, back and
        forth, A B C C B A ..."""
        results = {name: [] for name in commands}
        for i in range(self.options.runs):
            turn = list(commands.items())
            if back_and_forth and i % 2:
                turn.reverse()
            for name, command in turn:
                self._progress(f"repetition {i + 1} of {self.options.runs}: {name}")
                results[name].append(self.run(command))
        return results

    def best(self, commands, figure):
        """The name of the command with the highest figure(result) in short runs: the commands are
        those of command(seconds) for each {name: command}."""
        seconds = max(0.1, self.options.seconds / 3)
        found = {}
        for i in range(SHORT_RUNS):
            for name, command in commands.items():
                self._progress(f"short run {i + 1} of {SHORT_RUNS}: {name}")
                found[name] = max(found.get(name, 0), figure(self.run(command(seconds))))
        return max(found, key=found.get)

    def window(self, window, size):
        """Options for `tutti perf`: a window in bytes, with slots so many that bytes decide."""
        slots = WINDOW_MESSAGES
        while slots * size < bytes_of(window):
            slots *= 2
        more = {"window_messages": slots} if slots > WINDOW_MESSAGES else {}
        return {"window": window, **more}
