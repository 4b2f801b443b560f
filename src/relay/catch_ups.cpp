#include "relay/catch_ups.hpp"

#include <algorithm>

namespace tutti::relay {

CatchingUp CatchUps::ask() {
  State mine;
  {
    const std::scoped_lock lock(mutex_);
    if (now_ != nullptr) {  // CA1: its record may have gone before the question
      if (next_ == nullptr) next_ = std::make_shared<std::atomic<CaughtUp>>(CaughtUp::not_yet);
      return next_;
    }
    mine = now_ = std::make_shared<std::atomic<CaughtUp>>(CaughtUp::not_yet);
  }
  send();
  return mine;
}

void CatchUps::send() {
  const std::vector<std::byte> mark = mark_();
  const Posting posting = outbox_->post(
      static_cast<std::uint32_t>(mark.size()),
      [&](std::span<std::byte> space) { std::ranges::copy(mark, space.begin()); },
      [self = shared_from_this()](std::optional<Ticket> ticket) { self->sent(ticket); });
  if (posting.outcome == Posted::stopped) tell(CaughtUp::stopped);
}

void CatchUps::sent(std::optional<Ticket> ticket) {
  if (!ticket) return tell(CaughtUp::stopped);
  const Result<void> asked = outbox_->group().on_delivered(
      *ticket, [self = shared_from_this()](const Result<void>& delivered) {
        self->tell(delivered ? CaughtUp::done : CaughtUp::stopped);
      });
  if (!asked) tell(CaughtUp::stopped);
}

void CatchUps::tell(CaughtUp outcome) {
  State told;
  bool again = false;
  {
    const std::scoped_lock lock(mutex_);
    told = std::exchange(now_, std::exchange(next_, nullptr));
    again = now_ != nullptr;
  }
  told->store(outcome, std::memory_order_release);
  on_told_();
  if (again) send();
}

}  // namespace tutti::relay
