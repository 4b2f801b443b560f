"""A publisher that may be killed at any moment: its next process goes on with the same session.

Who it is (client id and nonce) follows from its number, and what it publishes from the number of
the request. So the relay's answer to `open` (the last request that was delivered) is all that its
next process needs. It speaks frames itself: the library's clients keep nothing over a restart.
"""

import random
import select
import socket
import time

from tutti_client import _frames as f

from . import record

_WINDOW = 16  # unanswered publishes, at most what the protocol allows
_PAUSE = 0.02  # between two attempts to connect


class Gone(Exception):
    """The connection ended: the next relay."""


class Publisher:
    def __init__(self, relays, topic, writer, nonce, journal, per_second):
        self._relays, self._topic = relays, topic
        self._writer, self._nonce = writer, nonce
        self._journal = journal
        self._every = 1 / per_second
        self._socket = self._reader = None
        self._session = f.NONE
        self._number = self._last = self._acknowledged = 0
        self._until = None  # the last request that is wanted

    def run(self, count=None):
        """Without end, or until `count` more were acknowledged."""
        random.shuffle(self._relays)
        turn = 0
        while True:
            try:
                self._connect(self._relays[turn % len(self._relays)])
                if count is not None and self._until is None:
                    self._until = self._last + count
                if self._publish():
                    return
            except (OSError, Gone):
                turn += 1
                time.sleep(_PAUSE)
            finally:
                if self._socket:
                    self._socket.close()

    def _connect(self, relay):
        host, _, port = relay.rpartition(":")
        self._relay = relay
        self._where("the connection")
        self._socket = socket.create_connection((host, int(port)), timeout=3)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = f.FrameReader(17 << 20)
        self._say(f.Hello(f.MAGIC, f.VERSION, self._writer + 1, self._nonce, "soak", ""))
        self._hear(f.Welcome)
        self._say(f.Find(1, self._topic))
        self._number = self._hear(f.Found).topic.topic
        self._say(f.Open(self._number, self._session, self._nonce))
        opened = self._hear(f.Opened)
        self._session, self._last = opened.session, opened.last
        self._acknowledged = max(self._acknowledged, opened.last)

    def _publish(self):
        """True: all that were wanted are acknowledged."""
        sent, next_at = self._last, time.monotonic()
        self._where("acknowledgements")
        while True:
            now = time.monotonic()
            wanted = self._until is None or sent < self._until
            if wanted and now >= next_at and sent - self._acknowledged < _WINDOW:
                sent += 1
                self._say(f.Publish(self._number, self._nonce, sent, time.time_ns(),
                                    record.payload(self._writer, sent)))
                next_at = max(next_at + self._every, now - 1)
                continue
            frame = self._next(max(next_at - now, 0.001))
            if isinstance(frame, f.Published):
                self._answered(frame)
            elif isinstance(frame, f.GoBack):
                sent = min(sent, frame.last)
            elif isinstance(frame, f.Refused):
                raise AssertionError(f"writer {self._writer}: {frame.text}")
            if self._until is not None and self._acknowledged >= self._until:
                return True

    def _answered(self, frame):
        if frame.status not in (f.Status.DELIVERED, f.Status.DUPLICATE):
            raise AssertionError(
                f"writer {self._writer}: request {frame.request} is {frame.status}")
        self._journal.add(record.ACK, self._writer, frame.request, frame.position)
        self._acknowledged = max(self._acknowledged, frame.request)

    def _where(self, waits_for):
        self._journal.say_where(f"at relay {self._relay}, it waits for {waits_for}, and "
                                f"{self._acknowledged} requests are acknowledged")

    def _say(self, frame):
        self._socket.sendall(f.encode(frame))

    def _hear(self, kind):
        self._where(f"the frame {kind.__name__}")
        while True:
            frame = self._next(3)
            if isinstance(frame, kind):
                return frame
            if frame is None:
                raise Gone
            if isinstance(frame, f.Refused):
                raise AssertionError(f"writer {self._writer}: {frame.text}")

    def _next(self, timeout):
        """The next frame, or None after that time."""
        while (frame := self._reader.next()) is None:
            if not select.select([self._socket], [], [], timeout)[0]:
                return None
            received = self._socket.recv(65536)
            if not received:
                raise Gone
            self._reader.append(received)
        if isinstance(frame, f.Bye):
            raise Gone
        return frame
