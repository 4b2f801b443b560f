/// \file rounds.hpp
/// Which rounds each sender's messages have, as the sender's own row says. The checks compare
/// deliveries, which find the rounds out from the rings, with this (D7).
///
/// A message that is sent again takes up another round in the next view. Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/view.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti::sim {

class Rounds {
 public:
  explicit Rounds(std::size_t slots) : senders_(slots) {}

  /// Messages from a ticket on, in rounds from a round on, without nulls between them.
  struct Batch {
    std::uint64_t view = 0;
    std::uint64_t ticket = 0;
    std::uint64_t round = 0;
    std::uint64_t count = 0;
  };

  void add(const ViewMember& sender, std::size_t group, const Batch& batch);
  /// Empty: it did not send that message in that view.
  [[nodiscard]] std::optional<std::uint64_t> find(const ViewMember& sender, std::size_t group,
                                                  std::uint64_t view, std::uint64_t ticket) const;

 private:
  struct Sent {
    std::uint64_t incarnation = 0;
    std::size_t group = 0;
    std::vector<Batch> batches;  // the newest last
  };
  IndexedBy<Slot, std::vector<Sent>> senders_;  // the newest incarnation last
};

}  // namespace tutti::sim
