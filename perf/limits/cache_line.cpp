/// \file cache_line.cpp
/// Question: how long does one word take from a process to another, and how long does a wake-up?
///
/// Set-up: two processes on two CPUs (or one, `--same-core yes`) pass a counter to and fro; each
/// owns the line it writes. `--wait spin`: loads and pauses; `yield`: some pauses, then
/// sched_yield; `futex`: asleep on the line; `eventfd`: asleep in a read. A sample is the time of
/// `--group` round trips, divided by twice their number: with 1, it contains a clock read (about 20
/// ns). `--rate R`: R samples a second, paced by clock_nanosleep, so that both CPUs fall idle in
/// between; 0: closed loop.
///
/// Unit: nanoseconds one way: median, p99, p99.9.
///
/// Command: limit_cache_line --wait spin --samples 20000
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "arguments.hpp"
#include "idle.hpp"
#include "json.hpp"
#include "processes.hpp"
#include "samples.hpp"

namespace limits {
namespace {

enum class Wait { kSpin, kYield, kFutex, kEventfd };

struct Options {
  Wait wait;
  int64_t samples;
  int64_t group;
  int64_t pauses;
  int64_t rate;
  bool same_core;
};

/// One direction: a word on a line of its own, and what wakes its reader.
struct alignas(kLineBytes) Direction {
  std::atomic<uint32_t> word = 0;
  int doorbell = -1;
};

struct Shared {
  std::atomic<size_t> ready = 0;
  Direction there;
  Direction back;
};

void write_word(const Options& options, Direction& to, uint32_t value) {
  to.word.store(value, std::memory_order_release);  // pairs with read_word
  if (options.wait == Wait::kFutex) {
    syscall(SYS_futex, &to.word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  } else if (options.wait == Wait::kEventfd) {
    const uint64_t one = 1;
    if (write(to.doorbell, &one, sizeof(one)) != sizeof(one)) die("write to eventfd");
  }
}

void read_word(const Options& options, Direction& from, uint32_t value) {
  Idle idle(options.wait == Wait::kSpin ? kSpinOnly : options.pauses);
  if (options.wait == Wait::kEventfd) {
    uint64_t rings = 0;
    if (read(from.doorbell, &rings, sizeof(rings)) != sizeof(rings)) die("read from eventfd");
  }
  while (from.word.load(std::memory_order_acquire) != value) {  // pairs with write_word
    if (options.wait == Wait::kFutex) {
      syscall(SYS_futex, &from.word, FUTEX_WAIT, value - 1, nullptr, nullptr, 0);
    } else {
      idle.wait();
    }
  }
}

uint32_t rounds(const Options& options) {
  return static_cast<uint32_t>((options.samples + options.samples / 10) * options.group);
}

int echo(const Options& options, Shared& shared) {
  pin_to_cpu(options.same_core ? 0 : 1);
  for (uint32_t round = 1; round <= rounds(options); ++round) {
    read_word(options, shared.there, round);
    write_word(options, shared.back, round);
  }
  return 0;
}

/// Runs the round trips, the first tenth as warm-up, and prints the result.
int ask(const Options& options, Shared& shared, const std::string& wait) {
  pin_to_cpu(0);
  Samples samples(static_cast<size_t>(options.samples));
  uint32_t round = 0;
  const int64_t start_ns = now_ns();
  int64_t begin_ns = start_ns;
  const int64_t warmup = options.samples / 10;
  for (int64_t i = -warmup; i < options.samples; ++i) {
    for (int64_t k = 0; k < options.group; ++k) {
      write_word(options, shared.there, ++round);
      read_word(options, shared.back, round);
    }
    const int64_t end_ns = now_ns();
    if (i >= 0) samples.add(end_ns - begin_ns);
    begin_ns = end_ns;
    if (options.rate == 0) continue;
    sleep_until(start_ns + (i + warmup + 1) * 1'000'000'000 / options.rate);
    begin_ns = now_ns();
  }
  samples.sort();
  const double hops = 2.0 * static_cast<double>(options.group);
  return Json()
      .add("one_way_ns", static_cast<double>(samples.quantile(0.5)) / hops)
      .add("one_way_ns_p99", static_cast<double>(samples.quantile(0.99)) / hops)
      .add("one_way_ns_p999", static_cast<double>(samples.quantile(0.999)) / hops)
      .add("wait", wait)
      .add("same_core", options.same_core ? "yes" : "no")
      .add("samples", options.samples)
      .add("group", options.group)
      .add("rate", options.rate)
      .print();
}

int run(int argc, char** argv) {
  Arguments arguments(
      argc, argv,
      {{"wait", "spin", "spin, yield, futex or eventfd"},
       {"same-core", "no", "yes or no: both processes on one CPU"},
       {"samples", "20000", "measured samples, after a tenth more as warm-up"},
       {"group", "", "round trips per sample; default: 8 for spin and yield, else 1"},
       {"rate", "0", "samples per second, 0: as fast as they go"},
       {"pauses", "16", "pauses before the first yield"}});
  const std::string wait = arguments.choice("wait", {"spin", "yield", "futex", "eventfd"});
  Options options{};
  options.wait = wait == "spin"    ? Wait::kSpin
                 : wait == "yield" ? Wait::kYield
                 : wait == "futex" ? Wait::kFutex
                                   : Wait::kEventfd;
  options.samples = arguments.integer("samples", 10, 10'000'000);
  const bool asleep = options.wait == Wait::kFutex || options.wait == Wait::kEventfd;
  options.group = arguments.given("group") ? arguments.integer("group", 1, 100) : asleep ? 1 : 8;
  options.rate = arguments.integer("rate", 0, 1'000'000);
  options.same_core = arguments.choice("same-core", {"yes", "no"}) == "yes";
  options.pauses = arguments.integer("pauses", 0, 1 << 20);
  if (options.same_core && options.wait == Wait::kSpin) {
    arguments.refuse("wait", "yield, futex or eventfd with --same-core yes");
  }

  Shared& shared = *new (map_shared(sizeof(Shared))) Shared;
  for (Direction* direction : {&shared.there, &shared.back}) {
    direction->doorbell = eventfd(0, 0);
    if (direction->doorbell < 0) die("eventfd");
  }
  const double paced_seconds = options.rate == 0 ? 0
                                                 : 1.1 * static_cast<double>(options.samples) /
                                                       static_cast<double>(options.rate);
  Processes ends(2, 120 + paced_seconds, [&](int rank) {
    return rank == 0 ? ask(options, shared, wait) : echo(options, shared);
  });
  ends.join();
  return 0;
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
