"""Groups that are joined and left while the nodes run."""

import asyncio
import select
import threading
from contextlib import ExitStack, contextmanager

import pytest
import tutti
from cluster import WATCHDOG, addresses, alone, run, start_all, take_all
from support import wait_until

SHAPE = {"message_max_bytes": 256, "window_bytes": 16384}


@contextmanager
def running(names="ab", places=1, **options):
    """Nodes that have reserved places, all started."""
    members = addresses(names)
    with ExitStack() as stack:
        nodes = []
        for name in names:
            node = tutti.Node(name, members, suspect_after=40, **options)
            stack.callback(node.close)
            node.reserve(places, **SHAPE)
            nodes.append(node)
        start_all(nodes)
        yield nodes


def join(node, name="room", timeout=WATCHDOG):
    return node.join(name, timeout=timeout, **SHAPE)


def ends(call):
    """In another thread: the error that the call ends with, once `join` is called on it."""
    raised = []

    def body():
        try:
            call()
        except tutti.Error as error:
            raised.append(error)

    thread = threading.Thread(target=body)
    thread.start()

    def wait():
        thread.join(WATCHDOG)
        assert not thread.is_alive()
        return raised[0]

    return wait


def test_members_join_send_and_leave_while_the_others_go_on():
    with running("abc") as nodes:
        groups = [join(node) for node in nodes]
        assert groups[0].members == ["a", "b", "c"] and groups[2].own_index == 2
        for group in groups:
            group.send(group.name_of(group.own_index).encode())
        taken = [take_all(group, 3) for group in groups]
        assert taken[0] == taken[1] == taken[2] and sorted(taken[0]) == [b"a", b"b", b"c"]
        groups[1].leave(WATCHDOG)
        groups[0].send(b"after it", timeout=WATCHDOG)
        assert take_all(groups[0], 1) == take_all(groups[2], 1) == [b"after it"]
        again = join(nodes[1])
        groups[2].send(b"again", timeout=WATCHDOG)
        assert [take_all(group, 1) for group in (groups[0], again, groups[2])] == [[b"again"]] * 3


def test_a_group_that_was_left_says_so():
    with running() as (a, b):
        group, other = join(a), join(b)
        ticket = group.send(b"x")
        assert take_all(group, 1) == take_all(other, 1) == [b"x"]
        group.leave(WATCHDOG)
        group.leave(0)  # it is what was asked for
        for call in (lambda: group.send(b"y"), group.take, lambda: group.claim(1), group.barrier,
                     group.wait_complete):
            with pytest.raises(tutti.Stopped, match="has left it"):
                call()
        assert group.is_delivered(ticket) and group.statistics().delivered_messages == 1


def test_what_is_left_must_be_taken_before_the_group_is_left():
    with running() as (a, b):
        group, other = join(a), join(b)
        group.send(b"untaken")
        assert take_all(other, 1) == [b"untaken"]
        assert select.select([group.fileno()], [], [], WATCHDOG)[0]
        with pytest.raises(tutti.TimedOut, match="must take what is left"):
            group.leave(0.1)
        assert take_all(group, 1) == [b"untaken"]
        group.leave(WATCHDOG)


def test_a_thread_that_takes_ends_once_the_group_is_left():
    with running() as (a, b):
        group, other = join(a), join(b)
        waits = ends(lambda: list(group))
        other.send(b"x")
        take_all(other, 1)
        group.leave(WATCHDOG)
        assert waits().code == tutti.ErrorCode.stopped


def test_a_task_takes_and_leaves():
    async def member(node, other):
        group = await asyncio.to_thread(join, node)

        async def take():
            return [bytes(message) async for batch in group for message in batch]

        taking = asyncio.create_task(take())
        await group.delivered(await group.sent(b"x"))
        assert await asyncio.to_thread(take_all, other, 1) == [b"x"]
        await asyncio.to_thread(group.leave, WATCHDOG)
        with pytest.raises(tutti.Stopped):
            await taking

    with running() as (a, b):
        asyncio.run(asyncio.wait_for(member(a, join(b)), WATCHDOG))


def test_places_are_limited_and_come_back():
    with running(places=1) as (a, b):
        first = join(a, "first")
        wait_until(lambda: b.view().view >= a.view().view, "b knows of it")
        with pytest.raises(tutti.TimedOut, match="in use"):
            join(b, "second", timeout=5)
        with pytest.raises(tutti.TimedOut):
            join(b, "second", timeout=0)
        first.leave(WATCHDOG)
        join(b, "second").leave(WATCHDOG)


def test_what_cannot_be_joined():
    with tutti.Node("a", addresses("a")) as node:
        with pytest.raises(tutti.InvalidArgument, match="has started"):
            node.join("early", timeout=1)
        with pytest.raises(tutti.InvalidArgument, match="reserves 1 to 64"):
            node.reserve(65, **SHAPE)
        with pytest.raises(tutti.InvalidArgument, match="atomic"):
            node.reserve(1, level="agreed")
        with pytest.raises(TypeError):
            node.reserve(-1)
        node.reserve(2, **SHAPE)
        node.start()
        with pytest.raises(tutti.InvalidArgument, match="after start"):
            node.reserve(1)
        with pytest.raises(tutti.InvalidArgument, match="message_max_bytes is 255"):
            node.join("room", message_max_bytes=255, window_bytes=16384)
        with pytest.raises(tutti.InvalidArgument, match="no ticks"):
            node.join("room", tick_every=1, **SHAPE)
        with pytest.raises(TypeError, match="timeout"):
            join(node, timeout="soon")
        room = join(node, timeout=None)
        with pytest.raises(tutti.InvalidArgument, match="has joined it"):
            join(node)
        room.leave(WATCHDOG)


def test_a_group_of_all_nodes_is_not_left():
    with alone() as (node, group):
        with pytest.raises(tutti.InvalidArgument, match="joined before start"):
            group.leave(1)
        with pytest.raises(tutti.InvalidArgument, match="Node::reserve"):
            node.join("late", timeout=1)


def test_after_close():
    with running("a") as (node,):
        group = join(node)
        node.close()
        with pytest.raises(tutti.Stopped):
            join(node)
        with pytest.raises(tutti.Stopped):
            node.reserve(1)
        with pytest.raises(tutti.Stopped):
            group.leave(1)


def test_closing_ends_a_join_and_a_leave_in_other_threads():
    with running() as (a, b):
        group, other = join(a, "first"), join(b, "first")
        group.send(b"which b never takes")
        calls = [ends(lambda: join(a, "second", None)), ends(lambda: group.leave(None))]
        a.close()
        for wait in calls:
            assert wait().code == tutti.ErrorCode.stopped
        assert other.name == "first"


def test_a_node_refuses_to_wait_inside_a_callback():
    refused = []

    def answer(member, data):
        for call in (lambda: join(nodes[1], "second"), lambda: groups[1].leave(1)):
            with pytest.raises(tutti.InCallback) as raised:
                call()
            refused.append(str(raised.value))
        return b""

    with running(places=2, request_max_bytes=64, on_request=answer) as nodes:
        groups = [join(node) for node in nodes]
        nodes[0].send_to("b", b"?", WATCHDOG)
    assert "Node.join" in refused[0] and "Group::leave" in refused[1]


def test_other_threads_run_while_a_join_waits():
    with running(places=1) as (a, b):
        first = join(a, "first")
        done = []
        thread = threading.Thread(target=lambda: done.append(join(b, "second", None)))
        thread.start()  # it waits for the place
        first.leave(WATCHDOG)
        thread.join(WATCHDOG)
        assert done[0].name == "second"


def test_a_node_that_its_caller_drives():
    with tutti.Node("a", addresses("a"), drive="caller") as node:
        node.reserve(1, **SHAPE)
        node.start()
        group = join(node)
        group.send(b"x")
        assert take_all(group, 1) == [b"x"]
        group.leave(WATCHDOG)


PROGRAM = """
import os, signal, sys, threading
import tutti, cluster
shape = {"message_max_bytes": 256, "window_bytes": 16384}
node = tutti.Node("a", cluster.addresses("a"))
node.reserve(1, **shape)
node.start()

def join(name, timeout=cluster.WATCHDOG):
    return node.join(name, timeout=timeout, **shape)

def interrupted(call):
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        call()
    except KeyboardInterrupt:
        print("interrupted", flush=True)

first = join("first")
"""


def prints(program, text):
    done = run(PROGRAM + program)
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")


@pytest.mark.parametrize("call", ["join('second', None)", "first.leave(None)"])
def test_ctrl_c_ends_what_waits(call):
    prints("""
first.send(b"untaken")
interrupted(lambda: CALL)
cluster.take_all(first, 1)
first.leave(cluster.WATCHDOG)
# The place is free again, also if what was interrupted has taken it meanwhile.
join("third").send(b"x")
print("third")
node.close()
""".replace("CALL", call), "interrupted\nthird\n")


@pytest.mark.parametrize("end", ["", "node.close()", "del node, first"])
def test_a_program_ends_while_what_was_interrupted_stands(end):
    prints("interrupted(lambda: join('second', None))\n" + end, "interrupted\n")


def test_a_group_that_an_interrupt_kept_from_its_caller_is_left():
    """The interrupt comes in Group.__init__, once the group is joined."""
    prints("""
first.leave(cluster.WATCHDOG)

class Interrupts:
    def Lock():
        raise KeyboardInterrupt

module = sys.modules["tutti._group"]
module.threading = Interrupts
try:
    join("second")
except KeyboardInterrupt:
    print("interrupted")
module.threading = threading
while True:  # refused until it is left
    try:
        join("second").send(b"x")
        break
    except tutti.InvalidArgument:
        pass
print("second")
node.close()
""", "interrupted\nsecond\n")


def test_a_node_is_closed_in_its_callback_while_an_interrupted_join_stands():
    prints("""
import logging
logging.disable()  # of the loss of "a"
closed = threading.Event()

def answer(*_):
    a.close()
    closed.set()
    return b""

def ask():
    try:
        b.send_to("a", b"", cluster.WATCHDOG)
    except tutti.Error:
        pass

members = cluster.addresses("ab")
a = tutti.Node("a", members, suspect_after=40, request_max_bytes=16, on_request=answer)
b = tutti.Node("b", members, suspect_after=40, request_max_bytes=16)
for each in (a, b):
    each.reserve(1, **shape)
cluster.start_all([a, b])
taken = a.join("taken", timeout=cluster.WATCHDOG, **shape)
interrupted(lambda: a.join("second", timeout=None, **shape))
asks = threading.Thread(target=ask)
asks.start()
print(closed.wait(cluster.WATCHDOG))
asks.join()
b.close()
node.close()
""", "interrupted\nTrue\n")


def test_the_child_of_a_fork_joins_and_leaves_nothing():
    prints("""
child = os.fork()
if child == 0:
    for use in (lambda: join("second"), lambda: node.reserve(1), lambda: first.leave(1)):
        try:
            use()
        except tutti.Stopped as error:
            print("fork" in str(error))
    raise SystemExit(0)
os.waitpid(child, 0)
node.close()
""", "True\n" * 3)
