/// \file cut.hpp
/// The ragged edge: where a view's sequence ends in one group, the same for all that go on. What
/// its words mean is the order's business (GroupOrder); the members agree on them unread.
/// Source: [Spindle, 2.1].
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

struct Cut {
  std::vector<std::uint64_t> words{};
  /// Of a group that is logged: the number of the next view's first message, which members that
  /// join, or that restart from their logs, cannot count. 0 of others.
  std::uint64_t next_seq = 0;

  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The most words that the cut of any order takes, in a group with so many senders.
[[nodiscard]] constexpr std::size_t cut_words_max(std::size_t senders) { return 2 + senders; }

}  // namespace tutti
