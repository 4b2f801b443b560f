"""What models/check.py runs of view_change.pml.

Name, sizes (-D); a planted mistake also names the property that must fail.
"""

DEPTH = 500

EDGE = "N=5 SENDERS=1 PLACES=2 AGREED=1 EDGE=1 DARK=0 FINE=0"

CORRECT = [
    ("3 members, 2 senders", "CRASHES=1 FALSE_SUSPICIONS=1"),
    ("3, two failures more", "SENDERS=1 CRASHES=2 FALSE_SUSPICIONS=1 FINE=0"),
    ("3, rounds with a null", "PLACES=2 NULLS=2 CRASHES=0 FALSE_SUSPICIONS=1 DARK=0 FINE=0"),
    ("3, a join", "SENDERS=1 CHANGE=1 FINE=0"),
    ("3, the leader leaves", "SENDERS=1 CHANGE=2 LEAVER=0 FINE=0"),
    ("3, another leaves", "SENDERS=1 CHANGE=2 LEAVER=2 FINE=0"),
    ("3, the suspected stop", "IN_RETURN=2 FINE=0"),
    ("3, the suspected go on", "IN_RETURN=0 FINE=0"),
    ("3, a broken link", "SENDERS=0 CRASHES=0 LINK=1 IN_RETURN=2 PROGRESS=1"),
    ("4, one sender, a crash", "N=4 SENDERS=1 FALSE_SUSPICIONS=0"),
    ("5, leader and successor crash", "N=5 SENDERS=0 CRASHES=2 FALSE_SUSPICIONS=0 DARK=0"),
    ("5, one false suspicion", "N=5 SENDERS=0 CRASHES=0 DARK=0 IN_RETURN=2 PROGRESS=1"),
    ("5, any quorums", "N=5 SENDERS=0 CRASHES=0 FALSE_SUSPICIONS=0 DARK=0 CHANGE=1 ANY_QUORUM=1"),
    ("agreed: 3 members", "SENDERS=1 PLACES=2 AGREED=1 DARK=0 FINE=0"),
    ("agreed: 3, 2 senders", "AGREED=1 DARK=0 FINE=0"),
    ("agreed: 3, another leaves", "SENDERS=1 CHANGE=2 LEAVER=2 AGREED=1 DARK=0 FINE=0"),
    ("agreed: 5 at the edge", f"{EDGE} IN_RETURN=0"),
    ("agreed: 5 at the edge, a crash", f"{EDGE} CRASHES=2 FALSE_SUSPICIONS=0"),
]
FULL = [
    ("full: 3, two false suspicions", "SENDERS=1 FALSE_SUSPICIONS=2 FINE=0"),
    ("full: 3, rounds, a crash", "PLACES=2 NULLS=2 CRASHES=1 FALSE_SUSPICIONS=0 FINE=0"),
    ("full: 4, one sender", "N=4 SENDERS=1 DARK=0 FINE=0"),
    ("full: 5, two crashes, rows lost", "N=5 SENDERS=0 CRASHES=2 FALSE_SUSPICIONS=0"),
    ("full: agreed, rows lost", "SENDERS=1 PLACES=2 AGREED=1 FINE=0"),
    ("full: agreed, 5 at the edge", f"{EDGE} CRASHES=2 IN_RETURN=0"),
    ("full: 5, a broken link", "N=5 SENDERS=0 CRASHES=0 LINK=1 DARK=0 IN_RETURN=2 PROGRESS=1"),
]
BROKEN = [
    ("IGNORES_ACCEPTED", "agreement", "DARK=0"),
    ("TAKES_LOWEST_BALLOT", "agreement", "N=5 SENDERS=0 DARK=0 CHANGE=1 ANY_QUORUM=1"),
    ("NO_PROMISE", "agreement", "DARK=0"),
    ("ACCEPTED_BEFORE_PROMISE", "agreement", "DARK=0"),
    ("RECEIVES_WEDGED", "uniform", "DARK=0"),
    ("RECEIVED_BEFORE_WEDGED", "uniform", "DARK=0"),
    ("NO_WEDGE_WAIT", "has_the_cut", "DARK=0"),
    ("CUT_MAXIMUM", "has_the_cut", "DARK=0"),
    ("MINORITY_DECIDES", "agreement", "DARK=0"),
    ("MAJORITY_OF_UNSUSPECTED", "majority_rule", "DARK=0"),
    ("ACCEPTS_SUSPECTED", "agreement", "DARK=0"),
    ("LEARNS_FLAG", "agreement", "DARK=0"),
    ("STABLE_UNSUSPECTED", "uniform", "DARK=0"),
    ("SILENT_EVICTED", "no_deadlock", "DARK=1"),
    ("PROPOSES_UNSETTLED", "has_the_cut", EDGE),
    ("AWAITS_SUSPECTED", "no_deadlock", EDGE),
    ("CUT_MINIMUM", "uniform", EDGE),
    ("DELIVERS_WEDGED", "uniform", EDGE),
    ("LEADER_PASSES", "no_deadlock", f"{EDGE} CRASHES=2"),
    ("GUARD_BEFORE_BYTES", "has_bytes", EDGE),
    ("GUARD_STAYS", "has_bytes", EDGE),
    ("LOOKS_ONCE", "has_bytes", EDGE),
]
# Not a mistake in what is agreed, but what it costs: docs/protocol.md.
COSTLY = [
    ("5, suspecting in return spreads", "somebody_goes_on",
     "N=5 SENDERS=0 CRASHES=0 DARK=0 IN_RETURN=1 PROGRESS=1"),
    ("4, a broken link stops all", "somebody_goes_on",
     "N=4 SENDERS=0 CRASHES=0 DARK=0 LINK=1 IN_RETURN=2 PROGRESS=1"),
    ("agreed: the evicted may be ahead", "uniform", EDGE.replace("AGREED=1", "AGREED=2")),
]
