/// \file group_seat.hpp
/// A group's place in the rows of all nodes, and from it the shape of the group in any view: which
/// of its nodes are in, at which rank, where their words are.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "membership/view.hpp"
#include "multicast/subgroup.hpp"
#include "sst/row_layout.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Where the row of the node in a slot is to be read.
using RowOf = std::function<const std::byte*(std::uint32_t slot)>;

class GroupSeat {
 public:
  /// `nodes` are the names of all nodes by slot; `layouts` their rows' layouts. The options are
  /// resolved: members and senders filled in.
  GroupSeat(const GroupOptions& options, std::uint32_t self, const std::vector<std::string>& nodes,
            const std::vector<RowLayout>& layouts, std::byte* own_row);

  struct Seated {
    GroupShape shape;
    SubgroupPlace place;
  };
  /// The group in that view. First_seq and own_base_records are left to the caller.
  [[nodiscard]] Seated in(const View& view, const RowOf& row_of) const;

  /// Clears our control block for that view and gives it its base, not yet its epoch.
  void clear_block(std::uint64_t view, std::uint64_t base, std::uint64_t first_seq) const;
  /// From now on the block is that view's (L3).
  void open_block(std::uint64_t view) const;
  /// The block of that view, for publishing.
  struct Block {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Block block(std::uint64_t view) const;

  /// Of the view's members, by rank in the view, those that are members of the group, by rank in
  /// the group: `flags` of the former as those of the latter.
  [[nodiscard]] std::vector<bool> of_group(const View& view, const std::vector<bool>& flags) const;

  [[nodiscard]] std::uint32_t senders_max() const {
    return static_cast<std::uint32_t>(options_.senders.size());
  }
  [[nodiscard]] const GroupOptions& options() const { return options_; }

 private:
  GroupOptions options_;
  std::uint32_t self_;
  std::vector<std::optional<GroupPlace>> places_;  // by slot; none: not a member of the group
  std::vector<bool> sends_;                        // by slot
  std::byte* own_row_;
};

}  // namespace tutti
