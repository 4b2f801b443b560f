"""What models/check.py runs of restart.pml.

Name, sizes (-D); a planted mistake also names the property that must fail.
"""

DEPTH = 500

AGREEMENT = "POSITIONS=0 CRASHES=1 SUSPICIONS=1 PROPOSALS=5"
SECOND = "N=4 FIRST=4 SECOND=7 STOPS=1 CRASHES=1 JOINS=1 AWAY=3"

CORRECT = [
    ("3 nodes, two stops", "STOPS=2"),
    ("3, a crash, a stop", "STOPS=1 CRASHES=1"),
    ("3, a false suspicion", "STOPS=1 SUSPICIONS=1"),
    ("3, a disk is lost", "STOPS=1 LOSSES=1"),
    ("3, one never comes back", "STOPS=2 AWAY=1"),
    ("2 and a joiner", "STOPS=1 FIRST=3 JOINS=1"),
    ("1 and two joiners", "STOPS=1 FIRST=1 JOINS=1"),
    ("agreement only", f"{AGREEMENT} STOPS=1"),
    ("a view's number names it", "STOPS=2 BROKEN=MATCHES_NUMBERS"),
]
FULL = [
    ("full: agreement, two stops", f"{AGREEMENT} STOPS=2"),
]
BROKEN = [
    ("ACCEPTS_UNSYNCED", "one_chain", "STOPS=1"),
    ("PERSISTED_UNSYNCED", "keeps_durable", "STOPS=1"),
    ("HALF_RESTARTS", "one_chain", "STOPS=1 FIRST=3"),
    ("NOT_JOINT", "keeps_durable", "STOPS=1 FIRST=1 JOINS=1"),
    ("JOINT_WITH_CONFIRMED", "keeps_durable", SECOND),
    ("LOST_DISK_VOTES", "keeps_durable", "STOPS=1 LOSSES=1"),
    ("IGNORES_ACCEPTED", "one_chain", "STOPS=1"),
    ("TAKES_LOWEST_BALLOT", "one_chain", "STOPS=2"),
    ("COUNTS_BALLOTS", "one_chain", "N=4 FIRST=15 POSITIONS=0 STOPS=2 CRASHES=1"),
    ("ADOPTS_ANY", "needs_no_more", "N=4 FIRST=3 POSITIONS=0 STOPS=1 JOINS=1 AWAY=12"),
    ("PROMISE_NOT_ON_DISK", "one_chain", "STOPS=2"),
    ("BALLOTS_BEGIN_ANEW", "goes_on", f"{AGREEMENT} STOPS=2"),
    ("SHORTEST_LOG", "keeps_durable", "STOPS=1"),
    ("LONGEST_BY_LENGTH", "keeps_durable", "STOPS=2 POSITIONS=2"),
    ("ACCEPTS_BEFORE_SUFFIX", "within_cut", "STOPS=2"),
    ("APPENDS_AGAIN", "within_cut", "STOPS=1 POSITIONS=2"),
    ("KEEPS_TAIL", "nothing_twice", "STOPS=1 JOINS=1 PROPOSALS=3"),
    ("INSTALLED_UNSYNCED", "one_chain", "STOPS=1 SUSPICIONS=1 JOINS=1"),
    ("CONFIRMS_RECEIVED", "keeps_durable", "STOPS=1 FIRST=1 JOINS=1"),
    ("LOGS_UNSTABLE", "within_cut", "STOPS=1"),
    ("WAITS_FOR_ALL", "goes_on", "STOPS=1 AWAY=1"),
    ("LESS_IS_DURABLE", "keeps_durable", "STOPS=1"),
    ("ENTERS_AFTER_PROMISE", "one_chain", f"{AGREEMENT} STOPS=1"),
]
COSTLY = []
