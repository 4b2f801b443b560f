/* What interface_c and interface_cpp share: the members of a group as processes of this host, over
 * shared memory, all of which send as fast as they can. The two programs do the same, one through
 * the C interface (member_c.c), one through that of C++ (member_cpp.cpp): perf/bench.py compares
 * how many messages a second each delivers. */
#ifndef TUTTI_PERF_INTERFACE_H
#define TUTTI_PERF_INTERFACE_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMBERS_MAX 8
#define MESSAGES_AT_ONCE 256 /* between two looks at `stop` */
#define WAIT_NS 100000000LL  /* for space, between two looks */
#define END_TIMEOUT_NS 60000000000LL

/* NOLINTBEGIN(readability-identifier-naming): structs as in C */
struct plan {
  uint32_t members;
  uint32_t size; /* of a message, in bytes */
  char names[MEMBERS_MAX][8];
  char addresses[MEMBERS_MAX][32];
};

/* In memory that all processes share; by __atomic builtins, relaxed. */
struct shared {
  uint32_t stop;
  struct {
    uint64_t delivered __attribute__((aligned(128))); /* messages */
    uint64_t sum;                                     /* of what was read, so that it is read */
  } of[MEMBERS_MAX];
};
/* NOLINTEND(readability-identifier-naming) */

/* One member: starts, calls started(), sends until `stop`, ends with the others. 0, or it has
 * printed what is wrong. */
int run_member(const struct plan* plan, uint32_t rank, struct shared* shared);
void started(void);

static inline int stops(const struct shared* shared) {
  return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED) != 0;
}

static inline void fill(void* data, uint32_t size, uint64_t number) {
  memset(data, (int)number, size);
  if (size >= sizeof number) memcpy(data, &number, sizeof number);
}

static inline uint64_t first_word(const void* data, uint32_t size) {
  uint64_t word = 0;
  memcpy(&word, data, size < sizeof word ? size : sizeof word);
  return word;
}

static inline void count(struct shared* shared, uint32_t rank, uint64_t messages, uint64_t sum) {
  uint64_t* delivered = &shared->of[rank].delivered;
  shared->of[rank].sum += sum;
  __atomic_store_n(delivered, *delivered + messages, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif

#endif
