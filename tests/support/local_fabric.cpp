#include "support/local_fabric.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/assert.hpp"

namespace tutti::testing {
namespace {

constexpr std::align_val_t kRowAlignment{64};

}  // namespace

/// One direction of a pair: the poster's row as the target sees it.
struct LocalCluster::Link {
  struct RowDelete {
    void operator()(std::byte* row) const { ::operator delete[](row, kRowAlignment); }
  };

  void make_replica(std::size_t bytes) {
    replica.reset(new (kRowAlignment) std::byte[bytes]);
    std::memset(replica.get(), 0, bytes);
  }

  std::unique_ptr<std::byte[], RowDelete> replica;
  std::mutex mutex;  // held while a post lands
  bool cut = false;  // under the mutex
};

struct LocalCluster::Node {
  /// Odd while the node sleeps, as in RowHeader. Posters add 0 to it (release): whichever of that
  /// and arm()'s increment (seq_cst) comes second sees the first, so that either the poster sees
  /// the node asleep or the node's poll after arm() sees the post. No fence, for ThreadSanitizer.
  std::atomic<std::uint64_t> asleep = 0;
  std::atomic<std::uint64_t> landed = 0;  // posts landed here; only counted, orders nothing
  std::atomic<bool> has_losses = false;   // pairs release after `losses` with acquire in poll()
  std::mutex mutex;
  std::vector<PeerLoss> losses;  // under the mutex
  std::function<void()> wake;
};

struct LocalCluster::State {
  explicit State(std::vector<std::size_t> bytes)
      : row_bytes(std::move(bytes)),
        nodes(row_bytes.size()),
        links(row_bytes.size() * row_bytes.size()) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      links[i].make_replica(row_bytes[i / row_bytes.size()]);
    }
  }

  Link& link(Slot from, Slot to) {
    TUTTI_ASSERT(from.value < nodes.size() && to.value < nodes.size(), from.value, to.value);
    return links[from.value * nodes.size() + to.value];
  }

  /// Cuts one direction; false if it was cut before. After it nothing lands on it.
  bool cut(Slot from, Slot to) {
    Link& direction = link(from, to);
    const std::lock_guard lock(direction.mutex);
    return !std::exchange(direction.cut, true);
  }

  void lose(Slot at, Slot peer, const char* reason) {
    Node& node = nodes[at.value];
    {
      const std::lock_guard lock(node.mutex);
      node.losses.push_back({peer, reason});
      node.has_losses.store(true, std::memory_order_release);  // acquired in LocalFabric::poll
    }
    ring(node);
  }

  bool ring(Node& node) {
    if (node.asleep.fetch_add(0, std::memory_order_release) % 2 == 0) return false;
    if (node.wake) node.wake();
    return true;
  }

  std::vector<std::size_t> row_bytes;
  std::vector<Node> nodes;
  std::vector<Link> links;  // [from * nodes + to]
};

class LocalCluster::LocalFabric final : public Fabric {
 public:
  LocalFabric(std::shared_ptr<State> state, Slot own, const std::byte* own_row)
      : state_(std::move(state)), own_(own), own_row_(own_row), posted_(state_->nodes.size()) {}

  [[nodiscard]] const std::byte* row(Slot peer) const override {
    return state_->link(peer, own_).replica.get();
  }
  [[nodiscard]] std::byte* replica(Slot peer) override {
    return state_->link(peer, own_).replica.get();
  }

  void write(Slot peer, Extent data) override {
    TUTTI_ASSERT(data.offset + data.bytes <= state_->row_bytes[own_.value], data.offset,
                 data.bytes);
    land(peer, data.bytes, [&](std::byte* replica) {
      std::memcpy(replica + data.offset, own_row_ + data.offset, data.bytes);
    });
  }

  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override {
    TUTTI_ASSERT(offset % 8 == 0 && words.size() % 8 == 0, offset, words.size());
    TUTTI_ASSERT(offset + words.size() <= state_->row_bytes[own_.value], offset, words.size());
    land(peer, words.size(), [&](std::byte* replica) {
      for (std::size_t i = 0; i < words.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, words.data() + i, sizeof word);
        auto* target = reinterpret_cast<std::uint64_t*>(replica + offset + i);
        // Pairs with the acquire load of whoever reads the replica.
        std::atomic_ref<std::uint64_t>(*target).store(word, std::memory_order_release);
      }
    });
  }

  void flush() override {
    if (!std::exchange(any_posted_, false)) return;
    for (std::size_t i = 0; i < posted_.size(); ++i) {
      if (!std::exchange(posted_[i], char{0})) continue;
      if (state_->ring(state_->nodes[i])) ++counters_.doorbells;
    }
  }

  std::size_t poll() override {
    Node& node = state_->nodes[own_.value];
    if (node.has_losses.load(std::memory_order_acquire)) take_reported(node);
    const std::uint64_t landed = node.landed.load(std::memory_order_relaxed);
    return static_cast<std::size_t>(landed - std::exchange(landed_seen_, landed));
  }

  [[nodiscard]] bool drained() const override { return !any_posted_; }

  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return std::exchange(losses_, {}); }

  void fence(Slot peer) override {
    state_->cut(peer, own_);
    if (state_->cut(own_, peer)) state_->lose(peer, own_, "it cut the connection");
  }

  void hang_up(Slot peer) override { fence(peer); }  // what was posted has landed

  void arm() override { state_->nodes[own_.value].asleep.fetch_add(1, std::memory_order_seq_cst); }
  void disarm() override { arm(); }

  [[nodiscard]] FabricCounters counters() const override { return counters_; }

 private:
  template <class Copy>
  void land(Slot peer, std::size_t bytes, const Copy& copy) {
    Link& link = state_->link(own_, peer);
    {
      const std::lock_guard lock(link.mutex);
      if (link.cut) return;
      copy(link.replica.get());
    }
    state_->nodes[peer.value].landed.fetch_add(1, std::memory_order_relaxed);
    posted_[peer.value] = 1;
    any_posted_ = true;
    ++counters_.writes;
    counters_.bytes += bytes;
  }

  void take_reported(Node& node) {
    const std::lock_guard lock(node.mutex);
    node.has_losses.store(false, std::memory_order_relaxed);  // under the mutex
    for (PeerLoss& loss : node.losses) losses_.push_back(std::move(loss));
    node.losses.clear();
  }

  std::shared_ptr<State> state_;
  Slot own_;
  const std::byte* own_row_;
  std::vector<char> posted_;  // by slot: posted to since the last flush
  bool any_posted_ = false;
  std::uint64_t landed_seen_ = 0;
  std::vector<PeerLoss> losses_;
  FabricCounters counters_;
};

LocalCluster::LocalCluster(std::vector<std::size_t> row_bytes)
    : state_(std::make_shared<State>(std::move(row_bytes))) {}

std::unique_ptr<Fabric> LocalCluster::fabric(Slot slot, const std::byte* own_row,
                                             std::function<void()> wake) {
  TUTTI_ASSERT(slot.value < state_->nodes.size(), slot.value);
  state_->nodes[slot.value].wake = std::move(wake);
  return std::make_unique<LocalFabric>(state_, slot, own_row);
}

void LocalCluster::cut(Slot a, Slot b) {
  const bool first = state_->cut(a, b);
  const bool second = state_->cut(b, a);
  if (first) state_->lose(b, a, "the link was cut");
  if (second) state_->lose(a, b, "the link was cut");
}

void LocalCluster::kill(Slot slot) {
  for (std::uint32_t i = 0; i < state_->nodes.size(); ++i) {
    if (i == slot.value) continue;
    state_->cut(Slot{i}, slot);
    if (state_->cut(slot, Slot{i})) state_->lose(Slot{i}, slot, "it was killed");
  }
}

}  // namespace tutti::testing
