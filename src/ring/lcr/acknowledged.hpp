/// \file acknowledged.hpp
/// The rule of Level::atomic in the order lcr: a message is stable once the member before its
/// sender, the last one that the chain takes it to, has it. That one says so to the member behind
/// it, and each says it on.
///
/// As with AllReceived, nulls need no stability, and a wedged member receives nothing more (I5).
/// Threads: the predicate thread. Source: [LCR, 4.2], acknowledgements.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "multicast/neighbours.hpp"
#include "multicast/stability.hpp"
#include "sst/lane_words.hpp"

namespace tutti {

template <class Memory>
class Acknowledged final : public Stability<Memory> {
 public:
  explicit Acknowledged(ViewState<Memory>& state)
      : Stability<Memory>(state),
        words_(state.shape.senders()),
        ring_{.self = state.shape.self, .members = state.shape.members()} {}

  bool find(bool /*fresh*/) override {
    ViewState<Memory>& state = this->state_;
    bool advanced = false;
    for (const SenderIndex s : state.shape.sender_indices()) {
      if (state.stable[s] == state.received[s]) continue;
      const bool ends_here = ring_.next() == state.shape.sender_ranks[s];
      const std::uint64_t said =
          ends_here
              ? state.received[s]
              : std::min(state.received[s], state.blocks.count(ring_.last(), words_.stable(s)));
      if (said > state.stable[s]) {
        state.stable[s] = said;
        if (ring_.members > 1) state.blocks.say_to_next(words_.stable(s), said);
        advanced = true;
      }
      state.set_bounds(s);
    }
    return advanced;
  }
  [[nodiscard]] bool receives_wedged() const override { return false; }  // I5
  [[nodiscard]] bool delivers_wedged() const override { return false; }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& /*goes_on*/) const override {
    return false;
  }

 private:
  const LaneWords words_;
  const Neighbours ring_;
};

}  // namespace tutti
