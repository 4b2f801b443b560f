"""What a client remembers of its subscriptions: each sample is given once, and what is missing is told.

The part of Machine that has to do with them; as src/client/machine.hpp (CL3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _frames as f
from ._types import Ended, Gap, Sample, SubscriptionState, TopicState


class Subscriptions:
    def __init__(self) -> None:
        self.on_bye: Callable[[str], None] = lambda text: None
        self.welcome = False
        self._topics: dict[str, TopicState] = {}
        self._subscriptions: dict[int, SubscriptionState] = {}

    def _say(self, frame: Any) -> None:
        raise NotImplementedError

    def _ask(self, name: str) -> None:
        raise NotImplementedError

    def subscribe(self, number: int, topic: str, start: f.From, position: int, epoch: int,
                  credit: int, received: Callable[[Any], None]) -> None:
        one = SubscriptionState(topic, start, epoch, position, credit, received,
                            placed=start == f.From.POSITION)
        self._subscriptions[number] = one
        self._ask_for(number, one)
        if self.welcome and self._topics[topic].gone:
            self._ask(topic)  # it may have come again

    def _ask_for(self, number: int, one: SubscriptionState) -> None:
        topic = self._topics[one.topic]
        if not self.welcome or topic.number is None or one.asked:
            return
        one.asked, one.granted, one.consumed = True, one.credit - one.held, 0
        self._say(f.Subscribe(number, topic.number, f.From.POSITION if one.placed else one.start,
                              one.epoch, one.next, one.granted))

    def _on_subscribed(self, frame: f.Subscribed) -> None:
        if (one := self._subscriptions.get(frame.subscription)) is None:
            return
        other, was = one.placed and one.epoch != frame.epoch, one.next
        one.epoch = frame.epoch
        if other or not one.placed:
            one.next = frame.position
        one.placed = True
        if other:
            one.received(Gap(was, None))

    def _on_sample(self, frame: f.Sample) -> None:
        if (one := self._subscriptions.get(frame.subscription)) is None:
            return
        if one.granted == 0:
            self.on_bye("a sample that nobody gave credit for")
            return
        one.granted -= 1
        one.held += 1
        if frame.position < one.next:
            self.consumed(frame.subscription, 1)
            return
        one.next = frame.position + 1
        one.received(Sample(frame.position, one.epoch, frame.sender, frame.timestamp_ns,
                            frame.bytes))

    def _on_gap(self, frame: f.Gap) -> None:
        one = self._subscriptions.get(frame.subscription)
        if one is None or frame.end <= one.next:
            return
        start, one.next = max(frame.start, one.next), frame.end
        one.received(Gap(start, frame.end))

    def _on_ended(self, frame: f.Ended) -> None:
        if one := self._subscriptions.pop(frame.subscription, None):
            one.received(Ended(frame.text))

    def consumed(self, number: int, samples: int) -> None:
        if (one := self._subscriptions.get(number)) is None:
            return
        samples = min(samples, one.held)
        one.held -= samples
        one.consumed += samples
        if one.asked and one.consumed >= (one.credit + 1) // 2:
            one.granted += one.consumed
            more, one.consumed = one.consumed, 0
            self._say(f.Credit(number, more))

    def unsubscribe(self, number: int) -> None:
        if self._subscriptions.pop(number, None) and self.welcome:
            self._say(f.Unsubscribe(number))
