"""What models/check.py runs of token.pml.

Name, sizes (-D); a planted mistake also names the property that must fail.
"""

DEPTH = 3000

CORRECT = [
    ("one message", "MSGS=1"),
    ("2 messages", "MSGS=2"),
    ("2, windows of 1", "MSGS=2 PERSONAL=1 GLOBAL=1 GAP=1"),
]
FULL = [
    ("full: one message, one host", "MSGS=1 SHARED=1"),
    ("full: 3, windows of 1", "MSGS=3 PERSONAL=1 GLOBAL=1 GAP=2"),
    ("full: 3 messages", "MSGS=3 GAP=2"),
]
BROKEN = [
    ("ARU_NOT_LOWERED", "safe_is_here", "MSGS=1"),
    ("ARU_ALWAYS_ADDED", "safe_is_here", "MSGS=2"),
    ("ARU_RAISED_BY_ALL", "safe_is_here", "MSGS=1"),
    ("SAFE_AT_ONCE", "safe_is_here", "MSGS=1"),
    ("RUNS_ONLY", "safe_is_here", "MSGS=1"),
    ("FCC_FORGOTTEN", "counts_fcc", "MSGS=1"),
    ("GLOBAL_IGNORED", "within_global", "MSGS=2 PERSONAL=1 GLOBAL=1"),
    ("GAP_IGNORED", "within_gap", "MSGS=2 GAP=1"),
    ("RUN_EARLY", "run_is_read", "MSGS=2"),
    ("TORN_TOKEN", "one_token", "MSGS=1"),
    ("VISIT_BACK", "counts_fcc", "MSGS=1"),
    ("VISIT_OF_OTHER", "safe_is_here", "MSGS=1 SHARED=1"),
    ("PARKS_EARLY", "parked_is_quiet", "MSGS=1"),
    ("PARKS_AT_ARU", "parked_is_quiet", "MSGS=1"),
    ("PARKS_BELOW_SEQ", "parked_is_quiet", "MSGS=1"),
    ("NEVER_PARKS", "parks", "MSGS=1"),
    ("HANDS_OVER_MOVING", "safe_is_here", "MSGS=2"),
    ("HANDS_OVER_TWICE", "one_token", "MSGS=1"),
    ("WANTS_ONCE", "all_arrive", "MSGS=2"),
    ("PARKS_SILENTLY", "all_arrive", "MSGS=1"),
    ("HOLDER_WAITS", "all_arrive", "MSGS=1"),
]
COSTLY = []
