"""Clients of the library in processes: a subscriber that may be killed, and goes on at the position
behind its last sample; and a publisher that lives through the round, whichever relays do not."""

import asyncio
import itertools
import random

import tutti_client

from . import record


def subscribe(relays, topic, journal):
    """Until the sample behind all others."""
    asyncio.run(_subscribe(relays, topic, journal))


async def _subscribe(relays, topic, journal):
    random.shuffle(relays)
    async with tutti_client.AsyncClient(relays, log=journal.say_where) as client:
        start, epoch = "stored", (await client.topic(topic)).epoch
        if last := journal.last():
            kind, epoch, second, third = last
            start = third if kind == record.GAP else second + 1
        subscription = await client.subscribe(topic, start, epoch)
        while True:
            one = await subscription.take()
            if isinstance(one, tutti_client.Gap):
                assert one.end is not None, "another epoch"
                journal.add(record.GAP, epoch, one.start, one.end)
                continue
            epoch = one.epoch
            writer, request = record.writer_and_request(one.data)
            if writer == record.END_WRITER:
                return
            journal.add(record.SAMPLE, epoch, one.position, record.packed(writer, request))


def publish(relays, topic, writer, journal, per_second, is_over):
    """Until is_over(). Several at a time wait for their outcome."""
    asyncio.run(_publish(relays, topic, writer, journal, per_second, is_over))


async def _publish(relays, topic, writer, journal, per_second, is_over):
    async def one(client, request):
        published = await client.publish(topic, record.payload(writer, request))
        assert published.outcome == "delivered", published
        position = record.NO_POSITION if published.position is None else published.position
        journal.add(record.ACK, writer, request, position)

    async with tutti_client.AsyncClient(relays, log=journal.say_where) as client:
        await client.topic(topic)
        waiting = set()
        for request in itertools.count(1):
            if is_over():
                break
            waiting.add(asyncio.create_task(one(client, request)))
            await asyncio.sleep(1 / per_second)  # its rate
            while len(waiting) > 100:
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            await each
