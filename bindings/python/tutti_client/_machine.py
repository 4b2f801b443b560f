"""What a client remembers and says, whichever relay it is connected to (docs/client-protocol.md).

A state machine without sockets and clocks: the same as src/client/machine.hpp. Callbacks are
called from within its methods. One thread at a time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from . import _frames as f
from ._subscriptions import Subscriptions
from ._types import (
    PublicationState,
    Published,
    RelayError,
    SessionState,
    TopicState,
    answer_of,
)

UNANSWERED_MAX = 64
NO_TOPIC = (1 << 32) - 1  # in the place of a topic's number: the request only takes its turn


class Machine(Subscriptions):
    def __init__(self, name: str, token: str) -> None:
        super().__init__()
        self.name, self.token = name, token
        self.client = (secrets.randbits(64) | 1, secrets.randbits(64))
        self.output = bytearray()
        self.idle_ms = 0
        self.relay = ""
        self.on_welcome: Callable[[], None] = lambda: None
        self.on_late: Callable[[], None] = lambda: None
        self.on_no_session: Callable[[str], None] = lambda text: None
        self.connected = False
        self._sends = self._asks = 0
        self._taken_back = False
        self._asked: dict[int, str] = {}
        self._late: set[str] = set()  # topics to be asked for again on this connection
        self._sessions: dict[str, SessionState] = {}
        self._unordered: dict[int, PublicationState] = {}
        self._lists: dict[int, tuple[list[f.TopicInfo], Callable[[Any], None]]] = {}
        self._handlers = {
            f.Welcome: self._on_welcome, f.Refused: self._on_refused, f.Topics: self._on_topics,
            f.Bye: lambda frame: self.on_bye(frame.text), f.Pong: lambda frame: None,
            f.Ping: lambda frame: self._say(f.Pong(frame.number)), f.Closed: lambda frame: None,
            f.Found: self._on_found, f.Opened: self._on_opened, f.Published: self._on_published,
            f.GoBack: self._on_go_back, f.Subscribed: self._on_subscribed,
            f.Sample: self._on_sample, f.Gap: self._on_gap, f.Ended: self._on_ended}

    # The connection.

    def connect(self) -> None:
        self.connected = True
        self._say(f.Hello(f.MAGIC, f.VERSION, *self.client, self.name, self.token))

    def disconnect(self) -> None:
        self.connected = self.welcome = False
        self.output.clear()
        self._asked.clear()
        self._late.clear()
        for topic in self._topics.values():
            topic.number = None
        for session in self._sessions.values():
            session.open = session.opening = session.busy = False
        for subscription in self._subscriptions.values():
            subscription.asked = False
        lost, self._unordered = self._unordered, {}
        for one in lost.values():
            one.answered(Published("unknown", text="the connection broke before it was answered"))

    def receive(self, frame: Any) -> None:
        handler = self._handlers.get(type(frame))
        if handler is None or not (self.welcome or isinstance(frame, f.Welcome | f.Bye)):
            return self.on_bye("the relay says what it may not say now")
        return handler(frame)

    def ping(self) -> None:
        if self.welcome:
            self._sends += 1
            self._say(f.Ping(self._sends))
            for bundle, session in list(self._sessions.items()):
                session.busy = False
                self._advance(bundle)

    def close(self) -> None:
        for session in self._sessions.values():
            if session.open and not session.unanswered:
                self._say(f.Close(session.nonce))
        if self.welcome:
            self._say(f.Bye(f.Code.STOPPED, ""))

    def abandon(self) -> None:
        """The client ends: whatever waits is answered."""
        for session in self._sessions.values():
            waiting, session.unanswered = session.unanswered, []
            for one in waiting:
                if not one.given_up:
                    one.answered(Published("unknown", text="the client ended"))
        for topic in self._topics.values():
            waiting_for, topic.waiting = topic.waiting, []
            for told in waiting_for:
                told(RelayError("the client ended"))
        lists, self._lists = self._lists, {}
        for _, told in lists.values():
            told(RelayError("the client ended"))
        for number in list(self._subscriptions):
            self._on_ended(f.Ended(number, "the client ended"))

    def _say(self, frame: Any) -> None:
        if self.connected:
            self.output += f.encode(frame)

    def _on_welcome(self, frame: f.Welcome) -> None:
        self.welcome = True
        self.idle_ms, self.relay = frame.idle_ms, frame.relay
        self.on_welcome()
        for name in self._topics:
            self._ask(name)
        for request, (found, _) in self._lists.items():
            found.clear()  # it is told from the beginning again
            self._say(f.List(request))

    # Topics.

    def find(self, name: str, told: Callable[[Any], None]) -> None:
        """`told` gets a TopicInfo or a RelayError."""
        self._topics.setdefault(name, TopicState()).waiting.append(told)
        if self.welcome:
            self._ask(name)

    def forget(self, name: str, told: Callable[[Any], None]) -> None:
        """Nobody waits for that any more."""
        if (topic := self._topics.get(name)) and told in topic.waiting:
            topic.waiting.remove(told)

    def ask_again(self) -> None:
        """A little after on_late: for topics that the relay's member did not know yet."""
        late, self._late = self._late, set()
        for name in sorted(late & self._topics.keys()):
            self._ask(name)

    def list(self, told: Callable[[Any], None]) -> None:
        self._asks += 1
        self._lists[self._asks] = ([], told)
        if self.welcome:
            self._say(f.List(self._asks))

    def forget_list(self, told: Callable[[Any], None]) -> None:
        """Nobody waits for that list any more: what comes of it is left."""
        self._lists = {request: (found, waits) for request, (found, waits) in self._lists.items()
                       if waits != told}

    def most(self, name: str) -> int | None:
        """Bytes of a sample that may be published, 0: none may; None if it is not known."""
        return topic.most if (topic := self._topics.get(name)) and topic.info else None

    def _ask(self, name: str) -> None:
        self._asks += 1
        self._asked[self._asks] = name
        self._say(f.Find(self._asks, name))

    def _on_topics(self, frame: f.Topics) -> None:
        if (entry := self._lists.get(frame.request)) is None:
            return
        entry[0].extend(frame.topics)
        if frame.last:
            del self._lists[frame.request]
            entry[1](entry[0])

    def _on_found(self, frame: f.Found) -> None:
        if (name := self._asked.pop(frame.request, None)) is None:
            return
        topic = self._topics[name]
        before = topic.info.bundle if topic.info else None
        topic.info, topic.number, topic.gone = frame.topic, frame.topic.topic, False
        waiting, topic.waiting = topic.waiting, []
        if waiting or frame.topic.sample_bytes_max:
            topic.most = frame.topic.sample_bytes_max
        for told in waiting:
            told(frame.topic)
        for number, subscription in self._subscriptions.items():
            if subscription.topic == name:
                self._ask_for(number, subscription)
        self._advance(frame.topic.bundle)
        # It was created again in another bundle: what was published to the one before is answered.
        if before is not None and before != frame.topic.bundle:
            self._advance(before)

    def _on_refused(self, frame: f.Refused) -> None:
        if frame.about == f.kind_of(f.Find):
            self._unknown_topic(frame)
        elif frame.about == f.kind_of(f.Open):
            for bundle, session in self._sessions.items():
                if session.opening and session.opens_by == frame.id:
                    if frame.code == f.Code.EXPIRED:
                        self._expire(bundle)
                    elif frame.code in (f.Code.BUSY, f.Code.NOT_OFFERED):
                        # Busy: at all relays; others must end first.
                        session.opening, session.busy = False, True
                        if frame.code == f.Code.NOT_OFFERED:
                            self.on_no_session(frame.text)
                    else:
                        self.on_bye(frame.text)
                    return
        elif frame.about == f.kind_of(f.Publish):
            for bundle, session in self._sessions.items():
                if session.open and session.nonce == frame.id:
                    self._expire(bundle)
                    return
        elif frame.about == f.kind_of(f.Subscribe):
            self._on_ended(f.Ended(frame.id, frame.text))

    def _unknown_topic(self, frame: f.Refused) -> None:
        if (name := self._asked.pop(frame.id, None)) is None:
            return
        if name in self._asked.values():
            return  # the topic may have come between the two questions: the next answer counts
        topic = self._topics[name]
        if frame.code == f.Code.NOT_YET:  # it is not gone, and may be another one
            topic.number, topic.gone = None, False
            self._late.add(name)
            self.on_late()
            return
        topic.number, topic.gone = None, True
        waiting, topic.waiting = topic.waiting, []
        if topic.info is None:
            del self._topics[name]
        for told in waiting:
            told(RelayError(frame.text))
        for number, subscription in list(self._subscriptions.items()):
            if subscription.topic == name:
                self._on_ended(f.Ended(number, frame.text))
        if topic.info:
            self._advance(topic.info.bundle)

    # Publishing.

    def publish(self, topic: str, timestamp_ns: int, data: bytes,
                answered: Callable[[Published], None]) -> PublicationState:
        """The topic was found."""
        found = self._topics[topic]
        assert found.info is not None
        one = PublicationState(topic, timestamp_ns, data, answered)
        if found.info.service != f.Service.UNORDERED:
            self._sessions.setdefault(found.info.bundle, SessionState()).unanswered.append(one)
            self._advance(found.info.bundle)
        elif found.number is None:
            answered(Published("refused", text="not connected: a topic without order repeats "
                                               "nothing"))
        elif why := one.why_empty(found, found.info.bundle):
            if found.info.sample_bytes_max == 0:
                self.on_no_session(why)
            answered(Published("refused", text=why))
        else:
            self._sends += 1
            one.request = self._sends
            self._unordered[one.request] = one
            self._say(f.Publish(found.number, f.NONE, one.request, timestamp_ns, data))
        return one

    def take_back(self, one: PublicationState) -> None:
        """Nobody waits for its outcome any more: if it was never sent, it will not be."""
        if one.request == 0:
            one.given_up, one.data = True, b""
            self._taken_back = True

    def _drop_taken_back(self) -> None:
        for one in self._sessions.values():
            one.unanswered = [p for p in one.unanswered if p.request or not p.given_up]
        self._taken_back = False

    def _advance(self, bundle: str) -> None:
        if self._taken_back:
            self._drop_taken_back()
        session = self._sessions.get(bundle)
        if session is None or not self.welcome or not session.unanswered:
            return
        if not session.open:
            return self._open(bundle, session)
        for one in session.unanswered[:UNANSWERED_MAX]:
            if one.sent:
                continue
            if self._awaits_number(one, bundle):
                return
            if one.request == 0:
                # Their numbers lie within UNANSWERED_MAX: so the members know the position of each.
                oldest = session.unanswered[0].request
                if oldest and session.next_request - oldest >= UNANSWERED_MAX:
                    return
                one.request, session.next_request = session.next_request, session.next_request + 1
            self._send(bundle, session, one)

    def _awaits_number(self, one: PublicationState, bundle: str) -> bool:
        topic = self._topics[one.topic]
        waits = topic.number is None and not topic.gone and topic.is_of(bundle)
        return waits and not one.given_up

    def _open(self, bundle: str, session: SessionState) -> None:
        if session.opening or session.busy:
            return
        of_bundle = [t for t in self._topics.values() if t.is_of(bundle)]
        number = next((t.number for t in of_bundle if t.number is not None), None)
        if number is None:
            if all(t.gone for t in of_bundle):
                self._give_up(session)
            return
        session.nonce = session.nonce or secrets.randbits(63) | 1
        session.opening, session.opens_by = True, number
        self._say(f.Open(number, session.number, session.nonce))

    def _give_up(self, session: SessionState) -> None:
        """What was sent may still be delivered: it takes its turn before what is published later."""
        told = [one for one in session.unanswered if not one.given_up]
        session.unanswered = [one for one in session.unanswered if one.request]
        for one in session.unanswered:
            one.given_up, one.data = True, b""
        for one in told:
            one.answered(Published("unknown" if one.request else "refused",
                                   text=f"the topic {one.topic} is gone"))

    def _send(self, bundle: str, session: SessionState, one: PublicationState) -> None:
        self._sends += 1
        topic = self._topics[one.topic]
        one.sent, one.empty = self._sends, bool(one.why_empty(topic, bundle))
        number, data = (NO_TOPIC, b"") if one.empty else (topic.number, one.data)
        self._say(f.Publish(number, session.nonce, one.request, one.timestamp_ns, data))

    def _on_opened(self, frame: f.Opened) -> None:
        for bundle, session in self._sessions.items():
            if session.opening and session.nonce == frame.nonce:
                session.opening, session.open = False, True
                session.number, session.opened_last = frame.session, frame.last
                for one in session.unanswered:
                    one.sent = 0  # all are repeated
                self._advance(bundle)
                return

    def _session_of(self, nonce: int) -> tuple[str, SessionState] | None:
        return next(((b, s) for b, s in self._sessions.items() if s.open and s.nonce == nonce),
                    None)

    def _on_published(self, frame: f.Published) -> None:
        if frame.nonce == f.NONE:
            if one := self._unordered.pop(frame.request, None):
                one.answered(answer_of(frame))
            return
        if (found := self._session_of(frame.nonce)) is None:
            return
        bundle, session = found
        for at, one in enumerate(session.unanswered):
            if one.request == frame.request:
                del session.unanswered[at]
                answer = answer_of(frame)
                # Delivered: before, with its bytes, by another relay.
                if one.empty and frame.status == f.Status.UNFIT:
                    why = one.why_empty(self._topics[one.topic], bundle)
                    answer = Published("refused", text=why or f"the topic {one.topic} was gone")
                if not one.given_up:
                    one.answered(answer)
                self._advance(bundle)
                return

    def _on_go_back(self, frame: f.GoBack) -> None:
        if (found := self._session_of(frame.nonce)) is None:
            return
        bundle, session = found
        until = next((o.sent for o in session.unanswered if o.request == frame.request), 0)
        waits = False  # one for the number of its topic: those behind it keep their turn
        for one in session.unanswered:
            if not (frame.last < one.request <= frame.request and one.sent <= until):
                continue
            waits = waits or one.sent == 0 or self._awaits_number(one, bundle)
            if waits:
                one.sent = 0
            else:
                self._send(bundle, session, one)

    def _expire(self, bundle: str) -> None:
        """What had taken its turn when this connection opened the session was delivered or dropped:
        only the answer to its repeat would have said which."""
        session = self._sessions[bundle]
        unknown: list[PublicationState] = []
        rest: list[PublicationState] = []
        for one in session.unanswered:
            if one.given_up:
                continue
            if one.request and (not session.open or one.request <= session.opened_last):
                unknown.append(one)
            else:
                one.request = one.sent = 0
                rest.append(one)
        self._sessions[bundle] = SessionState(unanswered=rest)
        for one in unknown:
            one.answered(Published("unknown", text="its session expired before it was answered"))
        self._advance(bundle)
