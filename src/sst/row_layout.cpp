#include "sst/row_layout.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"
#include "sst/control_bytes.hpp"
#include "sst/lane_words.hpp"
#include "sst/pass_words.hpp"

namespace tutti {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kRecordHeader = 8;  // of a record

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::uint64_t ring_bytes(std::uint64_t window_bytes) {
  return std::bit_ceil(std::max<std::uint64_t>(window_bytes, kPage));
}

std::size_t block_bytes(const GroupOptions& group, std::size_t nodes) {
  const std::size_t senders = group.senders.size();
  return control_bytes(group.order, senders, group.logged) +
         (group.level == Level::agreed ? PassWords::bytes(senders, nodes) : 0);
}

RowLayout::RowLayout(std::string_view member, const std::vector<GroupOptions>& groups,
                     std::size_t membership_bytes, std::size_t nodes) {
  std::vector<const GroupOptions*> sorted;
  sorted.reserve(groups.size());
  for (const GroupOptions& group : groups) sorted.push_back(&group);
  std::ranges::sort(sorted, {}, [](const GroupOptions* group) { return group->name; });

  static_assert(kMembershipOffset == kLine);
  std::size_t at = kMembershipOffset + round_up(membership_bytes, kLine);
  for (const GroupOptions* group : sorted) {
    const std::size_t block = round_up(block_bytes(*group, nodes), kLine);
    groups_.push_back({group->name, {.control = {at, at + block}, .reclaimed = at + 2 * block}});
    at += 2 * block + kLine;
    const std::size_t ring = ring_bytes(group->window_bytes);
    if (group->level == Level::agreed) {
      groups_.back().offsets.pass_area = at;
      at += round_up(pass_area_bytes(ring, group->message_max_bytes, group->alignment), kLine);
    }
    if (group->order == Order::lcr) {
      groups_.back().offsets.lane = {at, at + lane_bytes(ring)};
      at += 2 * lane_bytes(ring);
    }
  }
  at = round_up(at, kPage);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (std::ranges::find(sorted[i]->senders, member) == sorted[i]->senders.end()) continue;
    // L2: the data of a record in the ring's first granule is aligned; so that of others (SR5).
    const std::size_t before = sorted[i]->alignment - kRecordHeader;
    groups_[i].offsets.ring = at + before;
    at += round_up(before + ring_bytes(sorted[i]->window_bytes), kPage);
  }
  bytes_ = at;
}

GroupOffsets RowLayout::offsets_of(std::string_view group) const {
  const auto found = std::ranges::find(groups_, group, &Named::name);
  TUTTI_ASSERT(found != groups_.end(), groups_.size());
  return found->offsets;
}

}  // namespace tutti
