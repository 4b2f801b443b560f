/// \file shm_fabric.hpp
/// Members on one host: each maps the others' rows read-only, so a post has landed the moment the
/// caller stored it. What is left is to ring peers that sleep and to notice those that died.
///
/// F-order, F-control: the caller stores data, then control words with release order; x86 and the
///   acquire loads of the reader do the rest. publish() may therefore show newer words of the own
///   row than those given, never older ones.
/// F-loss: the kernel closes a dead peer's unix socket; seen at once when asleep, otherwise every
///   kPollsPerCheck polls or tick of the clock. F-fence: Segment::freeze.
/// F-wake: arm(), which raises RowHeader::asleep, is RoutedFabric's work: a node has one row.
/// Threads: the predicate thread only. The Sleeper and the own row outlive the fabric.
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
#include "fabric/segment.hpp"
#include "fabric/sleeper.hpp"
#include "tutti/error.hpp"

namespace tutti {

class ShmFabric final : public Fabric {
 public:
  /// poll(2) over the sockets costs about a microsecond: this often it does not show.
  static constexpr std::uint32_t kPollsPerCheck = 4096;
  /// So often the coarse clock is read: where others have the processor, polls are far apart.
  static constexpr std::uint32_t kPollsPerLook = 8;

  /// Starts without peers. Refuses an own row that peers cannot map.
  [[nodiscard]] static Result<std::unique_ptr<ShmFabric>> create(Sleeper& sleeper,
                                                                 const Segment& own_row);
  ~ShmFabric() override;
  ShmFabric(const ShmFabric&) = delete;
  ShmFabric& operator=(const ShmFabric&) = delete;

  /// Maps the peer's row. Refuses a slot that has a peer, a row without a header, and what
  /// Segment::map_peer refuses: then nothing has changed and the descriptors are closed.
  [[nodiscard]] Result<void> attach(ShmConnection connection);

  /// Hangs up, unmaps the row, which nobody reads any more, and forgets posts and a loss not yet
  /// taken: the slot is free. Nothing happens if it was.
  void detach(Slot peer);

  [[nodiscard]] const std::byte* row(Slot peer) const override { return peers_[peer.value].row; }
  [[nodiscard]] std::byte* replica(Slot /*peer*/) override { return nullptr; }
  void write(Slot peer, Extent data) override;
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override;
  void flush() override;
  std::size_t poll() override;
  [[nodiscard]] bool drained() const override { return posted_.empty(); }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override;
  void part(Slot peer) override { drop(peer); }
  void hang_up(Slot /*peer*/) override {}
  void arm() override {}     // the sockets' hang-up is armed all the time
  void disarm() override {}  // and costs nothing while nobody runs the Sleeper
  [[nodiscard]] FabricCounters counters() const override { return counters_; }

 private:
  struct Link;  // the unix socket, the doorbell: gone once the peer is lost or fenced
  struct Peer {
    const std::byte* row = nullptr;
    std::uint64_t rung = 0;  // the value of its `asleep` that was answered last
    bool posted = false;     // it is in posted_
    std::unique_ptr<Segment> segment;
    std::unique_ptr<Link> link;
  };

  explicit ShmFabric(Sleeper& sleeper);
  void mark(Slot peer);
  void ring_if_asleep(Peer& peer);
  void look_around();
  void find_losses();
  void drop(Slot peer);

  Sleeper& sleeper_;
  std::vector<Peer> peers_;        // by slot; without a row where no peer is attached
  std::vector<Slot> posted_;       // peers posted to since the last flush, each once
  std::vector<pollfd> sockets_;    // by slot; -1 where there is nothing to watch
  std::shared_ptr<bool> hang_up_;  // set by a wait on the Sleeper, which may outlive us
  std::uint32_t polls_ = 0;        // since the last check
  timespec last_check_{};
  std::vector<PeerLoss> losses_;
  FabricCounters counters_;
};

}  // namespace tutti
