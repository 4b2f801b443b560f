"""The results of many rounds on one fabric with the same number of members, and a table of all."""

from dataclasses import asdict, dataclass, field

from fire.failures import Hang, Violation
from fire.times import distribution, failovers, joins

FORMAT = "{:<6} {:>7} {:>6} {:>6} {:>6} {:>10} {:>5} {:>6} {:>8} {:>8} {:>19} {:>26}"
SLOWEST = 10


@dataclass
class Tally:
    fabric: str
    members: int
    rounds: int = 0
    kills: int = 0
    stops: int = 0
    violations: int = 0
    hangs: int = 0
    failed: int = 0             # in any other way
    removed_unstruck: int = 0   # members that no fault had struck
    groups_lost: int = 0        # because the machine stood still
    failover_s: list = field(default_factory=list)
    join_s: list = field(default_factory=list)
    awake_failover_s: list = field(default_factory=list)  # while no other member stood still
    awake_join_s: list = field(default_factory=list)
    slow: list = field(default_factory=list)  # [seconds, seed, joiner, stopped, said]

    def add(self, fire):
        """Returns the slowest join of the round, or None."""
        self.rounds += 1
        self.kills += len(fire.kills)
        self.stops += fire.stops
        self.removed_unstruck += fire.removed_unstruck
        self.groups_lost += fire.groups_lost
        for took, awake in failovers(fire.kills, fire.lives):
            self.failover_s.append(took)
            if awake:
                self.awake_failover_s.append(took)
        found = joins(fire.lives)
        self.join_s += [join.seconds for join in found]
        self.awake_join_s += [join.seconds for join in found if join.stopped == "nobody"]
        self.slow = slowest(self.slow + [
            [join.seconds, fire.options.seed, join.name, join.stopped, join.said]
            for join in found])
        return max(found, key=lambda join: join.seconds, default=None)

    def add_failure(self, failure):
        """Returns the kind of failure."""
        if isinstance(failure, Violation):
            self.violations += 1
            return "violation"
        if isinstance(failure, Hang):
            self.hangs += 1
            return "hang"
        self.failed += 1
        return "failure"

    def failures(self):
        return self.violations + self.hangs + self.failed

    def too_slow(self, join_p99):
        return bool(join_p99 and self.join_s and distribution(self.join_s)["p99"] > join_p99)

    def line(self):
        return FORMAT.format(
            self.fabric, self.members, self.rounds, self.kills, self.stops, self.violations,
            self.hangs, self.failed, self.removed_unstruck, self.groups_lost,
            seconds(self.failover_s, "p50", "p99"), seconds(self.join_s, "p50", "p99", "max"))

    def to_json(self):
        return asdict(self)


def seconds(samples, *shares):
    found = distribution(samples) if samples else {}
    return " ".join(f"{found[share]:.3f}" if samples else "-" for share in shares)


def table(tallies):
    lines = [FORMAT.format("fabric", "members", "rounds", "kills", "stops", "violations", "hangs",
                           "failed", "unstruck", "disturbed", "failover p50 p99 s",
                           "joins p50 p99 max s")]
    lines += [tally.line() for tally in tallies]
    if len(tallies) > 1:
        lines.append(sum_of(tallies).line())
    total = sum_of(tallies)
    lines += ["", "while no other member was stopped, p50 p99 max s: " + ", ".join(
        f"{len(samples)} {what} {seconds(samples, 'p50', 'p99', 'max')}" for what, samples in (
            ("failovers", total.awake_failover_s), ("joins", total.awake_join_s))),
              "slowest joins, and the last thing the joiner said before it was let in:"]
    lines += [f"  {took:6.3f} s  {tally.fabric} of {tally.members}, seed {seed}, {name} "
              f"({stopped} stopped): {said}"
              for took, seed, name, stopped, said, tally in slowest(
                  [*join, tally] for tally in tallies for join in tally.slow)]
    return "\n".join(lines)


def slowest(found):
    return sorted(found, key=lambda join: join[0], reverse=True)[:SLOWEST]


def sum_of(tallies):
    total = Tally("all", "")
    for tally in tallies:
        for name, value in asdict(tally).items():
            if name not in ("fabric", "members"):
                setattr(total, name, getattr(total, name) + value)
    return total
