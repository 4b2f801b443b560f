#include "sim/disk_syncs.hpp"

#include <algorithm>

namespace tutti::sim {

std::uint64_t DiskSyncs::draw_ns() {
  const bool slow = options_.slow_one_in != 0 && random_.one_in(options_.slow_one_in) && !mended_;
  return 1 + random_.below(slow ? options_.slow_ns : options_.sync_ns + 1);
}

// A sync that has not begun takes with it what comes until then.
void DiskSyncs::write(std::uint64_t end) {
  const std::uint64_t now_ns = net_.now_ns();
  while (!syncs_.empty() && syncs_.front().done_ns <= now_ns) {
    synced_ = syncs_.front().end;
    syncs_.pop_front();
  }
  if (!syncs_.empty() && syncs_.back().begin_ns > now_ns) {
    syncs_.back().end = end;
    return;
  }
  const std::uint64_t begin_ns = syncs_.empty() ? now_ns : syncs_.back().done_ns;
  syncs_.push_back({.begin_ns = begin_ns, .done_ns = begin_ns + draw_ns(), .end = end});
}

std::uint64_t DiskSyncs::synced() const {
  std::uint64_t synced = synced_;
  for (const Sync& sync : syncs_) {
    if (sync.done_ns <= net_.now_ns()) synced = sync.end;
  }
  return synced;
}

std::uint64_t DiskSyncs::next_ns() const {
  for (const Sync& sync : syncs_) {
    if (sync.done_ns > net_.now_ns()) return sync.done_ns;
  }
  return ~0ULL;
}

void DiskSyncs::mend() {
  mended_ = true;
  std::uint64_t begin_ns = net_.now_ns();
  for (Sync& sync : syncs_) {
    if (sync.done_ns <= net_.now_ns()) continue;
    sync.begin_ns = std::min(sync.begin_ns, begin_ns);
    sync.done_ns = std::min(sync.done_ns, begin_ns + draw_ns());
    begin_ns = sync.done_ns;
  }
}

void DiskSyncs::drop() {
  synced_ = synced();
  syncs_.clear();
}

}  // namespace tutti::sim
