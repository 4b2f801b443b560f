/// \file tcp_fabric.hpp
/// One-sided writes over TCP: each peer's row has a replica here, and the node's own thread applies
/// what the peer's frames say to it while it polls. No thread of its own, no copy of data on the
/// way out.
///
/// How the contract of fabric.hpp is kept: F-order and F-control by the stream's order, and by
/// post_queue.hpp (PQ1), frame_writer.hpp (FW1) and frame_reader.hpp (FR1, FR2) at its ends.
/// F-loss: a broken connection is reported only when nothing is left to read from it. F-fence: the
/// socket is closed. F-slot: a replica of its own, and frames of other epochs are dropped. F-wake:
/// an armed socket wakes the node by itself. Two things are weaker than with shared memory: data
/// posted after control words may land before them (never the reverse), and a word of data, unlike
/// a control word, may be seen half landed. Threads: the predicate thread only. Set-up and data
/// path are in separate files.
#pragma once
#include <sys/types.h>

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

namespace tutti {

class TcpFabric final : public Fabric {
 public:
  /// Starts without peers. `sleeper` and `own_row` must outlive the fabric. Refuses an own row
  /// without a header.
  [[nodiscard]] static Result<std::unique_ptr<TcpFabric>> create(Sleeper& sleeper,
                                                                 const std::byte* own_row,
                                                                 std::size_t own_row_bytes);
  /// Hangs up on all peers, as detach() does.
  ~TcpFabric() override;

  /// Takes over the peer's socket. Refuses a slot that has a peer, a row without a header, and a
  /// descriptor that is no TCP socket: then nothing has changed and the descriptor is closed.
  [[nodiscard]] Result<void> attach(TcpConnection connection);

  /// Closes the connection, having read what has arrived, and frees the replica, which nobody reads
  /// any more. Input after that makes it a reset, which destroys what was not drained(): the kernel
  /// sends the rest in the background only as long as the peer posts nothing more. Forgets queued
  /// posts and a loss not yet taken: the slot is free. Nothing happens if it was.
  void detach(Slot peer);

  [[nodiscard]] const std::byte* row(Slot peer) const override;
  [[nodiscard]] std::byte* replica(Slot peer) override;
  void write(Slot peer, Extent data) override;
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override;
  void flush() override;
  std::size_t poll() override;
  /// True once the kernels of all connected peers have everything. An acknowledgement wakes nobody:
  /// look again. Costs a system call per peer, made only when all has been sent.
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::uint64_t heard(Slot peer) const override;
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override;
  void hang_up(Slot peer) override;
  void arm() override;
  void disarm() override { armed_ = false; }
  [[nodiscard]] FabricCounters counters() const override;

  /// Frames of other epochs that were dropped.
  [[nodiscard]] std::uint64_t stale_frames() const;

 private:
  struct Peer;

  TcpFabric(Sleeper& sleeper, std::span<const std::byte> own_row);
  [[nodiscard]] Peer& peer_at(Slot peer) const;
  void send(Peer& peer);
  [[nodiscard]] std::size_t receive(Peer& peer);
  /// What recvmsg returned, or zero or less at the end: then the peer may be lost now.
  void receive_ended(Peer& peer, ssize_t result, int error);
  /// A wait that is left over when the node goes on costs one spurious return of sleep() later.
  void wait_readable(Peer& peer);
  void wait_writable(Peer& peer);
  void lose(Peer& peer, std::string reason);
  void hang_up(Peer& peer);

  Sleeper& sleeper_;
  std::span<const std::byte> own_row_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> peer_in_slot_;  // null where no peer is
  std::vector<PeerLoss> losses_;
  FabricCounters counters_;         // of peers detached meanwhile; posting_ns of all
  std::uint64_t stale_frames_ = 0;  // of peers detached meanwhile
  bool armed_ = false;
};

}  // namespace tutti
