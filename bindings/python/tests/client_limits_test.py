"""What calls of the Python client leave behind that gave up: by a time-out, or by Ctrl-C."""

import asyncio
import signal
import threading

import pytest
import tutti_client
from client_close_test import relay_in_a_thread
from client_machine_test import said
from cluster import WATCHDOG
from support import wait_until
from tutti_client import _frames as f


def found(machine, service=f.Service.STORED):
    """It is connected, and knows the topic "t"."""
    machine.connect()
    machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
    machine.find("t", lambda topic: None)
    request = next(iter(machine._asked))
    machine.receive(f.Found(request, f.TopicInfo(0, "t", "one", service, 7, 100, "", 0, "")))
    machine.output.clear()


async def test_what_was_never_sent_is_not_sent_once_its_call_gave_up():
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    machine = client._machine
    found(machine)
    machine.disconnect()
    for _ in range(10):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await client.publish("t", b"given up")
    kept = asyncio.create_task(client.publish("t", b"kept"))
    await asyncio.sleep(0)
    found(machine)
    [session] = machine._sessions.values()
    machine.receive(f.Opened(0, 50, session.nonce, 0))
    published = [frame for frame in said(machine) if isinstance(frame, f.Publish)]
    assert [(one.request, one.bytes) for one in published] == [(1, b"kept")]
    machine.receive(f.Published(session.nonce, 1, f.Status.DELIVERED, 9))
    assert (await kept).position == 9


async def test_what_was_sent_takes_its_turn_though_its_call_gave_up():
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    machine = client._machine
    found(machine)
    call = asyncio.create_task(client.publish("t", b"sent"))
    await asyncio.sleep(0)
    [session] = machine._sessions.values()
    machine.receive(f.Opened(0, 50, session.nonce, 0))
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    machine.disconnect()
    found(machine)
    machine.receive(f.Opened(0, 50, session.nonce, 0))
    assert [one.bytes for one in said(machine) if isinstance(one, f.Publish)] == [b"sent"]


async def test_more_publications_than_may_wait_are_refused():
    client = tutti_client.AsyncClient(["127.0.0.1:1"], waiting_max=2)
    found(client._machine)
    client._machine.disconnect()
    calls = [asyncio.create_task(client.publish("t", b"x")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(tutti_client.RelayError, match="2 publications have no outcome yet"):
        await client.publish("t", b"x")
    calls[0].cancel()
    await asyncio.gather(calls[0], return_exceptions=True)
    more = asyncio.create_task(client.publish("t", b"y"))
    await asyncio.sleep(0)
    assert not more.done()
    await client.close()
    assert [(await one).outcome for one in (calls[1], more)] == ["unknown"] * 2
    with pytest.raises(ValueError, match="waiting_max"):
        tutti_client.AsyncClient(["127.0.0.1:1"], waiting_max=0)


async def test_a_list_that_nobody_waits_for_is_forgotten():
    client = tutti_client.AsyncClient(["127.0.0.1:1"])
    machine = client._machine
    found(machine)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await client.topics()
    first, *_ = (one.request for one in said(machine))
    machine.receive(f.Topics(first, True, []))
    machine.disconnect()
    machine.connect()
    machine.receive(f.Welcome(1, "a", 1 << 20, 64, 30000))
    assert [type(one) for one in said(machine)] == [f.Hello, f.Find]
    assert not machine._lists


def interrupted(call, when):
    """Ctrl-C while that call waits, once `when` holds."""

    def interrupt():
        wait_until(when, "the call waits")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        try:
            thread.start()
            call()
        finally:
            thread.join(WATCHDOG)


def test_an_interrupted_take_takes_nothing():
    with relay_in_a_thread() as addresses, tutti_client.Client(addresses) as client:
        subscription = client.subscribe("t")
        queue = subscription._inner._queue
        for number in range(5):
            interrupted(subscription.take, lambda: queue._getters)
            client._loop.call_soon_threadsafe(queue.put_nowait, number)
            assert subscription.take(WATCHDOG) == number


def test_what_an_interrupted_take_has_taken_is_for_the_next():
    with relay_in_a_thread() as addresses, tutti_client.Client(addresses) as client:
        subscription = client.subscribe("t")
        run = client._run

        def run_and_interrupt(work, timeout):
            run(work, timeout)
            raise KeyboardInterrupt

        client._run = run_and_interrupt
        client._loop.call_soon_threadsafe(subscription._inner._queue.put_nowait, "a sample")
        with pytest.raises(KeyboardInterrupt):
            subscription.take(WATCHDOG)
        client._run = run
        assert subscription.take(WATCHDOG) == "a sample"


def test_an_interrupted_subscribe_leaves_no_subscription():
    with relay_in_a_thread() as addresses, tutti_client.Client(addresses) as client:
        client.topic("t", WATCHDOG)
        run = client._run

        def run_and_interrupt(work, timeout):
            run(work, timeout)
            raise KeyboardInterrupt

        client._run = run_and_interrupt
        with pytest.raises(KeyboardInterrupt):
            client.subscribe("t")
        client._run = run
        wait_until(lambda: not client._inner._machine._subscriptions, "it is closed")
