/// \file ofi_fabric.hpp
/// One-sided writes through libfabric: data goes straight from our row into the replica at the
/// peer; control words go into a ring beside it, and the peer applies them when it polls.
///
/// How the contract of fabric.hpp is kept: F-order by the provider's order of writes, or where it
/// promises none by its word that they have landed (provider_search.hpp), and by post_queue.hpp
/// (PQ1) and control_ring.hpp at its ends. F-control: frames are copied and applied whole. F-data:
/// written in place. F-slot: each attachment has its own memory, key and endpoint. F-fence: its
/// registration and its endpoint are closed. F-loss: the end of the TCP connection beside it
/// (bell.hpp), an error of the provider's, or rubbish, is a loss; what landed before is applied
/// first. F-wake: the provider's descriptors wake a sleeper; where they do not, members tell each
/// other that they sleep, and ring. Writes of many providers land only while their target polls,
/// and are acknowledged then: drained() waits for that. Data posted after control words may land
/// before them (never the reverse), and a word of data may be seen half landed. Threads: the
/// predicate thread only. Set-up and data path are in separate files.
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
#include "fabric/ordering.hpp"
#include "fabric/sleeper.hpp"
#include "tutti/error.hpp"

namespace tutti {

namespace ofi {
class CompletionQueue;
class Station;
class Watch;
struct ConnectionEvent;
struct Write;
}  // namespace ofi

class OfiFabric final : public Fabric {
 public:
  /// Starts without peers. `sleeper` and `own_row` outlive the fabric. `provider` and `host` as for
  /// ofi::Provider::open, whose errors these are; also refuses an own row without a header.
  /// `most`: no more than that is asked of the provider's order.
  [[nodiscard]] static Result<std::unique_ptr<OfiFabric>> create(Sleeper& sleeper,
                                                                 std::span<const std::byte> own_row,
                                                                 const std::string& provider,
                                                                 const std::string& host,
                                                                 Ordering most = Ordering::writes);
  /// Hangs up on all peers, as detach() does.
  ~OfiFabric() override;

  /// Takes over the connection, registers memory for the peer's row and says so. Posts wait until
  /// the peer has answered. Refuses a slot that has a peer and a row without a header: then nothing
  /// has changed and the connection is closed.
  [[nodiscard]] Result<void> attach(OfiConnection connection);

  /// Hangs up, frees the replica, which nobody reads any more, forgets posts and a loss not yet
  /// taken: the slot is free. Nothing happens if it was.
  void detach(Slot peer);

  /// Whether posts to it leave at once: both have told each other where to write, and a write went
  /// through. Takes polls of both.
  [[nodiscard]] bool is_open(Slot peer) const;

  [[nodiscard]] const std::byte* row(Slot peer) const override;
  [[nodiscard]] std::byte* replica(Slot peer) override;
  void write(Slot peer, Extent data) override;
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override;
  void flush() override;
  std::size_t poll() override;
  /// True once everything has landed at all peers, who must poll for it.
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::uint64_t heard(Slot peer) const override;
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override;
  void hang_up(Slot peer) override;
  void arm() override;
  void disarm() override { armed_ = false; }
  [[nodiscard]] FabricCounters counters() const override { return counters_; }

 private:
  struct Peer;
  enum class Word : std::uint8_t { consumed, asleep, open, alive };

  OfiFabric(Sleeper& sleeper, std::span<const std::byte> own_row,
            std::unique_ptr<ofi::Station> station);
  [[nodiscard]] Peer& peer_at(Slot peer) const;
  [[nodiscard]] Peer* find(std::uint64_t attachment) const;

  // ofi_fabric_setup.cpp
  [[nodiscard]] Result<void> open_watches();
  [[nodiscard]] Result<std::unique_ptr<Peer>> make_peer(OfiConnection connection);
  [[nodiscard]] Result<void> prepare_sleep(Peer& peer);
  void open(Peer& peer);
  [[nodiscard]] Result<void> greeted(Peer& peer);
  void take_events();
  void answer(ofi::ConnectionEvent& call);

  // ofi_fabric_datapath.cpp
  [[nodiscard]] static bool is_usable(Peer& peer);
  void push(Peer& peer);
  void count(Peer& peer, bool signalled);
  [[nodiscard]] bool push_next(Peer& peer);
  [[nodiscard]] static bool frame_follows(const Peer& peer);
  [[nodiscard]] bool post(Peer& peer, const ofi::Write& what);
  [[nodiscard]] bool tell(Peer& peer, Word word, std::uint64_t value);
  void progress();
  void progress(ofi::CompletionQueue& queue);
  void progress(Peer& peer);
  [[nodiscard]] std::size_t receive(Peer& peer);
  [[nodiscard]] bool must_signal() const;
  void acknowledge(Peer& peer);
  void ring_if_asleep(Peer& peer);

  // ofi_fabric_loss.cpp
  void look_around();
  static void listen_to(Peer& peer);
  static void provider_failed(Peer& peer, const std::string& what);
  void lose(Peer& peer, std::string reason);
  void lose_the_failed();
  static void wait_for(Peer& peer);
  [[nodiscard]] bool may_sleep(const Peer& peer) const;
  void tell_asleep(Peer& peer);
  void await_known();

  Sleeper& sleeper_;
  std::span<const std::byte> own_row_;
  std::unique_ptr<ofi::Station> station_;
  std::vector<ofi::Watch> watches_;  // of the station's queues
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> peer_in_slot_;  // null where no peer is
  std::vector<PeerLoss> losses_;
  std::uint64_t last_attachment_ = 0;
  std::vector<pollfd> sockets_;  // of the bells, for one look at all
  std::uint32_t polls_ = 0;      // since the last look
  timespec last_look_{};
  FabricCounters counters_;
  bool armed_ = false;
};

}  // namespace tutti
