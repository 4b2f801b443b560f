/* The change from one view to the next: suspicion, wedge, ragged edge, takeover of a leader.
 * What is modelled, what is left out and why that is enough: docs/protocol.md, "The model".
 *
 * Sizes and choices (-D):
 *   N                 members
 *   SENDERS, PLACES   how many of them send, how many places each has in the round-robin order
 *   NULLS             bit g: place g is a null
 *   CRASHES, FALSE_SUSPICIONS   how many of them happen at most
 *   CHANGE            0 none, 1 the leader may take in a join, 2 or the orderly leave of LEAVER
 *   IN_RETURN         what a member does once another, which it does not suspect, suspects it:
 *                     0 nothing, 1 it suspects the other in return, 2 it stops
 *   LINK              1: a false suspicion is a broken link, which both its ends may notice
 *   DARK              1: a member that suspects another may lose access to the other's row
 *   FINE              0: a member that suspects another wedges at once; 1: in a step of its own
 *   PROGRESS          also check somebody_goes_on
 *   AGREED            1: a member delivers a record once it has received it; a member that has more
 *                     of a sender than other survivors passes it on before the leader proposes the
 *                     next view; 2: the same, and no member at all may deliver beyond the cut
 *   EDGE              1: begins late: sender 0 has crashed, all others suspect it and are wedged, and
 *                     rank 1 alone has what it sent
 *   ANY_QUORUM        1: agreement only, all failures at once: a member may go on to the next
 *                     leader at any time, a leader takes any majority that promised; nobody learns
 *   BROKEN            one planted mistake; models/check.py must find each
 *
 * A member reads the current words of other rows. A stale read of a word that only grows, used in a
 * condition that stays true, is the same as acting later, and every step may come later. `accepted`
 * is the one word that is overwritten: here the row keeps every ballot ever accepted, and a reader
 * may take any of them that it could see if rows arrive in order. */

#ifndef N
#define N 3
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef PLACES
#define PLACES 1
#endif
#ifndef NULLS
#define NULLS 0
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FALSE_SUSPICIONS
#define FALSE_SUSPICIONS 1
#endif
#ifndef CHANGE
#define CHANGE 0
#endif
#ifndef LEAVER
#define LEAVER 0
#endif
#ifndef IN_RETURN
#define IN_RETURN 1
#endif
#ifndef LINK
#define LINK 0
#endif
#ifndef FINE
#define FINE 1
#endif
#ifndef DARK
#define DARK 1
#endif
#ifndef AGREED
#define AGREED 0
#endif
#ifndef EDGE
#define EDGE 0
#endif
#ifndef ANY_QUORUM
#define ANY_QUORUM 0
#endif

/* The mistakes. */
#define IGNORES_ACCEPTED 1        /* a new leader proposes its own view, whatever was accepted */
#define TAKES_LOWEST_BALLOT 2     /* ... takes the lowest ballot found, not the highest */
#define NO_PROMISE 3              /* ... does not wait until the others suspect all lower ranks */
#define ACCEPTED_BEFORE_PROMISE 4 /* ... reads (or is sent) `accepted` before the promise */
#define RECEIVES_WEDGED 5         /* received[] grows after the wedge */
#define RECEIVED_BEFORE_WEDGED 6  /* the leader reads (or is sent) received[] before `wedged` */
#define NO_WEDGE_WAIT 7           /* the leader does not wait for all to wedge */
#define CUT_MAXIMUM 8             /* the cut is what some survivor has */
#define MINORITY_DECIDES 9        /* a majority less one acceptance decides */
#define MAJORITY_OF_UNSUSPECTED 10 /* a majority of those not suspected, not of the view */
#define ACCEPTS_SUSPECTED 11      /* accepts any higher ballot, even if it suspects its leader */
#define LEARNS_FLAG 12            /* a member sees `decided`, installs what it accepted itself */
#define STABLE_UNSUSPECTED 13     /* stable: received by all that are not suspected */
#define SILENT_EVICTED 14         /* a member that learns of its eviction does not show `decided` */
/* ... with AGREED. */
#define PROPOSES_UNSETTLED 15     /* the leader does not wait until all survivors have the same */
#define AWAITS_SUSPECTED 16       /* ... also waits for suspected members */
#define CUT_MINIMUM 17            /* ... takes what all have, as without AGREED */
#define DELIVERS_WEDGED 18        /* a member delivers passed records before the cut is decided */
#define LEADER_PASSES 19          /* the leader alone passes on, though others may have more */
#define GUARD_BEFORE_BYTES 20     /* the word that names a record is posted before its bytes */
#define GUARD_STAYS 21            /* ... still names the last one while the next is written */
#define LOOKS_ONCE 22             /* a member that takes a record does not check `guard` again */
#ifndef BROKEN
#define BROKEN 0
#endif

#define ALL ((1 << N) - 1)
#define BIT(q) (1 << (q))
#define HAS(mask, q) (((mask) >> (q)) & 1)
#define LOWER(q) (BIT(q) - 1)
#define COUNT(m) (HAS(m, 0) + HAS(m, 1) + HAS(m, 2) + HAS(m, 3) + HAS(m, 4))
#define MAJORITY(m) (2 * COUNT(m) > N)
#define LOWEST(m) (HAS(m, 0) -> 0 : (HAS(m, 1) -> 1 : (HAS(m, 2) -> 2 : (HAS(m, 3) -> 3 : 4))))
#define HIGHEST(m) (HAS(m, 4) -> 4 : (HAS(m, 3) -> 3 : (HAS(m, 2) -> 2 : (HAS(m, 1) -> 1 : 0))))
#define END (SENDERS * PLACES)
#define RANK_OF(s) ((s) == 0 -> 0 : N - 1) /* sender 0 is rank 0, sender 1 the highest */

#if N == 3
#define EACH(DO) DO(0) DO(1) DO(2)
#define EVERY(P) (P(0) && P(1) && P(2))
#define SOME(P) (P(0) || P(1) || P(2))
#elif N == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define EVERY(P) (P(0) && P(1) && P(2) && P(3))
#define SOME(P) (P(0) || P(1) || P(2) || P(3))
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4)
#define EVERY(P) (P(0) && P(1) && P(2) && P(3) && P(4))
#define SOME(P) (P(0) || P(1) || P(2) || P(3) || P(4))
#endif

/* Rows. Written by their owner only. */
byte suspected[N];          /* S: mask of ranks */
byte wedged = (SENDERS == 0 -> ALL : 0); /* mask: one flag per row; without messages all begin so */
#if SENDERS > 0
byte received[N * SENDERS]; /* [q * SENDERS + s]; a sender's own entry is what it sent */
byte delivered[N];          /* places passed in order, before the cut */
#if AGREED
byte guard[N];              /* 0, or 1 + the record of which the bytes are in `passed` */
byte passed[N];             /* bytes of one record, for members that lack it: 1 + which */
#endif
#endif
byte accepted[N];           /* mask of the ballots accepted so far; the word shows the last */
byte decided[N];            /* 0, or 1 + the ballot whose proposal is decided */

/* Proposals, by ballot: a leader writes its own once, the others copy. */
byte members_of[N];
#if SENDERS > 0
byte cut_of[N * SENDERS];
#endif
byte change_of;             /* mask: the proposal of this ballot contains the join or leave */

/* The world. */
byte crashed;               /* mask */
byte dark[N];               /* mask of suspected members whose row p cannot read any more */
byte crashes_left = CRASHES;
byte false_left = FALSE_SUSPICIONS;
byte first_decided;         /* 0, or 1 + the first ballot decided */

byte quit;                  /* mask: stopped because another member suspects it (IN_RETURN 2) */
byte gone;                  /* mask: SILENT_EVICTED only */
#if LINK
byte link[N];               /* mask of the members whose link to p is broken */
#define LINKED(p, q) HAS(link[p], q)
#define BREAK(p, q) link[q] = link[q] | BIT(p)
#else
#define LINKED(p, q) false
#define BREAK(p, q) skip
#endif

/* Properties. Spin stops at the first state in which one is false, and names it. */
hidden byte agreement = true;          /* all members that decide, decide the same view and cut */
hidden byte majority_rule = true;      /* the next view has a majority of this one */
hidden byte has_the_cut = true;        /* a member that installs is wedged and has all of the cut */
hidden byte uniform = true;            /* see CHECK_UNIFORM */
hidden byte has_bytes = true;          /* a record that a member took is what its sender sent */
hidden byte one_proposal = true;       /* a leader proposes once */
hidden byte no_deadlock = true;        /* at the end: in the next view, evicted, or stopped */
hidden byte all_delivered = true;      /* ... without a failure all members have delivered all */
hidden byte survivors_install = true;  /* ... crashes of a minority evict no other member */
hidden byte somebody_goes_on = true;   /* ... one failure, false or not, does not stop the group */
#define HOLDS(name, what) \
  if \
  :: what \
  :: else -> name = false; assert(name) \
  fi

#define UNSUSPECTED(p) (ALL & ~suspected[p])
#if BROKEN == MAJORITY_OF_UNSUSPECTED
#define ENOUGH(p) true
#define QUORUM(p, m) (2 * COUNT(m) > COUNT(UNSUSPECTED(p)))
#elif BROKEN == MINORITY_DECIDES
#define ENOUGH(p) MAJORITY(UNSUSPECTED(p))
#define QUORUM(p, m) (2 * (COUNT(m) + 1) > N)
#else
#define ENOUGH(p) MAJORITY(UNSUSPECTED(p))
#define QUORUM(p, m) MAJORITY(m)
#endif
#define UP(p) (!HAS(crashed | gone | quit, p) && decided[p] == 0)
#define RUNS(p) (UP(p) && ENOUGH(p))                  /* ... and not stopped in a minority */
#define STOPPED(p) (decided[p] == 0 && (HAS(quit, p) || !ENOUGH(p)))
#define SUSPECTS(p, q) HAS(suspected[p], q)
#define PROMISED(q, leader) ((suspected[q] & LOWER(leader)) == LOWER(leader))
#define LEADER_OF(p, leader) (PROMISED(p, leader) && !SUSPECTS(p, leader))
#define ACCEPTED(q, ballot) HAS(accepted[q], ballot)

#if SENDERS > 0
#define RECEIVED(q, s) received[(q) * SENDERS + (s)]
#define CUT(b, s) cut_of[(b) * SENDERS + (s)]
#define SENDER(place) ((place) % SENDERS)
#define ROUND(place) ((place) / SENDERS)

/* Every record that any member delivered, also a crashed or evicted one, is inside the decided cut.
   Members pass places in order, without gaps: what they delivered is then a prefix of the cut's
   sequence. With AGREED=1 this holds for survivors. */
#define EXEMPT(q) (AGREED == 1 && !HAS(members_of[first_decided - 1], q))
#define WITHIN(q, g) (delivered[q] <= (g) || HAS(NULLS, g) || EXEMPT(q) || \
                      CUT(first_decided - 1, SENDER(g)) > ROUND(g))
#define ALL_WITHIN(q) (WITHIN(q, 0) && (END < 2 || WITHIN(q, 1 % END)) && \
                       (END < 3 || WITHIN(q, 2 % END)) && (END < 4 || WITHIN(q, 3 % END)))
#define CHECK_UNIFORM() HOLDS(uniform, first_decided == 0 || EVERY(ALL_WITHIN))
#define SAME_CUT(a, b) (CUT(a, 0) == CUT(b, 0) && CUT(a, SENDERS - 1) == CUT(b, SENDERS - 1))
#define HAS_CUT(p, b) (RECEIVED(p, 0) >= CUT(b, 0) && \
                       RECEIVED(p, SENDERS - 1) >= CUT(b, SENDERS - 1))
#else
#define CHECK_UNIFORM() skip
#define SAME_CUT(a, b) true
#define HAS_CUT(p, b) true
#endif

#define SAME_VIEW(a, b) (members_of[a] == members_of[b] && HAS(change_of, a) == HAS(change_of, b))

/* `me` leaves the view: it installs the next if it is in it, else it was evicted or has left. */
inline install(me, ballot) {
#if !ANY_QUORUM
  decided[me] = 1 + (ballot);
  dark[me] = 0;
#endif
  if
  :: first_decided == 0 -> first_decided = 1 + (ballot)
  :: else
  fi;
  HOLDS(agreement, SAME_VIEW(ballot, first_decided - 1) && SAME_CUT(ballot, first_decided - 1));
  HOLDS(majority_rule,
        MAJORITY(members_of[ballot] | (CHANGE == 2 && HAS(change_of, ballot) -> BIT(LEAVER) : 0)));
  HOLDS(has_the_cut, !HAS(members_of[ballot], me) || (HAS(wedged, me) && HAS_CUT(me, ballot)));
  CHECK_UNIFORM()
}

/* The leader proposes again what ballot `prior` proposed (M7). */
inline propose_again(me, prior) {
  HOLDS(one_proposal, members_of[me] == 0);
  members_of[me] = members_of[prior];
  change_of = change_of | (HAS(change_of, prior) << me);
#if SENDERS > 0
  s = 0;
  do
  :: s < SENDERS -> CUT(me, s) = CUT(prior, s); s++
  :: else -> break
  od;
  s = 0;
#endif
  accepted[me] = accepted[me] | BIT(me)
}

/* The leader proposes its own view: the members that it does not suspect, and the cut that all of
   them have. `missed`: it did not see the last message of sender 0 that the highest rank has
   (RECEIVED_BEFORE_WEDGED). */
inline propose_own(me, quorum, change, missed) {
  HOLDS(one_proposal, members_of[me] == 0);
  members_of[me] = (ANY_QUORUM -> ALL : quorum) & ~(CHANGE == 2 && (change) -> BIT(LEAVER) : 0);
  change_of = change_of | ((change) << me);
#if SENDERS > 0
  s = 0;
  do
  :: s < SENDERS ->
    CUT(me, s) = RECEIVED(me, s);
    q = 0;
    do
    :: q < N ->
      if
#if BROKEN == CUT_MAXIMUM || BROKEN == PROPOSES_UNSETTLED
      :: HAS(quorum, q) && RECEIVED(q, s) > CUT(me, s) -> CUT(me, s) = RECEIVED(q, s)
#else
      :: HAS(quorum, q) && RECEIVED(q, s) < CUT(me, s) -> CUT(me, s) = RECEIVED(q, s)
#endif
      :: else
      fi;
      q++
    :: else -> break
    od;
    s++
  :: else -> break
  od;
  s = 0;
  q = 0;
  if
  :: (missed) && CUT(me, 0) == RECEIVED(N - 1, 0) -> CUT(me, 0) = CUT(me, 0) - 1
  :: else
  fi;
#endif
  accepted[me] = accepted[me] | BIT(me)
}

/* What the leader p waits for in the row of each q of the quorum, the members that it does not
   suspect. */
#if BROKEN == NO_WEDGE_WAIT
#define WEDGED(q) (HAS(wedged, q) || q != p)
#else
#define WEDGED(q) HAS(wedged, q)
#endif
#if BROKEN == NO_PROMISE
#define READY(quorum, q) (!HAS(quorum, q) || WEDGED(q))
#else
#define READY(quorum, q) (!HAS(quorum, q) || (WEDGED(q) && PROMISED(q, p)))
#endif
#if N == 3
#define ALL_READY(m) (READY(m, 0) && READY(m, 1) && READY(m, 2))
#elif N == 4
#define ALL_READY(m) (READY(m, 0) && READY(m, 1) && READY(m, 2) && READY(m, 3))
#else
#define ALL_READY(m) \
  (READY(m, 0) && READY(m, 1) && READY(m, 2) && READY(m, 3) && READY(m, 4))
#endif
/* All members of the mask have the same of all senders. */
#if SENDERS > 0 && AGREED && BROKEN != PROPOSES_UNSETTLED && BROKEN != CUT_MINIMUM
#if BROKEN == AWAITS_SUSPECTED
#define AWAITED(m, q) true
#else
#define AWAITED(m, q) HAS(m, q)
#endif
#define SAME(m, q) (!AWAITED(m, q) || (RECEIVED(q, 0) == RECEIVED(p, 0) && \
                                       RECEIVED(q, SENDERS - 1) == RECEIVED(p, SENDERS - 1)))
#if N == 3
#define SETTLED_IN(m) (SAME(m, 0) && SAME(m, 1) && SAME(m, 2))
#elif N == 4
#define SETTLED_IN(m) (SAME(m, 0) && SAME(m, 1) && SAME(m, 2) && SAME(m, 3))
#else
#define SETTLED_IN(m) (SAME(m, 0) && SAME(m, 1) && SAME(m, 2) && SAME(m, 3) && SAME(m, 4))
#endif
#else
#define SETTLED_IN(m) true
#endif
#define MAY_PROPOSE(m) (SETTLED_IN(m) && RUNS(p) && PROMISED(p, p) && HAS(wedged, p) && HAS(m, p) && \
                        !ACCEPTED(p, p) && ALL_READY(m))

/* The ballots accepted in the quorum. Members accepted the ballots below p before they promised to
   p: p sees those. They accepted the ballots above p later: p may see those or not. */
#define BY(m, q) (HAS(m, q) -> accepted[q] : 0)
#if N == 3
#define FOUND(m) (BY(m, 0) | BY(m, 1) | BY(m, 2))
#elif N == 4
#define FOUND(m) (BY(m, 0) | BY(m, 1) | BY(m, 2) | BY(m, 3))
#else
#define FOUND(m) (BY(m, 0) | BY(m, 1) | BY(m, 2) | BY(m, 3) | BY(m, 4))
#endif
#define BELOW(m) (FOUND(m) & LOWER(p))

#define PROPOSE_OWN(m) \
  :: d_step { MAY_PROPOSE(m) && MAY_FORGET(m) -> propose_own(p, m, 0, 0) } \
  :: d_step { CHANGE != 0 && MAY_PROPOSE(m) && MAY_FORGET(m) -> propose_own(p, m, 1, 0) }
#define TAKE_ANY(m, q) \
  :: d_step { MAY_PROPOSE(m) && HAS(FOUND(m), q) && MAY_TAKE(q) -> propose_again(p, q) }
#if BROKEN == IGNORES_ACCEPTED
#define MAY_FORGET(m) true
#define MAY_TAKE(q) false
#elif BROKEN == ACCEPTED_BEFORE_PROMISE
#define MAY_FORGET(m) true
#define MAY_TAKE(q) true
#else
#define MAY_FORGET(m) (BELOW(m) == 0)
#define MAY_TAKE(q) (q > p)
#endif
#if BROKEN == TAKES_LOWEST_BALLOT
#define BEST(m) LOWEST(BELOW(m))
#else
#define BEST(m) HIGHEST(BELOW(m))
#endif
#define PROPOSE(m) \
  PROPOSE_OWN(m) \
  :: d_step { MAY_PROPOSE(m) && !MAY_FORGET(m) -> \
              best = BEST(m); propose_again(p, best); best = 0 } \
  TAKE_ANY(m, 0) TAKE_ANY(m, 1) TAKE_ANY(m, 2) TAKE_ANY(m, N - 1)

/* p suspects q: because q is gone, or q suspects p, or a member that p does not suspect says so; or
   by mistake. From then on p may or may not be able to read q's row. */
#define SAYS_SO(r, q) (!SUSPECTS(p, r) && SUSPECTS(r, q))
#define REASON(q) (HAS(crashed, q) || STOPPED(q) || LINKED(p, q) || TOLD(q) || \
                   (IN_RETURN == 1 && SUSPECTS(q, p)))
#if N == 3
#define TOLD(q) (SAYS_SO(0, q) || SAYS_SO(1, q) || SAYS_SO(2, q))
#elif N == 4
#define TOLD(q) (SAYS_SO(0, q) || SAYS_SO(1, q) || SAYS_SO(2, q) || SAYS_SO(3, q))
#else
#define TOLD(q) \
  (SAYS_SO(0, q) || SAYS_SO(1, q) || SAYS_SO(2, q) || SAYS_SO(3, q) || SAYS_SO(4, q))
#endif
#if ANY_QUORUM
#define MAY_SUSPECT(q) (q < p && RUNS(p) && !SUSPECTS(p, q) && PROMISED(p, q) && \
                        MAJORITY(UNSUSPECTED(p) & ~BIT(q)))
#else
#define MAY_SUSPECT(q) (q != p && RUNS(p) && !SUSPECTS(p, q) && (REASON(q) || false_left > 0))
#endif
#if FINE
#define ADD_SUSPICION(q) suspected[p] = suspected[p] | BIT(q)
#else
#define ADD_SUSPICION(q) suspected[p] = suspected[p] | BIT(q); wedged = wedged | BIT(p)
#endif
#define SUSPECT(q) \
  :: d_step { MAY_SUSPECT(q) -> \
              if :: ANY_QUORUM || REASON(q) :: else -> false_left--; BREAK(p, q) fi; \
              ADD_SUSPICION(q) } \
  :: d_step { DARK && MAY_SUSPECT(q) -> \
              if :: ANY_QUORUM || REASON(q) :: else -> false_left--; BREAK(p, q) fi; \
              ADD_SUSPICION(q); dark[p] = dark[p] | BIT(q) }

#define OTHER_WEDGED(q) (!SUSPECTS(p, q) && HAS(wedged, q))

#if BROKEN == ACCEPTS_SUSPECTED
#define MAY_ACCEPT_FROM(q) (accepted[p] < BIT(q))
#else
#define MAY_ACCEPT_FROM(q) LEADER_OF(p, q)
#endif
#define ACCEPT(q) \
  :: d_step { q != p && RUNS(p) && HAS(wedged, p) && MAY_ACCEPT_FROM(q) && ACCEPTED(q, q) && \
              !ACCEPTED(p, q) -> accepted[p] = accepted[p] | BIT(q) }

#if BROKEN == SILENT_EVICTED
#define LEARN(q) \
  :: d_step { q != p && UP(p) && decided[q] != 0 && !HAS(dark[p], q) -> \
              if \
              :: HAS(members_of[decided[q] - 1], p) -> install(p, decided[q] - 1) \
              :: else -> gone = gone | BIT(p) \
              fi }
#elif BROKEN == LEARNS_FLAG
#define LEARN(q) \
  :: d_step { q != p && UP(p) && decided[q] != 0 && !HAS(dark[p], q) && accepted[p] != 0 -> \
              best = HIGHEST(accepted[p]); install(p, best); best = 0 }
#else
#define LEARN(q) \
  :: d_step { q != p && UP(p) && decided[q] != 0 && !HAS(dark[p], q) -> install(p, decided[q] - 1) }
#endif

#define ACCEPTORS_BIT(q) (ACCEPTED(q, p) << q)
#if N == 3
#define ACCEPTORS (ACCEPTORS_BIT(0) | ACCEPTORS_BIT(1) | ACCEPTORS_BIT(2))
#elif N == 4
#define ACCEPTORS (ACCEPTORS_BIT(0) | ACCEPTORS_BIT(1) | ACCEPTORS_BIT(2) | ACCEPTORS_BIT(3))
#else
#define ACCEPTORS (ACCEPTORS_BIT(0) | ACCEPTORS_BIT(1) | ACCEPTORS_BIT(2) | ACCEPTORS_BIT(3) | \
                   ACCEPTORS_BIT(4))
#endif

#if SENDERS > 0
#if BROKEN == RECEIVES_WEDGED || AGREED
#define MAY_RECEIVE RUNS(p)
#else
#define MAY_RECEIVE (RUNS(p) && !HAS(wedged, p))
#endif
#define RECEIVE(s) \
  :: d_step { s < SENDERS && p == RANK_OF(s) && RUNS(p) && !HAS(wedged, p) && \
              RECEIVED(p, s) < PLACES -> RECEIVED(p, s)++ } \
  :: d_step { s < SENDERS && p != RANK_OF(s) && MAY_RECEIVE && !SUSPECTS(p, RANK_OF(s)) && \
              RECEIVED(p, s) < RECEIVED(RANK_OF(s), s) -> RECEIVED(p, s)++ }
#define NEXT delivered[p]
#if BROKEN == DELIVERS_WEDGED
#define MAY_DELIVER true
#else
#define MAY_DELIVER !HAS(wedged, p)
#endif
#if BROKEN == STABLE_UNSUSPECTED
#define HAS_NEXT(q) (SUSPECTS(p, q) || RECEIVED(q, SENDER(NEXT)) > ROUND(NEXT))
#else
#define HAS_NEXT(q) (RECEIVED(q, SENDER(NEXT)) > ROUND(NEXT))
#endif
#endif

#if SENDERS > 0 && AGREED
/* Passing on. Of the members that p does not suspect, p itself has most of the suspected sender s:
   it passes on, to all, the first record that one of them lacks. p clears `guard`, which names the
   record, before it changes the bytes, and sets it after them. */
#define RECORD(s, k) ((s) * PLACES + (k) + 1)
#define OF(record) (((record) - 1) / PLACES)
#define NUMBER(record) (((record) - 1) % PLACES)
#define LESS(q, s, k) (!SUSPECTS(p, q) && RECEIVED(q, s) < (k))
#define MORE(q, s) (!SUSPECTS(p, q) && RECEIVED(q, s) + (q < p) > RECEIVED(p, s))
#if N == 3
#define SOME_LESS(s, k) (LESS(0, s, k) || LESS(1, s, k) || LESS(2, s, k))
#define SOME_MORE(s) (MORE(0, s) || MORE(1, s) || MORE(2, s))
#elif N == 4
#define SOME_LESS(s, k) (LESS(0, s, k) || LESS(1, s, k) || LESS(2, s, k) || LESS(3, s, k))
#define SOME_MORE(s) (MORE(0, s) || MORE(1, s) || MORE(2, s) || MORE(3, s))
#else
#define SOME_LESS(s, k) \
  (LESS(0, s, k) || LESS(1, s, k) || LESS(2, s, k) || LESS(3, s, k) || LESS(4, s, k))
#define SOME_MORE(s) (MORE(0, s) || MORE(1, s) || MORE(2, s) || MORE(3, s) || MORE(4, s))
#endif
#define FIRST_LACKED(s) (SOME_LESS(s, 1) -> 0 : (SOME_LESS(s, 2) -> 1 : 2))
#if BROKEN == LEADER_PASSES
#define PASSES(s) PROMISED(p, p)
#else
#define PASSES(s) (!SOME_MORE(s))
#endif
#if BROKEN == GUARD_BEFORE_BYTES
#define BEFORE_BYTES next
#elif BROKEN == GUARD_STAYS
#define BEFORE_BYTES guard[p]
#else
#define BEFORE_BYTES 0
#endif
#define PASS(s) \
  :: d_step { RUNS(p) && HAS(wedged, p) && next == 0 && SUSPECTS(p, RANK_OF(s)) && PASSES(s) && \
              FIRST_LACKED(s) < RECEIVED(p, s) && guard[p] != RECORD(s, FIRST_LACKED(s)) -> \
              next = RECORD(s, FIRST_LACKED(s)); guard[p] = BEFORE_BYTES }

/* p lacks the record that r passes on. */
#define TAKE(r) \
  :: d_step { r != p && RUNS(p) && HAS(wedged, p) && wanted == 0 && !SUSPECTS(p, r) && \
              guard[r] != 0 && SUSPECTS(p, RANK_OF(OF(guard[r]))) && \
              RECEIVED(p, OF(guard[r])) == NUMBER(guard[r]) -> \
              wanted = guard[r]; from = r }
#if BROKEN == LOOKS_ONCE
#define STILL true
#else
#define STILL (guard[from] == wanted)
#endif
#endif

proctype member(byte p) {
  byte best, s, q;
#if SENDERS > 0 && AGREED
  byte next;         /* the record that it is passing on, or 0 */
  byte wanted, from; /* the record that it is taking, or 0; and whose row has it */
#endif
end:
  do
#if SENDERS > 0
  RECEIVE(0)
#if SENDERS > 1
  RECEIVE(1)
#endif
#if AGREED
  PASS(0)
#if SENDERS > 1
  PASS(1)
#endif
  :: d_step { next != 0 && passed[p] != next && UP(p) -> passed[p] = next }
  :: d_step { next != 0 && passed[p] == next && UP(p) -> guard[p] = next; next = 0 }
  EACH(TAKE)
  :: d_step { wanted != 0 && RUNS(p) ->
              if
              :: STILL ->
                HOLDS(has_bytes, passed[from] == wanted);
                RECEIVED(p, OF(wanted))++
              :: else
              fi;
              wanted = 0;
              from = 0 }
#endif
  :: d_step { RUNS(p) && MAY_DELIVER && NEXT < END &&
              (AGREED || HAS(NULLS, NEXT) -> HAS_NEXT(p) : EVERY(HAS_NEXT)) ->
              NEXT++;
              CHECK_UNIFORM() }
#endif

  EACH(SUSPECT)
#define ABOUT_ME(q) (!SUSPECTS(p, q) && SUSPECTS(q, p))
  :: d_step { IN_RETURN == 2 && RUNS(p) && SOME(ABOUT_ME) -> quit = quit | BIT(p) }

  /* A member wedges; the leader also wedges for a join or a leave. */
  :: d_step { RUNS(p) && !HAS(wedged, p) &&
              (suspected[p] != 0 || (CHANGE != 0 && PROMISED(p, p)) || SOME(OTHER_WEDGED)) ->
              wedged = wedged | BIT(p) }

#if ANY_QUORUM
  PROPOSE(7) PROPOSE(11) PROPOSE(13) PROPOSE(14) PROPOSE(19) PROPOSE(21) PROPOSE(22) PROPOSE(25)
  PROPOSE(26) PROPOSE(28) PROPOSE(15) PROPOSE(23) PROPOSE(27) PROPOSE(29) PROPOSE(30) PROPOSE(31)
#else
  PROPOSE(UNSUSPECTED(p))
#endif
#if BROKEN == RECEIVED_BEFORE_WEDGED
  :: d_step { MAY_PROPOSE(UNSUSPECTED(p)) && BELOW(UNSUSPECTED(p)) == 0 && \
              !SUSPECTS(p, N - 1) && RECEIVED(N - 1, 0) > 0 && p != N - 1 ->
              propose_own(p, UNSUSPECTED(p), 0, 1) }
#endif

  EACH(ACCEPT)

  /* The leader decides; the others learn the decision from any row. */
  :: d_step { RUNS(p) && ACCEPTED(p, p) && QUORUM(p, ACCEPTORS) -> install(p, p) }
  EACH(LEARN)

  :: d_step { !HAS(crashed, p) && crashes_left > 0 ->
              crashes_left--; crashed = crashed | BIT(p); dark[p] = 0 }
  od
}

/* Every step raises a word, so every run ends; this says how each member has ended. */
#define SETTLED(p) (HAS(crashed, p) || decided[p] != 0 || STOPPED(p) || \
                    (suspected[p] == 0 && !HAS(wedged, p)))
#define IN_PLACE(p) (HAS(crashed, p) || (decided[p] != 0 && \
                     (HAS(members_of[decided[p] - 1], p) || (CHANGE == 2 && p == LEAVER))))
#define INSTALLED(p) (decided[p] != 0 && HAS(members_of[decided[p] - 1], p))
#if SENDERS > 0
#define DELIVERED_ALL(p) (delivered[p] == END)
#else
#define DELIVERED_ALL(p) true
#endif

init {
  byte i;
  atomic {
#if EDGE
    crashed = 1;
    crashes_left--;
    RECEIVED(0, 0) = PLACES;
    RECEIVED(1, 0) = PLACES;
    delivered[1] = PLACES;
    wedged = ALL & ~1;
    i = 1;
    do
    :: i < N -> suspected[i] = 1; i++
    :: else -> break
    od;
    i = 0;
#endif
    do
    :: i < N -> run member(i); i++
    :: else -> break
    od;
    i = 0
  }
  timeout ->
#if !ANY_QUORUM
  d_step {
    HOLDS(no_deadlock, EVERY(SETTLED));
    if
    :: wedged == 0 && crashed == 0 -> HOLDS(all_delivered, EVERY(DELIVERED_ALL))
    :: else
    fi;
    if
    :: wedged != 0 && false_left == FALSE_SUSPICIONS && 2 * (CRASHES - crashes_left) < N ->
      HOLDS(survivors_install, EVERY(IN_PLACE))
    :: else
    fi;
#ifdef PROGRESS
    if
    :: wedged != 0 && (CRASHES - crashes_left) + (FALSE_SUSPICIONS - false_left) <= 1 ->
      HOLDS(somebody_goes_on, SOME(INSTALLED))
    :: else
    fi;
#endif
  }
#else
  skip
#endif
}
