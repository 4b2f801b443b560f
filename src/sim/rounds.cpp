#include "sim/rounds.hpp"

#include <algorithm>
#include <ranges>

namespace tutti::sim {

void Rounds::add(const ViewMember& sender, std::size_t group, const Batch& batch) {
  std::vector<Sent>& there = senders_[sender.slot];
  auto found = std::ranges::find_if(there, [&](const Sent& sent) {
    return sent.incarnation == sender.incarnation && sent.group == group;
  });
  if (found == there.end()) {
    found = there.insert(found, {.incarnation = sender.incarnation, .group = group, .batches = {}});
  }
  found->batches.push_back(batch);
}

std::optional<std::uint64_t> Rounds::find(const ViewMember& sender, std::size_t group,
                                          std::uint64_t view, std::uint64_t ticket) const {
  for (const Sent& sent : senders_[sender.slot] | std::views::reverse) {
    if (sent.incarnation != sender.incarnation || sent.group != group) continue;
    // Deliveries are of what was sent last.
    for (const Batch& batch : sent.batches | std::views::reverse) {
      if (batch.view != view || ticket < batch.ticket) continue;
      if (ticket >= batch.ticket + batch.count) return {};
      return batch.round + (ticket - batch.ticket);
    }
  }
  return {};
}

}  // namespace tutti::sim
