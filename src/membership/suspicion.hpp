/// \file suspicion.hpp
/// The members that this one suspects: members that were silent for too long, members that others
/// suspect, and members that the fabric lost.
///
/// Invariants:
///  J1  A member keeps a suspicion until the view ends, and takes over the suspicions of others,
///      but not of itself, nor from one that may not go on (Quorum). Ignore a suspected member's
///      words, except a decision: any row may prove one. A suspected member does not suspect
///      its accuser for that: else one false word could pass through a whole group.
///  J9  Suspicions are never taken back, so the members that decide trust each other. A wedged
///      member counts those that it does not suspect and that do not suspect it. If those may not
///      go on (Quorum) for suspect_after_ns, it stops, as in a minority: three that suspect each
///      other in a circle would wait for ever.
/// Threads: the predicate thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/failure_detector.hpp"
#include "membership/quorum.hpp"
#include "membership/view_rows.hpp"

namespace tutti {

template <class Memory>
class Suspicion {
 public:
  /// Called for each member that is to be suspected; it may add() that rank. False: look no
  /// further.
  using Suspect = std::function<bool(Rank rank)>;
  /// Counts what arrives of the node in that slot, beside its words: it grows while the node lives.
  using Heard = std::function<std::uint64_t(Slot slot)>;

  /// `nodes`: how many slots there are.
  Suspicion(ViewRows<Memory>& rows, const Quorum& quorum, std::size_t nodes,
            std::uint64_t suspect_after_ns, Suspect suspect, Heard heard);

  [[nodiscard]] bool of(Rank rank) const { return suspected_[rank]; }
  [[nodiscard]] const IndexedBy<Rank, bool>& all() const { return suspected_; }
  [[nodiscard]] std::uint32_t unsuspected() const;
  /// The lowest rank that is not suspected (J3).
  [[nodiscard]] Rank leader() const;
  /// Those that are not suspected may go on to a next view (Quorum).
  [[nodiscard]] bool may_go_on() const;

  /// The node in that slot is watched from now on.
  void watch(Slot slot) { detector_.watch(slot); }
  void watch_heartbeats(std::uint64_t now_ns);
  void hear_others();
  /// J1. It is not suspected yet.
  void add(Rank rank);
  /// J9: this member stops. To be asked at each look in a change of view.
  [[nodiscard]] bool is_alone();

  /// The view of the rows is another one.
  void begin_view();

 private:
  [[nodiscard]] bool hear(Rank rank);

  ViewRows<Memory>& rows_;
  const Quorum& quorum_;
  const std::uint64_t suspect_after_ns_;
  Suspect suspect_;
  Heard heard_;
  IndexedBy<Rank, bool> suspected_;
  std::vector<std::uint64_t> said_;  // scratch: what one member says of all
  FailureDetector detector_;
  bool alone_ = false;                           // at the last look
  std::optional<std::uint64_t> alone_since_ns_;  // in watched time
};

}  // namespace tutti
