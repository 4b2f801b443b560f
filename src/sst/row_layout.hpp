/// \file row_layout.hpp
/// Where things lie in a member's row: fixed for a view, computed the same way by everybody from
/// the list of groups that member joined.
///
///     0            the fabric's line (row_header.hpp)
///     64 ...       the membership's words
///     ...          two control blocks per group, for views of even and odd number:
///                  control_words.hpp, with Order::token_ring token_words.hpp, with
///                  Order::lcr lane_words.hpp, of a logged group one word (control_bytes.hpp), and
///                  at Level::agreed pass_words.hpp
///                  and after them a line for the member's life: reclaimed,
///                  at Level::agreed the pass area, with Order::lcr two lanes
///     4096 * k     a ring buffer per group in which the member sends; 8 bytes before a multiple of
///                  the group's alignment, if that is more than 8
///
/// Invariant L1: the control words of one group are contiguous, so that one small write carries all
/// of them. L2: blocks start on a cache line, rings and what lies before them on a page: nothing of
/// two groups is shared. Rows are mapped at pages, so offsets say how addresses are aligned.
/// L3: a block's other words mean something only to a reader in the view that its epoch names. A
/// reader that found the epoch of its own view before it read a word, at any time, and finds it
/// again after the word, has read a word of that view. The first look excludes an owner that is
/// two views behind, the second an owner that is two views ahead. docs/protocol.md argues it.
/// Groups are laid out in the order of their names, not of joining.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sst/control_words.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Offset of the membership's words.
inline constexpr std::size_t kMembershipOffset = 64;

/// Of a whole control block.
[[nodiscard]] std::size_t block_bytes(const GroupOptions& group, std::size_t nodes);

struct GroupOffsets {
  std::array<std::size_t, 2> control{};  ///< offsets of the control blocks, by view number mod 2
  /// Offset of the number of the newest view in which space of records of the views before it may
  /// have been used again; it lasts as long as the row (Y5).
  std::size_t reclaimed = 0;
  std::size_t pass_area = 0;  ///< offset of the pass area (pass_words.hpp), 0 if there is none
  std::array<std::size_t, 2> lane{};  ///< offsets of the lanes (lane_words.hpp), likewise, or 0
  std::size_t ring = 0;  ///< offset of the ring, 0 if the member does not send in the group
};

class RowLayout {
 public:
  /// The layout of `member`'s row. Options have been validated and have members and senders
  /// filled in. `membership_bytes` are left for the membership's words. There are so many nodes.
  RowLayout(std::string_view member, const std::vector<GroupOptions>& groups,
            std::size_t membership_bytes, std::size_t nodes);

  [[nodiscard]] std::size_t row_bytes() const { return bytes_; }

  /// Where the group with that name is. It must be one of those given.
  [[nodiscard]] GroupOffsets offsets_of(std::string_view group) const;

 private:
  struct Named {
    std::string name;
    GroupOffsets offsets;
  };
  std::vector<Named> groups_;
  std::size_t bytes_ = 0;
};

/// The ring size for a window: the next power of two.
[[nodiscard]] std::uint64_t ring_bytes(std::uint64_t window_bytes);

}  // namespace tutti
