/// \file chain.hpp
/// Dissemination along the ring of members: each hands its own records, straight from its ring, and
/// those of the others, by its lane, to the member behind it. So a record leaves each member once
/// at most, whoever sends. The member before its sender has it last, and keeps it.
///
/// Invariants:
///  CN1  A member hands on what it has, in the order of the sender's ring; what it has handed on is
///       what it says that it has received, or will say before anybody acts on it.
///  CN2  While several senders' bytes wait for the lane, each may put a quantum of them in turn
///       (deficit round robin), its owner's own like the others'. A sender whose last part found no
///       room goes on with that turn.
///  CN3  A frame counts only once the member before is seen to be in the view after it was read
///       (L3): after its header, which says where its bytes go, and after the bytes.
/// Threads: the predicate thread.
/// Source: [LCR, 4.2, 5.2]; why by way of the row: docs/decisions/0013.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/dissemination.hpp"
#include "multicast/neighbours.hpp"
#include "ring/lcr/frame.hpp"
#include "ring/lcr/milestones.hpp"
#include "sst/lane_words.hpp"

namespace tutti {

template <class Memory>
class Chain final : public Dissemination<Memory> {
 public:
  Chain(ViewState<Memory>& state, MulticastCounters& counters);

  bool receive(const IndexedBy<SenderIndex, bool>& ignored) override;
  void sent(const SendRing::Batch& batch, Outbox& out) override;
  bool post(Outbox& out) override;
  [[nodiscard]] bool has_posted_all() const override;

 private:
  using Dissemination<Memory>::counters_;
  using Dissemination<Memory>::state_;

  // Of one sender, in granules of this view.
  struct Course {
    std::uint64_t here = 0;    // in our memory
    std::uint64_t handed = 0;  // put into our lane
    SentState told;            // as put there
    Milestones milestones;     // what is still to be told
    std::uint32_t credit = 0;  // what is left of its turn
  };

  void tell_needs();
  [[nodiscard]] std::optional<Frame> look(std::uint64_t end);
  [[nodiscard]] bool is_possible(const Frame& frame) const;
  void copy(const Frame& frame);
  bool take(const Frame& frame);

  // A sender is not told of itself.
  [[nodiscard]] bool goes_on(SenderIndex sender) const {
    return state_.shape.sender_ranks[sender] != ring_.next();
  }
  [[nodiscard]] bool is_pending(SenderIndex sender) const;
  [[nodiscard]] bool hand_on(SenderIndex sender);
  [[nodiscard]] bool put(const Frame& frame);
  [[nodiscard]] bool knows_needs();
  void next_turn();

  const LaneWords words_;
  const Neighbours ring_;
  const std::uint32_t quantum_;
  IndexedBy<SenderIndex, Course> courses_;
  SentState own_known_;  // of our own, as the milestones have it
  bool has_told_needs_ = false;
  IndexedBy<SenderIndex, bool> needs_bytes_;  // the member behind us; empty: not known yet
  std::uint64_t taken_ = 0;                   // of the lane of the member before us
  std::uint64_t told_taken_ = 0;              // as posted
  std::uint64_t written_ = 0;                 // to our lane
  std::uint64_t room_ = 0;                    // in it
  SenderIndex turn_{};                        // of this sender
  bool has_turn_ = false;                     // it has had its credit
};

}  // namespace tutti
