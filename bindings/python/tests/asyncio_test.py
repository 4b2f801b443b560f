"""Members in an event loop: no thread of Python, no polling."""

import asyncio
import os
import sys
import threading
import weakref

import pytest
import tutti
from cluster import WATCHDOG, alone, cluster
from tutti._readable import readable


async def within(awaitable):
    return await asyncio.wait_for(awaitable, WATCHDOG)


def test_loops_of_several_threads_begin_at_the_same_time():
    ready = os.eventfd(1)
    errors = []

    def many_loops():
        try:
            for _ in range(100):
                asyncio.run(readable(ready))
        except Exception as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=many_loops) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        os.close(ready)
    assert errors == []


async def test_three_members_in_one_loop():
    with cluster() as (_, groups):
        async def member(i):
            taken = []

            async def take():
                async for batch in groups[i]:
                    taken.extend((m.seq, m.sender, bytes(m)) for m in batch)

            taker = asyncio.create_task(take())
            for n in range(100):
                ticket = groups[i].send(f"{i} says {n}".encode())
                if n % 10 == 9:
                    await groups[i].delivered(ticket)
                    assert groups[i].is_delivered(ticket)
            groups[i].finish()
            await taker
            return taken

        outputs = await within(asyncio.gather(*(member(i) for i in range(3))))
        assert [seq for seq, _, _ in outputs[0]] == list(range(300))
        assert outputs[1] == outputs[0] and outputs[2] == outputs[0]


async def test_several_tasks_wait_for_different_tickets():
    with alone() as (_, group):
        tickets = [group.send(b"a") for _ in range(3)]
        waiting = [asyncio.create_task(group.delivered(ticket)) for ticket in tickets]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        for _ in tickets:
            with await within(group.taken(max=1)) as batch:
                assert len(batch) == 1
        await within(asyncio.gather(*waiting))
        assert group.on_release is None
        await within(group.delivered(tickets[0]))


async def test_another_thread_releases():
    with alone() as (_, group):
        ticket = group.send(b"a")
        waiting = asyncio.create_task(group.delivered(ticket))
        await asyncio.sleep(0)

        def take():
            with group.take(timeout=WATCHDOG):
                pass

        taker = threading.Thread(target=take)
        taker.start()
        await within(waiting)
        taker.join(WATCHDOG)


async def test_a_wait_that_is_cancelled_leaves_nothing():
    with alone() as (_, group):
        ticket = group.send(b"a")
        waiting = [asyncio.create_task(group.delivered(ticket)) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        (await within(group.taken())).release()
        await within(waiting[1])
        taking = [asyncio.create_task(group.taken()) for _ in range(2)]
        await asyncio.sleep(0)
        for task in taking:
            task.cancel()
        for ended in await asyncio.gather(*taking, return_exceptions=True):
            assert isinstance(ended, asyncio.CancelledError)
        group.send(b"b")
        with await within(group.taken()) as batch:
            assert bytes(batch[0]) == b"b"


async def test_the_end_of_a_node_ends_all_waits():
    with cluster("ab") as (nodes, groups):
        ticket = groups[0].send(b"a")
        waiting = [asyncio.create_task(groups[0].delivered(ticket)),
                   asyncio.create_task(groups[1].taken(max=1))]
        (await within(waiting[1])).release()
        waiting.append(asyncio.create_task(groups[1].taken()))
        seen = [view.view async for view in only(nodes[0].views(), 1)]
        assert seen == [1]
        views = asyncio.create_task(collect(nodes[0].views()))
        await asyncio.sleep(0)
        nodes[0].close()
        with pytest.raises(tutti.Stopped):
            await within(waiting[0])
        assert await within(views) == []
        with pytest.raises(tutti.PeerLost):  # one of two is no majority
            await within(waiting[2])


async def only(values, count):
    async for value in values:
        yield value
        count -= 1
        if count == 0:
            return


async def collect(values):
    return [value async for value in values]


async def test_ticket_0_is_an_error():
    with alone() as (_, group):
        with pytest.raises(tutti.InvalidArgument, match="ticket 0"):
            await group.delivered(0)


async def test_a_failed_node_ends_all_waits():
    with cluster("ab") as (nodes, groups):
        waiting = asyncio.create_task(groups[0].delivered(groups[0].send(b"a")))
        await asyncio.sleep(0)
        nodes[1].close()  # one of two is no majority
        with pytest.raises(tutti.Error) as raised:
            await within(waiting)
        assert nodes[0].failure().code == raised.value.code


async def test_sends_wait_for_space_in_the_order_of_the_calls():
    with alone(window_messages=4) as (_, group):
        sent = [f"message {n}".encode() for n in range(100)]
        taken = []

        async def send():
            for data in sent:
                await group.sent(data)
            group.finish()

        sending = asyncio.create_task(send())
        async for batch in group:
            taken += [bytes(message) for message in batch]
        assert (await within(asyncio.gather(sending)), taken) == ([None], sent)


async def full(group):
    """Fills the window; returns what was sent."""
    sent = []
    while True:
        try:
            group.send(b"full", timeout=0)
        except tutti.TimedOut:
            return sent
        sent.append(b"full")


async def taken(group, count):
    messages = []
    while len(messages) < count:
        with await within(group.taken()) as batch:
            messages += [bytes(message) for message in batch]
    return messages


async def test_claims_that_wait_are_served_in_turn():
    with alone(window_messages=4) as (_, group):
        sent = await full(group)

        async def fill(text):
            with await group.claimed(len(text)) as claim:
                claim[:] = text

        filling = [asyncio.create_task(fill(f"{n}".encode())) for n in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in filling)
        assert await taken(group, len(sent) + 3) == [*sent, b"0", b"1", b"2"]
        await within(asyncio.gather(*filling))


async def test_a_claim_that_nobody_wants_any_more_is_abandoned():
    with alone(window_messages=4) as (_, group):
        sent = await full(group)
        waiting = asyncio.create_task(group.claimed(4))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        space = tutti._tutti.Space(group, 4)
        assert await taken(group, len(sent)) == sent
        await within(readable(space.fileno()))
        space.give_up()
        assert space.fetch() is None
        await within(group.sent(b"after"))  # it would wait behind a claim that is left
        assert await taken(group, 1) == [b"after"]


async def test_a_descriptor_with_an_owner_is_watched_until_nobody_waits_for_what_is_there():
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    owner = threading.Event()  # an object that can be referred to weakly
    of_owner = weakref.ref(owner)
    try:
        os.write(writing, b"1")
        await within(readable(reading, owner))
        again = asyncio.create_task(readable(reading, owner))
        await asyncio.sleep(0)  # it waits
        assert os.read(reading, 1) == b"1"
        for _ in range(3):  # the loop may have seen the byte before it was read
            await asyncio.sleep(0)
        assert not again.done()
        os.write(writing, b"2")
        await within(again)
        del owner, again

        async def let_go():
            while of_owner() is not None:
                await asyncio.sleep(0)

        await within(let_go())
        assert not loop.remove_reader(reading)  # it was not watched any more
    finally:
        os.close(reading)
        os.close(writing)


async def test_what_cannot_be_sent_is_an_error_at_once():
    with alone(message_max_bytes=100, window_messages=4) as (node, group):
        with pytest.raises(tutti.InvalidArgument, match="over the maximum"):
            await group.sent(bytes(101))
        with pytest.raises(tutti.InvalidArgument, match="nonsense"):
            await group.claimed(4, "nonsense")
        await full(group)
        with pytest.raises(tutti.InvalidArgument, match="over the maximum"):
            await group.claimed(2**40)
        waiting = [asyncio.create_task(group.sent(b"a")), asyncio.create_task(group.claimed(4))]
        await asyncio.sleep(0)
        node.close()
        for task in waiting:
            with pytest.raises(tutti.Stopped):
                await within(task)
