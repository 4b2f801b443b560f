"""What a program may do wrong, or at a bad moment: an error, never a crash, a hang or a leak."""

import os
import pickle
import signal
import threading
from datetime import timedelta

import pytest
import tutti
from cluster import WATCHDOG, addresses, alone, cluster, run, wait_until

ONE = """
import tutti, cluster
node = tutti.Node("a", cluster.addresses("a"))
group = node.join("log")
node.start()
"""


def ends_well(done):
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("options, error, said", [
    ({"fabric": "nonsense"}, tutti.InvalidArgument, "automatic, shm, tcp, verbs, ofi"),
    ({"fabric": 5}, TypeError, "must be a str"),
    ({"founders": -1}, tutti.InvalidArgument, "founders = -1"),
    ({"founders": 2**32}, tutti.InvalidArgument, "founders"),
    ({"founders": 2}, tutti.InvalidArgument, "founders"),
    ({"founders": 1.5}, TypeError, "whole number"),
    ({"join_only": "yes"}, TypeError, "a bool"),
    ({"suspect_after": "soon"}, TypeError, "seconds"),
    ({"suspect_after": float("nan")}, ValueError, "nan"),
    ({"suspect_after": -1}, tutti.InvalidArgument, "suspect_after"),
    ({"suspect_after": float("inf")}, tutti.InvalidArgument, "suspect_after"),
    ({"suspect_after": timedelta(microseconds=1)}, tutti.InvalidArgument, "suspect_after"),
    ({"provider": "tcp"}, tutti.InvalidArgument, "provider"),
    ({"nonsense": 1}, TypeError, "nonsense"),
])
def test_wrong_options_of_a_node(options, error, said):
    with pytest.raises(error, match=said):
        tutti.Node("a", {"a": "127.0.0.1:7101"}, **options)


@pytest.mark.parametrize("members", [{}, "a", ["a"], [("a",)], {"a": 1}, {"b": "127.0.0.1:1"}, 5])
def test_wrong_members(members):
    with pytest.raises((TypeError, tutti.InvalidArgument)):
        tutti.Node("a", members)


@pytest.mark.parametrize("options, error", [
    ({"order": "alphabetic"}, tutti.InvalidArgument), ({"members": "a"}, TypeError),
    ({"members": ["b"]}, tutti.InvalidArgument), ({"senders": [1]}, TypeError),
    ({"window_messages": 3}, tutti.InvalidArgument), ({"stateful": True}, tutti.InvalidArgument),
    ({"window_bytes": 2**64}, tutti.InvalidArgument)])
def test_wrong_options_of_a_group(options, error):
    with tutti.Node("a", {"a": "127.0.0.1:7101"}) as node:
        with pytest.raises(error):
            node.join("log", **options)


def test_calls_out_of_order():
    with tutti.Node("a", addresses("a")) as node:
        group = node.join("log")
        with pytest.raises(tutti.InvalidArgument):
            node.join("log")
        with pytest.raises(tutti.Stopped):
            group.send(b"early", timeout=0)
        with pytest.raises(tutti.Stopped, match="not started"):
            group.take()
        assert node.view().view == 0 and node.failure() is None
        node.start()
        with pytest.raises(tutti.InvalidArgument):
            node.start()
        with pytest.raises(tutti.InvalidArgument):
            node.join("late")
        with pytest.raises(tutti.InvalidArgument, match="at most 0"):
            group.take(0)
        with pytest.raises(TypeError):
            group.send("text")
        with pytest.raises(TypeError):
            group.take(-1)
        node.stop(WATCHDOG)
        node.stop(WATCHDOG)


def test_use_after_close():
    with alone() as (node, group):
        node.close()
        node.close()
        for use in (node.start, node.stop, node.leave, node.view, node.failure, node.statistics,
                    node.poll, lambda: node.join("late"), lambda: group.send(b"a"),
                    lambda: group.claim(1), group.take, lambda: group.wait(1)):
            with pytest.raises(tutti.Stopped):
                use()
        assert node.closed and "closed" in repr(node)
        assert group.name == "log" and group.members == ["a"]


def test_other_threads_close_while_calls_wait():
    with cluster("ab") as (nodes, groups):
        ended = []

        def wait(call):
            with pytest.raises(tutti.Error):
                call()
            ended.append(call)

        calls = [groups[0].take, lambda: groups[0].wait(10**6), groups[0].wait_complete]
        threads = [threading.Thread(target=wait, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        nodes[0].close()
        for thread in threads:
            thread.join(WATCHDOG)
        assert len(ended) == len(calls)


def test_closing_ends_a_start_in_another_thread():
    node = tutti.Node("a", addresses("ab"), start_timeout=1000)
    begins, ended = threading.Event(), []

    def start():
        begins.set()
        try:
            node.start()
        except tutti.Error as error:
            ended.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    assert begins.wait(WATCHDOG)
    node.close()
    thread.join(WATCHDOG)
    assert len(ended) == 1


def test_two_takers():
    with alone() as (node, group):
        group.send(b"a")
        batch = group.take()
        with pytest.raises(tutti.InvalidArgument, match="still held"):
            group.take(timeout=0)
        batch.release()


def test_a_negative_time_out_is_over():
    with alone() as (_, group):
        ticket = group.send(b"x")  # which nobody takes
        for seconds in (-1, float("-inf")):
            with pytest.raises(tutti.TimedOut):
                group.wait(ticket, timeout=seconds)


def test_errors_are_exceptions_that_can_be_pickled():
    error = tutti.TimedOut(tutti.ErrorCode.timed_out, "too late")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, str(again)) == (tutti.TimedOut, "timed_out", "too late")


@pytest.mark.parametrize("call", [
    "group.take()", "group.wait(10**6)", "group.send_many(bytes(10**7), 1000)", "node.next_view()",
    "group.wait_complete()", "group.barrier()", "second.start()", "node.stop(None)",
    "node.leave(None)"])
def test_ctrl_c_ends_calls_that_wait(call):
    done = run(ONE + """
import os, signal, sys, threading
node.next_view()
second = tutti.Node("x", cluster.addresses("xy"), start_timeout=1000)
if any(word in sys.argv[1] for word in ("stop", "leave", "barrier")):
    group.send(b"nobody takes it")
try:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    CALL
except KeyboardInterrupt:
    print("interrupted")
node.close()
""".replace("CALL", call), call)
    assert ends_well(done) == "interrupted\n"


def test_the_child_of_a_fork_gets_errors():
    done = run(ONE + """
import os, gc
group.send(b"a")
batch = group.take()
message, claim = batch[0], group.claim(4)
child = os.fork()
if child == 0:
    uses = [node.stop, node.close, node.view, group.take, lambda: group.send(b"a"),
            lambda: memoryview(message), lambda: bytes(message), claim.commit, claim.abandon,
            batch.release, lambda: tutti.Node("b", {"b": "127.0.0.1:7101"}),
            lambda: node.next_view(0), lambda: len(claim)]
    for use in uses:
        try:
            use()
        except tutti.Stopped as error:
            assert "fork" in str(error), error
        else:
            print("no error", use)
    del uses, use, node, group, batch, message, claim
    gc.collect()
    print("child done", flush=True)
    raise SystemExit(0)
assert os.waitpid(child, 0)[1] == 0
batch.release()
claim[:] = b"abcd"
claim.commit()
with group.take() as batch:
    print(bytes(batch[0]))
node.close()
""")
    assert ends_well(done) == "child done\nb'abcd'\n"


def test_a_fork_before_the_first_node_is_fine():
    done = run("""
import os
import tutti, cluster
child = os.fork()
with tutti.Node("a", cluster.addresses("a")) as node:
    group = node.join("log")
    node.start()
    group.send(b"a")
    group.finish()
    for batch in group:
        assert bytes(batch[0]) == b"a"
if child != 0:
    assert os.waitpid(child, 0)[1] == 0
""")
    ends_well(done)


@pytest.mark.parametrize("end", [
    "", "raise SystemExit(0)", "del node", "group.claim(5)", "batch = group.take(); del group",
    "batch = group.take(); view = memoryview(batch[0]); node.close()",
    "threading.Thread(target=lambda: take(group), daemon=True).start()",
    "machine.submit(b'x')", "cycle = [node, group]; cycle.append(cycle)",
    "it = iter(group); next(it)", "views = iter(node.views()); next(views)"])
def test_the_interpreter_ends_in_the_middle(end):
    done = run("""
import sys, threading
import tutti, cluster

class Machine:
    def apply(self, command):
        pass
    def save(self):
        return b""
    def load(self, state):
        pass

def take(group):
    try:
        for batch in group:
            pass
    except (tutti.Stopped, TypeError):
        pass

node = tutti.Node("a", cluster.addresses("a"))
group = node.join("log")
machine = tutti.Replicated(node, "machine", Machine())
node.start()
group.send(b"a")
""" + end)
    ends_well(done)


def test_the_interpreter_ends_while_threads_go_on_taking():
    done = run(ONE + """
import threading
begun = threading.Barrier(4)

def take():
    begun.wait()
    while True:
        try:
            group.take().release()
        except tutti.Error:
            pass

for _ in range(3):
    threading.Thread(target=take, daemon=True).start()
begun.wait()
""")
    ends_well(done)


def test_a_claim_that_outlives_its_node_is_reported():
    done = run(ONE + "claim = group.claim(5); view = memoryview(claim)")
    assert done.returncode == 0 and "claims outlive the node: 1" in done.stderr


def test_log_lines_go_to_logging(caplog):
    with caplog.at_level("INFO", logger="tutti"):
        with cluster("ab") as (nodes, groups):
            nodes[1].close()
            wait_until(lambda: "member 'b' was lost" in caplog.text, "the loss is logged")
    line = next(record for record in caplog.records if "was lost" in record.getMessage())
    assert (line.name, line.tutti_node) == ("tutti", "a")


def test_a_handler_of_logging_that_raises_stops_nobody():
    done = run("""
import logging
import tutti, cluster

class Bad(logging.Handler):
    def emit(self, record):
        raise RuntimeError("bad handler")

logging.getLogger("tutti").addHandler(Bad())
logging.getLogger("tutti").setLevel("DEBUG")
logging.getLogger("tutti").propagate = False
with cluster.cluster("ab") as (nodes, groups):
    nodes[1].close()
    cluster.wait_until(nodes[0].failure, "it fails without a majority")
print("went on")
""")
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert "bad handler" in done.stderr


def test_an_exception_whose_text_is_no_utf_8_is_logged():
    done = run("""
import logging, sys, threading
import tutti, cluster

class Found(logging.Handler):
    def emit(self, record):
        if "save_state raised RuntimeError: \\\\udcff" in record.getMessage():
            found.set()

def save():
    raise RuntimeError(chr(0xdcff))

found = threading.Event()
logging.getLogger("tutti").addHandler(Found())
logging.getLogger("tutti").setLevel("INFO")
logging.getLogger("tutti").propagate = False
sys.unraisablehook = lambda _: None
members = cluster.addresses("abc")
state = {"stateful": True, "save_state": save, "load_state": print}
nodes = [tutti.Node(name, members, founders=2, suspect_after=40) for name in "ab"]
groups = [node.join("log", **state) for node in nodes]
cluster.start_all(nodes)
joiner = tutti.Node("c", members, join_only=True, suspect_after=40)
joiner.join("log", **state)
starting = threading.Thread(target=cluster.start_all, args=([joiner],), daemon=True)
threading.excepthook = lambda _: None  # it does not start
starting.start()
assert found.wait(cluster.WATCHDOG)
for node in [*nodes, joiner]:
    node.close()
print("went on")
""")
    assert ends_well(done) == "went on\n"


def test_memory_is_given_back():
    with alone() as (_, group):
        def turn():
            for _ in range(1000):
                group.send(b"x" * 100)
                with group.take() as batch:
                    for message in batch:
                        bytes(message)
                    batch.runs(), batch.sizes
                with group.claim(8):
                    pass
                group.take().release()

        turn()
        before = resident()
        for _ in range(3):
            turn()
        assert resident() - before < 2 * 2**20  # 3,000 turns would leave more at 700 bytes each


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_signals_are_handled_while_waiting():
    with alone() as (_, group):
        seen = []
        before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1) or group.send(b"a"))
        try:
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with group.take(timeout=WATCHDOG) as batch:
                assert bytes(batch[0]) == b"a" and seen == [1]
        finally:
            signal.signal(signal.SIGUSR1, before)
