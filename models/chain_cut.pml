/* How a view ends in the order lcr: the chain, the wedge, `lacking`, the cut.
 * What is modelled, what is left out and why that is enough: docs/chain-model.md.
 *
 * Sizes and choices (-D):
 *   N                 members, 3 to 5; the chain goes round them by rank
 *   SENDERS, FIRST    how many of them send: the ranks from FIRST on
 *   ROUNDS            how many rounds each sender has at most, each a record or a null
 *   JOIN              1: rank 0 may end the view although nobody is suspected, for a join
 *   CRASHES, FALSE_SUSPICIONS   how many of them happen at most
 *   EXACT, ENDS       0: does not check first_lacked, or change_ends
 *   BROKEN            one planted mistake; models/check.py must find each
 *
 * A member reads the current words of other rows. A stale read of a word that only grows, used in a
 * condition that stays true, is the same as acting later, and every step may come later. `lacking`
 * is made from several words at once: there a sender may take any older values of them.
 *
 * Agreement is one step here: models/view_change.pml is about that. */

#ifndef N
#define N 3
#endif
#ifndef SENDERS
#define SENDERS N
#endif
#ifndef FIRST
#define FIRST 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef JOIN
#define JOIN 0
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FALSE_SUSPICIONS
#define FALSE_SUSPICIONS 0
#endif
#ifndef EXACT
#define EXACT 1
#endif
#ifndef ENDS
#define ENDS 1
#endif

/* The mistakes. */
#define BEFORE_GAP 1        /* a record before what the members of the cut lack ends the cut */
#define ENDS_AT_NULL 2      /* the cut ends at the first round that is lacked, record or null */
#define LATER_ROUND 3       /* a word counts although it was told of a later round */
#define UNTOLD_IS_NONE 4    /* a sender that has told nothing counts as if none is lacked */
#define LEADER_LOOKS 5      /* the leader looks for the record in what it has received itself */
#define TOLD_ONCE 6         /* a sender tells once, and not again when it hears or suspects more */
#define TOLD_OF_ALL 7       /* a sender counts members that it suspects as well */
#define WEDGES_IN_SILENCE 8 /* a member tells what it has received after it has wedged */
#define RECEIVES_WEDGED 9   /* a wedged member goes on receiving */
#define NO_WEDGE_WAIT 10    /* the leader does not wait for all to wedge */
#define CUT_MAXIMUM 11      /* the cut is what some survivor has */
#define STABLE_HERE 12      /* a member delivers what it has received */
#define STABLE_AT_FIRST 13  /* the member behind the sender acknowledges, not the one before it */
#ifndef BROKEN
#define BROKEN 0
#endif

#define ALL ((1 << N) - 1)
#define BIT(q) (1 << (q))
#define HAS(mask, q) (((mask) >> (q)) & 1)
#define COUNT(m) (HAS(m, 0) + HAS(m, 1) + HAS(m, 2) + HAS(m, 3) + HAS(m, 4))
#define LESSER(a, b) ((a) < (b) -> (a) : (b))
#define GREATER(a, b) ((a) > (b) -> (a) : (b))
#define BEFORE(q) (((q) + N - 1) % N)
#define RANK_OF(s) (FIRST + (s))
#define IS_SENDER(q) ((q) >= FIRST && (q) < FIRST + SENDERS)
#define LAST_OF(s) BEFORE(RANK_OF(s)) /* the chain ends with the member before the sender */
#define AT(q, s) ((q) * SENDERS + (s))
#define PLACE(round, s) ((round) * SENDERS + (s))
#define LAST_PLACE PLACE(ROUNDS, 0)
#define NONE 7                        /* a round later than any */

#if N == 3
#define EACH(DO) DO(0) DO(1) DO(2)
#define EVERY(P) (P(0) && P(1) && P(2))
#elif N == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define EVERY(P) (P(0) && P(1) && P(2) && P(3))
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4)
#define EVERY(P) (P(0) && P(1) && P(2) && P(3) && P(4))
#endif
#if SENDERS == 1
#define EACH_SENDER(DO, p) DO(p, 0)
#elif SENDERS == 2
#define EACH_SENDER(DO, p) DO(p, 0) DO(p, 1)
#else
#define EACH_SENDER(DO, p) DO(p, 0) DO(p, 1) DO(p, 2)
#endif

/* Rows. Written by their owner only. */
byte got[N * SENDERS];    /* rounds of the sender; its own entry is what it sent. After the wedge it
                             is the word `received`, which changes no more */
byte stable[N * SENDERS]; /* rounds of the sender that every member has received */
byte records[SENDERS];    /* bit r: its round r is a record, else a null */
byte told[SENDERS];       /* `lacking`: 0, or 1 + the round from which on it tells of a record */
byte suspected[N];        /* mask */
byte wedged;              /* mask: one flag per row */
#if BROKEN == WEDGES_IN_SILENCE || BROKEN == RECEIVES_WEDGED
byte word[N * SENDERS];   /* `received`, as posted to all */
byte posted;               /* mask: has posted it */
#define WORD(q, s) word[AT(q, s)]
#else
#define WORD(q, s) got[AT(q, s)]
#endif

/* A member's own. */
byte delivered[N];        /* places passed, in the order of rounds, then of senders */
byte trying[N];           /* a leader: with whom it is about to go on, or 0 */

/* What was decided: who goes on, 0 as long as nothing is, and the cut. */
byte goes_on;
byte cut;                 /* a place */
byte cut_received[SENDERS];

/* The world. */
byte crashed;             /* mask */
byte crashes_left = CRASHES;
byte false_left = FALSE_SUSPICIONS;

/* Temporaries, zero between steps. */
byte s = 0;
byte right = 0;

/* Properties. Spin stops at the first state in which one is false, and names it. */
hidden byte uniform = true;      /* what any member delivered, also a lost one, is before the cut */
hidden byte has_the_cut = true;  /* a member that goes on has wedged, and has all before the cut */
hidden byte first_lacked = true; /* the cut is the first record of a survivor that another lacks */
hidden byte change_ends = true;  /* at the end: once a member has wedged, a cut is decided */
#define HOLDS(name, what) \
  if \
  :: what \
  :: else -> name = false; assert(name) \
  fi

#define UNSUSPECTED(p) (ALL & ~suspected[p])
#define MAJORITY(m) (2 * COUNT(m) > N)
#define SUSPECTS(p, r) HAS(suspected[p], r)
/* Who goes on has nothing more to do in this view. Others go on as far as its rules allow. */
#define UP(p) (!HAS(crashed, p) && !HAS(goes_on, p) && MAJORITY(UNSUSPECTED(p)))
#define SENT(t) got[AT(RANK_OF(t), t)]

/* The first record of t in a round from `from` on. */
#define IS_RECORD(t, r, from) ((from) <= (r) && (r) < SENT(t) && HAS(records[t], r))
#define FIRST_RECORD(t, from) \
  (IS_RECORD(t, 0, from) -> 0 : (IS_RECORD(t, 1, from) -> 1 : (IS_RECORD(t, 2, from) -> 2 : NONE)))

/* A place that somebody delivered a record at. */
#define COUNTS(g) ((g) < cut && (g) / SENDERS < cut_received[(g) % SENDERS])
#define IS_NULL(g) !HAS(records[(g) % SENDERS], (g) / SENDERS)
#define WITHIN(r, g) (delivered[r] <= (g) || IS_NULL(g) || COUNTS(g))
#define ALL_WITHIN(r) (WITHIN(r, 0) && WITHIN(r, 1) && WITHIN(r, 2) && WITHIN(r, 3) && \
                       WITHIN(r, 4) && WITHIN(r, 5) && WITHIN(r, 6) && WITHIN(r, 7) && WITHIN(r, 8))
#define CHECK_UNIFORM() HOLDS(uniform, goes_on == 0 || EVERY(ALL_WITHIN))

/* The words that a member posts when it wedges are there before the wedge is seen (LC1). */
inline post_words(p) {
#if BROKEN == WEDGES_IN_SILENCE || BROKEN == RECEIVES_WEDGED
  s = 0;
  do
  :: s < SENDERS -> word[AT(p, s)] = got[AT(p, s)]; s++
  :: else -> break
  od;
  s = 0;
  posted = posted | BIT(p)
#else
  skip
#endif
}

inline wedge(p) {
  if
  :: !HAS(wedged, p) ->
     wedged = wedged | BIT(p);
#if BROKEN != WEDGES_IN_SILENCE
     post_words(p)
#endif
  :: else
  fi
}

/* The chain. A wedged member hands on nothing more; but what it has handed on may still be on its
   way, so the member behind may take all that it has. */
#if BROKEN == RECEIVES_WEDGED
#define MAY_RECEIVE(p) true
#else
#define MAY_RECEIVE(p) !HAS(wedged, p)
#endif
#define RECEIVE(p, t) \
  :: d_step { UP(p) && MAY_RECEIVE(p) && (p) != RANK_OF(t) && \
              got[AT(p, t)] < got[AT(BEFORE(p), t)] -> got[AT(p, t)]++ }

/* Acknowledgements go round from the last member that a sender's records come to. */
#if BROKEN == STABLE_HERE
#define ALL_HAVE(p, t) got[AT(p, t)]
#elif BROKEN == STABLE_AT_FIRST
#define ALL_HAVE(p, t) ((p) == (RANK_OF(t) + 1) % N -> got[AT(p, t)] : \
                        LESSER(got[AT(p, t)], stable[AT(BEFORE(p), t)]))
#else
#define ALL_HAVE(p, t) ((p) == LAST_OF(t) -> got[AT(p, t)] : \
                        LESSER(got[AT(p, t)], stable[AT(BEFORE(p), t)]))
#endif
#define ACKNOWLEDGE(p, t) \
  :: d_step { UP(p) && !HAS(wedged, p) && stable[AT(p, t)] < ALL_HAVE(p, t) -> \
              stable[AT(p, t)] = ALL_HAVE(p, t) }

/* A sender gives a round up with a null if a later one of it would keep another's waiting (I3). */
#define OWES(p, t) ((p) != RANK_OF(t) && \
                    SENT((p) - FIRST) + ((p) - FIRST < (t) -> 0 : 1) < got[AT(p, t)])
#if SENDERS == 1
#define OWES_ANY(p) false
#elif SENDERS == 2
#define OWES_ANY(p) (OWES(p, 0) || OWES(p, 1))
#else
#define OWES_ANY(p) (OWES(p, 0) || OWES(p, 1) || OWES(p, 2))
#endif
#define MAY_SEND(p) (UP(p) && !HAS(wedged, p) && SENT((p) - FIRST) < ROUNDS)
#define SEND(p) \
  :: d_step { IS_SENDER(p) && MAY_SEND(p) -> \
              records[(p) - FIRST] = records[(p) - FIRST] | BIT(SENT((p) - FIRST)); \
              SENT((p) - FIRST)++ } \
  :: d_step { IS_SENDER(p) && MAY_SEND(p) && OWES_ANY(p) -> SENT((p) - FIRST)++ }

#define NEXT_OF(p) (delivered[p] % SENDERS)
#define NEXT_ROUND(p) (delivered[p] / SENDERS)
#define DELIVER(p) \
  :: d_step { UP(p) && !HAS(wedged, p) && delivered[p] < LAST_PLACE && \
              (IS_NULL(delivered[p]) -> got[AT(p, NEXT_OF(p))] : stable[AT(p, NEXT_OF(p))]) \
                > NEXT_ROUND(p) -> \
              delivered[p]++; \
              CHECK_UNIFORM() }

#define SAYS(p, r) (!SUSPECTS(p, r) && !HAS(crashed, r) -> suspected[r] : 0)
#if N == 3
#define SAID(p) (SAYS(p, 0) | SAYS(p, 1) | SAYS(p, 2))
#elif N == 4
#define SAID(p) (SAYS(p, 0) | SAYS(p, 1) | SAYS(p, 2) | SAYS(p, 3))
#else
#define SAID(p) (SAYS(p, 0) | SAYS(p, 1) | SAYS(p, 2) | SAYS(p, 3) | SAYS(p, 4))
#endif
/* p is the member that acts. */
#define SUSPECT(r) \
  :: d_step { UP(p) && (r) != p && !SUSPECTS(p, r) && (HAS(crashed, r) || HAS(SAID(p), r)) -> \
              suspected[p] = suspected[p] | BIT(r); wedge(p) } \
  :: d_step { UP(p) && (r) != p && !SUSPECTS(p, r) && !HAS(crashed, r) && !HAS(SAID(p), r) && \
              false_left > 0 -> \
              false_left--; suspected[p] = suspected[p] | BIT(r); wedge(p) }
#define SOME_WEDGES ((wedged & UNSUSPECTED(p)) != 0)

/* What all that p does not suspect have of its own rounds. */
#if BROKEN == TOLD_OF_ALL
#define HAVING(r, t) WORD(r, t)
#else
#define HAVING(r, t) (SUSPECTS(p, r) -> SENT(t) : WORD(r, t))
#endif
#if N == 3
#define LEAST(t) LESSER(HAVING(0, t), LESSER(HAVING(1, t), HAVING(2, t)))
#elif N == 4
#define LEAST(t) \
  LESSER(LESSER(HAVING(0, t), HAVING(3, t)), LESSER(HAVING(1, t), HAVING(2, t)))
#else
#define LEAST(t) LESSER(LESSER(HAVING(0, t), HAVING(3, t)), \
                        LESSER(HAVING(1, t), LESSER(HAVING(2, t), HAVING(4, t))))
#endif
#if BROKEN == TOLD_ONCE
#define IS_NEWS(t, from) (told[t] == 0)
#else
#define IS_NEWS(t, from) (told[t] <= (from)) /* it is 1 + the last one */
#endif
/* All have what is stable, whatever the words that p reads say. */
#define TELL(from) \
  :: d_step { IS_SENDER(p) && UP(p) && HAS(wedged, p) && IS_NEWS(p - FIRST, from) && \
              (from) >= stable[AT(p, p - FIRST)] && \
              ((from) <= LEAST(p - FIRST) || (from) == stable[AT(p, p - FIRST)]) -> \
              told[p - FIRST] = 1 + (from) }

/* The leader. Members that do not suspect it have settled for the same suspicions. */
#define PROMISED(r, leader) ((suspected[r] & (BIT(leader) - 1)) == BIT(leader) - 1)
#if BROKEN == NO_WEDGE_WAIT
#define READY(r) (SUSPECTS(p, r) || suspected[r] == suspected[p] || !HAS(wedged, r))
#else
#define READY(r) (SUSPECTS(p, r) || (HAS(wedged, r) && suspected[r] == suspected[p]))
#endif
#define ALL_READY EVERY(READY)

/* What all with whom the leader p goes on have received of t. */
#if BROKEN == CUT_MAXIMUM
#define FIRST_OF_TWO(a, b) GREATER(a, b)
#define OF(r, t) (HAS(trying[p], r) -> WORD(r, t) : 0)
#else
#define FIRST_OF_TWO(a, b) LESSER(a, b)
#define OF(r, t) (HAS(trying[p], r) -> WORD(r, t) : NONE)
#endif
#if N == 3
#define BY_ALL(t) FIRST_OF_TWO(OF(0, t), FIRST_OF_TWO(OF(1, t), OF(2, t)))
#elif N == 4
#define BY_ALL(t) FIRST_OF_TWO(FIRST_OF_TWO(OF(0, t), OF(3, t)), FIRST_OF_TWO(OF(1, t), OF(2, t)))
#else
#define BY_ALL(t) FIRST_OF_TWO(FIRST_OF_TWO(OF(0, t), OF(3, t)), \
                               FIRST_OF_TWO(OF(1, t), FIRST_OF_TWO(OF(2, t), OF(4, t))))
#endif

/* Of a sender that goes on: whether the leader p knows which record of it is the first one that not
   all of them have, and the round of that. What p itself sent is in its own ring. */
#define FROM(t) (told[t] - 1)
#define TOLD_RECORD(t) FIRST_RECORD(t, FROM(t))
#if BROKEN == BEFORE_GAP
#define TELLS(t) (told[t] != 0 && FROM(t) <= BY_ALL(t))
#elif BROKEN == LATER_ROUND
#define TELLS(t) (told[t] != 0 && TOLD_RECORD(t) >= BY_ALL(t))
#elif BROKEN == UNTOLD_IS_NONE || BROKEN == LEADER_LOOKS
#define TELLS(t) true
#else
#define TELLS(t) (told[t] != 0 && FROM(t) <= BY_ALL(t) && TOLD_RECORD(t) >= BY_ALL(t))
#endif
/* The round, once that is so: cut_received[] is set. */
#if BROKEN == ENDS_AT_NULL
#define LACKED(t) (cut_received[t] < SENT(t) -> cut_received[t] : NONE)
#elif BROKEN == UNTOLD_IS_NONE
#define LACKED(t) (told[t] == 0 -> NONE : TOLD_RECORD(t))
#elif BROKEN == LEADER_LOOKS
#define LACKED(t) (IN_RING(t) < got[AT(p, t)] -> IN_RING(t) : NONE)
#else
#define LACKED(t) TOLD_RECORD(t)
#endif
#define IN_RING(t) FIRST_RECORD(t, cut_received[t])
#define KNOWS(t) (!HAS(trying[p], RANK_OF(t)) || RANK_OF(t) == p || TELLS(t))
#if SENDERS == 1
#define KNOWS_ALL KNOWS(0)
#elif SENDERS == 2
#define KNOWS_ALL (KNOWS(0) && KNOWS(1))
#else
#define KNOWS_ALL (KNOWS(0) && KNOWS(1) && KNOWS(2))
#endif

/* Of t all rounds before the cut that count. */
#define END_OF(t) (cut / SENDERS + ((t) < cut % SENDERS -> 1 : 0))
#define HAS_OF(r, t) (got[AT(r, t)] >= LESSER(END_OF(t), cut_received[t]))
#define HAS_CUT(r) (!HAS(goes_on, r) || (HAS(wedged, r) && HAS_OF(r, 0) && \
                    HAS_OF(r, SENDERS - 1) && HAS_OF(r, SENDERS / 2)))

/* The cut is the first record of a member that goes on which not all of them have, or else the end
   of the last round that they all have of any sender. */
inline decide() {
  goes_on = trying[p];
  do
  :: s < SENDERS ->
     cut_received[s] = BY_ALL(s);
     cut = GREATER(cut, PLACE(cut_received[s], 0));
     s++
  :: else -> break
  od;
  right = cut;
  s = 0;
  do
  :: s < SENDERS ->
     if
     :: HAS(goes_on, RANK_OF(s)) ->
        cut = LESSER(cut, PLACE((RANK_OF(s) == p -> IN_RING(s) : LACKED(s)), s));
        right = LESSER(right, PLACE(IN_RING(s), s))
     :: else
     fi;
     s++
  :: else -> break
  od;
  s = 0;
  HOLDS(has_the_cut, EVERY(HAS_CUT));
  CHECK_UNIFORM();
  HOLDS(first_lacked, !EXACT || cut == right);
  right = 0
}

#define CHAIN(p, t) RECEIVE(p, t) ACKNOWLEDGE(p, t)

proctype member(byte p) {
end:
  do
  EACH_SENDER(CHAIN, p)
  SEND(p)
  DELIVER(p)
  EACH(SUSPECT)
  :: d_step { UP(p) && !HAS(wedged, p) && (SOME_WEDGES || (JOIN && p == 0)) -> wedge(p) }
#if BROKEN == WEDGES_IN_SILENCE
  :: d_step { UP(p) && HAS(wedged, p) && !HAS(posted, p) -> post_words(p) }
#endif
  TELL(0)
  TELL(1)
  TELL(2)
  TELL(3)

  /* The leader begins a pass with what others have settled for, and finds the cut in the end of it:
     in between words may land. */
  :: d_step { UP(p) && goes_on == 0 && HAS(wedged, p) && PROMISED(p, p) && ALL_READY && \
              trying[p] != UNSUSPECTED(p) -> trying[p] = UNSUSPECTED(p) }
  :: d_step { UP(p) && goes_on == 0 && trying[p] != 0 && KNOWS_ALL -> decide() }

  :: d_step { !HAS(crashed, p) && !HAS(goes_on, p) && crashes_left > 0 ->
              crashes_left--; crashed = crashed | BIT(p); trying[p] = 0 }
  od
}

/* Every step raises a word, so every run ends. Of so many failures the rest is a majority in which
   nobody is suspected. */
#define FAILURES (CRASHES - crashes_left + FALSE_SUSPICIONS - false_left)

init {
  byte i;
  atomic {
    do
    :: i < N -> run member(i); i++
    :: else -> break
    od;
    i = 0
  }
  timeout ->
  HOLDS(change_ends, !ENDS || goes_on != 0 || wedged == 0 || 2 * FAILURES >= N)
}
