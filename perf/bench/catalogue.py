"""The measurements, in the order of the targets."""

import fnmatch
from dataclasses import dataclass
from functools import partial
from typing import Callable

from bench import costs, interfaces, latencies, logs, loops, rates, rdma, topics


SIZES = {"64": 64, "1k": 1024, "10k": 10240}


@dataclass(frozen=True)
class Measurement:
    name: str
    target: str  # in words
    run: Callable  # (session, name) -> Outcome


def sized(prefix, run, targets, words):
    """One measurement per size; run also takes the size and its target."""
    return [Measurement(f"{prefix}_{size}", words.format(target),
                        partial(run, size=SIZES[size], **{target_name: target}))
            for size, (target_name, target) in targets.items()]


def shares(**targets):
    return {size.removeprefix("b"): ("share", share) for size, share in targets.items()}


ALL = [
    *sized("shm_all", rates.shm_all, shares(b64=0.6, b1k=0.8, b10k=0.9),
           "3 members, all send, every byte touched: >= {} of the bare shared-table loop"),
    *sized("shm_header", rates.shm_header, {"64": ("times", 4), "1k": ("times", 3)},
           "the same, headers read: >= {} times Aeron's shared log on one host"),
    *sized("shm_one", rates.shm_one, shares(b64=0.6, b1k=0.8, b10k=0.8),
           "2 members, one sends: >= {} of a plain ring between two processes"),
    Measurement("c_interface", "3 members, all send: a program in C >= 0.98 of the same in C++",
                interfaces.c_interface),
    Measurement("window_choice", "the rates of shm_all over windows of 256K to 16M",
                rates.window_choice),
    Measurement("shm_readers", "2 to 8 members, one sends: processor time per delivery <= 1.2",
                costs.shm_readers),
    Measurement("shm_latency_pair", "2 members that spin, one per core: <= 8 cache-line hops",
                latencies.shm_latency_pair),
    Measurement("shm_latency_threads", "2 members with threads of their own: <= 5 us",
                latencies.shm_latency_threads),
    Measurement("shm_latency_three", "3 members, default idling: <= 10 us",
                latencies.shm_latency_three),
    Measurement("shm_latency_asleep", "all asleep: <= 1.5 wake-ups per direction",
                latencies.shm_latency_asleep),
    *sized("tcp_all", rates.tcp_all, shares(b64=0.3, b1k=0.6, b10k=0.6),
           "3 members, all send: >= {} of the bytes of raw TCP fan-out"),
    *sized("ofi_all", rates.ofi_all, shares(b1k=0.6, b10k=0.6),
           "3 members, all send, libfabric's tcp: >= {} of the bytes of our own tcp"),
    Measurement("loop_latency", "an epoll or Asio loop takes, 500/s: <= 1.3 of the node's thread",
                loops.loop_latency),
    Measurement("loop_idle", "node and loop at rest: <= 1 % of a core", loops.loop_idle),
    Measurement("tcp_latency", "3 members, one sends 500/s: <= 2.5 round trips of raw TCP",
                latencies.tcp_latency),
    Measurement("rdma", "SoftRoCE: push of 8 bytes <= 1.25 of ib_write_lat, 10 KB among 3 >= 0.7 of "
                "ib_write_bw", rdma.rdma),
    *sized("log", logs.log_batches, shares(b64=0.7, b1k=0.7, b10k=0.7),
           "the durable log, batches of 1 MB: >= {} of the bytes of write and fdatasync"),
    Measurement("log_one", "one durable record: <= 1.3 times a write and fdatasync", logs.log_one),
    Measurement("nulls_one_active", "one of 3 senders is active: >= 0.9 of one declared sender",
                costs.nulls_one_active),
    Measurement("nulls_pausing", "one of 3 senders pauses: the others keep >= 0.9 of their rate",
                costs.nulls_pausing),
    *(Measurement(f"topic_{senders}_{size}", f"3 members, {senders} may send: an atomic topic <= 1.05 of "
                  "the processor time of its group",
                  partial(topics.topic, size=count, senders=senders))
      for senders in ("one", "all") for size, count in SIZES.items()),
    Measurement("topic_quiet", "1,000 quiet topics beside: >= 0.97 of the rate",
                topics.topic_quiet),
    Measurement("idle", "at most 1 % of a core per member, no pushes, no nulls, heartbeats only",
                costs.idle),
    Measurement("silent_group", "a silent group beside: >= 0.98 of the rate", costs.silent_group),
]


def choose(patterns):
    """The measurements whose names match one of the comma-separated names or patterns (shm_*);
    raises ValueError."""
    chosen = set()
    for pattern in patterns.split(","):
        names = fnmatch.filter([measurement.name for measurement in ALL], pattern)
        if not names:
            known = ", ".join(measurement.name for measurement in ALL)
            raise ValueError(f"'{pattern}' is none of {known}")
        chosen.update(names)
    return [measurement for measurement in ALL if measurement.name in chosen]
