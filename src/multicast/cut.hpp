/// \file cut.hpp
/// The ragged edge: where a view's sequence ends in one group, the same for all that go on.
///
/// Everything before the place (round, sender) is delivered, but for records of rounds from
/// received[s] on: somebody that goes on lacks them, so they are nulls to all. Source: [Spindle,
/// 2.1], DESIGN.md 2.
#pragma once
#include <cstdint>
#include <vector>

namespace tutti {

struct Cut {
  std::uint64_t round = 0;
  std::uint32_t sender = 0;
  /// By sender: the rounds that all who go on have received.
  std::vector<std::uint64_t> received{};

  friend bool operator==(const Cut&, const Cut&) = default;
};

}  // namespace tutti
