"""What models/check.py runs of chain_cut.pml.

Name, sizes (-D); a planted mistake also names the property that must fail.
"""

DEPTH = 500

TWO = "SENDERS=2 ROUNDS=2"

CORRECT = [
    ("3 members, one round", "ROUNDS=1"),
    ("3, one sender, 3 rounds", "SENDERS=1 FIRST=1 ROUNDS=3"),
    ("3, 2 senders, 1 and 2", f"{TWO} FIRST=1"),
    ("3, a join", "SENDERS=2 ROUNDS=1 FIRST=1 JOIN=1"),
    ("3, a false suspicion", "SENDERS=2 ROUNDS=1 CRASHES=0 FALSE_SUSPICIONS=1"),
    # What that condition of LC2 is not needed for: docs/chain-model.md.
    ("3, a later round loses nothing",
     "SENDERS=2 ROUNDS=1 FIRST=1 JOIN=1 EXACT=0 BROKEN=LATER_ROUND"),
]
FULL = [
    ("full: 3, 2 senders, 0 and 1", TWO),
    ("full: 4, one sender", "N=4 SENDERS=1 FIRST=1"),
    ("full: 4, 2 senders, a join", "N=4 SENDERS=2 FIRST=1 ROUNDS=1 JOIN=1"),
    ("full: 5, two crashes", "N=5 SENDERS=1 FIRST=2 ROUNDS=1 CRASHES=2"),
    ("full: 3, a false suspicion", "ROUNDS=1 CRASHES=0 FALSE_SUSPICIONS=1"),
]
BROKEN = [
    ("BEFORE_GAP", "uniform", f"{TWO} FIRST=1 EXACT=0"),
    ("ENDS_AT_NULL", "uniform", f"{TWO} FIRST=1 EXACT=0"),
    ("LATER_ROUND", "first_lacked", "SENDERS=2 FIRST=1 ROUNDS=1 JOIN=1"),
    ("UNTOLD_IS_NONE", "first_lacked", "ROUNDS=1"),
    ("LEADER_LOOKS", "first_lacked", "ROUNDS=1"),
    ("TOLD_ONCE", "change_ends", "ROUNDS=1"),
    ("TOLD_OF_ALL", "change_ends", "ROUNDS=1"),
    ("WEDGES_IN_SILENCE", "uniform", "ROUNDS=1 EXACT=0"),
    ("RECEIVES_WEDGED", "uniform", "ROUNDS=1 EXACT=0"),
    ("NO_WEDGE_WAIT", "has_the_cut", "SENDERS=1 ROUNDS=1"),
    ("CUT_MAXIMUM", "has_the_cut", "ROUNDS=1 ENDS=0"),
    ("STABLE_HERE", "uniform", "ROUNDS=1 EXACT=0 ENDS=0"),
    ("STABLE_AT_FIRST", "uniform", "ROUNDS=1 EXACT=0"),
]
COSTLY = []
