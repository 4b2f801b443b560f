"""The interpreter ends while threads of the program are in the midst of something: it ends well."""

import pytest
from cluster import run

SLOW = """
import threading, time
import tutti, cluster

def slowly(value):
    inside.release()
    time.sleep(0.001)
    return value

class Duration:
    def total_seconds(self):
        return slowly(0.0)

class Size:
    def __index__(self):
        return slowly(1)

class Members:
    def items(self):
        while True:
            yield slowly(("a", "127.0.0.1:1"))

def sizes():
    while True:
        yield slowly(1)

inside = threading.Semaphore(0)
node = tutti.Node("a", cluster.addresses("a"))
group = node.join("log", window_messages=4)
node.start()

def loop():
    while True:
        try:
            CALL
        except (tutti.Error, ValueError):
            pass

threading.Thread(target=loop, daemon=True).start()
for _ in range(20):
    assert inside.acquire(timeout=cluster.WATCHDOG)
"""


@pytest.mark.parametrize("call", [
    "group.take(timeout=Duration())", "group.send_many(b'ab', [Size(), Size()], 0)",
    "tutti.Node('a', [('a', '127.0.0.1:1')], suspect_after=Duration())",
    "group.send_many(b'', sizes())",
    "group.on_release = lambda: slowly(None); group.send(b'a', 0); group.take().release()"])
def test_in_python_code_that_the_module_calls(call):
    done = run(SLOW.replace("CALL", call))
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_in_an_apply_that_never_returns():
    done = run("""
import threading
import tutti, cluster

class Machine:
    def apply(self, command):
        applies.set()
        threading.Event().wait()
    def save(self):
        return b""
    def load(self, state):
        pass

applies = threading.Event()
node = tutti.Node("a", cluster.addresses("a"))
machine = tutti.Replicated(node, "machine", Machine())
node.start()
machine.submit(b"x")
assert applies.wait(cluster.WATCHDOG)
""")
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "tutti-machine is still in an apply()" in done.stderr
