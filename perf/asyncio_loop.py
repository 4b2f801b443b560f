#!/usr/bin/env python3
"""What an asyncio loop pays that serves a group and something else.

Question: how long does a message take from the send to the delivery at its sender, if an asyncio
loop sends and takes, beside a callback on the node's thread in C++ (`tutti perf multicast` of the
same build)? How much of that is asyncio's own: how long does a message take through a pipe to a
loop without a node? And what do node and loop take at rest, beside the same loop without a node?
Set-up: three members on this host over shared memory, one of which sends 500 messages of 64 B a
second; each loop also serves a timer of 10 ms.
Unit: microseconds, the median of each run's messages; percent of a core, of the member that took
most. Both take turns; medians of the runs (lowest to highest).
Command: build/release/python/venv/bin/python perf/asyncio_loop.py --tutti build/release/bin/tutti

`--once` is what a member does, `--write` what writes to the pipe.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time

import python  # perf/python.py
from bench.arguments import duration, need_program, whole

RATE = 500  # messages a second: all sleep between two
TICK = 0.01  # seconds
WARMUP = 0.5
SIZE = 64


async def serve_a_timer():
    while True:
        await asyncio.sleep(TICK)


async def send(group, rate, seconds):
    """Messages that say when they were sent, or none; then the end."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for n in range(int(rate * (WARMUP + seconds))):
        await asyncio.sleep(begun + n / rate - loop.time())
        await group.sent(time.monotonic_ns().to_bytes(8, "little").ljust(SIZE, b"."))
    await asyncio.sleep(begun + WARMUP + seconds - loop.time())
    group.finish()


async def take(group, own, latencies):
    async for batch in group:
        for message in batch:
            if message.sender == own:
                sent = int.from_bytes(message.data[:8], "little")
                latencies.append(time.monotonic_ns() - sent)


async def serve(group, rate, seconds, sends):
    latencies = []
    timer = asyncio.create_task(serve_a_timer())
    sending = asyncio.create_task(send(group, rate, seconds)) if sends else None
    cpu, begun = time.process_time(), time.monotonic()
    await take(group, group.own_index, latencies)
    cpu, took = time.process_time() - cpu, time.monotonic() - begun
    timer.cancel()
    if sending:
        await sending
    return {"latencies": latencies[int(rate * WARMUP):], "cpu_percent": 100 * cpu / took}


def member(name, addresses, rate, seconds):
    import tutti

    with tutti.Node(name, addresses, fabric="shm") as node:
        group = node.join("perf", senders=["a"])
        node.start()
        print(json.dumps(asyncio.run(serve(group, rate, seconds, name == "a"))))


def asyncio_run(rate, seconds):
    addresses = json.dumps(python.free_addresses())
    members = [subprocess.Popen([sys.executable, __file__, "--once", name, addresses, str(rate),
                                 str(seconds)], stdout=subprocess.PIPE, text=True)
               for name in python.NAMES]
    outputs = [process.communicate()[0] for process in members]
    if any(process.returncode != 0 for process in members):
        sys.exit("a member failed")
    return [json.loads(output) for output in outputs]


async def timer_alone(seconds):
    timer = asyncio.create_task(serve_a_timer())
    cpu = time.process_time()
    await asyncio.sleep(seconds)
    timer.cancel()
    return 100 * (time.process_time() - cpu) / seconds


def write(descriptor, rate, seconds):
    begun = time.monotonic()
    for n in range(int(rate * seconds)):
        time.sleep(max(0, begun + n / rate - time.monotonic()))
        os.write(descriptor, time.monotonic_ns().to_bytes(8, "little"))


async def pipe_alone(rate, seconds):
    """Microseconds from the write in another process to the coroutine that waits for it."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    writer = subprocess.Popen([sys.executable, __file__, "--write", str(writing), str(rate),
                               str(seconds)], pass_fds=[writing])
    os.close(writing)
    loop = asyncio.get_running_loop()
    timer = asyncio.create_task(serve_a_timer())
    latencies = []
    while True:
        written = loop.create_future()
        loop.add_reader(reading, lambda: written.done() or written.set_result(None))
        await written
        sent = os.read(reading, 8)
        if not sent:
            break
        latencies.append((time.monotonic_ns() - int.from_bytes(sent, "little")) / 1000)
    loop.remove_reader(reading)
    os.close(reading)
    timer.cancel()
    if writer.wait() != 0 or not latencies:
        sys.exit("the program that writes to the pipe failed")
    return statistics.median(latencies)


def cpp_latency(tutti, delivery, seconds):
    done = subprocess.run(
        [tutti, "perf", "multicast", "--members", "3", "--senders", "one", "--size", str(SIZE),
         "--fabric", "shm", "--rate", str(RATE), "--seconds", str(seconds), "--warmup", str(WARMUP),
         "--delivery", delivery, "--json", "-"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["latency_ns"]["own"]["p50"]


def shown(values, digits):
    return (f"{statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f} to {max(values):.{digits}f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tutti", default="tutti", help="the command of the same build")
    parser.add_argument("--runs", type=whole, default=7)
    parser.add_argument("--seconds", type=duration, default=2, help="of each run")
    parser.add_argument("--once", nargs=4, metavar=("NAME", "ADDRESSES", "RATE", "SECONDS"))
    parser.add_argument("--write", nargs=3, metavar=("DESCRIPTOR", "RATE", "SECONDS"))
    options = parser.parse_args()
    if options.write:
        descriptor, rate, seconds = options.write
        write(int(descriptor), float(rate), float(seconds))
        return
    if options.once:
        name, addresses, rate, seconds = options.once
        member(name, json.loads(addresses), float(rate), float(seconds))
        return
    need_program(parser, options.tutti)
    found = {"callback on the node's thread": [], "epoll loop": [], "asyncio loop": []}
    piped = []
    for _ in range(options.runs):
        for words, delivery in (("callback on the node's thread", "predicate"),
                                ("epoll loop", "epoll")):
            found[words].append(cpp_latency(options.tutti, delivery, options.seconds) / 1000)
        latencies = asyncio_run(RATE, options.seconds)[0]["latencies"]
        found["asyncio loop"].append(statistics.median(latencies) / 1000)
        piped.append(asyncio.run(pipe_alone(RATE, options.seconds)))
    first = found["callback on the node's thread"]
    for words, values in found.items():
        ratios = [value / before for value, before in zip(values, first)]
        print(f"{words:30} {shown(values, 0)} us, ratio {shown(ratios, 2)}")
    print(f"{'a pipe to an asyncio loop':30} {shown(piped, 0)} us, without a node")
    idle, alone = [], []
    for _ in range(min(options.runs, 3)):
        idle.append(max(result["cpu_percent"] for result in asyncio_run(0, 5)))
        alone.append(asyncio.run(timer_alone(5)))
    print(f"at rest, with a timer of {TICK * 1000:g} ms: {shown(idle, 2)} % of a core; the loop and "
          f"its timer without a node: {shown(alone, 2)} %")


if __name__ == "__main__":
    main()
