/// \file asymmetric_fence.hpp
/// A pair of fences for two threads of one process of which one is hot and the other rare: the hot
/// side's costs nothing, the rare side's interrupts the others (membarrier(2)).
///
/// Where each side stores, fences and then loads what the other stored, at least one of them sees
/// the other's store, as with two seq_cst fences. A locked instruction on the hot path would wait
/// for every store before it, which for a message just written to memory that readers share is tens
/// of nanoseconds.
/// Threads: any. Where the kernel lacks membarrier, both sides are seq_cst fences.
#pragma once
#include <atomic>

namespace tutti {

class AsymmetricFence {
 public:
  /// Registers the process with the kernel.
  AsymmetricFence();

  /// True if light() costs nothing.
  [[nodiscard]] bool asymmetric() const { return asymmetric_; }

  void light() const {
    if (asymmetric_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }

  void heavy() const;

 private:
  bool asymmetric_;
};

}  // namespace tutti
