/* Total restart: nodes with a log on disk stop at any step, and the group goes on from the disks.
 * What is modelled, what is left out, and the rules (Z1 to Z14): docs/restart-model.md.
 *
 * Sizes and choices (-D):
 *   N             nodes
 *   FIRST         mask: the members of the first view
 *   SECOND        mask: if not 0, a run begins in a second view of these members, which is not
 *                 confirmed; the first position is before its cut, and on no disk
 *   AWAY          mask: nodes that never come back once they are down
 *   POSITIONS     of the sequence, at most 3
 *   PROPOSALS     made in all, the first view included: 3, 4 or 5
 *   STOPS         how often all nodes stop at once
 *   CRASHES, LOSSES, SUSPICIONS, JOINS   how often one node crashes, a node that is down loses its
 *                 disk, a member is suspected by mistake, a change of view admits nodes
 *   BROKEN        one planted mistake; models/check.py must find each
 *
 * One process makes the steps of all nodes. A sequence is a number, three bits for each position:
 * which view gave the position its message. Views are named by their proposals. Of a node that is
 * down, `mem` is the log on its disk. */

#ifndef N
#define N 3
#endif
#ifndef FIRST
#define FIRST 7
#endif
#ifndef SECOND
#define SECOND 0
#endif
#ifndef AWAY
#define AWAY 0
#endif
#ifndef POSITIONS
#define POSITIONS 1
#endif
#ifndef PROPOSALS
#define PROPOSALS 4
#endif
#ifndef STOPS
#define STOPS 2
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef SUSPICIONS
#define SUSPICIONS 0
#endif
#ifndef JOINS
#define JOINS 0
#endif

/* The mistakes. */
#define ACCEPTS_UNSYNCED 1      /* an acceptance shows before it is on disk */
#define PERSISTED_UNSYNCED 2    /* `persisted` counts what is written and not synced */
#define HALF_RESTARTS 3         /* half of a view is enough for a restart, and decides in it */
#define NOT_JOINT 4             /* ... a majority of the newest view is, confirmed or not */
#define JOINT_WITH_CONFIRMED 5  /* ... and of the last confirmed view, but of none between them */
#define LOST_DISK_VOTES 6       /* ... counts nodes that have lost their disks */
#define IGNORES_ACCEPTED 7      /* a restart proposes its own view, whatever was accepted */
#define TAKES_LOWEST_BALLOT 8   /* ... takes the lowest ballot found, not the highest */
#define COUNTS_BALLOTS 9        /* ... counts who accepted a proposal in its highest ballot only */
#define ADOPTS_ANY 10           /* ... adopts a proposal that cannot have been decided */
#define MATCHES_NUMBERS 11      /* ... tells by its number what a proposal follows: no mistake */
#define PROMISE_NOT_ON_DISK 12  /* a restart forgets the ballots of the restart before it */
#define BALLOTS_BEGIN_ANEW 13   /* ... does not rise above the ballots of members that ran */
#define SHORTEST_LOG 14         /* the restart's cut is what all logs have */
#define LONGEST_BY_LENGTH 15    /* ... the longest log, with records that a later cut left out */
#define ACCEPTS_BEFORE_SUFFIX 16 /* a node accepts before its log goes up to the cut */
#define APPENDS_AGAIN 17        /* a suffix that comes twice is appended twice */
#define KEEPS_TAIL 18           /* a joiner keeps the records that a later cut left out */
#define INSTALLED_UNSYNCED 19   /* a member goes on before `installed` is on disk */
#define CONFIRMS_RECEIVED 20    /* a view is confirmed once its members entered it */
#define LOGS_UNSTABLE 21        /* the log takes what is received, stable or not */
#define WAITS_FOR_ALL 22        /* a restart waits for all of the newest view */
#define ENTERS_AFTER_PROMISE 23 /* a node that began a restart from a view enters that view */
#define LESS_IS_DURABLE 24      /* what one member less than a majority has synced is durable */
#ifndef BROKEN
#define BROKEN 0
#endif

#define ALL ((1 << N) - 1)
#define BIT(q) (1 << (q))
#define HAS(mask, q) (((mask) >> (q)) & 1)
#define LOWER(q) (BIT(q) - 1)
#define COUNT(m) (HAS(m, 0) + HAS(m, 1) + HAS(m, 2) + HAS(m, 3))
#define IS_MAJORITY(some, all) (2 * (some) > COUNT(all))

#define AT(h, i) (((h) >> (3 * (i))) & 7)
#define LEN(h) ((h) == 0 -> 0 : ((h) < 8 -> 1 : ((h) < 64 -> 2 : 3)))
#define UPTO(h, n) ((h) & ((1 << (3 * (n))) - 1))
#define APPEND(h, what) ((h) | ((what) << (3 * LEN(h))))
#define IS_PREFIX(a, b) (UPTO(b, LEN(a)) == (a))
#define SAME_AT(a, b, i) (AT(a, i) == AT(b, i) && AT(a, i) != 0)
#define COMMON(a, b) (!SAME_AT(a, b, 0) -> 0 : (!SAME_AT(a, b, 1) -> 1 : \
                      (!SAME_AT(a, b, 2) -> 2 : 3)))

#if N == 3
#define EACH(DO) DO(0) DO(1) DO(2)
#define EVERY(P) (P(0) && P(1) && P(2))
#define SOME(P) (P(0) || P(1) || P(2))
#define MASK(P) (P(0) | (P(1) << 1) | (P(2) << 2))
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define EVERY(P) (P(0) && P(1) && P(2) && P(3))
#define SOME(P) (P(0) || P(1) || P(2) || P(3))
#define MASK(P) (P(0) | (P(1) << 1) | (P(2) << 2) | (P(3) << 3))
#endif

/* Proposals: written once. Number 0 is the first view, decided and confirmed. */
byte proposals = 1;
byte members_of[PROPOSALS];
byte base_of[PROPOSALS];      /* the view that it follows */
byte number_of[PROPOSALS];    /* of the view: that of its base, and one more */
short cut_of[PROPOSALS];      /* the sequence up to its cut */
byte sure_of[PROPOSALS];      /* the last confirmed view that its leader knew */
byte restarts;                /* mask of the proposals of restarts */
byte decided = 1;             /* mask */
byte entered[PROPOSALS];      /* mask of the nodes that were in this view: a node that starts again
                                 is another member */

/* On disk. */
byte installed[N];            /* 1 + the newest view known to be decided; 0: no `views` */
byte accepted[N];             /* 1 + the proposal accepted last, or 0 */
byte accepted_in[N];          /* the ballot in which it was */
byte promised[N];             /* the highest ballot of a restart that it heard of */
byte confirmed[N];            /* the last view known to be confirmed */
byte synced[N];               /* how far the log is synced */

/* In memory. */
short mem[N];                 /* what it has received of the sequence */
byte written[N];              /* how far the log is written: a stop may lose what is not synced */
byte view[N];                 /* 1 + the view in which it is a member; 0: in none */
byte boss[N];                 /* 1 + the leader to which it promised, or 0 */
byte vow[N];                  /* the ballot of that promise; a member that has made one is wedged */
byte shown;                   /* mask: its row shows the acceptance in this ballot */
byte proposed[N];             /* a leader's: 1 + the proposal, or 0 */
byte ballot[N];               /* ... and its ballot */
byte own;                     /* mask: leaders that did not adopt what they propose */

/* The world. */
byte down;                    /* mask */
byte back;                    /* mask of nodes that are up, in no view, and have their `views` */
byte stops = STOPS;
byte crashes = CRASHES;
byte losses = LOSSES;
byte suspicions = SUSPICIONS;
byte joins = JOINS;
short durable;                /* the longest sequence that anybody has seen as durable */
byte newest;                  /* the last decided view */

/* Scratch, inside one step only. */
hidden byte i, k, q, x, b, count;
hidden short h;

/* Properties. Spin stops at the first state in which one is false, and names it. */
hidden byte one_chain = true;     /* each view is followed by one view only */
hidden byte one_history = true;   /* what is durable does not contradict what was durable before */
hidden byte keeps_durable = true; /* a later view has all that anybody has seen as durable */
hidden byte nothing_twice = true; /* a member begins a view with what is before its cut, once */
hidden byte has_the_cut = true;   /* a survivor has received all before the cut */
hidden byte within_cut = true;    /* no log has more than the cut says */
hidden byte needs_no_more = true; /* an adopted proposal may have been decided */
hidden byte goes_on = true;       /* at the end: who is back and is enough has gone on */
#define HOLDS(name, what) \
  if \
  :: what \
  :: else -> name = false; assert(name) \
  fi

/* The sequence in a view. */
#define IS_IN(r) (!HAS(members_of[k], r) || view[r] == 1 + k)
#define RUNS_IN(v, r) (view[r] == 1 + (v))
#if BROKEN == PERSISTED_UNSYNCED
#define PERSISTED(r) written[r]
#else
#define PERSISTED(r) synced[r]
#endif

/* `p` is a member of a view, and all have received position n there, or it is before the cut. */
#define STABLE_AT(p, n, r) (!HAS(members_of[view[p] - 1], r) || \
                            (view[r] == view[p] && LEN(mem[r]) > (n)))
#if N == 3
#define STABLE(p, n) (STABLE_AT(p, n, 0) && STABLE_AT(p, n, 1) && STABLE_AT(p, n, 2))
#else
#define STABLE(p, n) (STABLE_AT(p, n, 0) && STABLE_AT(p, n, 1) && STABLE_AT(p, n, 2) && \
                      STABLE_AT(p, n, 3))
#endif
#if BROKEN == LOGS_UNSTABLE
#define MAY_LOG(p) (written[p] < LEN(mem[p]))
#else
#define MAY_LOG(p) (written[p] < LEN(mem[p]) && \
                    (written[p] < LEN(cut_of[view[p] - 1]) || STABLE(p, written[p])))
#endif

/* Somebody sees at once what is durable in view v. */
inline see(v) {
  count = 0;
  q = 0;
  do
  :: q < N ->
    if
    :: HAS(members_of[v], q) && RUNS_IN(v, q) && PERSISTED(q) > count -> count = PERSISTED(q);
       h = mem[q]
    :: else
    fi;
    q++
  :: else -> break
  od;
#define PERSISTED_IN(v, r, n) (HAS(members_of[v], r) && RUNS_IN(v, r) && PERSISTED(r) >= (n))
#if N == 3
#define BY(v, n) (PERSISTED_IN(v, 0, n) + PERSISTED_IN(v, 1, n) + PERSISTED_IN(v, 2, n))
#else
#define BY(v, n) (PERSISTED_IN(v, 0, n) + PERSISTED_IN(v, 1, n) + PERSISTED_IN(v, 2, n) + \
                  PERSISTED_IN(v, 3, n))
#endif
#if BROKEN == LESS_IS_DURABLE
#define IS_DURABLE(votes, all) (2 * (votes) >= COUNT(all) - 1)
#else
#define IS_DURABLE(votes, all) IS_MAJORITY(votes, all)
#endif
  do
  :: count > 0 && !IS_DURABLE(BY(v, count), members_of[v]) -> count--
  :: else -> break
  od;
  h = UPTO(h, count);
  HOLDS(one_history, IS_PREFIX(h, durable) || IS_PREFIX(durable, h));
  HOLDS(keeps_durable, newest == (v) || IS_PREFIX(h, cut_of[newest]));
  if
  :: LEN(h) > LEN(durable) -> durable = h
  :: else
  fi;
  h = 0; q = 0; count = 0
}

inline forget(p) {
  boss[p] = 0;
  vow[p] = 0;
  shown = shown & ~BIT(p);
  proposed[p] = 0;
  ballot[p] = 0;
  own = own & ~BIT(p)
}

inline stop(p, keeps) {
  down = down | BIT(p);
  back = back & ~BIT(p);
  view[p] = 0;
  if
  :: keeps -> synced[p] = written[p]
  :: else -> written[p] = synced[p]
  fi;
  mem[p] = UPTO(mem[p], written[p]);
  forget(p)
}

/* `p` becomes a member of view v. What it has of the sequence is mem[p]. */
inline enter(p, v) {
  HOLDS(nothing_twice, mem[p] == cut_of[v]);
  HOLDS(within_cut, written[p] <= LEN(cut_of[v]));
  view[p] = 1 + (v);
  entered[v] = entered[v] | BIT(p);
  back = back & ~BIT(p);
#if BROKEN != INSTALLED_UNSYNCED
  installed[p] = 1 + (v);
#endif
  forget(p);
  if
  :: HAS(restarts, v) -> confirmed[p] = v
  :: !HAS(restarts, v) && sure_of[v] > confirmed[p] -> confirmed[p] = sure_of[v]
  :: else
  fi
}

/* A member of the old view goes on. */
inline follow_cut(p, v) {
  HOLDS(has_the_cut, IS_PREFIX(cut_of[v], mem[p]));
  mem[p] = cut_of[v];
  enter(p, v)
}

inline decide(v) {
  if
  :: !HAS(decided, v) ->
    decided = decided | BIT(v);
    HOLDS(one_chain, base_of[v] == newest);
    newest = v;
    HOLDS(keeps_durable, IS_PREFIX(durable, cut_of[v]))
  :: else
  fi
}

#if BROKEN == MATCHES_NUMBERS
#define FOLLOWS(a, v) (number_of[a] == number_of[v] + 1)
#else
#define FOLLOWS(a, v) (base_of[a] == (v) && (a) != 0)
#endif
#if BROKEN == TAKES_LOWEST_BALLOT
#define BETTER (b == 0 || accepted_in[q] < b)
#else
#define BETTER (accepted_in[q] > b)
#endif
/* Among the nodes of the mask `whom`: the acceptances of proposals that follow view v. */
inline find_accepted(whom, v) {
  x = 0;
  b = 0;
  q = 0;
  do
  :: q < N ->
    if
    :: HAS(whom, q) && accepted[q] != 0 && FOLLOWS(accepted[q] - 1, v) && BETTER ->
      x = accepted[q];
      b = accepted_in[q]
    :: else
    fi;
    q++
  :: else -> break
  od;
  q = 0
}
/* The leader p of view v takes this ballot, for the proposal x - 1 or, with 0, for a new one. */
inline lead(p, whom, v, turn) {
  if
  :: x == 0 ->
    k = proposals;
    proposals++;
    base_of[k] = v;
    number_of[k] = number_of[v] + 1;
    members_of[k] = whom;
    sure_of[k] = confirmed[p];
    cut_of[k] = h;
    x = 1 + k;
    k = 0;
    own = own | BIT(p)
  :: else -> own = own & ~BIT(p)
  fi;
  proposed[p] = x;
  ballot[p] = turn;
  x = 0; b = 0; h = 0; q = 0
}

/* ---- A change of view among members that run. Its agreement is that of view_change.pml. ---- */

#define WITH(p, r) (view[r] == view[p] && view[p] != 0)
#if N == 3
#define TRUSTED(p) (WITH(p, 0) | (WITH(p, 1) << 1) | (WITH(p, 2) << 2))
#else
#define TRUSTED(p) (WITH(p, 0) | (WITH(p, 1) << 1) | (WITH(p, 2) << 2) | (WITH(p, 3) << 3))
#endif
#define OUTSIDE(r) (view[r] == 0 && !HAS(down, r))
#define LED_BY(p, r) (boss[r] == 1 + (p) && vow[r] == ballot[p] && ballot[p] != 0)
#define NOT_LED(p, m, r) (HAS(m, r) && !LED_BY(p, r))
#if N == 3
#define SOME_NOT_LED(p, m) (NOT_LED(p, m, 0) || NOT_LED(p, m, 1) || NOT_LED(p, m, 2))
#else
#define SOME_NOT_LED(p, m) (NOT_LED(p, m, 0) || NOT_LED(p, m, 1) || NOT_LED(p, m, 2) || \
                            NOT_LED(p, m, 3))
#endif
#define MAY_CHANGE(p, m) (view[p] != 0 && proposals < PROPOSALS && HAS(m, p) && \
                          ((m) & LOWER(p)) == 0 && \
                          IS_MAJORITY(COUNT(m), members_of[view[p] - 1]) && SOME_NOT_LED(p, m))

/* The members m of p's view, which p trusts, wedge and promise. The cut is what all have. */
inline change(p, m, more) {
  k = view[p] - 1;
  find_accepted(m, k);
  h = mem[p];
  i = 0;
  do
  :: q < N ->
    if
    :: HAS(m, q) ->
      if
      :: vow[q] > i -> i = vow[q]
      :: else
      fi;
      if
      :: LEN(mem[q]) < LEN(h) -> h = mem[q]
      :: else
      fi
    :: else
    fi;
    q++
  :: else -> break
  od;
  q = 0;
  i++;
  do
  :: q < N ->
    if
    :: HAS(m, q) -> boss[q] = 1 + (p); vow[q] = i; shown = shown & ~BIT(q)
    :: else
    fi;
    q++
  :: else -> break
  od;
  b = k;
  lead(p, ((m) | (more)), b, i);
  i = 0;
  k = 0
}

/* Steps that a run has no budget for are left out: the search compiles faster. */
#define CHANGE(p) \
  :: d_step { MAY_CHANGE(p, TRUSTED(p)) && TRUSTED(p) != members_of[view[p] - 1] -> \
              count = TRUSTED(p); change(p, count, 0); count = 0 } \
  JOINS_OF(p) EVICTIONS_OF(p)
#if JOINS
#define JOINS_OF(p) \
  :: d_step { joins > 0 && MAY_CHANGE(p, TRUSTED(p)) && MASK(OUTSIDE) != 0 -> \
              joins--; count = TRUSTED(p); change(p, count, MASK(OUTSIDE)); count = 0 } \
  JOIN(p, 1) JOIN(p, N - 1)
#else
#define JOINS_OF(p)
#endif
#if SUSPICIONS
#define EVICTIONS_OF(p) EVICT(p, 0) EVICT(p, N - 1)
#else
#define EVICTIONS_OF(p)
#endif
#define JOIN(p, r) \
  :: d_step { joins > 0 && OUTSIDE(r) && MASK(OUTSIDE) != BIT(r) && MAY_CHANGE(p, TRUSTED(p)) -> \
              joins--; count = TRUSTED(p); change(p, count, BIT(r)); count = 0 }
#define EVICT(p, r) \
  :: d_step { suspicions > 0 && r != p && WITH(p, r) && MAY_CHANGE(p, TRUSTED(p) & ~BIT(r)) -> \
              suspicions--; count = TRUSTED(p) & ~BIT(r); change(p, count, 0); count = 0 }

/* ---- A restart. ---- */

/* The mask `back` is enough for view v: a majority of it, and of each view before it back to the
   last that one of these nodes knows to be confirmed [Z5]. */
#if BROKEN == LOST_DISK_VOTES
#define LOST(r) (view[r] == 0 && !HAS(down, r) && installed[r] == 0)
#define VOTERS (back | MASK(LOST))
#else
#define VOTERS back
#endif
#if BROKEN == HALF_RESTARTS
#define ENOUGH(v) (2 * COUNT(VOTERS & members_of[v]) >= COUNT(members_of[v]))
#elif BROKEN == WAITS_FOR_ALL
#define ENOUGH(v) ((members_of[v] & ~VOTERS) == 0)
#else
#define ENOUGH(v) IS_MAJORITY(COUNT(VOTERS & members_of[v]), members_of[v])
#endif
#define KNOWS(v, r) (HAS(back, r) && confirmed[r] >= (v))
#if N == 3
#define SURE(v) ((v) == 0 || KNOWS(v, 0) || KNOWS(v, 1) || KNOWS(v, 2))
#else
#define SURE(v) ((v) == 0 || KNOWS(v, 0) || KNOWS(v, 1) || KNOWS(v, 2) || KNOWS(v, 3))
#endif
#if BROKEN == NOT_JOINT
#define JOINT(v) ENOUGH(v)
#elif BROKEN == JOINT_WITH_CONFIRMED
#define BACK1(v) base_of[v]
#define BACK2(v) base_of[base_of[v]]
#define JOINT(v) (ENOUGH(v) && (SURE(v) || (SURE(BACK1(v)) -> ENOUGH(BACK1(v)) : \
                  (SURE(BACK2(v)) -> ENOUGH(BACK2(v)) : ENOUGH(0)))))
#else
#define JOINT(v) (ENOUGH(v) && (SURE(v) || JOINT1(base_of[v])))
#define JOINT1(v) (ENOUGH(v) && (SURE(v) || JOINT2(base_of[v])))
#define JOINT2(v) (ENOUGH(v) && (SURE(v) || JOINT3(base_of[v])))
#define JOINT3(v) (ENOUGH(v) && (SURE(v) || ENOUGH(0)))
#endif

#define NOT_NEWER(v, r) (!HAS(back, r) || installed[r] <= 1 + (v))
#define HAS_INSTALLED(v, r) (HAS(back, r) && installed[r] == 1 + (v))
#if N == 3
#define IS_NEWEST(v) (NOT_NEWER(v, 0) && NOT_NEWER(v, 1) && NOT_NEWER(v, 2) && \
                      (HAS_INSTALLED(v, 0) || HAS_INSTALLED(v, 1) || HAS_INSTALLED(v, 2)))
#else
#define IS_NEWEST(v) (NOT_NEWER(v, 0) && NOT_NEWER(v, 1) && NOT_NEWER(v, 2) && NOT_NEWER(v, 3) && \
                      (HAS_INSTALLED(v, 0) || HAS_INSTALLED(v, 1) || HAS_INSTALLED(v, 2) || \
                       HAS_INSTALLED(v, 3)))
#endif
#define MAY_RESTART(p, v) (proposals < PROPOSALS && (v) < proposals && HAS(back, p) && \
                           HAS(members_of[v], p) && (back & members_of[v] & LOWER(p)) == 0 && \
                           IS_NEWEST(v) && JOINT(v) && \
                           (proposed[p] == 0 || base_of[proposed[p] - 1] != (v) || \
                            SOME_NOT_LED(p, back & members_of[v])))

/* How much of q's log counts: of the records of earlier views only those before the cut of v. */
#if BROKEN == LONGEST_BY_LENGTH
#define COUNTED(q, v) mem[q]
#else
#define COUNTED(q, v) (IS_PREFIX(cut_of[v], mem[q]) && AT(mem[q], LEN(cut_of[v])) == 1 + (v) -> \
                       mem[q] : UPTO(mem[q], COMMON(mem[q], cut_of[v])))
#endif

inline restart(p, v) {
  count = 0;
  i = 0;
  find_accepted(back & members_of[v], v);
  do
  :: q < N ->
    if
    :: HAS(back & members_of[v], q) ->
      if
      :: promised[q] > i -> i = promised[q]
      :: else
      fi;
      if
      :: BROKEN != BALLOTS_BEGIN_ANEW && accepted_in[q] > i -> i = accepted_in[q]
      :: else
      fi;
      if
      :: x != 0 && accepted[q] == x && (BROKEN != COUNTS_BALLOTS || accepted_in[q] == b) -> count++
      :: else
      fi
    :: else
    fi;
    q++
  :: else -> break
  od;
  q = 0;
  if
  :: BROKEN == IGNORES_ACCEPTED -> x = 0
  :: BROKEN != IGNORES_ACCEPTED && BROKEN != ADOPTS_ANY && x != 0 && \
     !IS_MAJORITY(count + COUNT(members_of[v] & ~back), members_of[v]) -> x = 0
  :: else
  fi;
  HOLDS(needs_no_more, x == 0 || (members_of[v] & ~back) != 0 || IS_MAJORITY(count, members_of[v]));
  count = 0;
#if BROKEN == BALLOTS_BEGIN_ANEW
  i = i + 1;
#else
  i = (i / 4 + 1) * 4; /* above all ballots of members that ran in v, which are 1 to 3 */
#endif
  if
  :: x == 0 ->
    h = COUNTED(p, v);
    do
    :: q < N ->
      if
#if BROKEN == SHORTEST_LOG
      :: HAS(back, q) && LEN(COUNTED(q, v)) < LEN(h) -> h = COUNTED(q, v)
#else
      :: HAS(back, q) && LEN(COUNTED(q, v)) > LEN(h) -> h = COUNTED(q, v)
#endif
      :: else
      fi;
      q++
    :: else -> break
    od;
    q = 0;
    restarts = restarts | BIT(proposals)
  :: else
  fi;
  do
  :: q < N ->
    if
    :: HAS(back & members_of[v], q) ->
      boss[q] = 1 + (p);
      vow[q] = i;
      shown = shown & ~BIT(q);
#if BROKEN != PROMISE_NOT_ON_DISK
      promised[q] = i;
#endif
#if BROKEN != INSTALLED_UNSYNCED
      installed[q] = 1 + (v);
#endif
    :: else
    fi;
    q++
  :: else -> break
  od;
  q = 0;
  b = 0;
  lead(p, (back & members_of[v]), v, i);
  i = 0
}

/* The view is not the last proposal that a run makes: a restart proposes one more. */
#define RESTART_IN(p, v) :: d_step { MAY_RESTART(p, v) -> restart(p, v) }
#if PROPOSALS == 3
#define RESTART(p) RESTART_IN(p, 0) RESTART_IN(p, 1)
#elif PROPOSALS == 4
#define RESTART(p) RESTART_IN(p, 0) RESTART_IN(p, 1) RESTART_IN(p, 2)
#else
#define RESTART(p) RESTART_IN(p, 0) RESTART_IN(p, 1) RESTART_IN(p, 2) RESTART_IN(p, 3)
#endif

/* ---- What a promise leads to, in a view and in a restart. ---- */

#define BOSS(r) (boss[r] - 1)
#define ITS(r) (proposed[BOSS(r)] - 1) /* the proposal of the leader that r promised to */
#define FOLLOWING(r) (boss[r] != 0 && LED_BY(BOSS(r), r) && proposed[BOSS(r)] != 0 && \
                      (view[r] != 0 -> base_of[ITS(r)] == view[r] - 1 : view[BOSS(r)] == 0))
#define HAS_SUFFIX(r, v) (mem[r] == cut_of[v] && synced[r] == LEN(cut_of[v]))
#define HAS_ACCEPTED(r) (accepted[r] == 1 + ITS(r) && accepted_in[r] == vow[r])
#if BROKEN == ACCEPTS_BEFORE_SUFFIX
#define MAY_ACCEPT(r) true
#else
#define MAY_ACCEPT(r) (!HAS(restarts, ITS(r)) || HAS_SUFFIX(r, ITS(r)))
#endif
#if BROKEN == APPENDS_AGAIN
#define TAKES(r) (LEN(mem[r]) < POSITIONS && LEN(cut_of[ITS(r)]) > 0)
#else
#define TAKES(r) (mem[r] != cut_of[ITS(r)])
#endif

#define FOLLOW(r) \
  :: d_step { HAS(back, r) && FOLLOWING(r) && HAS(restarts, ITS(r)) && TAKES(r) -> \
              if \
              :: mem[r] == cut_of[ITS(r)] -> mem[r] = APPEND(mem[r], AT(mem[r], 0)) \
              :: else -> synced[r] = COMMON(mem[r], cut_of[ITS(r)]); mem[r] = cut_of[ITS(r)] \
              fi; \
              written[r] = LEN(mem[r]) } \
  :: d_step { FOLLOWING(r) && !HAS_ACCEPTED(r) && MAY_ACCEPT(r) -> \
              accepted[r] = 1 + ITS(r); accepted_in[r] = vow[r]; shown = shown | BIT(r) } \
  :: d_step { BROKEN == ACCEPTS_UNSYNCED && FOLLOWING(r) && !HAS(shown, r) && MAY_ACCEPT(r) -> \
              shown = shown | BIT(r) }

#if BROKEN == HALF_RESTARTS
#define IS_ENOUGH(votes, all) (2 * (votes) >= COUNT(all) - 1)
#else
#define IS_ENOUGH(votes, all) IS_MAJORITY(votes, all)
#endif
#define ACCEPTS(p, r) (FOLLOWING(r) && BOSS(r) == (p) && HAS(shown, r))
#if N == 3
#define VOTES(p) (ACCEPTS(p, 0) + ACCEPTS(p, 1) + ACCEPTS(p, 2))
#else
#define VOTES(p) (ACCEPTS(p, 0) + ACCEPTS(p, 1) + ACCEPTS(p, 2) + ACCEPTS(p, 3))
#endif
#define WON(p) (proposed[p] != 0 && FOLLOWING(p) && BOSS(p) == (p) && \
                IS_ENOUGH(VOTES(p), members_of[base_of[proposed[p] - 1]]))
#define MAY_ENTER(r, v) (HAS(members_of[v], r) && !HAS(entered[v], r))

/* The leader decides. A member of the old view enters the next, or was evicted. The leader of a
   restart enters what it proposed itself; from what it adopted, a restart begins again [Z7]. */
#define DECIDE(p) \
  :: d_step { WON(p) && view[p] != 0 -> \
              x = proposed[p] - 1; decide(x); \
              if \
              :: MAY_ENTER(p, x) -> follow_cut(p, x) \
              :: else -> stop(p, 0) \
              fi; \
              x = 0 } \
  :: d_step { WON(p) && view[p] == 0 -> \
              x = proposed[p] - 1; decide(x); \
              if \
              :: HAS(own, p) -> mem[p] = cut_of[x]; enter(p, x) \
              :: else -> installed[p] = 1 + x; forget(p) \
              fi; \
              x = 0 }

/* r hears of view view[s] - 1 from s, which is in it: as a survivor, a node of the restart, or a
   joiner. A joiner's log keeps what it has before the cut, and gets the rest later [Z11]. */
#if BROKEN == KEEPS_TAIL
#define KEPT(r, v) (LEN(mem[r]) > LEN(cut_of[v]) -> mem[r] : cut_of[v])
#else
#define KEPT(r, v) cut_of[v]
#endif
#if BROKEN == ENTERS_AFTER_PROMISE
#define STILL_MAY(r, s) true
#else
#define STILL_MAY(r, s) (installed[r] != view[s]) /* it has not begun a restart from that view */
#endif
#define HEAR_FROM(r, s) \
  :: d_step { r != s && view[s] != 0 && view[r] != 0 && base_of[view[s] - 1] == view[r] - 1 && \
              view[s] != view[r] -> \
              x = view[s] - 1; \
              if \
              :: MAY_ENTER(r, x) -> follow_cut(r, x) \
              :: else -> stop(r, 0) \
              fi; \
              x = 0 } \
  :: d_step { r != s && view[s] != 0 && HAS(back, r) && HAS(restarts, view[s] - 1) && \
              accepted[r] == view[s] && MAY_ENTER(r, view[s] - 1) && STILL_MAY(r, s) -> \
              x = view[s] - 1; \
              mem[r] = (BROKEN == ACCEPTS_BEFORE_SUFFIX -> cut_of[x] : mem[r]); \
              enter(r, x); x = 0 } \
  :: d_step { r != s && view[s] != 0 && OUTSIDE(r) && !HAS(restarts, view[s] - 1) && \
              MAY_ENTER(r, view[s] - 1) -> \
              x = view[s] - 1; \
              synced[r] = COMMON(mem[r], KEPT(r, x)); written[r] = synced[r]; \
              mem[r] = KEPT(r, x); enter(r, x); x = 0 }
#if N == 3
#define HEAR(r) HEAR_FROM(r, 0) HEAR_FROM(r, 1) HEAR_FROM(r, 2)
#else
#define HEAR(r) HEAR_FROM(r, 0) HEAR_FROM(r, 1) HEAR_FROM(r, 2) HEAR_FROM(r, 3)
#endif

/* ---- The sequence, the disks, and what happens to them. ---- */

#if BROKEN == CONFIRMS_RECEIVED
#define HAS_LOGGED(p, r) (HAS(members_of[view[p] - 1], r) && view[r] == view[p])
#else
#define HAS_LOGGED(p, r) (HAS(members_of[view[p] - 1], r) && view[r] == view[p] && \
                          PERSISTED(r) >= LEN(cut_of[view[p] - 1]))
#endif
#if N == 3
#define LOGGED(p) (HAS_LOGGED(p, 0) + HAS_LOGGED(p, 1) + HAS_LOGGED(p, 2))
#else
#define LOGGED(p) (HAS_LOGGED(p, 0) + HAS_LOGGED(p, 1) + HAS_LOGGED(p, 2) + HAS_LOGGED(p, 3))
#endif

#define RUN(p) \
  :: d_step { view[p] != 0 && vow[p] == 0 && LEN(mem[p]) < POSITIONS -> \
              mem[p] = APPEND(mem[p], view[p]) } \
  :: d_step { view[p] != 0 && MAY_LOG(p) -> \
              written[p]++; \
              if \
              :: BROKEN == PERSISTED_UNSYNCED -> x = view[p] - 1; see(x); x = 0 \
              :: else \
              fi } \
  :: d_step { !HAS(down, p) && synced[p] < written[p] -> \
              synced[p] = written[p]; \
              if \
              :: view[p] != 0 -> x = view[p] - 1; see(x); x = 0 \
              :: else \
              fi } \
  :: d_step { view[p] != 0 && confirmed[p] < view[p] - 1 && \
              IS_MAJORITY(LOGGED(p), members_of[view[p] - 1]) -> confirmed[p] = view[p] - 1 } \
  :: d_step { BROKEN == INSTALLED_UNSYNCED && view[p] != 0 && installed[p] != view[p] -> \
              installed[p] = view[p] }

#define FAIL(p) \
  :: d_step { crashes > 0 && !HAS(down, p) -> crashes--; stop(p, 0) } \
  :: d_step { crashes > 0 && !HAS(down, p) && synced[p] < written[p] -> crashes--; stop(p, 1) } \
  :: d_step { HAS(down & ~AWAY, p) -> \
              down = down & ~BIT(p); \
              back = back | ((installed[p] != 0) << p) } \
  :: d_step { losses > 0 && HAS(down, p) && installed[p] != 0 -> \
              losses--; \
              installed[p] = 0; accepted[p] = 0; accepted_in[p] = 0; promised[p] = 0; \
              confirmed[p] = 0; mem[p] = 0; written[p] = 0; synced[p] = 0 }

/* All nodes stop; those of the mask `keep` lose nothing that they wrote. */
#define TORN(r) (synced[r] < written[r])
#define STOP(keep) \
  :: d_step { stops > 0 && down != ALL && ((keep) & ~MASK(TORN)) == 0 -> \
              stops--; \
              do \
              :: q < N -> \
                if \
                :: !HAS(down, q) -> stop(q, HAS(keep, q)) \
                :: else \
                fi; \
                q++ \
              :: else -> break \
              od; \
              q = 0 }

/* At the end all nodes that are not away are up. If these are a majority of the newest decided view
   and of all before it, the group runs; unless nodes that are away may know of a next view. */
#define MANY(v) IS_MAJORITY(COUNT(back & members_of[v]), members_of[v])
#define CHAIN(v) (MANY(v) && MANY(base_of[v]) && MANY(base_of[base_of[v]]) && MANY(0))
#define UNKNOWN(r) (HAS(back, r) && accepted[r] != 0 && base_of[accepted[r] - 1] == newest)
#define ALL_BACK ((members_of[newest] & ~back) == 0)
#define RUNS(r) (view[r] != 0)

active proctype world() {
  d_step {
    members_of[0] = FIRST;
    entered[0] = FIRST;
    i = 0;
    do
    :: i < N ->
      if
      :: HAS(FIRST, i) -> view[i] = 1; installed[i] = 1
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0;
#if SECOND
    proposals = 2;
    decided = 3;
    newest = 1;
    members_of[1] = SECOND;
    number_of[1] = 1;
    cut_of[1] = 1;
    entered[1] = SECOND;
    do
    :: i < N ->
      if
      :: HAS(SECOND, i) -> view[i] = 2; installed[i] = 2; mem[i] = 1
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0
#endif
  }
  do
  EACH(RUN)
  EACH(CHANGE)
  EACH(RESTART)
  EACH(FOLLOW)
  EACH(DECIDE)
  EACH(HEAR)
  EACH(FAIL)
  STOP(0) STOP(1) STOP(2) STOP(3) STOP(4) STOP(5) STOP(6) STOP(7)
  :: else ->
    HOLDS(goes_on, SOME(RUNS) || proposals == PROPOSALS || !CHAIN(newest) || \
                   (!ALL_BACK && SOME(UNKNOWN)));
    break
  od
}
