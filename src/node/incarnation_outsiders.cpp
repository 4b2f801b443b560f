// Nodes that are connected to this one and in no view with it.
#include <algorithm>
#include <utility>

#include "node/incarnation.hpp"
#include "node/text.hpp"

namespace tutti {
namespace {

// A node that has just come may be slow to map the others' rows, and does not beat meanwhile. It is
// in no view, so nobody waits for it but another node of its name.
constexpr std::chrono::nanoseconds kLeastPatience = std::chrono::seconds(1);

}  // namespace

void Incarnation::follow_litmus() {
  beat_on_trial();
  for (const std::uint32_t slot : litmus_->take_good()) membership_->ready(slot, attached_[slot]);
  if (const std::optional<Litmus::Finding>& finding = litmus_->finding()) {
    events_.distrusted({ErrorCode::mismatch, "the path from '" + names_[finding->slot] +
                                                 "' cannot be trusted: " + finding->what});
  }
}

// A node on trial is not known to the membership yet, and sees by these beats that we live. How far
// its trial has come proves nothing: it stands still while another node in it is silent (T1).
void Incarnation::beat_on_trial() {
  const auto beat = NativeMemory::load(row_->data() + ViewWords::kHeartbeat);
  if (std::exchange(shown_beat_, beat) == beat) return;
  for (std::uint32_t slot = 0; slot < attached_.size(); ++slot) {
    if (!litmus_->tries(slot)) continue;
    fabric_->publish(Rank{slot}, ViewWords::kHeartbeat,
                     {row_->data() + ViewWords::kHeartbeat, sizeof beat});
  }
  fabric_->flush();
}

std::chrono::nanoseconds Incarnation::patience_with_outsiders() const {
  return std::max(node_.suspect_after, kLeastPatience);
}

// A node that is connected and says nothing keeps another one of its name out. Without its beats it
// is not admitted either; if it lives, it calls again.
void Incarnation::watch_outsiders() {
  const std::chrono::nanoseconds patience = patience_with_outsiders();
  next_outsiders_ns_ = passed_ns_ + static_cast<std::uint64_t>(patience.count()) / 16;
  outsiders_.look(passed_ns_);
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
