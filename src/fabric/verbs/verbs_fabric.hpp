/// \file verbs_fabric.hpp
/// One-sided writes over RDMA: each post becomes writes into the peer's replica of our row, which
/// land without the peer's processor. No thread for messages, no copy of data on the way out.
///
/// How the contract of fabric.hpp is kept: F-order, F-control: one reliable connection per peer for
///   data and words, memory without relaxed ordering, so writes land in the order of their posts;
///   what waits keeps it, too (post_queue.hpp, PQ1, Words::placed). F-loss: a completion in error,
///   rdma_cm or the device says that the connection is gone; the queue pair is in error before it
///   is reported.
/// F-fence: the queue pair in error refuses the peer's writes; row() shows a copy, which no device
///   knows of; the memory is deregistered, which may take its time, on a thread of its own.
/// F-wake: before a node sleeps, it raises its bell at each peer: a word beside its row there. Who
///   has posted something and finds a bell raised that it has not rung, rings it: a write with
///   immediate, which wakes through the completion channel. VW1 A bell once raised stays raised
///   until it is rung. VW2 A post is answered for only when the bell was looked at after the post
///   had landed: until then every poll() looks; that is why a sleeping node is woken by its own
///   completions. VW3 Going to sleep, so does who raised a bell: it looks at the rows once more
///   when the bell is known to be up.
/// Threads: the predicate thread only. Set-up and data path are in separate files.
/// Sources: [Spindle, 2.2, 3.2, 3.4].
#pragma once
#include <poll.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/connection.hpp"
#include "fabric/fabric.hpp"
#include "fabric/sleeper.hpp"
#include "tutti/error.hpp"

struct ibv_sge;

namespace tutti {

namespace verbs {
class DestroyQueue;
class Device;
class FdWatch;
}  // namespace verbs

class VerbsFabric final : public Fabric {
 public:
  /// At least one work request in so many is signalled.
  static constexpr std::uint64_t kPostsPerSignal = 24;
  /// So many work requests go behind one doorbell.
  static constexpr std::size_t kChainMax = 32;
  /// rdma_cm's descriptors are looked at so often, or with each tick of the coarse clock, which is
  /// read every kPollsPerLook polls. Asleep they wake the node by themselves.
  static constexpr std::uint32_t kPollsPerCheck = 4096;
  static constexpr std::uint32_t kPollsPerLook = 8;

  /// Starts without peers. The Sleeper and the device's own row outlive the fabric.
  [[nodiscard]] static Result<std::unique_ptr<VerbsFabric>> create(
      Sleeper& sleeper, std::shared_ptr<verbs::Device> device);
  /// Hangs up on all peers; returns when their connections are destroyed.
  ~VerbsFabric() override;
  VerbsFabric(const VerbsFabric&) = delete;
  VerbsFabric& operator=(const VerbsFabric&) = delete;

  /// Takes over the pair. Refuses a slot that has a peer, a row without a header and a pair without
  /// room for the row: then nothing has changed and the pair is gone.
  [[nodiscard]] Result<void> attach(VerbsConnection connection);

  /// Hangs up and forgets posts and a loss not yet taken: the slot is free. The row, which nobody
  /// reads any more, goes in the background. Nothing happens if the slot was free.
  void detach(Slot peer);

  [[nodiscard]] const std::byte* row(Slot peer) const override;
  [[nodiscard]] std::byte* replica(Slot peer) override;
  void write(Slot peer, Extent data) override;
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override;
  void flush() override;
  /// Returns 0: writes land without our doing.
  std::size_t poll() override;
  /// True once all has landed. Asks for it: the last writes are signalled if they were not.
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::uint64_t heard(Slot peer) const override;
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override;
  void hang_up(Slot peer) override;
  void arm() override;
  void disarm() override;
  [[nodiscard]] FabricCounters counters() const override { return counters_; }

  /// The two ways in which hardware keeps a removed peer out, each alone; fence() does more than
  /// either. For tests.
  void fence_queue_pair(Slot peer);
  void fence_region(Slot peer);

 private:
  struct Peer;
  enum class Extra : std::uint8_t { none, ring, raise, confirm };

  VerbsFabric(Sleeper& sleeper, std::shared_ptr<verbs::Device> device);
  [[nodiscard]] Peer& peer_at(Slot peer) const;

  // verbs_datapath.cpp
  void post(Peer& peer);
  [[nodiscard]] std::size_t fill_chain(Peer& peer);
  [[nodiscard]] bool fill(Peer& peer, std::size_t index);
  void fill_alive(Peer& peer, std::size_t index);
  void fill_write(Peer& peer, std::size_t index, const ibv_sge& from, std::uint64_t to);
  void fill_extra(Peer& peer, std::size_t index, Extra extra);
  void post_extra(Peer& peer, Extra extra);
  void hand_over(Peer& peer, std::size_t count);
  void reap(Peer& peer);
  void answer_bell(Peer& peer);
  [[nodiscard]] bool owes_ring(const Peer& peer) const;

  // verbs_setup.cpp
  void arm(Peer& peer);
  void look_around();
  void hear_connection(Peer& peer);
  void hear_device();
  void hear_completions();
  void lose(Peer& peer, std::string reason);
  void lose_all(const std::string& reason);
  void close(Peer& peer);

  Sleeper& sleeper_;
  std::shared_ptr<verbs::Device> device_;
  std::unique_ptr<verbs::DestroyQueue> destroy_queue_;
  std::unique_ptr<verbs::FdWatch> completions_watch_;
  std::unique_ptr<verbs::FdWatch> device_watch_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> peer_in_slot_;  // null where no peer is
  std::vector<PeerLoss> losses_;
  FabricCounters counters_;
  std::vector<pollfd> sockets_;  // of look_around(), kept for its memory
  std::uint32_t polls_ = 0;      // since the last look at rdma_cm
  timespec last_check_{};
  bool armed_ = false;
  mutable bool drain_asked_ = false;
};

}  // namespace tutti
