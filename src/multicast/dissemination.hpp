/// \file dissemination.hpp
/// The seam between the multicast and the way of its bytes: to whom a member's records go, and from
/// whom this member learns of those of others.
///
///   Direct  each sender posts its records, and the word that guards them, to every other member
///   Chain   each member hands its own records, and those of others, to the member behind it
///           (ring/lcr)
///
/// Either way the records of a sender come to lie at the same offset of its ring, or of our replica
/// of that, before the sender's word counts here (ViewState::sent, I1).
/// Threads: the predicate thread. Source: [Spindle, 2.2], [LCR, 4].
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "multicast/counters.hpp"
#include "multicast/outbox.hpp"
#include "multicast/view_state.hpp"
#include "smc/send_ring.hpp"

namespace tutti {

template <class Memory>
class Dissemination {
 public:
  Dissemination(ViewState<Memory>& state, MulticastCounters& counters)
      : state_(state), counters_(counters) {}
  virtual ~Dissemination() = default;
  Dissemination(const Dissemination&) = delete;
  Dissemination& operator=(const Dissemination&) = delete;

  // In a pass, once for the group and never for a message.
  /// Raises state.sent of the others to what has arrived, but for the senders that are ignored.
  /// True if anything has.
  virtual bool receive(const IndexedBy<SenderIndex, bool>& ignored) = 0;
  /// This member has sent these records, see SendRing::take().
  virtual void sent(const SendRing::Batch& batch, Outbox& out) = 0;
  /// At the end of the pass: what else is to be posted. True if anything is.
  virtual bool post(Outbox& /*out*/) { return false; }
  /// All that others wait for from us has been posted, in earlier passes.
  [[nodiscard]] virtual bool has_posted_all() const { return true; }

 protected:
  void count_received(std::uint64_t records) {
    if (records == 0) return;
    counters_.receive.record(records);
    counters_.received_messages.add(records);
  }

  ViewState<Memory>& state_;
  MulticastCounters& counters_;
};

/// That of the group's order, see order.hpp.
template <class Memory>
[[nodiscard]] std::unique_ptr<Dissemination<Memory>> make_dissemination(
    ViewState<Memory>& state, MulticastCounters& counters);

}  // namespace tutti
