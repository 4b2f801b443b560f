/// \file fabric.hpp
/// What the table needs of a network: one-sided writes into replicas of one's own row.
///
/// Contract, the same for every fabric (tests/conformance runs on all of them):
///  F-slot    A Slot stands for one peer from attach() to detach(), which every kind of fabric
///            has in its own form. So long, also after a loss, its row stays where it is: zeros at
///            first, then what this peer posts to us, or, in shared memory, all that it stores.
///            No word or loss of one peer is ever seen at the next one of its slot.
///  F-order   A publish() lands at a peer after everything posted to it before: who sees the guard
///            sees the data. A write() may land early, before control words posted before it, for
///            it is not looked at until its guard is there. Bytes of one post land in any order;
///            an aligned 8-byte word of a publish() whole.
///  F-control publish() takes its bytes at the call; a later one never lands before an earlier.
///  F-data    write() may read the row any time until it lands: the bytes must not change before.
///  F-loss    A post lands, or the peer is reported lost, once, after all that landed from it.
///  F-fence   After fence(peer) nothing that the peer posts changes what row(peer) shows.
///  F-replica Where row(peer) is a replica, replica(peer) is the same bytes. The node may store in
///            them what the peer said to others, but not to it. After fence(peer) it must not: the
///            pages may be read-only then.
///  F-wake    A post to a peer that announced its sleep wakes it, at the latest once who posted has
///            polled until it was drained(), or sleeps, too.
/// A row is written by its owner alone, a replica by its owner's posts and by who has it.
/// Threads: the predicate thread only. Nothing blocks; a full queue merges posts instead,
/// where no reader can tell.
/// Source: [Spindle, 2.2].
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/slot.hpp"

namespace tutti {

/// A piece of our own row.
struct Extent {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

struct PeerLoss {
  Slot peer;
  std::string reason;
};

struct FabricCounters {
  std::uint64_t writes = 0;      ///< posts handed to the wire, merged ones once
  std::uint64_t bytes = 0;       ///< their payload
  std::uint64_t doorbells = 0;   ///< sleeping peers woken
  std::uint64_t posting_ns = 0;  ///< time in system calls that post
  std::uint64_t signalled = 0;   ///< of the writes, those whose completion was asked for
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  /// Where the peer's row is read: fixed as long as it is attached (F-slot), gone afterwards. Here
  /// and below the peer is attached; only a RoutedFabric has a meaning for slots without one.
  [[nodiscard]] virtual const std::byte* row(Slot peer) const = 0;

  /// row(peer), to be written (F-replica); null in shared memory, where that is the peer's own row.
  [[nodiscard]] virtual std::byte* replica(Slot peer) = 0;

  /// Posts data of our row, in place (F-data).
  virtual void write(Slot peer, Extent data) = 0;

  /// Posts control words: `words` is copied now and lands at `offset` of our row's replica, after
  /// everything posted to that peer before. Offset and size are multiples of 8.
  virtual void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) = 0;

  /// Hands everything posted since the last flush to the wire and rings sleeping peers.
  virtual void flush() = 0;

  /// Makes progress: applies what has arrived, sends what waits. Returns how many posts landed.
  virtual std::size_t poll() = 0;

  /// True when nothing that was posted waits on this side any more.
  [[nodiscard]] virtual bool drained() const = 0;

  /// Changes while much data of an attached peer arrives, behind which its words may wait: a peer
  /// that sends it lives. A peer that has stopped is heard only until what its socket or adapter
  /// holds has arrived. 0 where no word waits so.
  [[nodiscard]] virtual std::uint64_t heard(Slot /*peer*/) const { return 0; }

  /// Peers found lost since the last call (F-loss). Almost always empty.
  [[nodiscard]] virtual std::vector<PeerLoss> take_losses() = 0;

  /// Cuts the peer off (F-fence); its row stays readable as it is now.
  virtual void fence(Slot peer) = 0;

  /// Closes the connection, so that the peer sees that we are gone, and we hear no more of it; its
  /// row stays readable. In shared memory it goes on to show what the peer stores.
  virtual void part(Slot peer) { fence(peer); }

  /// Ends what we post to the peer: what waits on this side is forgotten, so the bytes that it
  /// covers may change (F-data). What is on its way may land. The row stays readable. Nothing
  /// happens in shared memory, where no post waits.
  virtual void hang_up(Slot peer) = 0;

  /// Before and after the node's thread sleeps: arm() makes whatever arrives from now on wake the
  /// node's Sleeper. The caller polls once more between arm() and sleeping.
  virtual void arm() = 0;
  virtual void disarm() = 0;

  [[nodiscard]] virtual FabricCounters counters() const = 0;
};

}  // namespace tutti
