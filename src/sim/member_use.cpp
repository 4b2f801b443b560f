// What a member uses when all is quiet, whatever it has been through (B1).
#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

void Member::note_use() {
  using history::ResourceKind;
  const auto note = [this](std::uint16_t group, ResourceKind kind, std::uint64_t value,
                           std::uint64_t limit) {
    recorder_->append(history::make_resources(told_at(group), kind, value, limit));
  };
  note(0, ResourceKind::queue, engine_->unsettled() + (jobs_->waits() ? 1 : 0), 0);
  std::uint64_t connections = 0;
  for (const Slot slot : plan_.rows.names.indices()) {
    if (engine_->connected_to(slot) != 0) ++connections;
  }
  note(0, ResourceKind::fds, connections, view().members.size() - 1);
  for (std::uint16_t g = 0; g < seats_.size(); ++g) {
    Subgroup<Memory>& subgroup = engine_->subgroup(g);
    note(g, ResourceKind::queue, subgroup.views_kept(), 1);
    if (const SendRing* ring = subgroup.ring()) {
      note(g, ResourceKind::memory, ring->claimed() - ring->released(), 0);
    }
  }
}

}  // namespace tutti::sim
