#include "engine/row_plan.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "engine/litmus.hpp"
#include "membership/proposal.hpp"
#include "membership/wish_words.hpp"

namespace tutti {
namespace {

constexpr std::size_t on_line(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t words_of_proposal(std::size_t nodes, const std::vector<GroupOptions>& groups,
                              std::size_t spaces) {
  std::vector<std::uint32_t> senders;
  senders.reserve(groups.size());
  for (const GroupOptions& group : groups) {
    senders.push_back(static_cast<std::uint32_t>(group.senders.size()));
  }
  return proposal_words(nodes, senders, spaces);
}

}  // namespace

RowPlan::RowPlan(std::vector<std::string> node_names, std::vector<GroupOptions> node_groups,
                 std::size_t state_ring_bytes, bool litmus, std::size_t request_max_bytes,
                 GroupSpaces group_spaces)
    : names(std::move(node_names)),
      groups(std::move(node_groups)),
      spaces(std::move(group_spaces)),
      words(nodes(), words_of_proposal(names.size(), groups, spaces.all.size()),
            wish_words_max(spaces.all.size())) {
  for (const auto& [group, kind] : spaces.all) {
    TUTTI_ASSERT(group < groups.size() && kind <= group && spaces.find(kind) != nullptr, group,
                 kind, groups.size());
    TUTTI_ASSERT(groups[group].senders.size() == names.size(), group, groups[group].senders.size());
  }
  std::size_t bytes = on_line(words.bytes());
  if (state_ring_bytes != 0) {
    TUTTI_ASSERT(std::has_single_bit(state_ring_bytes) && state_ring_bytes >= 256,
                 state_ring_bytes);
    states = {.offset = kMembershipOffset + bytes, .ring_bytes = state_ring_bytes};
    bytes += states.bytes();
  }
  if (litmus) {
    litmus_offset = kMembershipOffset + bytes;
    bytes += on_line(litmus_bytes(names.size()));
  }
  if (request_max_bytes != 0) {
    requests = {
        .offset = kMembershipOffset + bytes, .bytes_max = request_max_bytes, .nodes = nodes()};
    bytes += requests.bytes();
  }
  TUTTI_ASSERT(states.offset % 64 == 0 && litmus_offset % 64 == 0 && requests.offset % 64 == 0,
               states.offset, litmus_offset, requests.offset);
  for (const std::string& name : names) layouts.push_back({name, groups, bytes, nodes()});
}

std::size_t RowPlan::row_bytes() const {
  TUTTI_ASSERT(!layouts.empty() && layouts.size() == names.size(), layouts.size(), names.size());
  return std::ranges::max(layouts, {}, &RowLayout::row_bytes).row_bytes();
}

}  // namespace tutti
