"""Members behind links of a fixed rate, on one machine, for what a loopback interface cannot show.

Each member has a network namespace of its own, and a link of that rate, in both directions, to a
switch in another one. What its kernel sends over TCP queues there, as it would at a real network
card. Needs root, and the programs `ip` and `tc`.
"""

import os
import shutil
import subprocess

SWITCH = "tutti-links"
NETWORK = "198.18.77"  # of the addresses that are set aside for measurements [RFC 2544]
BURST = "256kb"        # that leaves at once
QUEUE = "50ms"         # that waits at most


class NoLinks(Exception):
    """Why there are none, and what to do."""


def address(number):
    """Of a member, from 1: the name of its namespace, too."""
    return f"{NETWORK}.{number}"


class Links:
    """A context in which so many members have links of `mbit` Mbit/s; all is gone after it."""

    def __init__(self, members, mbit):
        self._members = members
        self._mbit = mbit
        self._made = []

    def __enter__(self):
        if os.geteuid() != 0:
            raise NoLinks("network namespaces need root: run it with sudo")
        for program in ("ip", "tc"):
            if shutil.which(program) is None:
                raise NoLinks(f"there is no program {program}: install the package iproute2")
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        while self._made:  # with a namespace go its ends of links, and with these the others
            subprocess.run(["ip", "netns", "del", self._made.pop()], check=False)

    def hosts(self, members):
        """Options of `tutti perf multicast` that put one member at each of the first links."""
        return {"hosts": ",".join(address(1 + i) for i in range(members)), "ssh": "ip netns exec"}

    def _make(self):
        self._namespace(SWITCH)
        _run("ip", "-n", SWITCH, "link", "add", "switch", "type", "bridge")
        _run("ip", "-n", SWITCH, "link", "set", "switch", "up")
        for number in range(1, self._members + 1):
            name, port = address(number), f"port{number}"
            self._namespace(name)
            _run("ip", "-n", SWITCH, "link", "add", port, "type", "veth",
                 "peer", "name", "uplink", "netns", name)
            _run("ip", "-n", SWITCH, "link", "set", port, "master", "switch", "up")
            _run("ip", "-n", name, "address", "add", f"{name}/24", "dev", "uplink")
            for interface in ("lo", "uplink"):
                _run("ip", "-n", name, "link", "set", interface, "up")
            for namespace, end in ((SWITCH, port), (name, "uplink")):
                _run("tc", "-n", namespace, "qdisc", "add", "dev", end, "root", "tbf",
                     "rate", f"{self._mbit}mbit", "burst", BURST, "latency", QUEUE)

    def _namespace(self, name):
        _run("ip", "netns", "add", name)
        self._made.append(name)


def _run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        advice = ""
        if "File exists" in done.stderr:
            advice = (". If another run has these links, wait for it; if it was killed, take "
                      f"{SWITCH} and each {NETWORK}.* away: ip netns del NAME")
        raise NoLinks(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}{advice}")
