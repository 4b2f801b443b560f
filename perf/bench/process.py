"""Runs one program to its end and reads the JSON object that it prints.

The program and all that it starts form a process group of their own, which is killed whenever we
stop waiting for it: after its time, on Ctrl-C, on a signal.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess

from bench.samples import MeasurementFailed

LINES_OF_ERROR = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProgramFailed(MeasurementFailed):
    """The command, how it ended, and the last lines that it said."""

    def __init__(self, command, ending, said=""):
        lines = [line for line in said.splitlines() if line.strip()][-LINES_OF_ERROR:]
        super().__init__("\n    ".join([f"{shlex.join(command)}: {ending}", *lines]))


def run_program(command, timeout, cwd):
    """Returns the object that the command prints; raises ProgramFailed, and leaves no process."""
    program = None
    try:
        with signals_held_back():
            program = start(command, cwd)
        printed, said = program.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        printed, said = kill_group(program)
        raise ProgramFailed(command, f"did not end within {timeout:.0f} s", said) from None
    except BaseException:
        if program is not None:
            kill_group(program)
        raise
    if program.returncode != 0:
        raise ProgramFailed(command, ending(program.returncode), said or printed)
    try:
        return json.loads(printed)
    except ValueError as error:
        raise ProgramFailed(command, f"printed no JSON object ({error})", printed) from None


def start(command, cwd):
    try:
        return subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", start_new_session=True)
    except OSError as error:
        raise ProgramFailed(command, f"cannot be started: {error.strerror}") from None


@contextlib.contextmanager
def signals_held_back():
    """What a signal raises, it raises at the end: not between the start of a program and the
    moment in which we know its process group."""
    came = []
    handlers = {number: signal.signal(number, lambda number, _frame: came.append(number))
                for number in STOP_SIGNALS if callable(signal.getsignal(number))}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def ending(status):
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} ({signal.strsignal(-status)})"


def kill_group(program):
    """Returns what it had said."""
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has just ended
    return program.communicate()
