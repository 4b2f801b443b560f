/// \file stability.hpp
/// The seam between the multicast and its levels: when a message that is here may be delivered. A
/// level is a rule over columns of the table.
///
///   atomic     AllReceived: once every member has received it
///   durable    the same, and then the log (log_follower.hpp)
///   agreed     OnReceipt: at once, as soon as every member has every sender's row
///   unordered  AtOnce: at once
///
/// In a ring, atomic is another rule (ring/token/safe.hpp, ring/lcr/acknowledged.hpp), and agreed
/// may have safe messages in between (ring/token/agreed_and_safe.hpp).
///
/// Invariants:
///  I2  With AllReceived a record of round k is stable once every member's received[s] > k. Nulls
///      have no content and need no stability: knowing them is enough, because what a sender said
///      about a round never changes.
///  I5  With AllReceived a wedged member says nothing more of what it has received or delivered: a
///      cut made from its words is one that nobody delivers beyond.
///  I7  With OnReceipt nothing is delivered before every member has said that it has all senders'
///      rows (ControlWords::kMetAll), which it keeps as long as it is in the view: then whatever
///      one has received of a member that is lost, the others can receive as well. Wedged, nobody
///      begins to say so.
/// Threads: the predicate thread. Source: [Spindle, 2.4].
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "multicast/view_state.hpp"

namespace tutti {

/// A message is delivered nowhere before every member has it.
[[nodiscard]] constexpr bool waits_for_all(Level level) {
  return level == Level::atomic || level == Level::durable;
}

template <class Memory>
class Stability {
 public:
  explicit Stability(ViewState<Memory>& state) : state_(state) {}
  virtual ~Stability() = default;
  Stability(const Stability&) = delete;
  Stability& operator=(const Stability&) = delete;

  // In a pass, once for the group and never for a message.
  /// Raises what may be delivered, and tells delivery. `fresh`: something was received or sent in
  /// this pass, or the rule has just begun to hold. Called for a wedged member only if it
  /// receives_wedged(). True if a delivery thread has to be told that there is more.
  virtual bool find(bool fresh) = 0;
  /// True if the rule has just begun to hold: it may wait for the members to say something first.
  virtual bool start() { return false; }

  // What a wedged member still does.
  /// It receives what the others sent before they wedged, and a cut is found once it has it all.
  [[nodiscard]] virtual bool receives_wedged() const = 0;
  /// It goes on with its deliveries.
  [[nodiscard]] virtual bool delivers_wedged() const = 0;

  /// A member may deliver what another one lacks: what is lost is passed on (PassOn, I8).
  [[nodiscard]] virtual bool passes_on() const { return false; }
  /// One of them may have delivered what another one that goes on still lacks: then those who go on
  /// must have the same before there is a cut.
  [[nodiscard]] virtual bool delivers_alone(const IndexedBy<Rank, bool>& goes_on) const = 0;

 protected:
  ViewState<Memory>& state_;
};

/// The rule of the group's order and level, see order.hpp.
template <class Memory>
[[nodiscard]] std::unique_ptr<Stability<Memory>> make_stability(ViewState<Memory>& state);

/// That of its level, by what members say that they have received of each sender.
template <class Memory>
[[nodiscard]] std::unique_ptr<Stability<Memory>> make_receipt_rule(ViewState<Memory>& state);

}  // namespace tutti
