/* The token of a ring on the table: numbers, aru, safe delivery, parking, hand-over.
 * What is modelled, what is left out and why that is enough: docs/token-model.md.
 *
 * Sizes and choices (-D):
 *   MSGS      messages in all, up to 4: the application of any member may send any of them
 *   PERSONAL, GLOBAL, GAP   the windows of a visit and of a rotation, the maximum gap
 *   SHARED    1: the members are on one host, so all see the token words that are for one of them
 *   BROKEN    one planted mistake; models/check.py must find each
 *
 * Three members. All that a member posts lands at each other member at any later time and in any
 * order: a record may land after the token (the accelerated window), one token word before the
 * other. The crash of a member leads to suspicion and a change of view: models/view_change.pml.
 *
 * Visit v is for the member of rank v modulo N. Visits are counted modulo CYCLE, to have few
 * states. The model assumes what counts that do not wrap would give: a reader can tell each word
 * from all earlier words of the same row. So a reader forgets words of a token that was taken. */

#define N 3
#ifndef MSGS
#define MSGS 2
#endif
#ifndef PERSONAL
#define PERSONAL 2
#endif
#ifndef GLOBAL
#define GLOBAL 3
#endif
#ifndef GAP
#define GAP 4
#endif
#ifndef SHARED
#define SHARED 0
#endif

/* The mistakes. */
#define ARU_NOT_LOWERED 1     /* a member that lacks a number does not lower the token's aru */
#define ARU_ALWAYS_ADDED 2    /* a sender adds its messages to an aru that is below seq */
#define ARU_RAISED_BY_ALL 3   /* a member that did not lower the aru sets it to its own as well */
#define SAFE_AT_ONCE 4        /* safe up to the aru on the token now, whatever it was last time */
#define RUNS_ONLY 5           /* the local aru counts numbers whose records have not landed */
#define FCC_FORGOTTEN 6       /* a member does not subtract what it sent last time from fcc */
#define GLOBAL_IGNORED 7      /* members ignore the global window */
#define GAP_IGNORED 8         /* members ignore the maximum gap */
#define RUN_EARLY 9           /* a member uses its run word again before all have read it */
#define TORN_TOKEN 10         /* a member takes the token when its first word has landed */
#define VISIT_BACK 11         /* a member takes the token of an earlier visit again */
#define VISIT_OF_OTHER 12     /* ... of a visit that is for another member */
#define PARKS_EARLY 13        /* a member parks the token as soon as aru = seq */
#define PARKS_AT_ARU 14       /* ... after a rotation without messages if aru = seq */
#define PARKS_BELOW_SEQ 15    /* ... after a rotation without messages, whatever the aru */
#define NEVER_PARKS 16        /* an idle token goes round for ever */
#define HANDS_OVER_MOVING 17  /* skips its successor for one that wanted the token earlier */
#define HANDS_OVER_TWICE 18   /* the token stays parked at a member that has handed it over */
#define WANTS_ONCE 19         /* a member that has raised `want` once never raises it again */
#define PARKS_SILENTLY 20     /* a member does not tell the others that it has parked */
#define HOLDER_WAITS 21       /* a parked holder that gets a message waits until another wants it */
#ifndef BROKEN
#define BROKEN 0
#endif

#define CYCLE 6
#define NOBODY N
#define BIT(i) (1 << (i))
#define HAS(mask, i) (((mask) >> (i)) & 1)
#define NUMBERS(upto) (BIT(upto) - 1)
#define PREFIX(mask) (!HAS(mask, 0) -> 0 : (!HAS(mask, 1) -> 1 : (!HAS(mask, 2) -> 2 : \
                     (!HAS(mask, 3) -> 3 : 4))))
#define AT(m, s) ((m) * N + (s)) /* the index of what m has of s's row */
#define LEAST(a, b) ((a) < (b) -> (a) : (b))

/* Rows: words that only their owner writes. Its token words are those that it posted last. */
byte run_first[N];  /* the first and last number of its last run; 0: none */
byte run_last[N];
byte a_visit[N];    /* tokenA: visit, seq; CYCLE: taken */
byte a_seq[N];
byte b_visit[N];    /* tokenB: visit, seq - aru, aru_id, fcc */
byte b_behind[N];
byte b_aru_id[N];
byte b_fcc[N];
byte parked_at[N];  /* the visit at which it parked the token; CYCLE: none. A reader ignores one */
byte parked_aru[N]; /* that is older than its own last visit. All up to parked_aru is safe */
byte want[N];       /* the visit of the parked token that it wants; CYCLE: none */

/* What has landed at a member from the others' rows. */
byte rec[N];              /* numbers of the records */
byte seen_first[N * N];   /* run words */
byte seen_last[N * N];
byte seen_a[N * N];       /* the visits of the token words; their values are the row's */
byte seen_b[N * N];
byte seen_parked[N];      /* the visit of the parked token that it knows of; else CYCLE */

/* A member's own. */
byte backlog[N];
byte known[N];       /* numbers in the run words that it has read */
byte last_sent[N];   /* how many messages it sent at its last visit */
byte last_aru[N];    /* on the token when the token left it */
byte last_seq[N];    /* only for mistakes that use it */
byte safe[N];

/* The token while a member holds it. */
byte holder = 0;     /* rank 0 makes it */
bool parked = 0;
byte visit = 0;
byte seq = 0;
byte aru = 0;
byte aru_id = NOBODY;
byte fcc = 0;

/* Ghosts. */
byte todo = MSGS;    /* messages that the applications have not sent yet */
byte total = 0;      /* numbers given so far */
byte idle = 0;       /* visits since all members have received everything */

/* Properties. */
bool one_token = 1;      /* no member takes a token while another holds one, or an old token */
bool one_number = 1;     /* a number is given once */
bool run_is_read = 1;    /* a run word is overwritten only once all have read it */
bool safe_is_here = 1;   /* what is safe at one member has landed at all */
bool within_global = 1;  /* a rotation sends at most GLOBAL messages */
bool within_gap = 1;     /* seq is at most GAP above what all have */
bool counts_fcc = 1;     /* fcc is what was sent in the last rotation */
bool parked_is_quiet = 1; /* when the token is parked, all members have all messages */
bool parks = 1;          /* an idle ring parks within three rotations */
bool all_arrive = 1;     /* at the end, all members have delivered all as safe */
#define CHECK(property, condition) property = (condition); assert(property)

#define HERE(m) PREFIX(rec[m] & known[m])
#define LOCAL_ARU(m) (BROKEN == RUNS_ONLY -> PREFIX(known[m]) : HERE(m))
#define ALL_HAVE(number) (HERE(0) >= (number) && HERE(1) >= (number) && HERE(2) >= (number))
#define ALL_KNOW(number) (((known[0] & known[1] & known[2]) | ~NUMBERS(number)) == ~0)
#define LEAST_HERE LEAST(HERE(0), LEAST(HERE(1), HERE(2)))

/* Temporaries, zero between steps. */
byte k = 0;
byte before = 0;

inline forget_token() {
  holder = NOBODY;
  parked = 0;
  visit = 0;
  seq = 0;
  aru = 0;
  aru_id = NOBODY;
  fcc = 0
}

/* m posts the token words for that visit. */
inline post_token(m, to_visit) {
  a_visit[m] = to_visit;
  a_seq[m] = seq;
  b_visit[m] = to_visit;
  b_behind[m] = seq - aru;
  b_aru_id[m] = aru_id;
  b_fcc[m] = fcc
}

inline say_safe(m, number) {
  if
  :: number > safe[m] -> safe[m] = number
  :: else
  fi;
  CHECK(safe_is_here, ALL_HAVE(safe[m]))
}

/* Sets k to how many numbers this visit may give. */
inline find_k(m) {
  k = LEAST(backlog[m], PERSONAL);
  if
  :: BROKEN != GLOBAL_IGNORED && k + fcc - last_sent[m] > GLOBAL ->
     before = fcc - last_sent[m];
     k = GLOBAL - LEAST(before, GLOBAL);
     before = 0
  :: else
  fi;
  if
  :: BROKEN != GAP_IGNORED && seq + k > safe[m] + GAP ->
     k = safe[m] + GAP - LEAST(seq, safe[m] + GAP)
  :: else
  fi;
  if
  :: BROKEN != RUN_EARLY && run_last[m] > safe[m] -> k = 0
  :: else
  fi
}

inline give_numbers(m) {
  before = seq;
  CHECK(one_number, total == seq);
  if
  :: k > 0 ->
     CHECK(run_is_read, ALL_KNOW(run_last[m]));
     seq = seq + k;
     total = seq;
     backlog[m] = backlog[m] - k;
     run_first[m] = before + 1;
     run_last[m] = seq;
     rec[m] = rec[m] | (NUMBERS(seq) & ~NUMBERS(before));
     known[m] = known[m] | (NUMBERS(seq) & ~NUMBERS(before))
  :: else
  fi;
  CHECK(within_gap, seq <= LEAST_HERE + GAP)
}

inline turn_aru(m) {
  if
  :: BROKEN != ARU_NOT_LOWERED && LOCAL_ARU(m) < aru -> aru = LOCAL_ARU(m); aru_id = m
  :: else ->
     if
     :: aru_id == m || (BROKEN == ARU_RAISED_BY_ALL && LOCAL_ARU(m) > aru) ->
        aru = LOCAL_ARU(m);
        if
        :: aru == seq -> aru_id = NOBODY
        :: else
        fi
     :: aru_id != m && aru == before -> aru = seq
     :: aru_id != m && aru < before && BROKEN == ARU_ALWAYS_ADDED -> aru = aru + k
     :: else
     fi
  fi
}

inline turn_fcc(m) {
  if
  :: BROKEN != FCC_FORGOTTEN -> fcc = fcc - last_sent[m]
  :: else
  fi;
  fcc = fcc + k;
  last_sent[m] = k;
  CHECK(counts_fcc, fcc == last_sent[0] + last_sent[1] + last_sent[2]);
  CHECK(within_global, fcc <= GLOBAL)
}

#define IS_IDLE (todo == 0 && backlog[0] + backlog[1] + backlog[2] == 0 && ALL_HAVE(total))
/* Not "no message in a rotation, and aru = seq": a member that lowered the aru raises it to its own
 * later, while others may still lack as much, and only their next visits lower it again. */
#define MAY_PARK(m) (BROKEN != NEVER_PARKS && last_sent[m] == 0 && \
                     (BROKEN == PARKS_AT_ARU -> aru == seq && last_seq[m] == seq : \
                      (BROKEN == PARKS_EARLY -> aru == seq : \
                       (BROKEN == PARKS_BELOW_SEQ -> last_seq[m] == seq : safe[m] == seq))))

#define REMEMBER_SEQ(m) last_seq[m] = \
  (BROKEN == PARKS_AT_ARU || BROKEN == PARKS_BELOW_SEQ -> seq : 0)

/* What a member does with the token that it has just taken. */
inline do_visit(m) {
  seen_parked[m] = CYCLE;
  if
  :: BROKEN != WANTS_ONCE -> want[m] = CYCLE
  :: else
  fi;
  if
  :: IS_IDLE -> idle = idle + 1
  :: else -> idle = 0
  fi;
  CHECK(parks, idle <= 3 * N);
  find_k(m);
  give_numbers(m);
  turn_aru(m);
  turn_fcc(m);
  k = (BROKEN == SAFE_AT_ONCE -> aru : LEAST(aru, last_aru[m]));
  say_safe(m, k);
  last_aru[m] = aru;
  if
  :: MAY_PARK(m) ->
     parked = 1;
     idle = 0;
     parked_at[m] = visit;
     parked_aru[m] = seq;
     CHECK(parked_is_quiet, fcc == 0 && ALL_HAVE(seq));
     say_safe(m, seq);
     REMEMBER_SEQ(m)
  :: else ->
     REMEMBER_SEQ(m);
     if
     :: BROKEN == HANDS_OVER_MOVING && want[(m + 2) % N] != CYCLE ->
        post_token(m, (visit + 2) % CYCLE)
     :: else -> post_token(m, (visit + 1) % CYCLE)
     fi;
     forget_token()
  fi;
  k = 0;
  before = 0
}

#define IS_FOR(m, v) (BROKEN == VISIT_OF_OTHER || (v) % N == (m))
#define TOKEN_HERE(m, r) (seen_a[AT(m, r)] != CYCLE && \
                          (BROKEN == TORN_TOKEN || seen_a[AT(m, r)] == seen_b[AT(m, r)]) && \
                          IS_FOR(m, seen_a[AT(m, r)]))
/* The values of a word that is not the newest are not kept: to take one is a mistake already. */
#define IS_NEWEST(m, r) (seen_a[AT(m, r)] == a_visit[r] && seen_b[AT(m, r)] == b_visit[r])

inline take_token(m, r) {
  CHECK(one_token, holder == NOBODY && IS_NEWEST(m, r));
  holder = m;
  visit = seen_a[AT(m, r)];
  seq = a_seq[r];
  aru = seq - b_behind[r];
  aru_id = b_aru_id[r];
  fcc = b_fcc[r];
  if
  :: BROKEN != VISIT_BACK ->
     a_visit[r] = CYCLE;
     b_visit[r] = CYCLE;
     seen_a[AT(m, r)] = CYCLE;
     seen_b[AT(m, r)] = CYCLE;
     a_seq[r] = 0;
     b_behind[r] = 0;
     b_aru_id[r] = 0;
     b_fcc[r] = 0
  :: else
  fi;
  do_visit(m)
}

/* The holder hands the parked token directly to q, and skips the members in between. */
#define NEXT_VISIT_OF(q) (visit + 1 + (q + CYCLE - (visit + 1)) % N)
#define WANTED_BY(m, q) (holder == m && parked && want[q] == visit)
inline unpark(m) {
  parked = 0;
  parked_at[m] = CYCLE; /* a member that did not see it yet may as well see it too late */
  parked_aru[m] = 0
}
inline hand_over(m, q) {
  post_token(m, NEXT_VISIT_OF(q) % CYCLE);
  if
  :: BROKEN == HANDS_OVER_TWICE -> want[q] = CYCLE
  :: else -> unpark(m); forget_token()
  fi
}

#define WANTS(m) (backlog[m] > 0 && holder != m && seen_parked[m] != CYCLE && \
                  (BROKEN == WANTS_ONCE -> want[m] == CYCLE : want[m] != seen_parked[m]))

#define TOKEN_WORD_IS_FOR(m, r) (a_visit[r] != CYCLE && (SHARED || a_visit[r] % N == (m)))

/* Words land, and the member reads them. */
#define LANDS(m, r) \
  :: d_step { run_last[r] != seen_last[AT(m, r)] -> \
              seen_first[AT(m, r)] = run_first[r]; seen_last[AT(m, r)] = run_last[r] } \
  :: d_step { seen_last[AT(m, r)] > 0 && !HAS(known[m], seen_last[AT(m, r)] - 1) -> \
              known[m] = known[m] | (NUMBERS(seen_last[AT(m, r)]) & \
                                     ~NUMBERS(seen_first[AT(m, r)] - 1)) } \
  :: d_step { TOKEN_WORD_IS_FOR(m, r) && seen_a[AT(m, r)] != a_visit[r] -> \
              seen_a[AT(m, r)] = a_visit[r] } \
  :: d_step { TOKEN_WORD_IS_FOR(m, r) && seen_b[AT(m, r)] != b_visit[r] -> \
              seen_b[AT(m, r)] = b_visit[r] } \
  :: d_step { BROKEN != PARKS_SILENTLY && parked_at[r] != CYCLE && \
              seen_parked[m] != parked_at[r] -> \
              seen_parked[m] = parked_at[r]; say_safe(m, parked_aru[r]) } \
  :: d_step { TOKEN_HERE(m, r) -> take_token(m, r) } \
  :: d_step { WANTED_BY(r, m) -> hand_over(r, m) }

#define RECORD_LANDS(m, i) \
  :: d_step { i < total && !HAS(rec[m], i) -> rec[m] = rec[m] | BIT(i) }

#define MEMBER(m) \
  :: d_step { todo > 0 -> todo = todo - 1; backlog[m] = backlog[m] + 1 } \
  :: d_step { WANTS(m) -> want[m] = seen_parked[m] } \
  :: d_step { holder == m && parked && backlog[m] > 0 && BROKEN != HOLDER_WAITS -> \
              unpark(m); visit = (visit + N) % CYCLE; do_visit(m) } \
  RECORD_LANDS(m, 0) RECORD_LANDS(m, 1) RECORD_LANDS(m, 2) RECORD_LANDS(m, 3)

init {
  d_step {
    for (k : 0 .. N - 1) {
      parked_at[k] = CYCLE;
      want[k] = CYCLE;
      seen_parked[k] = CYCLE;
      a_visit[k] = CYCLE;
      b_visit[k] = CYCLE
    }
    for (k : 0 .. N * N - 1) {
      seen_a[k] = CYCLE;
      seen_b[k] = CYCLE
    }
    k = 0;
    do_visit(0)
  }
  do
  LANDS(0, 1) LANDS(0, 2) LANDS(1, 0) LANDS(1, 2) LANDS(2, 0) LANDS(2, 1)
  MEMBER(0) MEMBER(1) MEMBER(2)
  :: timeout ->
     CHECK(all_arrive, IS_IDLE && total == MSGS && safe[0] == total && safe[1] == total &&
                       safe[2] == total);
     break
  od
}
