"""Participants, topics, readers and writers."""

import asyncio
import json
import subprocess
import threading
from dataclasses import dataclass

import pytest
import tutti
from cluster import WATCHDOG, addresses, alone_in_domain, domain, run
from support import TUTTI, wait_until
from tutti import dds


@dds.structure("test::Reading", keys=["station"])
@dataclass
class Reading:
    station: dds.uint32 = 0
    celsius: float = 0.0


@dds.structure("test::Line")
@dataclass
class Line:
    text: str = ""


def take_all(reader, count):
    taken = []
    while len(taken) < count:
        taken += reader.take(timeout=WATCHDOG)
    assert len(taken) == count
    return taken


def test_all_participants_read_the_same_in_the_same_order():
    with domain("abc") as (_, participants):
        topics = [of.create_topic("log", Line) for of in participants]
        readers = [topic.reader() for topic in topics]
        writers = [topic.writer() for topic in topics]

        def write(writer, name):
            for number in range(100):
                writer.write(Line(f"{name} {number}"), timeout=WATCHDOG)

        threads = [threading.Thread(target=write, args=(writer, name))
                   for writer, name in zip(writers, "abc")]
        for thread in threads:
            thread.start()
        all_read = [take_all(reader, 300) for reader in readers]
        for thread in threads:
            thread.join()
        first = [(one.position, one.sender, one.data) for one in all_read[0]]
        for read in all_read[1:]:
            assert [(one.position, one.sender, one.data) for one in read] == first
        assert [one[0] for one in first] == sorted({one[0] for one in first})
        for name in "abc":
            assert [data for _, sender, data in first if sender == name] == [
                Line(f"{name} {number}") for number in range(100)]


def test_a_late_reader_gets_the_newest_of_each_key():
    with domain() as (_, (a, b)):
        topic = a.create_topic("weather", Reading, service="stored", history="keep_last(1)")
        writer = topic.writer()
        for celsius in range(5):
            for station in (7, 8):
                last = writer.write(Reading(station, celsius), timeout=WATCHDOG)
        writer.wait(last, timeout=WATCHDOG)
        assert writer.is_delivered(last)
        writer.wait_for_acknowledgments(timeout=WATCHDOG)
        late = b.find_topic("weather", Reading).reader(start="stored")
        assert sorted((one.data.station, one.data.celsius) for one in take_all(late, 2)) == [
            (7, 4), (8, 4)]


def test_the_command_line_writes_a_topic_with_keys():
    members = addresses(["host", "tool"])
    node = tutti.Node("host", members, suspect_after=40)
    participant = dds.DomainParticipant(node)
    tool = subprocess.Popen(
        [TUTTI, "topic", "pub", "weather", "--wait", str(WATCHDOG), "--name", "tool",
         "--suspect-after", "40",
         "--members", ",".join(f"{name}={address}" for name, address in members.items())],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        node.start()
        topic = participant.create_topic("weather", Reading, service="stored",
                                         history="keep_last(1)")
        lines = [json.dumps({"station": station, "celsius": celsius})
                 for celsius in range(3) for station in (7, 8)]
        _, errors = tool.communicate("\n".join(lines) + "\n", timeout=WATCHDOG)
        assert tool.returncode == 0, errors
        assert sorted((one.data.station, one.data.celsius)
                      for one in take_all(topic.reader("stored"), 2)) == [(7, 2), (8, 2)]
    finally:
        tool.kill()
        tool.communicate()
        node.close()


def test_a_reader_goes_on_where_it_was():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Line, service="stored", history="keep_last(10)")
        writer = topic.writer()
        for number in range(4):
            writer.write(Line(str(number)), timeout=WATCHDOG)
        writer.wait_for_acknowledgments(timeout=WATCHDOG)
        first = topic.reader("stored").take(2, timeout=WATCHDOG)
        again = topic.reader(first[-1].position + 1)
        assert [one.data.text for one in take_all(again, 2)] == ["2", "3"]
        with pytest.raises(tutti.InvalidArgument, match="'now', 'stored' or a position"):
            topic.reader("then")


def test_a_slow_reader_is_told_what_it_missed():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Line, history="keep_last(2)")
        reader, writer = topic.reader(), topic.writer()
        for number in range(5):
            writer.write(Line(str(number)), timeout=WATCHDOG)
        writer.wait_for_acknowledgments(timeout=WATCHDOG)
        taken = take_all(reader, 2)
        assert (taken[0].lost_before, taken[1].lost_before, reader.lost) == (3, 0, 3)
        assert taken[0].data == Line("3")


def test_a_topic_has_one_type_and_one_set_of_options():
    with domain() as (_, (a, b)):
        a.create_topic("t", Line)
        with pytest.raises(tutti.Mismatch, match="test::Line.*test::Reading"):
            b.create_topic("t", Reading)
        with pytest.raises(tutti.Mismatch, match="stored"):
            b.create_topic("t", Line, service="stored")
        with pytest.raises(tutti.Mismatch, match="test::Line, and Reading is not the same"):
            b.find_topic("t", Reading)
        with pytest.raises(tutti.InvalidArgument, match="deadline"):
            a.create_topic("u", Line, deadline="1s")


def test_a_topic_is_found_and_read_without_its_class():
    with domain() as (_, (a, b)):
        a.create_topic("weather", Reading)
        found = b.find_topic("weather")
        reader, writer = found.reader(), found.writer()
        writer.write({"station": 3, "celsius": 1.5}, timeout=WATCHDOG)
        writer.write_json('{"station": 4}', timeout=WATCHDOG)
        assert [one.data for one in take_all(reader, 2)] == [
            {"station": 3, "celsius": 1.5}, {"station": 4, "celsius": 0}]
        with pytest.raises(tutti.Error, match='"sttion" is none of its names'):
            writer.write({"sttion": 3})
        with pytest.raises(tutti.Error, match="there is no topic"):
            b.find_topic("wether")


def test_topics_are_listed_and_deleted():
    with domain() as (_, (a, b)):
        topic = a.create_topic("t", Line, service="stored")
        reader, writer = topic.reader(), topic.writer()
        wait_until(lambda: [one.endpoints for one in b.topics()] == [{"a": (1, 1)}],
                   "b hears of the topic, and of both ends")
        [one] = b.topics()
        assert (one.name, one.type) == ("t", "test::Line")
        assert one.options == topic.options and "service=stored" in one.options
        with pytest.raises(tutti.Error, match="a"):
            b.delete_topic("t")
        del reader, writer
        a.create_topic("t", Line, service="stored")  # the ends above were told before this
        b.delete_topic("t")
        assert b.topics() == []
        wait_until(lambda: a.topics() == [], "a hears of the deletion")
        assert a.statistics().malformed == 0


def test_waits_end():
    with alone_in_domain() as (node, participant):
        topic = participant.create_topic("t", Line)
        reader = topic.reader()
        assert reader.take(timeout=0) == []
        with pytest.raises(tutti.TimedOut):
            reader.take(timeout=0.01)
        waiting = threading.Timer(0.05, topic.writer().write, [Line("x")])
        waiting.start()
        assert reader.take(timeout=WATCHDOG)[0].data == Line("x")
        node.close()
        with pytest.raises(tutti.Stopped):
            reader.take(timeout=WATCHDOG)
        assert list(reader) == []


def test_a_loop_that_is_left_has_taken_what_it_has_seen():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Line)
        reader, writer = topic.reader(), topic.writer()
        for number in range(4):
            writer.write(Line(str(number)), timeout=WATCHDOG)
        writer.wait_for_acknowledgments(timeout=WATCHDOG)
        for sample in reader:
            assert sample.data.text == "0"
            break
        assert next(iter(reader)).data.text == "1"

        async def one():
            async for sample in reader:
                return sample.data.text

        assert asyncio.run(one()) == "2"
        assert reader.take(max=0) == []
        assert [one.data.text for one in reader.take(timeout=float("-inf"))] == ["3"]
        for start in (-1, 1 << 64, True, "then"):
            with pytest.raises(tutti.InvalidArgument, match="start = "):
                topic.reader(start)


def test_a_reader_that_asyncio_used_ends_with_its_last_name():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Line)
        reader = topic.reader()

        async def wait_in_vain():
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(reader.taken(), 0.01)

        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(wait_in_vain())
            del reader
            wait_until(lambda: not participant.topics()[0].endpoints, "the reader has ended")
            participant.delete_topic("t")
        finally:
            loop.close()


def test_a_sample_outlives_all():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Line)
        reader = topic.reader()
        topic.writer().write(Line("kept"), timeout=WATCHDOG)
        [taken] = reader.take(timeout=WATCHDOG)
        view = memoryview(taken.raw)
        with pytest.raises(TypeError, match="read-only"):
            view[0] = 1
    del reader, topic, participant
    assert b"kept" in bytes(view) and b"kept" in bytes(taken.raw)
    assert len(taken.raw) == len(view)


def test_a_writer_without_space_says_so():
    small = {"name": "small", "service": "atomic", "window_bytes": 8192, "message_max_bytes": 2048,
             "delivery": "own"}
    with alone_in_domain(bundles=[small], topics_max=4) as (_, participant):
        topic = participant.create_topic("t", Line, history="keep_all", max_samples=2)
        reader, writer = topic.reader(), topic.writer()
        # Each goes on until it is refused: where the window is full, the reader may still take one.
        for timeout, refused in ((0, tutti.NoSpace), (0.05, tutti.TimedOut)):
            with pytest.raises(refused):
                for _ in range(100):
                    writer.write(Line("x" * 1000), timeout=timeout)
        assert len(reader.take(timeout=WATCHDOG)) > 0
        with pytest.raises(tutti.InvalidArgument, match="over the maximum"):
            writer.write(Line("x" * 5000), timeout=WATCHDOG)


async def test_a_sample_of_a_write_that_was_cancelled_never_comes():
    small = {"name": "small", "service": "atomic", "window_bytes": 8192, "message_max_bytes": 2048,
             "delivery": "own"}
    with alone_in_domain(bundles=[small], topics_max=4) as (_, participant):
        topic = participant.create_topic("t", Line, history="keep_all", max_samples=2)
        reader, writer = topic.reader(), topic.writer()
        for _ in range(3):
            await writer.written(Line("x" * 1000))
        wait_until(lambda: participant.statistics().reader_waits, "the delivery waits")
        with pytest.raises(tutti.NoSpace):
            for _ in range(100):
                writer.write(Line("x" * 1000), timeout=0)
        late = asyncio.create_task(writer.written(Line("c" * 1000)))
        assert not (await asyncio.wait({late}, timeout=0.1))[0]
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        last = asyncio.create_task(writer.written(Line("last")))
        texts = []
        while "last" not in texts:
            texts += [sample.data.text for sample in await reader.taken()]
        assert await last > 0
        assert set(texts) == {"x" * 1000, "last"}


async def test_readers_and_writers_of_asyncio():
    with alone_in_domain() as (node, participant):
        topic = participant.create_topic("t", Line)
        reader, writer = topic.reader(), topic.writer()

        async def read():
            return [sample.data.text async for sample in reader]

        reading = asyncio.create_task(read())
        for number in range(50):
            await writer.written(Line(str(number)))
        await asyncio.to_thread(writer.wait_for_acknowledgments, WATCHDOG)
        await asyncio.to_thread(node.stop, WATCHDOG)
        assert await asyncio.wait_for(reading, WATCHDOG) == [str(number) for number in range(50)]


def test_options_are_checked():
    node = tutti.Node("a", {"a": "127.0.0.1:7101"})
    with pytest.raises(TypeError, match="no option BundleOptions.nme"):
        dds.DomainParticipant(node, bundles=[{"nme": "x"}])
    with pytest.raises(tutti.InvalidArgument, match="topics_max"):
        dds.DomainParticipant(node, topics_max=0)
    node.close()
    with pytest.raises(tutti.Stopped):
        dds.DomainParticipant(node)


def test_ctrl_c_ends_a_wait_for_other_participants():
    ended = run("""
import signal, threading, time
import tutti
from topics_test import Line, alone_in_domain
with alone_in_domain() as (_, participant):
    reader = participant.create_topic("t", Line).reader()
    try:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        reader.take()
    except KeyboardInterrupt:
        print("interrupted")
""")
    assert ended.stdout == "interrupted\n", ended.stderr


def test_the_child_of_a_fork_may_use_nothing():
    ended = run("""
import os, sys
import tutti
from topics_test import WATCHDOG, Line, alone_in_domain
with alone_in_domain() as (_, participant):
    topic = participant.create_topic("t", Line)
    reader, writer = topic.reader(), topic.writer()
    child = os.fork()
    if child == 0:
        for call in (lambda: reader.take(timeout=0), lambda: writer.write(Line()),
                     lambda: participant.topics(), lambda: topic.name_of(0)):
            try:
                call()
            except tutti.Stopped as error:
                assert "fork" in str(error)
            else:
                os._exit(1)
        del reader, writer, topic, participant
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    writer.write(Line("on"), timeout=WATCHDOG)
    print(reader.take(timeout=WATCHDOG)[0].data.text)
""")
    assert ended.stdout == "on\n", ended.stderr
