"""What the measuring scripts ask for on the command line, and how a signal ends them."""

import argparse
import shutil
import signal
import sys
from pathlib import Path

from bench.process import STOP_SIGNALS

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS_DEFAULT = str(ROOT / "build/release/bin")


class Interrupted(BaseException):
    def __init__(self, number):
        super().__init__(signal.strsignal(number))
        self.status = 128 + number


def interrupt_on_signals():
    """From here on, the first of STOP_SIGNALS raises Interrupted."""
    for number in STOP_SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(number, _frame):
    for each in STOP_SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # once is enough: the table is still to be closed
    raise Interrupted(number)


def whole(text):
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("must be 1 to 1000")
    return int(text)


def duration(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0.05 <= seconds <= 300:
        raise argparse.ArgumentTypeError("must be 0.05 to 300 seconds")
    return seconds


def add_suspect_after(parser):
    parser.add_argument("--suspect-after", type=duration, metavar="S",
                        help="seconds for which a member may wait for a processor before the "
                             "others remove it (default: that of tutti perf)")


def folder(text):
    path = Path(text).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no directory")
    return str(path)


def need_program(parser, name):
    """Ends the script if there is none."""
    if shutil.which(name) is None:
        parser.error(f"there is no program {name}: run ./dev build, or name one with --tutti")


def programs_folder(script, name, programs):
    """As it is to appear in commands: from the project's root where it is below that. Ends the
    script if a program is missing there."""
    folder = Path(name).resolve()
    missing = [program for program in programs if not shutil.which(folder / program)]
    if missing:
        sys.exit(f"{script}: {folder} has no {', '.join(missing)}: run ./dev build, "
                 "or name another folder with --programs")
    return folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder


def open_for_json(script, name):
    """Before the work, not after it. Ends the script if that fails."""
    try:
        return open(name, "w", encoding="utf-8")
    except OSError as error:
        sys.exit(f"{script}: --json {name}: {error.strerror}")
