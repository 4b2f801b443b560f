#!/usr/bin/env python3
"""What Tutti adds to RDMA: ratios to perftest's programs on the same devices.

Questions: how long does a push of 8 bytes through our fabric take, against ib_write_lat (64 bytes)?
How many bytes does a multicast of 10 KB among 3 members, all of which send, move over the links,
against ib_write_bw? Targets: at most 1.25, at least 0.7.
Set-up: three devices of one host, in a guest with SoftRoCE (tests/softroce/guest.sh) with two
emulated processors, unless --here says that this host has them. Each figure is measured RUNS times,
ours and theirs in turn; the median of the ratios counts. In a guest the ratios mean something, the
figures do not.
Unit: ns for latencies, MB/s for bandwidths: of all links together.

Command: perf/rdma.py after ./dev build; also the row `rdma` of ./dev bench. Needs the packages of
[softroce] and [rdma-bench].
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUEST = ROOT / "tests" / "softroce" / "guest.sh"
LATENCY_ROUNDS = 5000
BANDWIDTH_BYTES = 65536
SECONDS = 120  # a watchdog


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, text=True, timeout=SECONDS)
    return done.stdout


def device_of(address):
    """The options that name the device and the GID with that IPv4 address."""
    parts = [int(part) for part in address.split(".")]
    ending = "ffff:{:02x}{:02x}:{:02x}{:02x}".format(*parts)
    for gid in Path("/sys/class/infiniband").glob("*/ports/1/gids/*"):
        try:
            if gid.read_text(encoding="ascii").strip().endswith(ending):
                return ["-d", gid.parts[4], "-x", gid.name]
        except OSError:  # an entry that is not used
            pass
    raise SystemExit(f"no RDMA device has the address {address}")


def perftest(program, addresses, *options):
    """A server at the second address, a client at the first; the numbers of its table's line."""
    common = [program, "-F", *options]
    with subprocess.Popen([*common, *device_of(addresses[1])],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while True:  # until the server listens
                client = subprocess.run([*common, *device_of(addresses[0]), addresses[1]],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        timeout=SECONDS, check=False)
                if client.returncode == 0:
                    lines = [line.split() for line in client.stdout.splitlines()]
                    return next([float(word) for word in line] for line in lines
                                if line and line[0] == options[1])
                if server.poll() is not None:
                    raise SystemExit(f"{program} failed: {client.stderr}")
        finally:
            server.kill()


def latency(addresses, programs):
    # Bytes, rounds, least, most, typical (the median): one way, in us.
    theirs = 1000 * perftest("ib_write_lat", addresses, "-s", "64", "-n", str(LATENCY_ROUNDS))[4]
    ours = json.loads(run([programs / "push_round_trip", *addresses[:2], LATENCY_ROUNDS]))["p50"]
    return ours, theirs


def bandwidth(addresses, programs):
    """Ours: what the two others sent, at each of the three. Theirs goes over one link, with nothing
    else on the processors: the same that the six links of ours have to share."""
    # Bytes, rounds, peak, average: in MiB/s.
    theirs = 1.048576 * perftest("ib_write_bw", addresses, "-s", str(BANDWIDTH_BYTES), "-n",
                                 "1000")[3]
    result = json.loads(run([programs / "tutti", "perf", "multicast", "--members", 3, "--fabric",
                             "verbs", "--size", "10K", "--seconds", 3, "--json", "-"]))
    ours = result["delivered_bytes_per_second"] * 2 / 3 * 3 / 1e6
    return ours, theirs


def report(name, pairs, meets):
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    ratio = statistics.median(ratios)
    ours, theirs = (statistics.median(figures) for figures in zip(*pairs))
    verdict = "met" if meets(ratio) else "NOT MET"
    print(f"{name:36} ours {ours:10.0f}  theirs {theirs:10.0f}  ratio {ratio:.2f} "
          f"({ratios[0]:.2f}..{ratios[-1]:.2f})  {verdict}")


def run_in_guest(options):
    command = [str(GUEST), "-c", "2", "-t", "1800", "--", sys.executable, __file__, "--here",
               *sys.argv[1:]]
    if not options.json:
        os.execv(GUEST, command)
    # The guest's kernel may have its say in between.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    objects = [line for line in done.stdout.splitlines() if line.startswith("{")]
    print(objects[-1] if objects else done.stdout)
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="on this host's devices")
    parser.add_argument("--addresses", default="10.9.0.1,10.9.0.2",
                        help="of two devices (default: the guest's)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true",
                        help="print all pairs, ours and theirs, as one JSON object")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "release" / "bin")
    options = parser.parse_args()
    if not options.here:
        return run_in_guest(options)
    addresses = options.addresses.split(",")
    latencies = [latency(addresses, options.programs) for _ in range(options.runs)]
    bandwidths = [bandwidth(addresses, options.programs) for _ in range(options.runs)]
    if options.json:
        print(json.dumps({"latency_ns": latencies, "mb_per_second": bandwidths}))
        return 0
    report("one way of a push of 8 bytes, ns", latencies, lambda ratio: ratio <= 1.25)
    report("multicast of 10 KB among 3, MB/s", bandwidths, lambda ratio: ratio >= 0.7)
    return 0


if __name__ == "__main__":
    sys.exit(main())
