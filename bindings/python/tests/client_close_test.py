"""What is asked of the Python client once it was closed: an error, as nobody would answer."""

import asyncio
import threading
import warnings

import pytest
import tutti_client
from cluster import WATCHDOG
from tutti_client import _frames as f


async def serve(reader, writer):
    """A relay with the topic "t", which delivers what is published."""
    frames = f.FrameReader(1 << 20)
    while received := await reader.read(65536):
        frames.append(received)
        while (frame := frames.next()) is not None:
            match frame:
                case f.Hello():
                    answer = f.Welcome(1, "a", 1 << 20, 64, 30000)
                case f.Find():
                    answer = f.Found(frame.request, f.TopicInfo(
                        0, frame.name, "one", f.Service.STORED, 7, 100, "", 0, ""))
                case f.Open():
                    answer = f.Opened(frame.topic, 50, frame.nonce, 0)
                case f.Publish():
                    answer = f.Published(frame.nonce, frame.request, f.Status.DELIVERED, 99)
                case _:
                    continue
            writer.write(f.encode(answer))
    writer.close()


async def test_calls_of_a_client_that_was_closed_raise():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = "127.0.0.1:{}".format(server.sockets[0].getsockname()[1])
    async with asyncio.timeout(WATCHDOG):
        async with tutti_client.AsyncClient([address]) as client:
            assert (await client.publish("t", b"x")).position == 99
            subscription = await client.subscribe("t")
        for call in (client.publish("t", b"y"), client.publish("unknown", b"y"), client.topic("t"),
                     client.topics(), client.subscribe("t"), client.subscribe("unknown")):
            with pytest.raises(tutti_client.RelayError, match="the client ended"):
                await call
        with pytest.raises(StopAsyncIteration):
            await subscription.take()
        await client.close()
    server.close()


def test_calls_that_block_of_a_client_that_was_closed_raise():
    ready, addresses = threading.Event(), []

    async def relay():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        addresses.append("127.0.0.1:{}".format(server.sockets[0].getsockname()[1]))
        ready.set()
        await asyncio.to_thread(over.wait)
        server.close()

    over = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(relay()))
    thread.start()
    try:
        assert ready.wait(WATCHDOG)
        with tutti_client.Client(addresses) as client:
            assert client.publish("t", b"x", WATCHDOG).position == 99
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for call in (lambda: client.publish("t", b"y", WATCHDOG), client.topics,
                         lambda: client.topic("t"), lambda: client.subscribe("t")):
                with pytest.raises(tutti_client.RelayError, match="the client ended"):
                    call()
    finally:
        over.set()
        thread.join(WATCHDOG)
