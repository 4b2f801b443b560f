"""Log lines of the nodes, handed to logging.getLogger("tutti") by a thread of this module.

The library never waits for it: lines that nobody takes are kept, the newest 10,000 of them.
"""

from __future__ import annotations

import logging
import os
import threading
import traceback

from . import _tutti

logger = logging.getLogger("tutti")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING,
           "error": logging.ERROR}
_lock = threading.Lock()
_thread: threading.Thread | None = None
_ending = False


def _hand_on() -> None:
    while True:
        last = _ending  # lines that were put before the end are taken after this
        for node, level, text in _tutti.take_log_lines():
            try:
                logger.log(_LEVELS[level], "%s: %s", node or "tutti", text,
                           extra={"tutti_node": node})
            except BaseException:  # of a handler or a filter: the next line may go through
                traceback.print_exc()
        if last:
            return


def start() -> None:
    """Called for each node that is made: there is one thread."""
    global _thread
    with _lock:
        if _thread is None and not _ending:
            _thread = threading.Thread(target=_hand_on, name="tutti-log", daemon=True)
            _thread.start()


def end() -> None:
    """Hands on what is left. Called once no node is left."""
    global _thread, _ending
    with _lock:
        thread, _thread, _ending = _thread, None, True
    if thread is not None:
        _tutti.wake_log()
        thread.join()


def _in_child() -> None:
    global _thread, _lock
    _lock = threading.Lock()
    _thread = None


os.register_at_fork(after_in_child=_in_child)
