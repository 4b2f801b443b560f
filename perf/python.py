#!/usr/bin/env python3
"""How fast is Python beside C++?

Question: three members on this host over shared memory, all of them sending: how many messages a
second does each receive, in Python in batches without copies, and how many in C++ (`tutti perf
multicast` of the same build)?
Unit: messages/s and MB/s received by one member, the median over its runs; both take turns.
Command: build/release/python/venv/bin/python perf/python.py --tutti build/release/bin/tutti

Each Python member sends by Group.send_many from one thread, and takes batches in the main
thread: it has each run as an array, and adds up the messages' first bytes. C++ reads the first 8
bytes of each message (--touch header). `--once` is what a member does.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))

from bench.arguments import need_program, whole  # noqa: E402
from support import free_ports  # noqa: E402

NAMES = "abc"
SHARES = (0.01, 0.1, 1)  # of a run's messages, at which the memory is looked at
SIZES = {64: 6_000_000, 10240: 300_000}  # bytes -> messages of all members in a run


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def send(group, size, count):
    at_once = max(1, min(512, (1 << 18) // size))
    data = bytes(size * at_once)
    for _ in range(count // at_once):
        group.send_many(data, size)
    if count % at_once:
        group.send_many(data[:size * (count % at_once)], size)
    group.finish()


def member(name, addresses, size, count):
    """Prints, as JSON, what this member received and how long that took."""
    import numpy as np
    import tutti

    with tutti.Node(name, addresses, fabric="shm", suspect_after=30) as node:
        group = node.join("perf", message_max_bytes=size)
        node.start()
        sender = threading.Thread(target=send, args=(group, size, count // len(NAMES)))
        sender.start()
        messages = batches = first_bytes = 0
        first = last = time.perf_counter()
        at = {share: 0 for share in SHARES}
        for batch in group:
            if messages == 0:
                first = time.perf_counter()
            messages += len(batch)
            for run in batch.runs():
                first_bytes += int(np.asarray(run)[:, 0].sum())
            batches += 1
            for share, before in at.items():
                if before == 0 and messages >= share * (count // len(NAMES)) * len(NAMES):
                    at[share] = resident()
            last = time.perf_counter()
        sender.join()
    seconds = last - first
    print(json.dumps({"rate": messages / seconds, "first_bytes": first_bytes,
                      "batch": messages / batches, "resident": list(at.values())}))


def python_run(size, count):
    addresses = json.dumps({name: f"127.0.0.1:{port}"
                            for name, port in zip(NAMES, free_ports(len(NAMES)))})
    members = [subprocess.Popen([sys.executable, __file__, "--once", name, addresses, str(size),
                                 str(count)], stdout=subprocess.PIPE, text=True) for name in NAMES]
    results = [json.loads(process.communicate()[0]) for process in members]
    if any(process.returncode != 0 for process in members):
        sys.exit("a member failed")
    slowest = min(results, key=lambda result: result["rate"])
    slowest["resident"] = [max(sizes) for sizes in zip(*(r["resident"] for r in results))]
    return slowest


def resident_at(result):
    """What the member had resident that had most."""
    sizes = ", ".join(f"{bytes_ / 2**20:.1f} MiB at {share:.0%}"
                      for share, bytes_ in zip(SHARES, result["resident"]))
    return f"resident {sizes} of the messages"


def cpp_rate(tutti, size):
    done = subprocess.run([tutti, "perf", "multicast", "--fabric", "shm", "--size", str(size),
                           "--touch", "header", "--json", "-"],
                          capture_output=True, text=True, check=True)
    return min(member["delivered_messages_per_second"]
               for member in json.loads(done.stdout)["members"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tutti", default="tutti", help="the command of the same build")
    parser.add_argument("--runs", type=whole, default=5)
    parser.add_argument("--memory", type=int, metavar="COUNT",
                        help="one run of so many messages of 64 B: how much memory a member has")
    parser.add_argument("--once", nargs=4, metavar=("NAME", "ADDRESSES", "SIZE", "COUNT"))
    options = parser.parse_args()
    if options.once:
        name, addresses, size, count = options.once
        member(name, json.loads(addresses), int(size), int(count))
        return
    if options.memory:
        print(f"{options.memory} messages: {resident_at(python_run(64, options.memory))}")
        return
    need_program(parser, options.tutti)
    for size, count in SIZES.items():
        rates = {"C++": [], "Python": []}
        for _ in range(options.runs):
            rates["C++"].append(cpp_rate(options.tutti, size))
            result = python_run(size, count)
            rates["Python"].append(result["rate"])
        for name, values in rates.items():
            middle = statistics.median(values)
            print(f"{size:6} B  {name:7} {middle / 1e6:7.3f} M messages/s "
                  f"({min(values) / 1e6:.3f} .. {max(values) / 1e6:.3f}), "
                  f"{middle * size / 1e6:7.0f} MB/s")
        print(f"{size:6} B  Python: {result['batch']:.0f} messages a batch, {resident_at(result)}")


if __name__ == "__main__":
    main()
