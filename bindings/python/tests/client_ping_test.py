"""A client pings a relay that has much to say, too: a session that found no room is opened then."""

import asyncio

import tutti_client
from tutti_client import _frames as f


class Relay:
    """It refuses the first session, and samples come all the time."""

    def __init__(self):
        self.opens = 0
        self.talks = set()

    async def serve(self, reader, writer):
        frames = f.FrameReader(1 << 20)
        while received := await reader.read(65536):
            frames.append(received)
            while (frame := frames.next()) is not None:
                for answer in self.answers(frame, writer):
                    writer.write(f.encode(answer))
        writer.close()

    def answers(self, frame, writer):
        match frame:
            case f.Hello():
                return [f.Welcome(1, "a", 1 << 20, 64, 400)]
            case f.Find():
                return [f.Found(frame.request, f.TopicInfo(
                    0, frame.name, "one", f.Service.STORED, 7, 100, "", 0, ""))]
            case f.Subscribe():
                self.talks.add(asyncio.ensure_future(self.talk(writer)))
                return [f.Subscribed(1, 7, 1)]
            case f.Open():
                self.opens += 1
                if self.opens == 1:
                    return [f.Refused(f.Code.BUSY, f.kind_of(f.Open), frame.topic, "full")]
                return [f.Opened(frame.topic, 50, frame.nonce, 0)]
            case f.Publish():
                return [f.Published(frame.nonce, frame.request, f.Status.DELIVERED, 99)]
            case f.Ping():
                return [f.Pong(frame.number)]
        return []

    async def talk(self, writer):
        position = 0
        while not writer.is_closing():
            position += 1
            writer.write(f.encode(f.Sample(1, position, 0, 0, b"x")))
            await asyncio.sleep(0.02)  # well within a quarter of the idle time


async def publish_beside_samples():
    relay = Relay()
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with tutti_client.AsyncClient([f"127.0.0.1:{port}"]) as client:
        subscription = await client.subscribe("t", "stored")

        async def take_all():
            while True:
                await subscription.take()

        taking = asyncio.ensure_future(take_all())
        async with asyncio.timeout(60):
            published = await client.publish("t", b"bytes")
        taking.cancel()
    for one in relay.talks:
        one.cancel()
    server.close()
    return published.outcome, relay.opens


def test_a_session_that_waits_is_opened_while_samples_come():
    assert asyncio.run(publish_beside_samples()) == ("delivered", 2)
