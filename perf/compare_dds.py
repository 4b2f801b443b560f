#!/usr/bin/env python3
"""Topics beside Cyclone DDS and iceoryx2, where these are installed.

Question: how many samples a second does each reader get? Set-up: on this host, processes: one that
writes and two that read. Tutti: atomic topics over shared memory, so the writer reads, too. Cyclone
DDS: ddsperf, reliable, keep-all, over loopback, without shared memory. iceoryx2: publish-subscribe
in shared memory by its Python package, so that Python's calls bound it; a publisher that finds a full
subscriber waits. The two others order nothing between writers. Unit: samples per second at a reader;
the median of the repetitions, which take turns.

Command: perf/compare_dds.py [--sizes 64,1024,10240] [--runs 5] [--seconds 2]
         ddsperf: Debian's cyclonedds-tools; iceoryx2: pip install iceoryx2
"""

import argparse
import ctypes
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from bench.arguments import PROGRAMS_DEFAULT, duration, whole  # noqa: E402

READERS = 2
GRACE_SECONDS = 60
LOOPBACK = ("<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='lo'/></Interfaces>"
            "</General></Domain></CycloneDDS>")
SERVICE = "tutti-compare"


def sizes(text):
    found = [int(word) for word in text.split(",") if word.isdigit() and 8 <= int(word) <= 1 << 20]
    if len(found) != text.count(",") + 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of sizes of 8 to 1048576 bytes")
    return found


def tutti(programs, size, seconds):
    command = [os.path.join(programs, "tutti"), "perf", "topic", "--fabric", "shm", "--senders", "one",
               "--size", str(size), "--touch", "header", "--seconds", str(seconds), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          timeout=seconds + GRACE_SECONDS)
    return json.loads(done.stdout)["delivered_messages_per_second"]


def cyclone(_programs, size, seconds):
    """ddsperf tells the rate each second; the first is left out."""
    environment = {**os.environ, "CYCLONEDDS_URI": LOOPBACK}
    length = ["-D", str(round(seconds) + 2)]
    readers = [subprocess.Popen(["ddsperf", *length, "-k", "all", "sub"], env=environment, text=True,
                                stdout=subprocess.PIPE) for _ in range(READERS)]
    try:
        subprocess.run(["ddsperf", *length, "-k", "all", "pub", "size", str(size)], env=environment,
                       check=True, stdout=subprocess.DEVNULL, timeout=seconds + GRACE_SECONDS)
        said = [reader.communicate(timeout=GRACE_SECONDS)[0] for reader in readers]
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
    rates = [[float(rate) * 1e3 for rate in re.findall(r"rate\s+([0-9.]+)\s*kS/s", text)][1:]
             for text in said]
    if not all(rates):
        raise RuntimeError("ddsperf told no rate; it said: " + said[0][-300:])
    return statistics.mean(statistics.median(each) for each in rates)


def payload_of(size):
    return type("Payload", (ctypes.Structure,), {"_fields_": [("bytes", ctypes.c_uint8 * size)]})


def service_of(iox2, node, payload):
    return (node.service_builder(iox2.ServiceName.new(SERVICE)).publish_subscribe(payload)
            .enable_safe_overflow(False).subscriber_max_buffer_size(256).open_or_create())


def read_iceoryx(size, seconds, ready, rates):
    import iceoryx2 as iox2
    node = iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)
    reader = service_of(iox2, node, payload_of(size)).subscriber_builder().create()
    ready.wait()
    count = 0
    begin = end = time.monotonic()
    while end - begin < seconds:
        for _ in range(256):
            sample = reader.receive()
            if sample is None:
                os.sched_yield()
                break
            count += sample.payload().contents.bytes[0]
            sample.delete()
        end = time.monotonic()
    rates.put(count / (end - begin))


def write_iceoryx(size, ready):
    import iceoryx2 as iox2
    node = iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)
    payload = payload_of(size)
    value = payload()
    value.bytes[0] = 1
    writer = (service_of(iox2, node, payload).publisher_builder()
              .backpressure_strategy(iox2.BackpressureStrategy.RetryUntilDelivered).create())
    ready.wait()
    while True:
        writer.loan_uninit().write_payload(value).send()


def iceoryx(_programs, size, seconds):
    ready = multiprocessing.Barrier(READERS + 1)
    rates = multiprocessing.Queue()
    members = [multiprocessing.Process(target=read_iceoryx, args=(size, seconds, ready, rates),
                                       daemon=True) for _ in range(READERS)]
    members.append(multiprocessing.Process(target=write_iceoryx, args=(size, ready), daemon=True))
    for member in members:
        member.start()
    try:
        return statistics.mean(rates.get(timeout=seconds + GRACE_SECONDS) for _ in range(READERS))
    finally:
        for member in members:
            member.kill()
            member.join()


def main():
    parser = argparse.ArgumentParser(prog="compare_dds", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=sizes, default=[64, 1024, 10240], metavar="N[,N]",
                        help="bytes of a sample (default 64,1024,10240)")
    parser.add_argument("--runs", type=whole, default=5, metavar="N", help="repetitions (default 5)")
    parser.add_argument("--seconds", type=duration, default=2, metavar="S",
                        help="measured time of each run (default 2)")
    parser.add_argument("--programs", default=PROGRAMS_DEFAULT, metavar="DIR",
                        help="where tutti is (default build/release/bin)")
    arguments = parser.parse_args()
    ways = {"tutti": tutti}
    if shutil.which("ddsperf"):
        ways["cyclonedds"] = cyclone
    else:
        print("Cyclone DDS is left out: no ddsperf; on Debian: apt-get install cyclonedds-tools")
    if importlib.util.find_spec("iceoryx2"):
        ways["iceoryx2"] = iceoryx
    else:
        print("iceoryx2 is left out: this Python has no such package; pip install iceoryx2")
    for size in arguments.sizes:
        rates = {way: [] for way in ways}
        for _ in range(arguments.runs):
            for way, measure in ways.items():
                rates[way].append(measure(arguments.programs, size, arguments.seconds))
        line = {"bytes": size}
        for way, found in rates.items():
            line[way] = round(statistics.median(found))
            if way != "tutti":
                ratios = [own / other for own, other in zip(rates["tutti"], found, strict=True)]
                line[f"tutti:{way}"] = round(statistics.median(ratios), 2)
        print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
