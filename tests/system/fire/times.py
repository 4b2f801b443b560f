"""How long groups under fire stood still and joiners waited, from what the members printed."""

from dataclasses import dataclass

SHARES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))


def distribution(samples):
    ordered = sorted(samples)
    return {name: ordered[max(0, -int(-share * len(ordered) // 1) - 1)] for name, share in SHARES}


def failovers(kills, lives):
    """(seconds from a kill to a survivor's first delivery in a view without the victim, whether no
    member stood still meanwhile), for each kill and survivor."""
    found = []
    for kill in kills:
        for member in kill.survivors:
            delivered_ns = next_delivery_ns(member, kill)
            # If a fault strikes the survivor meanwhile, the delay may not come from the kill.
            if delivered_ns and not any(kill.time_ns <= struck_ns <= delivered_ns
                                        for struck_ns in member.struck_ns):
                found.append(((delivered_ns - kill.time_ns) / 1e9,
                              not any(other.stood_still(kill.time_ns, delivered_ns)
                                      for other in lives)))
    return found


def next_delivery_ns(member, kill):
    """None if that member was not in a view with the victim, or delivered nothing after it."""
    met = False
    for view in member.views:
        if view.members.get(kill.name) == kill.incarnation:
            met = True
        elif met and view.number in member.first:
            return member.first[view.number]
    return None


@dataclass(frozen=True)
class Join:
    """The join of a restarted member, from the start of its process to its first view."""

    seconds: float
    name: str
    history: str
    said: str     # the last line before it was admitted
    stopped: str  # the other members that stood still at some time meanwhile


def joins(lives):
    return [join_of(member, lives) for member in lives if member.joins and member.views]


def join_of(member, lives):
    begin_ns, end_ns = member.started_ns, member.views[0].time_ns
    stopped = {other.name for other in lives
               if other is not member and other.stood_still(begin_ns, end_ns)}
    return Join((end_ns - begin_ns) / 1e9, member.name, member.history,
                last_said(member.said(), end_ns / 1e9), ",".join(sorted(stopped)) or "nobody")


def last_said(text, before):
    """The last line that the member logged before that time. If any say what it was waiting for,
    the last of those."""
    lines = []
    for line in text.splitlines():
        stamp, _, words = line.partition(" ")
        try:
            if float(stamp) > before:
                break
            lines.append(words)
        except ValueError:
            lines.append(line)
    waits = [line for line in lines if "waiting" in line]
    return (waits or lines or ["nothing"])[-1]
