#include "node/group_replay.hpp"

#include <chrono>
#include <new>

#include "base/memory_advice.hpp"

namespace tutti {

Result<std::span<const Message>> GroupReplay::next(std::size_t max) {
  if (!is_pending()) return std::span<const Message>{};
  if (load_ != nullptr) {
    if (!load_->is_over()) return std::span<const Message>{};
    if (!load_->from()) return std::unexpected(load_->from().error());
    replay_->begin_at(*load_->from());
    load_.reset();
  }
  Result<std::span<const Message>> messages;
  try {
    messages = replay_->next(max);
  } catch (const std::bad_alloc&) {
    messages = fail(ErrorCode::system, "there is no memory for it: " + memory_advice());
  }
  if (messages && messages->empty() && replay_->is_over()) {
    pending_.store(false, std::memory_order_release);
  }
  return messages;
}

Result<void> GroupReplay::hand(const DeliveryCallback& deliver, const std::atomic<bool>& halted,
                               Signal& moved) {
  while (is_pending() && !halted.load(std::memory_order_acquire)) {
    const Result<std::span<const Message>> batch = next(kDeliveryBatchMax);
    if (!batch) return std::unexpected(batch.error());
    if (!batch->empty()) {
      handing_ = true;
      call_->begin();
      deliver(*batch);
      call_->end();
      handing_ = false;
      continue;
    }
    const std::uint32_t seen = moved.prepare();
    if (!is_pending() || halted.load(std::memory_order_acquire) || may_go_on()) {
      moved.cancel();
    } else {
      moved.wait(seen, std::chrono::seconds(1));
    }
  }
  return {};
}

}  // namespace tutti
