/// \file predicate_loop.hpp
/// One pass over everything a node has to look at, in fixed order: what the fabric brought, then
/// the predicates of every subgroup, then one flush of all they posted, then the deliveries.
/// The two halves, step() and deliver(), are apart for a driver that must not call the application.
///
/// Invariants:
///  Q1  What the predicates ask for is posted after each of them, in order (Effects), and handed to
///      the wire by one flush a pass; no lock is held then, or ever [Spindle, 3.4].
///  Q2  Acknowledgements leave before callbacks run: a slow callback delays its own member's
///      delivery, not what the others may deliver.
///  Q3  A pass takes what it finds and waits for nothing [Spindle, 3.2].
/// It has no thread and no clock: whoever drives it (the node's thread, the application, a test)
/// idles by what pass() returns. Threads: one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/counter.hpp"
#include "fabric/fabric.hpp"
#include "predicates/effects.hpp"

namespace tutti {

/// What a subgroup (or another protocol object) does in a pass.
class Stepped {
 public:
  virtual ~Stepped() = default;

  /// Evaluates the predicates and lists what is to be posted. True if anything advanced: then it is
  /// flushed as well. Never calls the application.
  virtual bool step(Effects& effects) = 0;

  /// Hands over what may be delivered. True if anything was.
  virtual bool deliver() = 0;
};

class PredicateLoop {
 public:
  explicit PredicateLoop(Fabric& fabric) : fabric_(fabric), effects_(fabric) {}

  void add(Stepped& stepped) { stepped_.push_back(&stepped); }
  /// From now on, also in the middle of a pass, `next` has the place of `old`, which was added.
  void replace(const Stepped& old, Stepped& next);

  /// One pass. Returns how many things were done, 0 if there was nothing.
  std::size_t pass() {
    const std::size_t work = step();
    return work + deliver();
  }

  /// Its halves. Only deliver() calls the application. While it is in such a call, another thread
  /// may step, if the driver sees to Threads below.
  std::size_t step();
  std::size_t deliver();

  /// Whether the last pass did more than take in what the fabric brought.
  [[nodiscard]] bool advanced() const { return advanced_; }

  /// Peers lost since the last call.
  [[nodiscard]] std::vector<PeerLoss> take_losses() { return fabric_.take_losses(); }

  [[nodiscard]] std::uint64_t passes() const { return passes_.get(); }
  [[nodiscard]] std::uint64_t working_passes() const { return working_passes_.get(); }

 private:
  Fabric& fabric_;
  Effects effects_;
  std::vector<Stepped*> stepped_;
  bool advanced_ = false;
  bool worked_ = false;
  Counter passes_;
  Counter working_passes_;
};

}  // namespace tutti
