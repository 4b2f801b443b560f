/// \file snapshot_load.hpp
/// What a group's application is given in the place of the beginning of its log, when its node
/// starts again: the newest snapshot, which is loaded on the thread for states.
///
/// Invariant SO1: from() is the number of the first message that the application has to be handed:
/// it has exactly what comes before, from a snapshot, or had it before.
/// Threads: finish() the one for states, once; others any.
#pragma once
#include <atomic>
#include <cstdint>

#include "tutti/error.hpp"

namespace tutti {

class SnapshotLoad {
 public:
  /// `asked`: GroupOptions::deliver_from. `until`: the number of the first new message.
  SnapshotLoad(std::uint64_t asked, std::uint64_t until) : asked_(asked), until_(until) {}

  [[nodiscard]] std::uint64_t asked() const { return asked_; }
  [[nodiscard]] std::uint64_t until() const { return until_; }

  void finish(Result<std::uint64_t> from) {
    from_ = std::move(from);
    over_.store(true, std::memory_order_release);
  }
  /// Acquire: pairs with finish(), the application's state is there.
  [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_acquire); }
  /// Once it is over.
  [[nodiscard]] const Result<std::uint64_t>& from() const { return from_; }

 private:
  const std::uint64_t asked_;
  const std::uint64_t until_;
  Result<std::uint64_t> from_{0};
  std::atomic<bool> over_{false};
};

}  // namespace tutti
