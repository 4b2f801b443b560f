"""What the tests share: free ports, members in one process, members as processes, and waits that
end at a watchdog."""

import os
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import tutti
from tutti import dds

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/system"))
from support import WATCHDOG, free_ports, wait_until  # noqa: E402,F401

HERE = Path(__file__).parent


def addresses(names="abc"):
    return {name: f"127.0.0.1:{port}" for name, port in zip(names, free_ports(len(names)))}


def start_all(nodes):
    """Starts members that wait for each other."""
    failures = []

    def start(node):
        try:
            node.start()
        except tutti.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=start, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG)
    assert not failures, failures


@contextmanager
def cluster(names="abc", **options):
    """The groups of members in this process, all started; the nodes are closed at the end."""
    members = addresses(names)
    with ExitStack() as stack:
        nodes = []
        for name in names:
            node = tutti.Node(name, members, suspect_after=40)
            stack.callback(node.close)
            nodes.append(node)
        groups = [node.join("log", **options) for node in nodes]
        start_all(nodes)
        yield nodes, groups


@contextmanager
def alone(**options):
    """The only member of a group, and its group."""
    with cluster("a", **options) as (nodes, groups):
        yield nodes[0], groups[0]


def take_all(group, count):
    """That many messages, as bytes."""
    taken = []
    while len(taken) < count:
        with group.take(timeout=WATCHDOG) as batch:
            taken += [bytes(message) for message in batch]
    assert len(taken) == count
    return taken


def run(code, *arguments, **options):
    """A program in Python, to its end."""
    return subprocess.run([sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
                          capture_output=True, text=True, timeout=WATCHDOG, check=False,
                          cwd=HERE, env={**os.environ, "PYTHONPATH": python_path()}, **options)


def python_path():
    return os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])


@contextmanager
def domain(names="ab", **options):
    """The participants of nodes in this process, all started."""
    members = addresses(names)
    with ExitStack() as stack:
        nodes = []
        for name in names:
            node = tutti.Node(name, members, suspect_after=40)
            stack.callback(node.close)
            nodes.append(node)
        participants = [dds.DomainParticipant(node, **options) for node in nodes]
        start_all(nodes)
        yield nodes, participants


@contextmanager
def alone_in_domain(**options):
    """The only node of a cluster, and its participant."""
    with domain("a", **options) as (nodes, participants):
        yield nodes[0], participants[0]
