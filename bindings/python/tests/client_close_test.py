"""What is asked of the Python client once it was closed: an error, as nobody would answer."""

import asyncio
import contextlib
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


@contextlib.contextmanager
def relay_in_a_thread():
    ready, over, addresses = threading.Event(), threading.Event(), []

    async def relay():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        addresses.append("127.0.0.1:{}".format(server.sockets[0].getsockname()[1]))
        ready.set()
        await asyncio.to_thread(over.wait)
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(relay()))
    thread.start()
    try:
        assert ready.wait(WATCHDOG)
        yield addresses
    finally:
        over.set()
        thread.join(WATCHDOG)


def test_calls_that_block_of_a_client_that_was_closed_raise():
    with relay_in_a_thread() as addresses:
        with tutti_client.Client(addresses) as client:
            assert client.publish("t", b"x", WATCHDOG).position == 99
            subscription = client.subscribe("t")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for call in (lambda: client.publish("t", b"y", WATCHDOG), client.topics,
                         lambda: client.topic("t"), lambda: client.subscribe("t")):
                with pytest.raises(tutti_client.RelayError, match="the client ended"):
                    call()
            assert list(subscription) == []
            with pytest.raises(EOFError):
                subscription.take()
            subscription.close()
            client.close()


def test_what_came_before_the_close_can_still_be_taken():
    with relay_in_a_thread() as addresses:
        with tutti_client.Client(addresses) as client:
            subscription = client.subscribe("t")
            subscription._inner._queue.put_nowait("a sample")
        assert subscription.take() == "a sample"
        with pytest.raises(EOFError):
            subscription.take()


def test_calls_of_other_threads_end_when_the_client_is_closed():
    with relay_in_a_thread() as addresses:
        for _ in range(10):
            client = tutti_client.Client(addresses)
            calls = threading.Semaphore(0)

            def call(client=client, calls=calls):
                with contextlib.suppress(tutti_client.RelayError):
                    while client.publish("t", b"x").outcome != "unknown":
                        calls.release()

            callers = [threading.Thread(target=call, daemon=True) for _ in range(3)]
            closers = [threading.Thread(target=client.close, daemon=True) for _ in range(2)]
            for thread in callers:
                thread.start()
            assert calls.acquire(timeout=WATCHDOG)
            for thread in closers:
                thread.start()
            for thread in callers + closers:
                thread.join(WATCHDOG)
                assert not thread.is_alive()


async def test_a_closed_subscription_ends_for_who_waits():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = "127.0.0.1:{}".format(server.sockets[0].getsockname()[1])
    async with asyncio.timeout(WATCHDOG):
        async with tutti_client.AsyncClient([address]) as client:
            subscription = await client.subscribe("t")
            waits = asyncio.create_task(anext(aiter(subscription), "ended"))
            await asyncio.sleep(0)
            subscription.close()
            assert await waits == "ended"
    server.close()


@pytest.mark.parametrize("relay, raises", [("a..b:80", False), ("127.0.0.1:1", True)])
async def test_what_waits_is_answered_whatever_is_wrong_with_the_relay(relay, raises):
    tried = asyncio.Event()

    def log(line):
        tried.set()
        if raises:
            raise ZeroDivisionError(line)

    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, what: reported.append(what))
    async with asyncio.timeout(WATCHDOG):
        async with tutti_client.AsyncClient([relay], log=log) as client:
            waits = asyncio.create_task(client.topic("t"))
            first = asyncio.create_task(tried.wait())
            await asyncio.wait({client._task, first}, return_when=asyncio.FIRST_COMPLETED)
            assert not client._task.done()
        with pytest.raises(tutti_client.RelayError, match="the client ended"):
            await waits
    assert bool(reported) == raises


def test_a_port_that_is_none_is_refused():
    with pytest.raises(ValueError, match="a port is 1 .. 65535"):
        tutti_client.AsyncClient(["127.0.0.1:99999"])
