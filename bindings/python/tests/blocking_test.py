"""Members that send and take by calls that wait."""

import threading
from datetime import timedelta

import pytest
import tutti
from cluster import WATCHDOG, addresses, alone, cluster, take_all


def test_all_members_take_the_same_messages_in_the_same_order():
    with cluster() as (nodes, groups):
        taken = [[] for _ in groups]

        def member(i):
            for n in range(200):
                groups[i].send(f"{i} says {n}".encode())
            groups[i].finish()
            for batch in groups[i]:
                taken[i] += [(m.seq, groups[i].name_of(m.sender), bytes(m)) for m in batch]
            nodes[i].stop(WATCHDOG)

        threads = [threading.Thread(target=member, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WATCHDOG)
        assert [seq for seq, _, _ in taken[0]] == list(range(600))
        assert taken[1] == taken[0] and taken[2] == taken[0]
        for i, name in enumerate("abc"):
            own = [data for _, sender, data in taken[0] if sender == name]
            assert own == [f"{i} says {n}".encode() for n in range(200)]


def test_a_ticket_is_delivered_once_its_batch_is_released():
    with alone() as (_, group):
        ticket = group.send(b"a")
        batch = group.take(timeout=WATCHDOG)
        assert not group.is_delivered(ticket)
        with pytest.raises(tutti.TimedOut):
            group.wait(ticket, timeout=0.01)
        batch.release()
        group.wait(ticket, timeout=WATCHDOG)
        assert group.is_delivered(ticket) and group.view_of(ticket) == 1
        with pytest.raises(tutti.InvalidArgument, match="ticket 0"):
            group.wait(0)


def test_many_messages_in_one_call():
    with alone() as (_, group):
        assert group.send_many(b"aabbcc", 2) == 3
        assert group.send_many(b"abbccc", [1, 2, 3]) == 6
        assert group.send_many(b"", []) == 0
        assert take_all(group, 6) == [b"aa", b"bb", b"cc", b"a", b"bb", b"ccc"]


@pytest.mark.parametrize("data, sizes", [
    (b"abc", 2), (b"abc", 0), (b"abc", -1), (b"abc", [1, 1]), (b"abc", [2, 2]), (b"abc", [-1, 4]),
    (b"abc", ["a"])])
def test_sizes_that_do_not_fit_send_nothing(data, sizes):
    with alone() as (_, group):
        with pytest.raises(ValueError):
            group.send_many(data, sizes)
        assert group.statistics().sent_messages == 0


def test_a_full_window_is_a_time_out_that_says_how_much_was_sent():
    with alone(window_messages=4) as (_, group):
        with pytest.raises(tutti.TimedOut, match="no space") as raised:
            group.send_many(b"abcdefghij", 1, timeout=0.05)
        assert 0 < raised.value.sent < 10
        with pytest.raises(tutti.TimedOut):
            group.send(b"k", timeout=timedelta(milliseconds=1))
        sent = raised.value.sent
        assert take_all(group, sent) == [b"abcdefghij"[i:i + 1] for i in range(sent)]


def test_nothing_to_take():
    with alone() as (_, group):
        assert len(group.take(timeout=0)) == 0
        with pytest.raises(tutti.TimedOut, match="nothing to take"):
            group.take(timeout=0.01)
        group.finish()
        with pytest.raises(tutti.Complete):
            group.take()
        assert list(group) == [] and group.complete()
        group.wait_complete(WATCHDOG)
        with pytest.raises(tutti.Stopped):
            group.send(b"late")


def test_views_are_told_and_pulled():
    with cluster() as (nodes, groups):
        first = nodes[0].next_view(WATCHDOG)
        assert (first.view, first.members, first.joined) == (1, list("abc"), list("abc"))
        assert first == nodes[0].view()
        with pytest.raises(tutti.TimedOut):
            nodes[0].next_view(0)
        nodes[2].close()
        second = nodes[0].next_view(WATCHDOG)
        assert (second.view, second.members) == (2, ["a", "b"])
        assert [(gone.member, gone.incarnation) for gone in second.left] == [
            ("c", first.incarnations[2])]
        assert groups[0].statistics().delivered_messages == 0
        assert [lag.member for lag in groups[0].lags()] == ["a", "b"]
        nodes[0].close()
        assert nodes[0].next_view(0) is None and list(nodes[0].views()) == []


def test_a_node_that_was_stopped_before_its_start_tells_of_its_views():
    with tutti.Node("a", addresses("a")) as node:
        node.join("log")
        node.stop(0)
        node.start()
        assert node.next_view(WATCHDOG).view == 1


def test_a_message_too_large_is_refused():
    with alone(message_max_bytes=100) as (_, group):
        for size in (101, 2**32, 2**63):
            with pytest.raises(tutti.InvalidArgument):
                group.claim(size)
        with pytest.raises(tutti.InvalidArgument):
            group.send(bytes(101))


def test_the_service_of_one_message():
    with alone(order="token_ring", level=tutti.Level.agreed) as (_, group):
        group.send(b"a", service=tutti.Service.safe)
        assert take_all(group, 1) == [b"a"]
    with alone() as (_, group):
        with pytest.raises(tutti.InvalidArgument, match="nonsense"):
            group.send(b"a", service="nonsense")


def test_a_member_that_leaves():
    with cluster("ab") as (nodes, groups):
        taken = [[], []]

        def member(i):  # each goes on taking: views are told behind what was taken
            try:
                for batch in groups[i]:
                    taken[i] += [bytes(message) for message in batch]
            except tutti.Stopped:
                pass  # its node was closed

        takers = [threading.Thread(target=member, args=(i,)) for i in range(2)]
        for taker in takers:
            taker.start()
        groups[0].wait(groups[0].send(b"last words"), WATCHDOG)
        nodes[0].leave(WATCHDOG)
        views = [nodes[1].next_view(WATCHDOG) for _ in range(2)]
        assert [(gone.member, gone.reason) for gone in views[1].left] == [
            ("a", tutti.LeftReason.left)]
        for node in nodes:
            node.close()
        for taker in takers:
            taker.join(WATCHDOG)
        assert taken == [[b"last words"], [b"last words"]]


def test_the_caller_drives():
    members = addresses("a")
    with tutti.Node("a", members, drive="caller", idle_spin=0, idle_yield=0.001,
                    idle_sleep=True) as node:
        group = node.join("log")
        node.start()
        group.send(b"a")
        batch = group.take(timeout=0)
        while len(batch) == 0:
            node.poll()
            node.wait(0.01)
            batch = group.take(timeout=0)
        assert bytes(batch[0]) == b"a"
        batch.release()


def test_behind_a_barrier_nothing_is_missed():
    with cluster("ab") as (_, groups):
        taken = [[], []]

        def take(i):
            for batch in groups[i]:
                taken[i] += [bytes(message) for message in batch]

        takers = [threading.Thread(target=take, args=(i,)) for i in range(2)]
        for taker in takers:
            taker.start()
        for n in range(20):
            groups[1].wait(groups[1].send(f"{n}".encode()), WATCHDOG)
            groups[0].barrier(WATCHDOG)
            assert taken[0][-1] == f"{n}".encode()
        for group in groups:
            group.finish()
        for taker in takers:
            taker.join(WATCHDOG)


def test_a_barrier_that_cannot_be_passed():
    with alone() as (_, group):
        group.send(b"nobody takes it")
        with pytest.raises(tutti.TimedOut, match="nobody takes"):
            group.barrier(0.01)
    with alone(order="token_ring", level="agreed") as (_, group):
        with pytest.raises(tutti.InvalidArgument, match="Level::atomic"):
            group.barrier()
