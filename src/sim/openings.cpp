#include "sim/openings.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti::sim {

std::vector<Openings::Opening>::const_iterator Openings::find(const OpenGroup& group) const {
  return std::ranges::find_if(all_, [&](const Opening& opening) {
    return opening.group.group == group.group && opening.group.since == group.since;
  });
}

void Openings::enter(const OpenGroup& group, std::optional<std::uint64_t> first_seq) {
  const auto known = find(group);
  if (known == all_.end()) return all_.push_back({group, first_seq, {}});
  Opening& opening = all_[static_cast<std::size_t>(known - all_.begin())];
  if (!opening.first_seq) opening.first_seq = first_seq;
  const bool same =
      opening.group.name == group.name && (!first_seq || opening.first_seq == first_seq);
  if (same || !finding_.empty()) return;
  finding_ = "GR1: members differ on group '" + group.name + "', which was opened in view " +
             std::to_string(group.since);
}

void Openings::part(const OpenGroup& group, std::uint64_t incarnation, std::uint64_t view) {
  const auto known = find(group);
  TUTTI_ASSERT(known != all_.end(), group.group, group.since);
  all_[static_cast<std::size_t>(known - all_.begin())].parted.emplace(incarnation, view);
}

std::uint16_t Openings::number_of(const OpenGroup& group) const {
  const auto found = find(group);
  TUTTI_ASSERT(found != all_.end(), group.group, group.since);
  return number(static_cast<std::size_t>(found - all_.begin()));
}

}  // namespace tutti::sim
