"""A network in which each member has its own stack, and whose links can be cut and healed.

Each member has a network namespace, which a small process keeps open, with one end of a veth pair
in it. The other end is plugged into the bridge of its side: members on one bridge reach each other.
Packets between the sides get lost silently, as if a cable was pulled out. Blackhole routes cut a
pair of members, in one direction or both. All of this is inside a user namespace in which this
process is root (`unshare -Urn`), so that it needs no rights and leaves nothing behind.
"""

import subprocess

BRIDGES = ("side0", "side1")
UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--")
PORT = 7000


def why_impossible():
    """Empty if namespaces, bridges and veth pairs can be made here."""
    probe = "ip link add probe0 type bridge && ip link add probe1 type veth peer name probe2"
    try:
        done = subprocess.run([*UNSHARE, "sh", "-c", probe], capture_output=True, text=True,
                              timeout=20, check=False)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or "unshare failed"


def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, timeout=20)


class Network:
    """Must be made inside such a namespace."""

    def __init__(self, names):
        self._index = {name: i for i, name in enumerate(names)}
        self._holders = {}
        self._routes = set()
        for bridge in BRIDGES:
            run("ip", "link", "add", bridge, "type", "bridge")
            run("ip", "link", "set", bridge, "up")
        for name in names:
            self._add(name)

    def _add(self, name):
        holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._holders[name] = holder
        holder.stdout.readline()
        outer, inner = self._outer(name), "eth0"
        run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns",
            str(holder.pid))
        run("ip", "link", "set", outer, "master", BRIDGES[0], "up")
        self._within(name, "ip", "link", "set", "lo", "up")
        self._within(name, "ip", "addr", "add", self.host(name) + "/24", "dev", inner)
        self._within(name, "ip", "link", "set", inner, "up")

    def _outer(self, name):
        return f"veth{self._index[name]}"

    def _within(self, name, *words):
        run(*self.prefix(name), *words)

    def host(self, name):
        return f"10.77.0.{self._index[name] + 1}"

    def addresses(self):
        return ",".join(f"{name}={self.host(name)}:{PORT}" for name in self._index)

    def prefix(self, name):
        """The words that start a command in the member's namespace, in the same process."""
        return ["nsenter", f"--net=/proc/{self._holders[name].pid}/ns/net", "--"]

    def move(self, names, side):
        """Moves them to side 0, where all members begin, or to side 1."""
        for name in names:
            run("ip", "link", "set", self._outer(name), "master", BRIDGES[side])

    def cut_way(self, source, target):
        if (source, target) not in self._routes:
            self._within(source, "ip", "route", "add", "blackhole", self.host(target) + "/32")
            self._routes.add((source, target))

    def heal_way(self, source, target):
        if (source, target) in self._routes:
            self._within(source, "ip", "route", "del", "blackhole", self.host(target) + "/32")
            self._routes.remove((source, target))

    def heal_all(self):
        self.move(self._holders, 0)
        for source, target in list(self._routes):
            self.heal_way(source, target)

    def close(self):
        for link in [*BRIDGES, *(self._outer(name) for name in self._holders)]:
            run("ip", "link", "del", link)
        for holder in self._holders.values():
            holder.stdin.close()
            holder.wait()
            holder.stdout.close()
