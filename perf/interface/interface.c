/* interface_c, interface_cpp --members N --size BYTES --seconds S --warmup S: prints as JSON how
 * many messages a second the member delivered that delivered the fewest, and the processor time of
 * all members for each delivery.
 *
 * With --messages N in place of the times: goes on until each member has delivered so many, and
 * prints how much memory the member had resident that had most, at 1 %, 10 % and 100 % of them. */
#include "interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_ends[2]; /* a byte for each member that has started */
static pid_t processes[MEMBERS_MAX];

static void die(const char* what) {
  fprintf(stderr, "interface: %s: %s\n", what, strerror(errno));
  exit(1);
}

void started(void) {
  if (write(pipe_ends[1], "", 1) != 1) die("cannot tell that a member has started");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_for(double seconds) {
  struct timespec left = {.tv_sec = (time_t)seconds};
  left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
  while (nanosleep(&left, &left) != 0) {
  }
}

static void find_addresses(struct plan* plan) {
  int probes[MEMBERS_MAX];
  for (uint32_t i = 0; i < plan->members; ++i) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    probes[i] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(probes[i], (struct sockaddr*)&at, size) != 0 ||
        getsockname(probes[i], (struct sockaddr*)&at, &size) != 0) {
      die("no free port");
    }
    snprintf(plan->names[i], sizeof plan->names[i], "m%u", i);
    snprintf(plan->addresses[i], sizeof plan->addresses[i], "127.0.0.1:%u", ntohs(at.sin_port));
  }
  for (uint32_t i = 0; i < plan->members; ++i) close(probes[i]);
}

/* The value after `name`, or `otherwise`. */
static double option(int count, char** words, const char* name, double low, double high,
                     double otherwise) {
  for (int i = 1; i + 1 < count; i += 2) {
    char* end = NULL;
    const double value = strtod(words[i + 1], &end);
    if (strcmp(words[i], name) != 0) continue;
    if (*end == '\0' && value >= low && value <= high) return value;
    fprintf(stderr, "interface: %s must be a number from %g to %g\n", name, low, high);
    exit(2);
  }
  return otherwise;
}

/* Each word is one of these options, or the value after one. */
static void refuse_other_options(int count, char** words) {
  static const char* const kNames[] = {"--members", "--size", "--messages", "--seconds",
                                       "--warmup"};
  for (int i = 1; i < count; i += 2) {
    int known = 0;
    for (size_t n = 0; n < sizeof kNames / sizeof kNames[0]; ++n) {
      known |= strcmp(words[i], kNames[n]) == 0;
    }
    if (known && i + 1 < count) continue;
    fprintf(stderr,
            "interface: %s %s: --members N, --size BYTES, --seconds S, --warmup S or "
            "--messages N\n",
            words[i], known ? "needs a value" : "is no option");
    exit(2);
  }
}

static void start_members(const struct plan* plan, struct shared* shared) {
  if (pipe(pipe_ends) != 0) die("no pipe");
  for (uint32_t i = 0; i < plan->members; ++i) {
    processes[i] = fork();
    if (processes[i] < 0) die("no process for a member");
    if (processes[i] == 0) exit(run_member(plan, i, shared));
  }
  close(pipe_ends[1]); /* so that reading ends if members do */
  for (uint32_t i = 0; i < plan->members; ++i) {
    char byte;
    if (read(pipe_ends[0], &byte, 1) != 1) die("a member did not start");
  }
}

static uint64_t delivered(const struct shared* shared, uint32_t rank) {
  return __atomic_load_n(&shared->of[rank].delivered, __ATOMIC_RELAXED);
}

/* Of all members. */
static double processor_seconds(const struct plan* plan) {
  double seconds = 0;
  for (uint32_t i = 0; i < plan->members; ++i) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(processes[i], &clock) != 0 || clock_gettime(clock, &used) != 0) {
      die("no clock for the processor time of a member");
    }
    seconds += (double)used.tv_sec + (double)used.tv_nsec / 1e9;
  }
  return seconds;
}

static void measure_rate(const struct plan* plan, const struct shared* shared, double warmup,
                         double seconds) {
  uint64_t before[MEMBERS_MAX];
  double least = -1;
  double all = 0;
  sleep_for(warmup);
  const double begun = now();
  const double processor_before = processor_seconds(plan);
  for (uint32_t i = 0; i < plan->members; ++i) before[i] = delivered(shared, i);
  sleep_for(seconds);
  const double took = now() - begun;
  for (uint32_t i = 0; i < plan->members; ++i) {
    const double rate = (double)(delivered(shared, i) - before[i]) / took;
    if (least < 0 || rate < least) least = rate;
    all += rate * took;
  }
  const double processor = processor_seconds(plan) - processor_before;
  printf(
      "{\"members\": %u, \"size\": %u, \"seconds\": %g, \"messages_per_second\": %.1f, "
      "\"cpu_ns_per_delivery\": %.2f}\n",
      plan->members, plan->size, took, least, processor * 1e9 / all);
}

static uint64_t resident_bytes(pid_t process) {
  char path[64];
  unsigned long all = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
  FILE* file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%lu %lu", &all, &resident) != 2) die(path);
  fclose(file);
  return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void measure_memory(const struct plan* plan, const struct shared* shared, double messages) {
  const double shares[] = {0.01, 0.1, 1};
  const double begun = now();
  uint64_t most[3] = {0};
  for (int at = 0; at < 3; ++at) {
    for (uint32_t i = 0; i < plan->members; ++i) {
      while ((double)delivered(shared, i) < messages * shares[at]) {
        if (waitpid(-1, NULL, WNOHANG) != 0) die("a member has ended");
        sleep_for(0.001);
      }
    }
    for (uint32_t i = 0; i < plan->members; ++i) {
      const uint64_t bytes = resident_bytes(processes[i]);
      if (bytes > most[at]) most[at] = bytes;
    }
  }
  printf(
      "{\"members\": %u, \"size\": %u, \"messages\": %.0f, \"seconds\": %.1f, "
      "\"resident_bytes\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]}\n",
      plan->members, plan->size, messages, now() - begun, most[0], most[1], most[2]);
}

int main(int count, char** words) {
  refuse_other_options(count, words);
  struct plan plan = {.members = (uint32_t)option(count, words, "--members", 1, MEMBERS_MAX, 3),
                      .size = (uint32_t)option(count, words, "--size", 0, 65536, 64)};
  const double messages = option(count, words, "--messages", 1000, 1e12, 0);
  const double seconds = option(count, words, "--seconds", 0.01, 3600, 1);
  const double warmup = option(count, words, "--warmup", 0, 3600, 0.2);
  struct shared* shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) die("no shared memory");
  find_addresses(&plan);
  start_members(&plan, shared);
  if (messages > 0) {
    measure_memory(&plan, shared, messages);
  } else {
    measure_rate(&plan, shared, warmup, seconds);
  }
  __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
  int failed = 0;
  for (uint32_t i = 0; i < plan.members; ++i) {
    int status = 0;
    if (wait(&status) < 0 || status != 0) failed = 1;
  }
  if (failed) fprintf(stderr, "interface: a member failed\n");
  return failed;
}
