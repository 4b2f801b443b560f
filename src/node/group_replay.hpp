/// \file group_replay.hpp
/// What a group's application is handed of its log before anything new, and whether it was.
///
/// Threads: open() before any other call, the predicate thread; next(), hand() and what they say
/// the one that delivers, or takes; others as marked.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "node/log_replay.hpp"
#include "node/signal.hpp"
#include "node/slowness.hpp"
#include "node/snapshot_load.hpp"

namespace tutti {

/// What comes before anything new.
struct FromLog {
  std::unique_ptr<LogReplay> replay{};   ///< null: nothing
  std::shared_ptr<SnapshotLoad> load{};  ///< null: no snapshot comes before that
};

class GroupReplay {
 public:
  /// `call` is the mark of the delivery callback.
  void open(FromLog first, CallMark& call) {
    replay_ = std::move(first.replay);
    load_ = std::move(first.load);
    call_ = &call;
    pending_.store(replay_ != nullptr, std::memory_order_relaxed);
  }

  /// There is something of it that was not handed on, or nobody has looked yet whether. Any thread.
  [[nodiscard]] bool is_pending() const { return pending_.load(std::memory_order_acquire); }
  /// Messages. Any thread, after open().
  [[nodiscard]] std::uint64_t replayed() const { return replay_ ? replay_->replayed() : 0; }

  /// See LogReplay::next(). None and no longer pending: it is over.
  [[nodiscard]] Result<std::span<const Message>> next(std::size_t max);

  /// Hands all to the callback, and waits on `moved` where it has to, until `halted`.
  [[nodiscard]] Result<void> hand(const DeliveryCallback& deliver, const std::atomic<bool>& halted,
                                  Signal& moved);
  /// Inside that callback, and so on its thread: it is called with messages of the log.
  [[nodiscard]] bool is_handing() const { return handing_; }

  // The batch that the application holds is of the log.
  void lend() { lent_ = true; }
  [[nodiscard]] bool is_lent() const { return lent_; }
  [[nodiscard]] bool give_back() { return std::exchange(lent_, false); }

 private:
  [[nodiscard]] bool may_go_on() const {
    return load_ != nullptr ? load_->is_over() : replay_->may_go_on();
  }

  std::unique_ptr<LogReplay> replay_;
  std::shared_ptr<SnapshotLoad> load_;  // null once it is over
  CallMark* call_ = nullptr;
  std::atomic<bool> pending_{false};
  bool handing_ = false;
  bool lent_ = false;
};

}  // namespace tutti
