"""One round starts members, strikes them with faults that a seed draws, heals all, and checks.

The nemesis makes sure that the members which it does not strike are a majority of the newest view,
so the group must go on during the whole round.
"""

import os
import random
import subprocess
import time
from dataclasses import asdict, dataclass

from fire.failures import Failure, GroupLost, Hang, Removed, Violation
from fire.histories import fill_unknown_cuts, write_harness
from fire.member import FireMember
from support import TUTTI, WATCHDOG, free_ports

BOUNDS = ("--view-bound", "20", "--deliver-bound", "20", "--leave-bound", "40")
MORE_MESSAGES = 20  # how many of its own messages each member must deliver after the last fault
SETTLE = 0.4  # seconds
ENDINGS = (("shutdown", 0), ("evicted", 3), ("minority", 3))  # of members that were told to stop
TICK = 0.002
GROUPS_MOST = 5  # groups that may end early in a round
STALL = 0.25  # seconds; after so long without a tick, members may not have run either: it is noted


def offered(levels, order):
    """Levels drawn for groups, as far as the order has them: lcr is atomic by nature."""
    return levels.replace("agreed", "atomic") if order == "lcr" else levels


@dataclass(frozen=True)
class Options:
    """The parameters of a round; its seed draws most of them. Times are in seconds."""

    seed: int
    fabric: str
    partitions: bool
    members: int
    levels: str
    rate: int
    size_max: int
    suspect_after: float
    founders: int
    faults: int
    kinds: tuple
    order: str
    wait_max: float = 1.2  # from one fault to the next
    down_max: float = 1.5  # from the end of a process to its next start

    @staticmethod
    def of(seed, fabric, partitions):
        kinds = ("kill", "kill", "zombie", "pause", "leave")
        if partitions:
            kinds += ("cut", "cut", "cut", "one way")
        draw = random.Random(f"{seed} {fabric} {partitions}")
        members = draw.choice((3, 3, 4, 5))
        levels = draw.choice(["atomic", "atomic", "atomic,atomic", "unordered,atomic", "atomic,agreed"])
        order = draw.choice(("round_robin", "token_ring", "lcr"))
        return Options(
            seed=seed, fabric=fabric, partitions=partitions, members=members,
            levels=offered(levels, order),
            rate=draw.choice((50, 300, 1000, 3000)), size_max=draw.choice((64, 300, 5000)),
            suspect_after=draw.choice((0.4, 0.6, 0.8)),
            founders=draw.choice((0, members // 2 + 1)), faults=draw.randint(4, 7), kinds=kinds,
            order=order)

    def __str__(self):
        return " ".join(f"{name}={value}" for name, value in asdict(self).items())


@dataclass(frozen=True)
class Kill:
    """The kill of one member, and the FireMembers that no fault had struck then."""

    name: str
    incarnation: int
    time_ns: int
    survivors: list


class Round:
    def __init__(self, options, folder, network=None):
        self.options = options
        self.folder = folder
        self.names = [chr(ord("a") + i) for i in range(options.members)]
        self.log = []
        self.lives = []       # all that ever ran
        self.kills = []
        self.stops = 0
        self.groups_lost = 0  # because the machine stood still
        self.removed_unstruck = 0
        self._healed = False  # no fault lasts, and none follows
        self._network = network
        self._random = random.Random(options.seed)
        self._addresses = network.addresses() if network else ",".join(
            f"{name}=127.0.0.1:{port}"
            for name, port in zip(self.names, free_ports(len(self.names))))
        self._members = {}    # name -> the FireMember that runs, or ran last
        self._lives = []      # all that have run in this group
        self._faulty = {}     # name -> its fault
        self._due = []        # (time, action)
        self._begin = self._last_tick = time.monotonic()
        self._stall = 0.0     # the longest time between two ticks
        self._faults_left = options.faults
        self._starts = dict.fromkeys(self.names, 0)

    # What the nemesis does.

    def run(self):
        """Returns how many views and deliveries there were, or raises Failure."""
        try:
            while True:
                try:
                    return self._run()
                except GroupLost as lost:
                    self._bury(lost)
        except subprocess.SubprocessError as error:
            raise Failure(str(error)) from error
        finally:
            for member in self.lives:
                member.clean_up()

    def _run(self):
        for name in self.names:
            self._start(name, join=False)
        self._wait(self._whole, "all members are in one first view")
        while self._faults_left > 0:
            self._wait_for(self._random.uniform(0.0, self.options.wait_max))
            self._strike()
            self._faults_left -= 1
        self._heal()
        core = self._wait(self._whole, "all members are in one view after the last fault")
        self._healed = True
        sent = self._counts()
        healed_ns = time.monotonic_ns()
        self._note(f"healed: view {core.number} of {len(core.members)}")
        self._wait(lambda: all(
            own >= before[0] + MORE_MESSAGES for (_, own, _), before
            in zip(self._counts(), sent)), "messages of all are delivered after the last fault")
        deliveries = sum(count[2] for count in self._counts())
        self._stop_all()
        self._check(healed_ns, core)
        return core.number, deliveries

    def _bury(self, lost):
        """If the machine stands still, members suspect others that the nemesis has not struck. If
        that costs the majority, the group ends, as it must; if it is after the last fault, there is
        no core that all must agree with. The nemesis checks what the group delivered, and strikes a
        new group with the remaining faults."""
        if not self._is_disturbed(lost) or self.groups_lost == GROUPS_MOST:
            raise lost
        self._check()
        self.groups_lost += 1
        self._note(f"{lost}\nthe machine stood still for {self._stall:.2f} s: a new group")
        if self._network:
            self._network.heal_all()
        self._members, self._lives, self._faulty, self._due = {}, [], {}, []
        self._stall, self._last_tick, self._healed = 0.0, time.monotonic(), False

    def _start(self, name, join=True):
        options = self.options
        life = self._starts[name]
        self._starts[name] += 1
        arguments = ["--members", self._addresses, "--fabric", self._fabric_of(name), "--levels",
                     options.levels, "--order", options.order, "--rate", options.rate, "--size-max", options.size_max,
                     "--suspect-after", options.suspect_after, "--founders", options.founders,
                     "--seed", options.seed * 1000 + sum(self._starts.values()), "--history",
                     os.path.join(self.folder, f"{name}.{life}.history")]
        prefix = self._network.prefix(name) if self._network else ()
        member = FireMember(name, life, arguments + ["--join"] * join, self.folder, prefix)
        self._members[name] = member
        self._lives.append(member)
        self.lives.append(member)
        self._faulty[name] = "starts"

    def _fabric_of(self, name):
        """If mixed, some members share memory with each other, and reach the others over TCP."""
        if self.options.fabric != "mixed":
            return self.options.fabric
        return "tcp" if sorted(self._starts).index(name) % 2 else "auto"

    def _strike(self):
        kind = self._random.choice(self.options.kinds)
        count = self._random.choice((1, 1, 1, 2))
        if kind == "one way":
            count = 2  # the others decide which of the two they remove
        victims = self._wait(lambda: self._victims(count) or
                             (not self._faulty and self._victims(1)), "there are members to spare")
        if kind == "one way" and len(victims) < 2:
            kind = "cut"
        self._note(f"{kind} {','.join(victims)}")
        now_ns = time.monotonic_ns()
        for name in victims:
            self._faulty[name] = kind
            self._members[name].struck_ns.append(now_ns)
        lasts = self.options.suspect_after * (
            self._random.uniform(0.05, 0.4) if kind == "pause" else self._random.uniform(0.6, 3.5))
        self._begin_fault(kind, victims, lasts)

    def _begin_fault(self, kind, victims, lasts):
        if kind == "cut":
            self._network.move(victims, 1)
            return self._later(lasts, lambda: self._mend(victims, lambda: self._network.move(
                victims, 0)))
        if kind == "one way":
            self._network.cut_way(*victims)
            return self._later(lasts, lambda: self._mend(victims, lambda: self._network.heal_way(
                *victims)))
        newest = self._newest().members
        for name in victims:
            member = self._members[name]
            if kind == "kill":
                if name in newest:  # else a view that came meanwhile was without it
                    self.kills.append(Kill(name, newest[name], time.monotonic_ns(), [
                        other for other in self._members.values()
                        if other.name not in self._faulty]))
                member.kill()
            elif kind == "leave":
                member.tell("leave")
            else:
                self.stops += 1
                member.pause()
                self._later(lasts, lambda name=name, member=member: self._mend(
                    [name], member.go_on))
        return None

    def _mend(self, victims, action):
        self._note(f"mended {','.join(victims)}")
        action()
        for name in victims:
            if self._faulty[name] not in ("down", "starts"):
                self._faulty[name] = "mended"
        # The others may be removing it right now.
        self._later(SETTLE, lambda: self._settle(victims))

    def _settle(self, victims):
        for name in victims:
            if self._faulty.get(name) == "mended":
                self._faulty[name] = "settled"

    def _heal(self):
        """Ends all faults that would end later, and starts members that are down."""
        self._note("heals")
        due, self._due = sorted(self._due, key=lambda due: due[0]), []
        for _, action in due:
            action()

    def _stop_all(self):
        for member in self._members.values():
            member.tell("stop")
        self._wait(lambda: all(not member.running() for member in self._members.values()),
                   "all members stop", ends=True)
        members = self._members.values()
        for member in members:
            if (member.ending, member.process.returncode) not in ENDINGS:
                raise Failure(f"{member.name} ended with {member.process.returncode}: "
                              f"{member.said()}")
        for member in members:
            if member.process.returncode != 0:
                self._note_removed(member)

    def _check(self, healed_ns=0, core=None):
        """Without a core, checks only what holds in a run that may end at any time."""
        for member in self._lives:
            member.clean_up()
        files = [member.history for member in self._lives if os.path.exists(member.history)]
        fill_unknown_cuts(files)
        if core:
            nemesis = os.path.join(self.folder, "nemesis.history")
            write_harness(nemesis, healed_ns, [(self.names.index(name), incarnation)
                                               for name, incarnation in core.members.items()])
            files = [*BOUNDS, nemesis, *files]
        one_service = ["--one-service"] * (self.options.order != "token_ring")
        done = subprocess.run([TUTTI, "check", *one_service, *files], capture_output=True, text=True,
                              timeout=WATCHDOG, check=False)
        self._note(done.stdout.split("\n", 1)[0])
        if done.returncode != 0:
            raise Violation(done.stdout + done.stderr)

    # The state of the group.

    def _newest(self):
        return max((member.view for member in self._members.values()), key=lambda v: v.number)

    def _victims(self, count):
        """Members to strike now, so that the rest of the newest view is still a majority of it."""
        newest = self._newest()
        fit = [name for name in self.names if name in newest.members and name not in self._faulty]
        if len(newest.members) - len(fit) + count > (len(newest.members) - 1) // 2:
            return None
        return self._random.sample(fit, count)

    def _whole(self):
        """The view, if all members run and are in one view that contains all of them."""
        views = [member.view for member in self._members.values()]
        same = all(view.number == views[0].number for view in views)
        return views[0] if same and not self._faulty and len(views[0].members) == len(
            self.names) else None

    def _counts(self):
        members = [self._members[name] for name in self.names]
        for member in members:
            member.count = None
            member.tell("count")
        self._wait(lambda: all(member.count for member in members), "all members answer")
        return [member.count for member in members]

    def _is_disturbed(self, lost):
        """Whether members stopped in a minority, or were removed late, and a stall of the machine
        explains it."""
        stopped = isinstance(lost, Removed) or any(
            life.ending == "minority" for life in self._lives)
        corrupt = any("corrupt" in life.said() for life in self._lives)
        return stopped and not corrupt and self._stall > self.options.suspect_after / 8

    # Time.

    def _note(self, what):
        self.log.append(f"{time.monotonic() - self._begin:7.3f} {what}")

    def _later(self, seconds, action):
        self._due.append((time.monotonic() + seconds, action))

    def _wait_for(self, seconds):
        end = time.monotonic() + seconds
        self._wait(lambda: time.monotonic() >= end, "time goes by")

    def _wait(self, condition, what, ends=False):
        deadline = time.monotonic() + WATCHDOG
        while True:
            self._note_stall()
            if not ends:
                self._tick()
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Hang(f"waited in vain: {what}; {self._state()}")
            time.sleep(TICK)

    def _note_stall(self):
        now = time.monotonic()
        stall, self._last_tick = now - self._last_tick, now
        self._stall = max(self._stall, stall)
        if stall > STALL:
            self._note(f"the machine stood still for {stall:.2f} s")

    def _tick(self):
        now = time.monotonic()
        for due in [due for due in self._due if due[0] <= now]:
            self._due.remove(due)
            due[1]()
        newest = self._newest()
        for name, member in list(self._members.items()):
            state = self._faulty.get(name)
            if not member.running():
                self._ended(name, member)
            elif state in ("starts", "settled") and name in newest.members and \
                    member.view.number == newest.number:
                del self._faulty[name]
        if newest.number > 0 and not any(
                member.running() and member.view.number > 0 for member in self._members.values()):
            raise GroupLost("nobody is left in a view: " + self._state())

    def _ended(self, name, member):
        if self._faulty.get(name) == "down":
            return
        status = member.process.returncode
        if status not in (-9, 0, 3) or (status == 0) != (member.ending == "left"):
            raise Failure(f"{name} ended with {status}: {member.said()}")
        self._note(f"{name} is down: {member.ending or 'killed'}")
        if name not in self._faulty and (self._healed or member.ending == "evicted"):
            self._note_removed(member)
        self._faulty[name] = "down"
        self._later(self._random.uniform(0.0, self.options.down_max), lambda: self._start(name))

    def _note_removed(self, member):
        """Over TCP a member that is removed may only see that all others go."""
        self.removed_unstruck += 1
        if member.ending != "evicted" and "majority" not in member.said():
            raise Failure(f"{member.name} failed: {member.said()}")
        if self._healed:
            raise Removed(f"{member.name} was removed after the last fault: {self._state()}")

    def _state(self):
        return "; ".join(
            f"{name}: {self._faulty.get(name, 'fit')}, view {member.view.number} of "
            f"{','.join(member.view.members)}" for name, member in self._members.items())
