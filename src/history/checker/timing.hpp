/// \file timing.hpp
/// What the harness recorded: faults, times without faults and their connected core, and the bounds
/// that follow from them (V1 V3 V5).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "history/checker/run.hpp"

namespace tutti::history {

/// A time without faults, from a heal to the next fault: the core is connected and correct.
struct GoodTime {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = kNever;
  EventRef heal;
  std::vector<NodeRef> core{};  ///< incarnation 0: whichever runs
};

struct Fault {
  FaultKind kind = FaultKind::crash;
  std::uint16_t node = 0;
  std::uint16_t second = kNoNode;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = kNever;
  EventRef begin;
};

/// The sum, but at most kNever.
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
  /// By when the core must have delivered the message, kNever if nothing is demanded.
  [[nodiscard]] std::uint64_t due(std::uint64_t sent_ns, const GoodTime*& good) const;
  /// The incarnation of a node that ran at that time.
  [[nodiscard]] std::optional<std::uint32_t> life_at(std::uint16_t node, std::uint64_t at_ns) const;
  /// Whether there is a fault in that time, apart from `but`, its consequences, and consequences of
  /// faults that are recorded as well.
  [[nodiscard]] bool troubled(std::uint64_t from_ns, std::uint64_t to_ns, const Fault* but) const;

  /// How long the node was not paused in that time; 0 if the time ends before it begins.
  [[nodiscard]] std::uint64_t awake_ns(std::uint16_t node, std::uint64_t from_ns,
                                       std::uint64_t to_ns) const;

  /// V1, V5 of one delivery.
  void deliver(EventRef ref, const Event& event, const Sent& sent,
               const std::uint32_t* sender) const;
  /// V3: checks an event that a member without a majority must not record.
  void act(EventRef ref, const Event& event) const;
  /// V5: checks a message that this member never delivers: no doorbell to it may have been lost
  /// after the message was sent.
  void undelivered(std::uint32_t life, EventRef last, const Sent& sent) const;

 private:
  struct Silence {
    std::uint64_t from_ns, to_ns;
    EventRef fault;
  };

  void read_harness();
  void find_silences();
  void find_lost_doorbells();

  Run& run_;
  std::vector<GoodTime> good_;
  std::vector<Fault> faults_;                         // without lost doorbells
  std::vector<Fault> lost_doorbells_;                 // moments
  std::vector<std::vector<Silence>> silences_;        // by life
  std::vector<std::vector<const Fault*>> doorbells_;  // by life, then by time
};

}  // namespace tutti::history
