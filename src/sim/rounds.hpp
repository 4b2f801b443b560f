/// \file rounds.hpp
/// Which rounds the messages of each sender took up, as its own row says: what deliveries, which
/// find that out from the rings, are compared with (D7).
///
/// A message that is sent again takes up another round in the next view. Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "membership/view.hpp"

namespace tutti::sim {

class Rounds {
 public:
  explicit Rounds(std::size_t slots) : senders_(slots) {}

  /// Messages from this ticket on, in rounds from that one on, without nulls between them.
  struct Batch {
    std::uint64_t view = 0;
    std::uint64_t ticket = 0;
    std::uint64_t round = 0;
    std::uint64_t count = 0;
  };

  void add(const ViewMember& sender, std::size_t group, const Batch& batch);
  /// Nothing: it did not send that message in that view.
  [[nodiscard]] std::optional<std::uint64_t> find(const ViewMember& sender, std::size_t group,
                                                  std::uint64_t view, std::uint64_t ticket) const;

 private:
  struct Sent {
    std::uint64_t incarnation = 0;
    std::size_t group = 0;
    std::vector<Batch> batches;  // the newest last
  };
  std::vector<std::vector<Sent>> senders_;  // by slot, the newest incarnation last
};

}  // namespace tutti::sim
