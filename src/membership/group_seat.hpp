/// \file group_seat.hpp
/// Where a group's words are in the rows of all nodes, and from that the shape of the group in any
/// view: the rank of each node, the offsets of its words.
///
/// All nodes of a view take part, also those that are not among the group's members: the leader of
/// a change of view must know where the group's last view ends. Only members send, and deliver.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "fabric/slot.hpp"
#include "membership/view.hpp"
#include "multicast/subgroup.hpp"
#include "sst/memory.hpp"
#include "sst/row_layout.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Where the row of the node in a slot is to be read.
using RowOf = std::function<const std::byte*(Slot slot)>;

/// The replica of that row, to be written (Fabric::replica).
using ReplicaOf = std::function<std::byte*(Slot slot)>;

class GroupSeat {
 public:
  /// `nodes` are the names of all nodes by slot; `layouts` their rows' layouts. The options are
  /// resolved: members and senders filled in. `space`: the group's index, of one that nodes join at
  /// run time: then its members and senders are those that the view says (OpenGroup).
  GroupSeat(const GroupOptions& options, Slot self, const IndexedBy<Slot, std::string>& nodes,
            const IndexedBy<Slot, RowLayout>& layouts, std::byte* own_row, ReplicaOf replica_of,
            std::optional<std::uint32_t> space = {});

  struct Seated {
    GroupShape shape;
    GroupInRow in_row;
  };
  /// The group in that view. The caller fills in first_seq and own_base_records.
  [[nodiscard]] Seated in(const View& view, const RowOf& row_of) const;

  /// Clears our control block for that view, so that no member reads in it what stood there before.
  template <class Memory>
  void clear_block(std::uint64_t view, const Memory& memory) const;
  /// Says in the cleared block where our ring starts in that view, and which number its first
  /// message has, if we know (else kUnknownSeq). Not yet the block's epoch.
  template <class Memory>
  void prepare_block(std::uint64_t view, std::uint64_t base, std::uint64_t first_seq,
                     const Memory& memory) const;
  /// From now on the block is that view's (L3).
  template <class Memory>
  void open_block(std::uint64_t view, const Memory& memory) const;
  /// The block of that view, for publishing.
  struct Block {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Block block(std::uint64_t view) const;

  [[nodiscard]] std::uint32_t senders_max() const {
    return static_cast<std::uint32_t>(options_.senders.size());
  }
  [[nodiscard]] const GroupOptions& options() const { return options_; }
  [[nodiscard]] std::optional<std::uint32_t> space() const { return space_; }

 private:
  [[nodiscard]] std::optional<MemberIndex> sends_as(Slot slot, const OpenGroup* open) const;

  GroupOptions options_;
  Slot self_;
  const std::optional<std::uint32_t> space_;
  bool is_member_ = false;  // of the group: only then the application has anything of it
  IndexedBy<Slot, GroupOffsets> offsets_;
  IndexedBy<Slot, std::optional<MemberIndex>> send_as_;  // as which sender, if it is one
  std::byte* own_row_;
  ReplicaOf replica_of_;
};

template <class Memory>
void GroupSeat::clear_block(std::uint64_t view, const Memory& memory) const {
  const Block at = block(view);
  std::byte* words = own_row_ + at.offset;
  // L3: first the epoch goes, then what it stood for. In a replica both may land in any order: what
  // is cleared here says nothing where it is 0, and the base, where 0 is an offset, stays.
  memory.store(words + ControlWords::kEpoch, 0);
  for (std::size_t offset = ControlWords::kFirstSeq.offset; offset < at.bytes; offset += 8) {
    memory.store(words + offset, 0);
  }
}

template <class Memory>
void GroupSeat::prepare_block(std::uint64_t view, std::uint64_t base, std::uint64_t first_seq,
                              const Memory& memory) const {
  std::byte* words = own_row_ + block(view).offset;
  const std::uint64_t epoch = NativeMemory::load(words + ControlWords::kEpoch);
  TUTTI_ASSERT(epoch == 0, epoch, view, self_);  // L3: cleared
  TUTTI_ASSERT((base & ControlWords::kBaseFlags) == 0, base, view, self_);
  memory.store(words + ControlWords::kBase, base);
  memory.store(words + ControlWords::kFirstSeq, first_seq == kUnknownSeq ? 0 : first_seq + 1);
}

template <class Memory>
void GroupSeat::open_block(std::uint64_t view, const Memory& memory) const {
  std::byte* word = own_row_ + block(view).offset + ControlWords::kEpoch;
  TUTTI_ASSERT(view != 0 && NativeMemory::load(word) == 0, view, NativeMemory::load(word), self_);
  memory.store(word, view);
}

}  // namespace tutti
