// How an application takes messages from a group, where no callback is handed them.
#include <sched.h>

#include <utility>

#include "node/group_core.hpp"
#include "node/node_core.hpp"

namespace tutti {

Result<Batch> GroupCore::take(const std::shared_ptr<GroupCore>& self, std::size_t max,
                              std::chrono::nanoseconds timeout) {
  if (Result<void> may = may_take(max); !may) return std::unexpected(std::move(may.error()));
  Taker before = Taker::none;
  while (!taker_.compare_exchange_strong(before, Taker::looks, std::memory_order_acquire)) {
    if (before != Taker::passes) {
      return fail(ErrorCode::invalid_argument,
                  "group '" + options_.name + "': " +
                      (before == Taker::holds
                           ? "the batch that was taken before is still held; release it first"
                           : "another thread is in Group::take; one takes at a time"));
    }
    before = Taker::none;
    sched_yield();
  }
  struct TakerTurn {  // also if there is no memory to say why
    ~TakerTurn() { taker.store(holds ? Taker::holds : Taker::none, std::memory_order_release); }
    std::atomic<Taker>& taker;
    bool holds = false;
  };
  TakerTurn turn{taker_};
  Batch batch = look(self, max);
  if (batch.empty() && timeout.count() > 0) {
    node_.wait_until(
        progress_,
        [&] {
          batch = look(self, max);
          return !batch.empty() || subgroup() == nullptr || has_left() ||
                 (subgroup()->complete() && !replay_.is_pending());
        },
        Deadline(timeout));
  }
  // RD1. It stays readable, or becomes so again, where there is nothing to wait for. That holds for
  // one that was armed by an earlier look as well: what this one found, or left, nobody tells
  // again.
  if (batch.empty() && !why_ended(timeout) && readiness_.arm()) {
    batch = look(self, max);
  }
  if (readiness_.is_armed() && (!batch.empty() || why_ended(timeout))) readiness_.rise();
  if (!batch.empty()) {
    turn.holds = true;
    return batch;
  }
  if (std::optional<Error> ended = why_ended(timeout)) return std::unexpected(std::move(*ended));
  if (timeout.count() == 0) return batch;
  return std::unexpected(
      why_in_vain("Group::take", timeout, "there was nothing to take before the deadline"));
}

Result<void> GroupCore::may_take(std::size_t max) const {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "group '" + options_.name + "': " + why);
  };
  if (options_.delivery != DeliveryThread::application) {
    return refuse(
        "its messages are handed to a callback and cannot be taken; join it with "
        "DeliveryThread::application");
  }
  if (own_index_.value >= members_.size()) {
    return refuse("this node is not among its members, so there is nothing to take");
  }
  if (max == 0) return refuse("a batch of at most 0 messages was asked for; ask for 1 or more");
  return {};
}

// Nothing comes any more; or, for one that would wait, not yet.
std::optional<Error> GroupCore::why_ended(std::chrono::nanoseconds timeout) const {
  const Subgroup<NativeMemory>* open = subgroup();
  if (open != nullptr && open->complete() && !replay_.is_pending() && !has_left()) {
    return Error{ErrorCode::complete, "group '" + options_.name +
                                          "' is complete: all senders have finished, and "
                                          "everything was taken"};
  }
  if (std::optional<Error> over = why_over()) return over;
  if (open == nullptr && timeout.count() > 0) {
    return Error{ErrorCode::stopped,
                 "group '" + options_.name + "' has no messages yet: its node is not started"};
  }
  return {};
}

Batch GroupCore::look(const std::shared_ptr<GroupCore>& self, std::size_t max) {
  Batch batch;
  Subgroup<NativeMemory>* const open = subgroup();
  if (open == nullptr) return batch;
  if (replay_.is_pending()) {  // that comes first
    batch = look_at_log(self, max);
    if (!batch.empty() || replay_.is_pending()) return batch;
    views_may_follow();
  }
  std::span<const Message> messages;
  if (found_.empty()) {
    const Taken taken = open->take_here(max);
    if (taken.moved) has_delivered();
    messages = taken.messages;
  } else if (!halted_.load(std::memory_order_acquire)) {
    messages = std::exchange(found_, {});
  }
  if (messages.empty()) return batch;
  batch.core_ = self;
  batch.messages_ = messages;
  batch.view_ = open->lent_view();
  return batch;
}

Batch GroupCore::look_at_log(const std::shared_ptr<GroupCore>& self, std::size_t max) {
  Batch batch;
  if (halted_.load(std::memory_order_acquire)) return batch;
  const Result<std::span<const Message>> messages = replay_.next(max);
  if (!messages) {
    node_.replay_failed(*this, messages.error());
    return batch;
  }
  if (messages->empty()) return batch;
  replay_.lend();
  batch.core_ = self;
  batch.messages_ = *messages;
  batch.view_ = messages->front().view;
  return batch;
}

bool GroupCore::is_in_place() const noexcept { return replay_.is_lent() || subgroup()->in_place(); }

// An application that has seen the group complete takes no more; but the next view begins with
// nulls, or ends with some. A message that this finds is for the next one who takes.
void GroupCore::pass_nulls() {
  if (options_.delivery != DeliveryThread::application || subgroup() == nullptr) return;
  if (own_index_.value >= members_.size() || subgroup()->complete()) return;
  Taker before = Taker::none;
  if (!taker_.compare_exchange_strong(before, Taker::passes, std::memory_order_acquire)) return;
  if (found_.empty()) {
    const Taken taken = subgroup()->take_here(1);
    if (taken.moved) has_delivered();
    found_ = taken.messages;
  }
  const bool found = !found_.empty();
  taker_.store(Taker::none, std::memory_order_release);
  if (!found) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RD1, G1
  progress_.notify_fenced();
  readiness_.rise();
}

bool GroupCore::leaves_untaken() {
  Taker before = Taker::none;
  if (!taker_.compare_exchange_strong(before, Taker::passes, std::memory_order_acquire))
    return true;
  const bool found = !found_.empty();
  taker_.store(Taker::none, std::memory_order_release);
  return found || (replay_.is_pending() && options_.delivery == DeliveryThread::application);
}

void GroupCore::release() noexcept {
  if (!replay_.give_back() && subgroup()->release_here()) has_delivered();
  taker_.store(Taker::none, std::memory_order_release);
}

// A member that takes nothing has nothing to wait for.
Result<int> GroupCore::event_fd() {
  if (Result<void> may = may_take(1); !may) return std::unexpected(std::move(may.error()));
  Result<int> descriptor = readiness_.get();
  if (descriptor) return descriptor;
  return fail(descriptor.error().code,
              "group '" + options_.name + "': " + descriptor.error().message);
}

bool Batch::intact() const noexcept { return core_ == nullptr || core_->is_in_place(); }

void Batch::release() noexcept {
  if (core_ == nullptr) return;
  messages_ = {};
  view_ = 0;
  const std::shared_ptr<GroupCore> core = std::move(core_);
  core->release();
}

}  // namespace tutti
