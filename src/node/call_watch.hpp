/// \file call_watch.hpp
/// Tells a person which call of the application takes long, and when it is over.
///
/// Calls of what lasts as long as the node are added once; those of groups that come and go are
/// exchanged. Their marks are shared, so that no group is kept for being watched.
/// Threads: one at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "node/slowness.hpp"
#include "tutti/options.hpp"

namespace tutti {

class CallWatch {
 public:
  CallWatch(std::chrono::nanoseconds slow_after, const LogCallback& log)
      : slow_after_ns_(static_cast<std::uint64_t>(slow_after.count())), log_(log) {}

  /// A call of what comes and goes.
  struct Passing {
    std::shared_ptr<const CallMark> mark;
    std::string what;
    std::string meanwhile;
  };

  /// `what` is called: "the delivery callback of group 'x'"; `meanwhile` says what comes of it. The
  /// mark outlives this.
  void add(const CallMark& mark, std::string what, std::string meanwhile) {
    calls_.push_back({.mark = &mark, .what = std::move(what), .meanwhile = std::move(meanwhile)});
  }
  /// The same for what is no call of the application, but may take long as well.
  void add_disk(const CallMark& mark, std::string what, std::string meanwhile) {
    add(mark, std::move(what), std::move(meanwhile));
    calls_.back().is_call = false;
  }

  /// These are there now, in place of those that it was given before; as of that version, which is
  /// 0 before there was any.
  void exchange(std::uint64_t version, std::vector<Passing> passing) {
    std::erase_if(calls_, [&](const Call& call) {
      return call.kept && std::ranges::find(passing, call.kept, &Passing::mark) == passing.end();
    });
    for (Passing& one : passing) {
      if (std::ranges::find(calls_, one.mark.get(), &Call::mark) != calls_.end()) continue;
      add(*one.mark, std::move(one.what), std::move(one.meanwhile));
      calls_.back().kept = std::move(one.mark);
    }
    version_ = version;
  }
  [[nodiscard]] std::uint64_t version() const { return version_; }

  /// A call that is going on, by what it was added as; empty if none is.
  [[nodiscard]] std::string going_on() const {
    for (const Call& call : calls_) {
      if (call.is_call && call.mark->changes() % 2 != 0) return call.what;
    }
    return {};
  }

  void look(std::uint64_t now_ns) {
    for (Call& call : calls_) {
      const std::uint64_t taken_ns = call.time.look(now_ns, *call.mark);
      const Slowness::Say say = call.slowness.look(now_ns, taken_ns, slow_after_ns_);
      if (say == Slowness::Say::slow) {
        log(call.what + " has been running for " + in_seconds(std::chrono::nanoseconds(taken_ns)) +
            " s; " + call.meanwhile);
      } else if (say == Slowness::Say::over) {
        log(call.what + " is over: it ran for " +
            in_seconds(std::chrono::nanoseconds(call.taken_ns)) + " s");
      }
      if (taken_ns != 0) call.taken_ns = taken_ns;
    }
  }

 private:
  struct Call {
    const CallMark* mark = nullptr;
    std::string what;
    std::string meanwhile;
    std::shared_ptr<const CallMark> kept{};  // of what comes and goes
    bool is_call = true;
    CallTime time{};
    Slowness slowness{};
    std::uint64_t taken_ns = 0;
  };

  void log(const std::string& text) const {
    if (log_) log_(LogLevel::warning, text);
  }

  std::uint64_t slow_after_ns_;
  const LogCallback& log_;
  std::vector<Call> calls_;
  std::uint64_t version_ = 0;  // of those that come and go
};

}  // namespace tutti
