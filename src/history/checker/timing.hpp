/// \file timing.hpp
/// What the harness said and when: faults, good times with their connected core, and the bounds
/// that follow from them (V1 V3 V5).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "history/checker/run.hpp"

namespace tutti::history {

/// Faults ended; up to the next one the core is connected and correct.
struct GoodTime {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = kNever;
  Place heal;
  std::vector<NodeRef> core{};  ///< incarnation 0: whichever lives
};

struct Fault {
  FaultKind kind = FaultKind::crash;
  std::uint16_t node = 0;
  std::uint16_t second = kNoNode;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = kNever;
  Place begin;
};

/// kNever, should the sum be beyond it.
[[nodiscard]] inline std::uint64_t plus(std::uint64_t at_ns, std::uint64_t more_ns) {
  return at_ns > kNever - more_ns ? kNever : at_ns + more_ns;
}

class Timing {
 public:
  explicit Timing(Run& run);

  [[nodiscard]] const std::vector<GoodTime>& good_times() const { return good_; }
  /// Lost doorbells are not among them.
  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }
  [[nodiscard]] bool in_core(const GoodTime& good, std::uint32_t life) const;
  /// When the message must have been delivered by the core, kNever if nothing is demanded.
  [[nodiscard]] std::uint64_t due(std::uint64_t sent_ns, const GoodTime*& good) const;
  /// The incarnation of a node that lived at that time.
  [[nodiscard]] std::optional<std::uint32_t> life_at(std::uint16_t node, std::uint64_t at_ns) const;
  /// Whether a fault, other than this one and what follows from it or others, is under way in that
  /// time.
  [[nodiscard]] bool troubled(std::uint64_t from_ns, std::uint64_t to_ns, const Fault* but) const;

  /// How much of that time the node was not paused; 0 if it ends before it begins.
  [[nodiscard]] std::uint64_t awake_ns(std::uint16_t node, std::uint64_t from_ns,
                                       std::uint64_t to_ns) const;

  /// V1, V5 of one delivery.
  void deliver(Place place, const Event& event, const Sent& sent,
               const std::uint32_t* sender) const;
  /// V3: something that a member without a majority must not do.
  void act(Place place, const Event& event) const;
  /// V5: a message that was there when a doorbell to this member was lost, never delivered.
  void undelivered(std::uint32_t life, Place last, const Sent& sent) const;

 private:
  struct Silence {
    std::uint64_t from_ns, to_ns;
    Place fault;
  };

  void read_harness();
  void find_silences();
  void find_lost_doorbells();

  Run& run_;
  std::vector<GoodTime> good_;
  std::vector<Fault> faults_;                         // but for lost doorbells
  std::vector<Fault> lost_doorbells_;                 // moments
  std::vector<std::vector<Silence>> silences_;        // by life
  std::vector<std::vector<const Fault*>> doorbells_;  // by life, in the order of their times
};

}  // namespace tutti::history
