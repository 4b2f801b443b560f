/// \file harness.hpp
/// What the conformance suite needs to run the same test on every fabric: a world of nodes in one
/// process, each with a row, a Sleeper and a fabric to all the others, however they are connected.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/ofi/ofi_fabric.hpp"
#include "fabric/routed.hpp"
#include "fabric/segment.hpp"
#include "fabric/shm/shm_fabric.hpp"
#include "fabric/sleeper.hpp"
#include "fabric/tcp/tcp_fabric.hpp"
#include "fabric/verbs/device.hpp"
#include "fabric/verbs/verbs_fabric.hpp"

namespace tutti::testing {

/// The watchdog of everything that is waited for. It ends a test that hangs, and measures nothing.
class Deadline {
 public:
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() > end_; }
  /// For Sleeper::sleep: longer than the deadline, so that a missed wake fails the test.
  [[nodiscard]] static std::chrono::seconds sleep() { return limit() + std::chrono::seconds(1); }

 private:
  /// 30 s, or what the environment variable TUTTI_TEST_WATCHDOG says, where a machine is emulated.
  [[nodiscard]] static std::chrono::seconds limit();

  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + limit();
};

/// One node. Its own row is written with store() and published; rows of others are only read.
class Node {
 public:
  Node(Slot own, std::size_t row_bytes);

  /// Stores a control word in the own row; nobody is told.
  void store(std::uint64_t offset, std::uint64_t value);
  /// Publishes `words` control words of the own row as they are now.
  void publish(Slot peer, std::uint64_t offset, std::size_t words = 1);
  /// Both, to one peer, and flushes.
  void send(Slot peer, std::uint64_t offset, std::uint64_t value);
  /// The control word of a peer's row.
  [[nodiscard]] std::uint64_t load(Slot peer, std::uint64_t offset) const;
  /// Polls, and keeps what losses there are.
  void poll();
  /// Sleeps, unless `ready` is true after a last poll.
  void sleep_unless(const std::function<bool()>& ready);

  /// Attaches a peer, if its fabric takes it.
  [[nodiscard]] Result<void> attach(ShmConnection peer);
  [[nodiscard]] Result<void> attach(TcpConnection peer);
  [[nodiscard]] Result<void> attach(VerbsConnection peer);
  [[nodiscard]] Result<void> attach(OfiConnection peer);
  void detach(Slot peer);

  Slot rank;
  Segment row;
  std::unique_ptr<Sleeper> sleeper;
  std::shared_ptr<verbs::Device> device;  // if it is reached by RDMA
  std::unique_ptr<RoutedFabric> fabric;   // empty once the node is dead
  ShmFabric* shm = nullptr;               // in `fabric`, if it has them
  TcpFabric* tcp = nullptr;
  VerbsFabric* verbs = nullptr;
  OfiFabric* ofi = nullptr;
  std::vector<PeerLoss> losses;
};

/// Threads that poll until all of them are drained: what one has posted may need the others' polls.
class Draining {
 public:
  explicit Draining(std::size_t threads) : left_(threads) {}
  /// Polls the node; false once all are drained.
  [[nodiscard]] bool step(Node& node, bool& drained) {
    node.poll();
    if (!drained && node.fabric->drained()) {
      drained = true;
      --left_;
    }
    return left_ > 0;
  }

 private:
  std::atomic<std::size_t> left_;
};

class World {
 public:
  World(std::size_t count, std::size_t row_bytes);

  [[nodiscard]] std::size_t size() const { return nodes.size(); }
  Node& operator[](std::size_t rank) { return *nodes[rank]; }

  /// Ends a node as if its process had died: its fabric is gone.
  void kill(std::size_t rank);

  /// Polls all living nodes in turn until `condition` holds; false if it does not in time.
  [[nodiscard]] bool eventually(const std::function<bool()>& condition);
  /// Until nothing is on its way any more at the side of those who post.
  [[nodiscard]] bool eventually_drained();

  std::vector<std::unique_ptr<Node>> nodes;
  std::function<void(Slot)> on_kill;  // what the fabric needs to be told; may be empty
  std::uint64_t last_epoch = 0;       // of a TCP connection
};

/// A way to connect a world's nodes.
struct FabricKind {
  std::string name;
  bool shares_rows = false;       ///< peers see the own row itself, also before it is published
  bool lands_by_polling = false;  ///< a post lands, and is drained, only while its target polls
  bool one_sided = false;         ///< posts land without the target's doing: it cannot count them
  std::function<void(World&)> connect;
  /// Only for kinds whose peers come and go. A fabric without peers for a node among so many:
  std::function<void(Node&, std::size_t)> open = {};
  /// Two nodes attach each other, unless the first one refuses.
  std::function<Result<void>(World&, std::size_t, std::size_t)> join = {};

  /// How GoogleTest shows it, also in the names that ctest makes.
  friend std::ostream& operator<<(std::ostream& out, const FabricKind& kind) {
    return out << kind.name;
  }
};

/// Addresses of RDMA devices, from the environment variable TUTTI_TEST_RDMA, "10.9.0.1,10.9.0.2".
/// None if it is not set.
[[nodiscard]] std::vector<std::string> rdma_addresses();

/// RDMA, if there are such addresses: each node takes the device of the next one.
[[nodiscard]] std::vector<FabricKind> verbs_kinds();

/// All that the suite runs on.
[[nodiscard]] std::vector<FabricKind> fabric_kinds();

/// Those with open() and join().
[[nodiscard]] std::vector<FabricKind> attaching_kinds();

/// Those where a peer has a replica of a row instead of the row itself.
[[nodiscard]] std::vector<FabricKind> replicating_kinds();

/// Of those, the fabrics of the library, between processes or hosts.
[[nodiscard]] std::vector<FabricKind> remote_kinds();

}  // namespace tutti::testing
