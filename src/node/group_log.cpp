// What a group's application is handed of its log before anything new.
#include <utility>

#include "node/group_core.hpp"
#include "node/node_core.hpp"

namespace tutti {

void GroupCore::replay_here() {
  const Result<void> handed = replay_.hand(options_.on_delivery, halted_, deliverable_);
  if (!handed) node_.replay_failed(*this, handed.error());
}

// What is in the log was handed to the application.
void GroupCore::views_may_follow() noexcept {
  if (!subgroup()->pause().holds_views()) return;
  subgroup()->pause().hold_views(false);
  has_delivered();
}

void GroupCore::log_moved() {
  if (replay_.is_pending()) look_again();
}

void GroupCore::look_again() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RD1, G1
  progress_.notify_fenced();
  deliverable_.notify_fenced();
  readiness_.rise();
}

}  // namespace tutti
