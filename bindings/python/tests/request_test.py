"""Requests to one member: replies, errors of functions, asyncio, and nodes that end meanwhile."""

import asyncio
import threading
from contextlib import ExitStack, contextmanager

import pytest
import tutti
from cluster import WATCHDOG, addresses, start_all


def answer(member, data):
    if data == b"fail":
        raise ValueError("h\u00e9las")
    if data == b"no bytes":
        return 7
    return member.encode() + b":" + data


@contextmanager
def pair(on_request=answer):
    members = addresses("ab")
    with ExitStack() as stack:
        nodes = []
        for name in "ab":
            node = tutti.Node(name, members, suspect_after=40, request_max_bytes=1000,
                              on_request=on_request)
            stack.callback(node.close)
            node.join("log")
            nodes.append(node)
        start_all(nodes)
        yield nodes


def test_replies():
    with pair() as (a, b):
        assert a.send_to("b", b"x", WATCHDOG) == b"a:x"
        assert b.send_to("a", memoryview(b"xyz")[1:]) == b"b:yz"
        assert a.send_to("b", b"") == b"a:"


def test_a_node_that_the_caller_drives_is_driven_while_it_waits():
    members = addresses("ab")
    a = tutti.Node("a", members, suspect_after=40, drive="caller", request_max_bytes=1000)
    b = tutti.Node("b", members, suspect_after=40, request_max_bytes=1000, on_request=answer)
    for node in (a, b):
        node.join("log")
    try:
        start_all([a, b])
        for _ in range(3):
            assert a.send_to("b", b"x", WATCHDOG) == b"a:x"
    finally:
        b.close()
        a.close()


def test_a_function_that_ends_its_node_is_refused():
    ends = []

    def on_request(_, data):
        ends[int(data)](None)

    with pair(on_request) as (a, b):
        ends += [b.stop, b.leave]
        for which in (b"0", b"1"):
            with pytest.raises(tutti.Refused, match="InCallback: Node.(stop|leave) was called inside"):
                a.send_to("b", which, WATCHDOG)


def test_what_the_function_raises_is_the_callers_error():
    with pair() as (a, b):
        with pytest.raises(tutti.Refused, match="on_request raised ValueError: h\u00e9las"):
            a.send_to("b", b"fail", WATCHDOG)
        with pytest.raises(tutti.Refused, match="TypeError"):
            a.send_to("b", b"no bytes", WATCHDOG)
        assert a.send_to("b", b"x", WATCHDOG) == b"a:x"
        assert b.failure() is None


def test_wrong_calls():
    with pair() as (a, _):
        with pytest.raises(tutti.InvalidArgument):
            a.send_to("a", b"x")
        with pytest.raises(tutti.InvalidArgument):
            a.send_to("b", bytes(1001))
        with pytest.raises(TypeError):
            a.send_to("b", "text")


def test_asyncio():
    async def ask(node):
        return await asyncio.gather(*(node.request("b", b"%d" % i, WATCHDOG) for i in range(20)))

    with pair() as (a, _):
        assert asyncio.run(ask(a)) == [b"a:%d" % i for i in range(20)]
        with pytest.raises(tutti.Refused):
            asyncio.run(a.request("b", b"fail", WATCHDOG))


def test_a_slow_function_fills_the_lane_and_the_time():
    goes_on = threading.Event()

    def slow(_, data):
        goes_on.wait(WATCHDOG)
        return data

    with pair(slow) as (a, _):
        for timeout in (0.01, -1, float("-inf")):
            with pytest.raises(tutti.TimedOut):
                a.send_to("b", b"late", timeout)

        async def fill():
            tasks = []
            while not (tasks and tasks[-1].done()):
                tasks.append(asyncio.ensure_future(a.request("b", bytes(900), WATCHDOG)))
                await asyncio.sleep(0)
            with pytest.raises(tutti.NoSpace):
                await tasks.pop()
            with pytest.raises(tutti.TimedOut):
                a.send_to("b", bytes(900), 0.01)
            goes_on.set()
            return await asyncio.gather(*tasks)

        replies = asyncio.run(fill())
        assert len(replies) >= 3 and set(replies) == {bytes(900)}


def test_calls_that_wait_inside_the_function_are_refused():
    nodes = []

    def ask_back(_, data):
        nodes[1].send_to("a", data, WATCHDOG)
        return data

    with pair(ask_back) as both:
        nodes += both
        with pytest.raises(tutti.Refused, match="InCallback"):
            both[0].send_to("b", b"x", WATCHDOG)


def test_a_node_that_is_closed_ends_its_calls():
    goes_on, began = threading.Event(), threading.Event()
    outcome = []

    def slow(_, data):
        began.set()
        goes_on.wait(WATCHDOG)
        return data

    with pair(slow) as (a, _):
        def ask():
            try:
                outcome.append(a.send_to("b", b"x"))
            except tutti.Error as error:
                outcome.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert began.wait(WATCHDOG)
        a.close()
        thread.join(WATCHDOG)
        goes_on.set()
        assert isinstance(outcome[0], tutti.Stopped)
