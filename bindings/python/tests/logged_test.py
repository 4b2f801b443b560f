"""Groups that are logged: what is delivered at Level.durable is in every member's log, on disk."""

from contextlib import ExitStack

import pytest
import tutti
from cluster import WATCHDOG, addresses, start_all, take_all
from support import wait_until


def test_messages_are_in_all_logs_before_they_are_delivered(tmp_path):
    members = addresses("ab")
    with ExitStack() as stack:
        nodes = []
        for name in "ab":
            state_dir = str(tmp_path / name)
            if name == "a":
                tutti.bootstrap(name, members, state_dir, ["log"])
            node = tutti.Node(name, members, suspect_after=40, state_dir=state_dir)
            stack.callback(node.close)
            nodes.append(node)
        groups = [node.join("log", level=tutti.Level.durable, logged=True,
                            durable_quorum=True) for node in nodes]  # of two it is both
        start_all(nodes)
        for group in groups:
            group.send(b"hello", timeout=WATCHDOG)
        for group in groups:
            assert take_all(group, 2) == [b"hello", b"hello"]
            # Counted a moment after the log says that it has them.
            wait_until(lambda g=group: g.statistics().persist.items == 2, "both are counted")
            statistics = group.statistics()
            assert statistics.persisted == 2
            assert statistics.logged_bytes > 10
            assert statistics.replayed == 0, "the logs were empty"
    for name in "ab":
        segments = list((tmp_path / name / "log").iterdir())
        assert any(b"hello" in file.read_bytes() for file in segments)


def test_groups_are_founded_once(tmp_path):
    members, state_dir = addresses("ab"), str(tmp_path / "a")
    tutti.bootstrap("a", members, state_dir, ("log", "other"))
    assert (tmp_path / "a" / "views").exists()
    tutti.bootstrap("a", members, state_dir, ["other", "log"])
    with pytest.raises(tutti.InvalidArgument, match="belongs to node 'a', not to 'b'"):
        tutti.bootstrap("b", members, state_dir, ["log", "other"])
    with pytest.raises(tutti.InvalidArgument, match="with other groups"):
        tutti.bootstrap("a", members, state_dir, ["log"])
    with pytest.raises(tutti.InvalidArgument, match="name the groups"):
        tutti.bootstrap("a", members, state_dir, [])
    with pytest.raises(TypeError, match="a list of names"):
        tutti.bootstrap("a", members, state_dir, "log")
    with tutti.Node("a", members, bootstrap=True) as node:
        node.join("log")
        with pytest.raises(tutti.InvalidArgument, match="none of this node's is"):
            node.start()


def test_a_durable_group_is_logged_and_a_logged_group_has_a_folder(tmp_path):
    with tutti.Node("a", addresses("a"), state_dir=str(tmp_path)) as node:
        with pytest.raises(tutti.InvalidArgument, match="needs logged"):
            node.join("log", level="durable")
        with pytest.raises(tutti.InvalidArgument, match="deliver_from needs logged"):
            node.join("log", deliver_from=7)
        with pytest.raises(tutti.InvalidArgument, match="durable_quorum needs level 'durable'"):
            node.join("log", logged=True, durable_quorum=True)
        with pytest.raises(tutti.InvalidArgument, match="snapshot_every_bytes needs logged"):
            node.join("log", snapshot_every_bytes=1 << 20)
        with pytest.raises(tutti.InvalidArgument, match="snapshot_every needs logged"):
            node.join("log", logged=True, snapshot_every=60)
        with pytest.raises(tutti.InvalidArgument, match="log_segment_bytes is 1;"):
            node.join("log", logged=True, log_segment_bytes=1, keep_log_bytes=0)
        with pytest.raises(TypeError, match="logged"):
            node.join("log", logged="yes")
    with tutti.Node("a", addresses("a")) as node:
        with pytest.raises(tutti.InvalidArgument, match="state_dir"):
            node.join("log", logged=True)
