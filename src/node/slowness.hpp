/// \file slowness.hpp
/// When to tell a person that something takes long, and when that it is over: seldom enough to be
/// read.
///
/// A warning is due once it has taken the limit, and again when it has taken twice as long as at
/// the last warning. What is over has been warned of. What comes again soon after a warning is not
/// told: kQuietNs must have passed.
/// Threads: one at a time. No clock: times are given.
#pragma once
#include <cstdint>

#include "base/assert.hpp"
#include "base/counter.hpp"

namespace tutti {

class Slowness {
 public:
  static constexpr std::uint64_t kQuietNs = 10'000'000'000;

  enum class Say : std::uint8_t { nothing, slow, over };

  /// It has now taken so long; 0 if it is not going on. `limit_ns` 0: never says anything.
  [[nodiscard]] Say look(std::uint64_t now_ns, std::uint64_t taken_ns, std::uint64_t limit_ns) {
    if (limit_ns == 0) return Say::nothing;
    if (taken_ns < limit_ns) {
      due_ns_ = 0;
      if (!told_) return Say::nothing;
      told_ = false;
      return Say::over;
    }
    if (taken_ns < due_ns_) return Say::nothing;
    if (!told_ && last_told_ns_ != 0 && now_ns - last_told_ns_ < kQuietNs) return Say::nothing;
    told_ = true;
    last_told_ns_ = now_ns;
    due_ns_ = 2 * taken_ns;
    return Say::slow;
  }

 private:
  bool told_ = false;
  std::uint64_t due_ns_ = 0;
  std::uint64_t last_told_ns_ = 0;
};

/// That a call is going on: written by the thread that makes it, one call at a time, read by any.
class CallMark {
 public:
  void begin() {
    TUTTI_ASSERT(changes() % 2 == 0, changes());
    changes_.add(1);
  }
  void end() {
    TUTTI_ASSERT(changes() % 2 != 0, changes());
    changes_.add(1);
  }
  /// Odd while it goes on; another number for each call.
  [[nodiscard]] std::uint64_t changes() const { return changes_.get(); }

 private:
  Counter changes_;
};

/// How long the call behind a mark has been going on, by looks from time to time: what lies between
/// two looks is too short to be seen. Threads: one at a time.
class CallTime {
 public:
  /// 0 if no call is going on that was at the last look.
  [[nodiscard]] std::uint64_t look(std::uint64_t now_ns, const CallMark& mark) {
    const std::uint64_t changes = mark.changes();
    if (changes == seen_ && changes % 2 != 0) return now_ns - since_ns_;
    seen_ = changes;
    since_ns_ = now_ns;
    return 0;
  }

 private:
  std::uint64_t seen_ = 0;
  std::uint64_t since_ns_ = 0;
};

}  // namespace tutti
