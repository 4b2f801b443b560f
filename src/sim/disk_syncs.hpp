/// \file disk_syncs.hpp
/// How a simulated disk takes its time: what is written is on it once a sync is done.
///
/// What is written is known by a number, which only grows. As in a node, what is written while a
/// sync is under way goes with the next one. How long each sync takes is drawn. Threads: one.
#pragma once
#include <cstdint>
#include <deque>

#include "base/prng.hpp"
#include "sim/net.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

class DiskSyncs {
 public:
  /// `options` and `net` outlive it.
  DiskSyncs(const DiskOptions& options, const Net& net, std::uint64_t seed)
      : options_(options), net_(net), random_(seed) {}

  /// Everything before `end` is written, and not synced yet.
  void write(std::uint64_t end);
  /// Everything before that is on disk. 0 at first.
  [[nodiscard]] std::uint64_t synced() const;
  /// When there is more on disk than now; never without a sync under way.
  [[nodiscard]] std::uint64_t next_ns() const;

  /// From now on no sync is slow, nor is one that is under way.
  void mend();
  /// The process crashes: the syncs under way come to nothing.
  void drop();
  /// The process ends in order: everything before `end` is on disk.
  void close(std::uint64_t end) {
    syncs_.clear();
    synced_ = end;
  }

 private:
  // A sync, from when it begins, of all before `end`.
  struct Sync {
    std::uint64_t begin_ns;
    std::uint64_t done_ns;
    std::uint64_t end;
  };
  [[nodiscard]] std::uint64_t draw_ns();

  const DiskOptions& options_;
  const Net& net_;
  Prng random_;
  bool mended_ = false;
  std::deque<Sync> syncs_;  // those not seen to be done; each begins when the one before is done
  std::uint64_t synced_ = 0;
};

}  // namespace tutti::sim
