"""Groups that are logged: what is delivered at Level.durable is in every member's log, on disk."""

from contextlib import ExitStack

import pytest
import tutti
from cluster import WATCHDOG, addresses, start_all, take_all


def test_messages_are_in_all_logs_before_they_are_delivered(tmp_path):
    members = addresses("ab")
    with ExitStack() as stack:
        nodes = []
        for name in "ab":
            node = tutti.Node(name, members, suspect_after=40, state_dir=str(tmp_path / name))
            stack.callback(node.close)
            nodes.append(node)
        groups = [node.join("log", level=tutti.Level.durable, logged=True) for node in nodes]
        start_all(nodes)
        for group in groups:
            group.send(b"hello", timeout=WATCHDOG)
        for group in groups:
            assert take_all(group, 2) == [b"hello", b"hello"]
            statistics = group.statistics()
            assert statistics.persisted == 2
            assert statistics.persist.items == 2
            assert statistics.logged_bytes > 10
            assert statistics.replayed == 0, "the logs were empty"
    for name in "ab":
        segments = list((tmp_path / name / "log").iterdir())
        assert any(b"hello" in file.read_bytes() for file in segments)


def test_a_durable_group_is_logged_and_a_logged_group_has_a_folder(tmp_path):
    with tutti.Node("a", addresses("a"), state_dir=str(tmp_path)) as node:
        with pytest.raises(tutti.InvalidArgument, match="needs logged"):
            node.join("log", level="durable")
        with pytest.raises(tutti.InvalidArgument, match="deliver_from needs logged"):
            node.join("log", deliver_from=7)
        with pytest.raises(TypeError, match="logged"):
            node.join("log", logged="yes")
    with tutti.Node("a", addresses("a")) as node:
        with pytest.raises(tutti.InvalidArgument, match="state_dir"):
            node.join("log", logged=True)
