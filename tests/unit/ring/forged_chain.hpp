/// \file forged_chain.hpp
/// Members of a chain over one forged table with copied rings. All words land at once, and a
/// member's own records in the replica of the member behind it, as a fabric would write them.
#pragma once
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "multicast/neighbours.hpp"
#include "ring/lcr/frame.hpp"
#include "sst/lane_words.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {

class ForgedChain {
 public:
  static ForgedOptions chain() {
    return {.order = Order::lcr, .ring_granules = 512, .message_max_bytes = 1024, .copied = true};
  }

  explicit ForgedChain(const ForgedOptions& options = chain())
      : table(options), words_(options.sender_ranks.size()), options_(options) {
    for (std::uint32_t m = 0; m < options.members; ++m) members_.emplace_back(table, m);
  }

  [[nodiscard]] ForgedMember& operator[](std::uint32_t rank) { return members_[rank]; }

  bool step(std::uint32_t member) {
    const bool moved = members_[member].step();
    const Outbox::Pieces& data = members_[member].out.data;
    const std::uint32_t next = Neighbours{Rank{member}, options_.members}.next().value;
    for (std::uint32_t s = 0; s < options_.sender_ranks.size(); ++s) {
      if (options_.sender_ranks[s] != member) continue;
      for (std::uint32_t i = 0; i < data.count; ++i) {
        const std::size_t at = data.at[i].begin_granule * kGranule;
        std::memcpy(table.replica(next, s).data() + at, table.ring(s).data() + at,
                    data.at[i].granules * kGranule);
      }
    }
    return moved;
  }
  /// Steps all in the order of ranks, so often. True if anything moved in the last round.
  bool step_all(std::size_t rounds = 1) {
    bool moved = false;
    for (std::size_t i = 0; i < rounds; ++i) {
      moved = false;
      for (std::uint32_t m = 0; m < options_.members; ++m) moved |= step(m);
    }
    return moved;
  }

  [[nodiscard]] std::uint64_t word(std::uint32_t member, LaneWords::Word at) {
    return NativeMemory::load(table.control(member) + at);
  }
  void set(std::uint32_t member, LaneWords::Word at, std::uint64_t value) {
    store_cell(table.control(member) + at, value);
  }
  /// A header in place of a member, and the word that guards it.
  void put_frame(std::uint32_t member, const Frame& frame, std::uint64_t at = 0) {
    for (const std::uint64_t header : pack_frame(frame)) {
      store_cell(table.lane(member).data() + at++ * kGranule, header);
    }
    set(member, words_.lane(), at + frame.bytes_granules());
  }
  [[nodiscard]] const LaneWords& words() const { return words_; }

  ForgedTable table;

 private:
  const LaneWords words_;
  const ForgedOptions options_;
  std::deque<ForgedMember> members_;
};

}  // namespace tutti::testing
