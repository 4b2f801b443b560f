"""Messages in place: the buffer protocol, numpy, and what is left of a loan."""

import gc

import numpy as np
import pytest
import tutti
from cluster import WATCHDOG, alone, cluster, take_all


def test_a_message_is_built_in_place():
    with alone() as (_, group):
        with group.claim(16, timeout=WATCHDOG) as claim:
            assert len(claim) == 16
            np.frombuffer(claim, dtype=np.uint32)[:] = [1, 2, 3, 4]
            claim[12:14] = b"ab"
            assert bytes(claim[12:14]) == b"ab"
        assert claim.ticket == 1
        data = np.frombuffer(take_all(group, 1)[0], dtype=np.uint32)
        assert list(data[:3]) == [1, 2, 3]


def test_a_claim_whose_body_raises_is_abandoned():
    with alone() as (_, group):
        with pytest.raises(RuntimeError, match="mine"):
            with group.claim(4):
                raise RuntimeError("mine")
        group.send(b"next")
        assert take_all(group, 1) == [b"next"]


def test_a_view_that_is_left_keeps_a_claim_from_being_sent():
    with alone() as (_, group):
        with pytest.raises(BufferError, match="still in use"):
            with group.claim(4) as claim:
                array = np.frombuffer(claim, dtype=np.uint8)
        array[:] = 1  # still ours to write
        with pytest.raises(ValueError, match="committed or abandoned"):
            memoryview(claim)
        ticket = group.send(b"next")
        assert len(group.take(timeout=0)) == 0  # it waits for the claim before
        del array
        assert take_all(group, 1) == [b"next"] and group.is_delivered(ticket)


def test_a_claim_is_used_once():
    with alone() as (_, group):
        claim = group.claim(1)
        claim[:] = b"a"
        assert claim.commit() == 1
        for use in (claim.commit, lambda: memoryview(claim), lambda: len(claim),
                    lambda: claim[0]):
            with pytest.raises(ValueError, match="committed or abandoned"):
                use()
        claim.abandon()
        assert take_all(group, 1) == [b"a"]


def test_a_message_may_be_shorter_than_its_claim():
    with alone() as (_, group):
        claim = group.claim(16)
        claim[:3] = b"abc"
        with pytest.raises(ValueError, match="the claim has 16 bytes, not 17"):
            claim.commit(17)
        with pytest.raises((TypeError, OverflowError)):
            claim.commit(-1)
        ticket = claim.commit(3)
        with group.take(timeout=WATCHDOG) as batch:
            assert (bytes(batch[0]), batch[0].ticket, batch[0].view) == (b"abc", ticket, 1)


def test_what_a_body_raises_is_not_hidden_by_its_arrays():
    with alone() as (_, group):
        group.send(b"abc")
        with pytest.raises(KeyError, match="mine"):
            with group.take(timeout=WATCHDOG) as batch:
                view = memoryview(batch[0])
                raise KeyError("mine")
        view.release()
        with pytest.raises(KeyError, match="mine"):
            with group.claim(4) as claim:
                view = memoryview(claim)
                raise KeyError("mine")
        view.release()
        group.send(b"next")
        assert take_all(group, 1) == [b"next"]


def test_messages_are_read_only_and_in_place():
    with alone() as (_, group):
        group.send(b"abc")
        with group.take(timeout=WATCHDOG) as batch:
            message = batch[0]
            assert (len(batch), batch[-1].seq, message.sender, len(message)) == (1, 0, 0, 3)
            with pytest.raises(IndexError):
                batch[1]
            with message.data as view:
                assert view.readonly and view == b"abc"
            with pytest.raises(ValueError):
                np.asarray(message)[0] = 1
        for use in (lambda: batch[0], lambda: message.seq, lambda: bytes(message),
                    lambda: memoryview(message), lambda: batch.sizes, batch.runs, batch.tobytes,
                    batch.intact):
            with pytest.raises(ValueError, match="released"):
                use()
        assert len(batch) == 0
        batch.release()


def test_a_view_that_is_left_keeps_the_batch():
    with alone() as (_, group):
        group.send(b"abc")
        with pytest.raises(BufferError, match="still in use"):
            with group.take(timeout=WATCHDOG) as batch:
                array = np.asarray(batch[0])
        with pytest.raises(tutti.InvalidArgument, match="still held"):
            group.take()
        assert array.tobytes() == b"abc"
        del array
        group.send(b"d")
        assert take_all(group, 1) == [b"d"]


def test_runs_are_arrays_in_place():
    with cluster() as (_, groups):
        for i, group in enumerate(groups):
            group.send_many(np.full((50, 60), i, dtype=np.uint8), 60)
        rows = 0
        while rows < 150:
            with groups[1].take(timeout=WATCHDOG) as batch:
                sizes, senders = np.asarray(batch.sizes), np.asarray(batch.senders)
                assert sizes.dtype == np.uint32 and (sizes == 60).all()
                seen = []
                for run in batch.runs():
                    array = np.asarray(run)
                    assert array.shape == (len(run), 60) and array.strides == (72, 1)
                    assert not array.flags.writeable and not array.flags.owndata
                    assert (array == run.sender).all() and run.size == 60
                    assert (senders[run.positions] == run.sender).all()
                    for row, position in zip(array, run.positions):
                        assert row.tobytes() == bytes(batch[position])
                    seen += list(run.positions)
                assert sorted(seen) == list(range(len(batch)))
                assert list(batch.seqs) == list(range(rows, rows + len(batch)))
                rows += len(batch)
                del array, row


def test_a_run_ends_where_the_size_changes():
    with alone() as (_, group):
        group.send_many(b"aabbcccdd", [2, 2, 3, 2])
        taken = []
        while len(taken) < 4:
            with group.take(timeout=WATCHDOG) as batch:
                data = batch.tobytes()
                for run in batch.runs():
                    taken += [row.tobytes() for row in np.asarray(run)]
                assert data == b"".join(bytes(message) for message in batch)
        assert taken == [b"aa", b"bb", b"ccc", b"dd"]
        group.send_many(b"", [0])
        with group.take(timeout=WATCHDOG) as batch:
            assert np.asarray(batch.runs()[0]).shape == (1, 0) and bytes(batch[0]) == b""


def test_a_run_of_aligned_messages():
    with alone(alignment=64) as (_, group):
        group.send_many(bytes(range(120)), 12)
        taken = []
        while len(taken) < 10:
            with group.take(timeout=WATCHDOG) as batch:
                run, = batch.runs()
                array = np.asarray(run)
                assert len(run) == 1 or array.strides == (64, 1)
                assert array.ctypes.data % 64 == 0
                taken += [row.tobytes() for row in array]
                del array
        assert b"".join(taken) == bytes(range(120))


def test_a_run_is_no_contiguous_buffer():
    with alone() as (_, group):
        group.send_many(b"abcdef", 3)
        seen = 0
        while seen < 2:
            with group.take(timeout=WATCHDOG) as batch:
                seen += len(batch)
                for run in batch.runs():
                    if len(run) > 1:
                        with pytest.raises(BufferError, match="contiguous"):
                            np.frombuffer(run, dtype=np.uint8)
                    assert np.asarray(run).tobytes() == memoryview(run).tobytes()


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_sizes_as_an_array(kind):
    with alone() as (_, group):
        group.send_many(np.arange(6, dtype=np.uint8), np.array([1, 2, 3], dtype=kind))
        assert take_all(group, 3) == [b"\0", b"\1\2", b"\3\4\5"]
        if np.issubdtype(kind, np.signedinteger):
            with pytest.raises(ValueError):
                group.send_many(b"abc", np.array([-1, 4], dtype=kind))


def test_what_outlives_its_node():
    with alone() as (node, group):
        group.send(b"abc")
        batch = group.take(timeout=WATCHDOG)
        claim = group.claim(4)
        view, array = memoryview(batch[0]), np.frombuffer(claim, dtype=np.uint8)
        node.close()
        del node, group
    gc.collect()
    assert view == b"abc"
    array[:] = 1
    del view, array
    batch.release()
    claim.abandon()


def test_ticks_are_messages_of_nobody_and_in_no_run():
    with alone(tick_every=0.002) as (_, group):
        ticks, runs, sent = [], [], 0
        while len(ticks) < 5:
            group.send(b"8 bytes!")
            sent += 1
            with group.take(timeout=WATCHDOG) as batch:
                for position, message in enumerate(batch):
                    if message.tick is None:
                        assert message.ticket != 0
                        continue
                    assert message.ticket == 0 and len(message) == 8
                    assert int.from_bytes(bytes(message), "little") == message.tick
                    assert all(position not in run.positions for run in batch.runs())
                    ticks.append(message.tick)
                runs.append(sum(len(run) for run in batch.runs()))
        assert ticks == sorted(set(ticks))
        assert sum(runs) <= sent
