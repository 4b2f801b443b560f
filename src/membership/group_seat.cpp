#include "membership/group_seat.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/assert.hpp"
#include "smc/record.hpp"
#include "sst/memory.hpp"

namespace tutti {

GroupSeat::GroupSeat(const GroupOptions& options, std::uint32_t self,
                     const std::vector<std::string>& nodes, const std::vector<RowLayout>& layouts,
                     std::byte* own_row)
    : options_(options), self_(self), own_row_(own_row) {
  TUTTI_ASSERT(self < nodes.size() && nodes.size() == layouts.size(), self, nodes.size(),
               layouts.size());
  for (std::size_t slot = 0; slot < nodes.size(); ++slot) {
    places_.push_back(layouts[slot].place(options.name));
    const auto rank = std::ranges::find(options.members, nodes[slot]) - options.members.begin();
    const bool sends = std::ranges::find(options.senders, nodes[slot]) != options.senders.end();
    TUTTI_ASSERT(!sends || rank < std::ssize(options.members), rank, slot);
    send_as_.push_back(sends ? std::optional(Rank{static_cast<std::uint32_t>(rank)})
                             : std::nullopt);
  }
}

GroupSeat::Seated GroupSeat::in(const View& view, const RowOf& row_of) const {
  const std::size_t parity = view.id % 2;
  GroupShape shape;
  SubgroupPlace place;
  shape.view = view.id;
  shape.level = options_.level;
  shape.message_max_bytes = options_.message_max_bytes;
  shape.window_records = options_.window_messages;
  shape.ring_granules = static_cast<std::uint32_t>(ring_bytes(options_.window_bytes) / kGranule);
  place.own_delivery_thread = options_.delivery == DeliveryThread::own;
  if (send_as_[self_]) shape.own_ring = own_row_ + places_[self_].ring;
  for (const ViewMember& member : view.members) {
    TUTTI_ASSERT(member.slot < places_.size(), member.slot, view.id, self_);
    const GroupPlace& there = places_[member.slot];
    const std::uint32_t rank = shape.members();
    const bool own = member.slot == self_;
    const std::byte* row = own ? own_row_ : row_of(member.slot);
    shape.member_controls.push_back(row + there.control[parity]);
    if (own) {
      shape.self = rank;
      shape.own_control = own_row_ + there.control[parity];
      shape.own_other_control = own_row_ + there.control[1 - parity];
      shape.own_reclaimed = own_row_ + there.reclaimed;
      place.control_offset = there.control[parity];
      place.ring_offset = there.ring;
    } else {
      place.peers.push_back(Rank{member.slot});
    }
    if (!send_as_[member.slot]) continue;
    if (own) shape.own_sender = shape.senders();
    shape.sender_ranks.push_back(rank);
    shape.sender_ids.push_back(send_as_[member.slot]->value);
    shape.sender_rings.push_back(row + there.ring);
    shape.sender_reclaimed.push_back(row + there.reclaimed);
  }
  TUTTI_ASSERT(view.members.empty() || shape.own_control != nullptr, view.id, self_);
  TUTTI_ASSERT(shape.senders() == 0 || std::has_single_bit(shape.ring_granules),
               shape.ring_granules, view.id, self_);
  return {std::move(shape), std::move(place)};
}

GroupSeat::Block GroupSeat::block(std::uint64_t view) const {
  return {places_[self_].control[view % 2], control_bytes(options_.senders.size())};
}

void GroupSeat::clear_block(std::uint64_t view) const {
  const Block at = block(view);
  std::byte* words = own_row_ + at.offset;
  // L3: first the epoch goes, then what it stood for. In a replica both may land in any order: what
  // is cleared here says nothing where it is 0, and the base, where 0 is a place, stays.
  store_cell(words + kEpochOffset, 0);
  for (std::size_t offset = kFirstSeqOffset; offset < at.bytes; offset += 8) {
    store_cell(words + offset, 0);
  }
}

void GroupSeat::prepare_block(std::uint64_t view, std::uint64_t base,
                              std::uint64_t first_seq) const {
  std::byte* words = own_row_ + block(view).offset;
  const std::uint64_t epoch = NativeMemory::load(words + kEpochOffset);
  TUTTI_ASSERT(epoch == 0, epoch, view, self_);  // L3: cleared
  TUTTI_ASSERT((base & kBaseFlags) == 0, base, view, self_);
  store_cell(words + kBaseOffset, base);
  store_cell(words + kFirstSeqOffset, first_seq == kUnknownSeq ? 0 : first_seq + 1);
}

void GroupSeat::open_block(std::uint64_t view) const {
  std::byte* word = own_row_ + block(view).offset + kEpochOffset;
  TUTTI_ASSERT(view != 0 && NativeMemory::load(word) == 0, view, NativeMemory::load(word), self_);
  store_cell(word, view);
}

}  // namespace tutti
