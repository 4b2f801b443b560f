/// \file proposal.hpp
/// What a leader proposes and all accept, keep and pass on unchanged: the next view and where the
/// old one ends in each group.
///
/// As words, for a row: digest | number of words | the rest. Words of another member are input:
/// decode() checks the digest, which tells a proposal that is not whole yet, every count, and that
/// the proposal does not contradict itself. What the words of a cut say is the group's business
/// (Subgroup::is_sensible), and which groups may be open is the plan's (open_groups.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "membership/view.hpp"
#include "multicast/cut.hpp"

namespace tutti {

struct Proposal {
  View next{};
  /// The members of the old view that are not in the next: first `in_order` that leave in order.
  std::vector<ViewMember> left{};
  std::uint32_t in_order = 0;
  std::vector<Cut> cuts{};  ///< by group

  [[nodiscard]] bool leaves_in_order(const ViewMember& member) const {
    const auto found = std::ranges::find(left, member);
    return found - left.begin() < static_cast<std::ptrdiff_t>(in_order);
  }

  friend bool operator==(const Proposal&, const Proposal&) = default;
};

/// The most words that a proposal can take: for so many nodes, groups with so many senders, and so
/// many spaces among these.
[[nodiscard]] std::size_t proposal_words(std::size_t nodes,
                                         std::span<const std::uint32_t> senders_by_group,
                                         std::size_t spaces = 0);

[[nodiscard]] std::vector<std::uint64_t> encode(const Proposal& proposal);

/// Nothing if these are not the words of a whole proposal, or it contradicts itself.
[[nodiscard]] std::optional<Proposal> decode(std::span<const std::uint64_t> words);

}  // namespace tutti
