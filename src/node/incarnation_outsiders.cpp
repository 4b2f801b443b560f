// Nodes that are connected to this one and in no view with it.
#include <algorithm>
#include <utility>

#include "node/incarnation.hpp"
#include "node/text.hpp"

namespace tutti {
namespace {

// Who has just come may be slow to map the others' rows, and does not beat meanwhile. It is in no
// view, so nobody waits for it but another one of its name.
constexpr std::chrono::nanoseconds kLeastPatience = std::chrono::seconds(1);

}  // namespace

std::chrono::nanoseconds Incarnation::patience_with_outsiders() const {
  return std::max(node_.suspect_after, kLeastPatience);
}

// A node that is connected and says nothing keeps another one of its name out. Without its beats it
// is not admitted either; if it lives, it calls again. On a path that is being tried there are
// none.
void Incarnation::watch_outsiders() {
  const std::chrono::nanoseconds patience = patience_with_outsiders();
  next_outsiders_ns_ = passed_ns_ + static_cast<std::uint64_t>(patience.count()) / 16;
  outsiders_.look(passed_ns_);
  if (litmus_ != nullptr) return;
  for (std::uint32_t slot = 0; slot < attached_.size(); ++slot) {
    if (attached_[slot] == 0 || in_view(slot)) continue;
    if (std::ranges::find(parting_, slot, &Parting::slot) != parting_.end()) continue;
    outsiders_.heard(slot, NativeMemory::load(fabric_->row(Rank{slot}) + ViewWords::kHeartbeat));
    if (!outsiders_.silent(slot)) continue;
    const std::string is = view().id == 0 ? "' is connected, and has "
                                          : "' is connected and not in the group, and has ";
    log(LogLevel::warning, "'" + names_[slot] + is + "shown no sign of life for " +
                               in_seconds(patience) + " s: its connection is closed");
    lost_outsider(slot);
  }
}

void Incarnation::lost_outsider(std::uint32_t slot) {
  membership_->lost(slot);
  if (std::ranges::find(parting_, slot, &Parting::slot) == parting_.end()) part(slot);
}

}  // namespace tutti
