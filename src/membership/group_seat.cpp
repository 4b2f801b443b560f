#include "membership/group_seat.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "smc/record.hpp"
#include "sst/lane_words.hpp"
#include "sst/pass_words.hpp"

namespace tutti {

GroupSeat::GroupSeat(const GroupOptions& options, Slot self,
                     const IndexedBy<Slot, std::string>& nodes,
                     const IndexedBy<Slot, RowLayout>& layouts, std::byte* own_row,
                     ReplicaOf replica_of, std::optional<std::uint32_t> space)
    : options_(options),
      self_(self),
      space_(space),
      own_row_(own_row),
      replica_of_(std::move(replica_of)) {
  TUTTI_ASSERT(self.value < nodes.size() && nodes.size() == layouts.size(), self, nodes.size(),
               layouts.size());
  for (const Slot slot : nodes.indices()) {
    offsets_.push_back(layouts[slot].offsets_of(options.name));
    const auto index = std::ranges::find(options.members, nodes[slot]) - options.members.begin();
    if (slot == self) is_member_ = index < std::ssize(options.members);
    const bool sends = std::ranges::find(options.senders, nodes[slot]) != options.senders.end();
    TUTTI_ASSERT(!sends || index < std::ssize(options.members), index, slot);
    send_as_.push_back(sends ? std::optional(MemberIndex{static_cast<std::uint32_t>(index)})
                             : std::nullopt);
  }
}

std::optional<MemberIndex> GroupSeat::sends_as(Slot slot, const OpenGroup* open) const {
  if (space_ && (open == nullptr || !open->has(slot))) return {};
  return send_as_[slot];
}

GroupSeat::Seated GroupSeat::in(const View& view, const RowOf& row_of) const {
  const std::size_t parity = view.id % 2;
  const OpenGroup* const open = space_ ? find_space(view.groups, *space_) : nullptr;
  const bool is_member = space_ ? open != nullptr && open->has(self_) : is_member_;
  GroupShape shape;
  GroupInRow in_row;
  in_row.self = self_;
  shape.view = view.id;
  shape.order = options_.order;
  shape.level = options_.level;
  shape.logged = options_.logged;
  shape.durable_quorum = options_.durable_quorum;
  shape.windows = {.personal = options_.personal_window,
                   .global = options_.global_window,
                   .accelerated = options_.accelerated_window,
                   .gap = options_.maximum_gap};
  shape.message_max_bytes = options_.message_max_bytes;
  shape.window_records = options_.window_messages;
  shape.alignment = options_.alignment;
  shape.tick_every_ns = static_cast<std::uint64_t>(options_.tick_every.count());
  shape.ring_granules = static_cast<std::uint32_t>(ring_bytes(options_.window_bytes) / kGranule);
  const bool passes_on = options_.level == Level::agreed;
  if (passes_on) {
    const std::size_t area = pass_area_bytes(ring_bytes(options_.window_bytes),
                                             options_.message_max_bytes, options_.alignment);
    shape.area_granules = static_cast<std::uint32_t>(area / kGranule);
    shape.own_area = own_row_ + offsets_[self_].pass_area;
    in_row.area_offset = offsets_[self_].pass_area;
  }
  const bool chain = options_.order == Order::lcr;
  if (chain) {
    shape.lane_granules =
        static_cast<std::uint32_t>(lane_bytes(ring_bytes(options_.window_bytes)) / kGranule);
    shape.own_lane = own_row_ + offsets_[self_].lane[parity];
    in_row.lane_offset = offsets_[self_].lane[parity];
  }
  in_row.delivered_elsewhere = (options_.delivery == DeliveryThread::own && !space_) ||
                               (options_.delivery != DeliveryThread::predicate && is_member);
  if (sends_as(self_, open)) shape.own_ring = own_row_ + offsets_[self_].ring;
  for (const ViewMember& member : view.members) {
    TUTTI_ASSERT(member.slot.value < offsets_.size(), member.slot, view.id, self_);
    const GroupOffsets& there = offsets_[member.slot];
    const Rank rank{shape.members()};
    const bool own = member.slot == self_;
    const std::byte* row = own ? own_row_ : row_of(member.slot);
    shape.member_controls.push_back(row + there.control[parity]);
    if (passes_on) shape.member_areas.push_back(row + there.pass_area);
    if (chain) shape.member_lanes.push_back(row + there.lane[parity]);
    if (own) {
      shape.self = rank;
      shape.own_control = own_row_ + there.control[parity];
      shape.own_other_control = own_row_ + there.control[1 - parity];
      shape.own_reclaimed = own_row_ + there.reclaimed;
      in_row.control_offset = there.control[parity];
      in_row.ring_offset = there.ring;
    } else {
      in_row.peers.push_back(member.slot);
    }
    const std::optional<MemberIndex> sends = sends_as(member.slot, open);
    if (!sends) continue;
    if (own) shape.own_sender = {shape.senders()};
    shape.sender_ranks.push_back(rank);
    shape.sender_ids.push_back(*sends);
    shape.sender_rings.push_back(row + there.ring);
    std::byte* const replica = own || !(passes_on || chain) ? nullptr : replica_of_(member.slot);
    shape.sender_replicas.push_back(replica != nullptr ? replica + there.ring : nullptr);
    shape.sender_reclaimed.push_back(row + there.reclaimed);
  }
  TUTTI_ASSERT(view.members.empty() || shape.own_control != nullptr, view.id, self_);
  TUTTI_ASSERT(shape.senders() == 0 || std::has_single_bit(shape.ring_granules),
               shape.ring_granules, view.id, self_);
  return {std::move(shape), std::move(in_row)};
}

GroupSeat::Block GroupSeat::block(std::uint64_t view) const {
  return {offsets_[self_].control[view % 2], block_bytes(options_, offsets_.size())};
}

}  // namespace tutti
