/// \file processes.hpp
/// The member processes of a limit program, and the memory they share with their parent.
/// Invariants: PR1 no child outlives the parent; PR2 a child that dies early fails the parent at
/// once; PR3 the whole program ends by SIGALRM if it ever hangs. Parent's main thread only.
#pragma once
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace limits {

inline constexpr size_t kLineBytes = 128;  // two cache lines: the prefetcher fetches pairs
inline constexpr double kNsPerSecond = 1e9;
inline constexpr int64_t kMoreNs = 10'000'000;  // what a measurement of nothing is prolonged by

[[nodiscard]] inline int64_t clock_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

[[nodiscard]] inline int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// Sleeps until the clock of now_ns() shows `time_ns`.
inline void sleep_until(int64_t time_ns) {
  const timespec time = {time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

/// Ends this process with status 1 and what the failed system call said.
[[noreturn]] inline void die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

/// Zeroed memory that this process shares with the children it forks afterwards.
[[nodiscard]] inline std::byte* map_shared(size_t bytes) {
  const auto pages = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES));
  if (bytes / static_cast<size_t>(sysconf(_SC_PAGESIZE)) >= pages) {
    std::fprintf(stderr, "error: the shared memory needs %zu bytes, more than are free\n", bytes);
    std::exit(2);
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  return static_cast<std::byte*>(memory);
}

/// Takes the page faults of a shared mapping now, so that the measured loop has none.
inline void touch_pages(std::byte* memory, size_t bytes) {
  // Kernels before 5.14 refuse; there the warm-up takes the faults.
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) die("madvise");
}

/// Keeps the calling process on the `index`-th of the CPUs that it may use, modulo their number.
inline void pin_to_cpu(int index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) die("sched_getaffinity");
  int skip = index % CPU_COUNT(&allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || skip-- > 0) ++cpu;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(cpu, &chosen);
  if (sched_setaffinity(0, sizeof(chosen), &chosen) != 0) die("sched_setaffinity");
}

/// Called by a child: counts it as ready and tells the parent. Pairs with wait_until_ready.
inline void report_ready(std::atomic<size_t>& ready) {
  ready.fetch_add(1, std::memory_order_release);
  kill(getppid(), SIGUSR1);
}

/// What a count did between two moments.
struct Window {
  double seconds = 0;
  int64_t count = 0;
  std::vector<double> cpu_seconds;  // per child

  [[nodiscard]] double per_second() const { return static_cast<double>(count) / seconds; }
};

class Processes {
 public:
  /// Forks `count` children; child `rank` runs `body(rank)` and exits with what it returns.
  /// `seconds` is the longest that the whole program may take (PR3).
  template <class Body>
  Processes(int count, double seconds, Body body) {
    sigemptyset(&child_news_);
    sigaddset(&child_news_, SIGCHLD);
    sigaddset(&child_news_, SIGUSR1);
    sigprocmask(SIG_BLOCK, &child_news_, nullptr);
    const pid_t parent = getpid();
    for (int rank = 0; rank < count; ++rank) {
      const pid_t child = fork();
      if (child < 0) fail("fork");
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);   // PR1
        if (getppid() != parent) _exit(1);  // it died before the line above
        _exit(body(rank));
      }
      children_.push_back(child);
    }
    alarm(static_cast<unsigned>(seconds) + 1);
  }

  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Waits until every child has called `report_ready(ready)`; fails the program if one ends (PR2).
  void wait_until_ready(const std::atomic<size_t>& ready) {
    while (ready.load(std::memory_order_acquire) < children_.size()) {
      if (sigwaitinfo(&child_news_, nullptr) == SIGCHLD) fail("a child ended early");
    }
  }

  /// Waits until the clock reaches `deadline_ns`; fails the program if a child ends before (PR2).
  void run_until(int64_t deadline_ns) {
    for (int64_t left = deadline_ns - now_ns(); left > 0; left = deadline_ns - now_ns()) {
      const timespec timeout = {left / 1'000'000'000, left % 1'000'000'000};
      if (sigtimedwait(&child_news_, nullptr, &timeout) == SIGCHLD) fail("a child ended early");
    }
  }

  /// Lets the children run for `seconds`, the first fifth as warm-up, and longer only until they
  /// have done anything. Returns by how much `count()` grew in the rest, and what CPU time it took.
  template <class Count>
  [[nodiscard]] Window measure(double seconds, Count count) {
    const auto all_ns = static_cast<int64_t>(seconds * kNsPerSecond);
    run_until(now_ns() + all_ns / 5);
    const int64_t begin_ns = now_ns();
    const int64_t before = count();
    const std::vector<double> cpu_before = cpu_seconds();
    run_until(begin_ns + all_ns - all_ns / 5);
    // On a busy machine the members may not have had the processors yet.
    while (count() == before) run_until(now_ns() + kMoreNs);
    Window window;
    window.seconds = static_cast<double>(now_ns() - begin_ns) / kNsPerSecond;
    window.count = count() - before;
    window.cpu_seconds = cpu_seconds();
    for (size_t i = 0; i < cpu_before.size(); ++i) window.cpu_seconds[i] -= cpu_before[i];
    return window;
  }

  /// Waits until all have ended; fails the program if one did not succeed (PR2).
  void join() {
    for (size_t left = children_.size(); left > 0; --left) {
      int status = 0;
      const pid_t child = waitpid(-1, &status, 0);
      if (child < 0) die("waitpid");
      std::erase(children_, child);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a child failed");
    }
  }

  /// CPU time that each child has used so far.
  [[nodiscard]] std::vector<double> cpu_seconds() const {
    std::vector<double> used;
    for (const pid_t child : children_) {
      clockid_t clock;
      if (clock_getcpuclockid(child, &clock) != 0) die("clock_getcpuclockid");
      used.push_back(static_cast<double>(clock_ns(clock)) / kNsPerSecond);
    }
    return used;
  }

 private:
  [[noreturn]] void fail(const char* reason) {
    std::fprintf(stderr, "error: %s\n", reason);
    for (const pid_t child : children_) kill(child, SIGKILL);
    std::exit(1);
  }

  std::vector<pid_t> children_;
  sigset_t child_news_;
};

}  // namespace limits
