/// \file routed.hpp
/// One node's fabrics as one: each peer is reached through its own, shared memory or a network.
///
/// A slot without a peer may be named like any other: its row shows zeros, posts to it go nowhere.
/// Also keeps the own row's RowHeader::asleep, which is the node's and not any one fabric's.
/// Threads: the predicate thread only. The own row outlives the fabric.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/pages.hpp"
#include "tutti/error.hpp"

namespace tutti {

class RoutedFabric final : public Fabric {
 public:
  /// Has `slots` slots, none with a peer, that show rows of `row_bytes_max` zeros, which cost no
  /// memory. Error: no room for them in the address space.
  [[nodiscard]] static Result<std::unique_ptr<RoutedFabric>> create(
      std::byte* own_row, std::size_t slots, std::size_t row_bytes_max,
      std::vector<std::unique_ptr<Fabric>> fabrics);

  /// The peer, just attached to this one of the fabrics, is reached through it. Its slot was free.
  void route(Slot peer, Fabric& fabric);

  /// To be called before the peer is detached: its slot is free. Nothing happens if it was.
  void unroute(Slot peer);

  [[nodiscard]] const std::byte* row(Slot peer) const override { return slots_[peer.value].row; }
  [[nodiscard]] std::byte* replica(Slot peer) override {
    Fabric* fabric = slots_[peer.value].fabric;
    return fabric != nullptr ? fabric->replica(peer) : nullptr;
  }
  void write(Slot peer, Extent data) override {
    if (Fabric* fabric = slots_[peer.value].fabric) fabric->write(peer, data);
  }
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override {
    if (Fabric* fabric = slots_[peer.value].fabric) fabric->publish(peer, offset, words);
  }
  void flush() override;
  std::size_t poll() override;
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::uint64_t heard(Slot peer) const override {
    const Fabric* fabric = slots_[peer.value].fabric;
    return fabric != nullptr ? fabric->heard(peer) : 0;
  }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override {
    if (Fabric* fabric = slots_[peer.value].fabric) fabric->fence(peer);
  }
  void part(Slot peer) override {
    if (Fabric* fabric = slots_[peer.value].fabric) fabric->part(peer);
  }
  void hang_up(Slot peer) override {
    if (Fabric* fabric = slots_[peer.value].fabric) fabric->hang_up(peer);
  }
  void arm() override;
  void disarm() override;
  [[nodiscard]] FabricCounters counters() const override;

 private:
  struct Route {
    Fabric* fabric = nullptr;  // where its peer is reached; null if there is none
    const std::byte* row = nullptr;
  };

  RoutedFabric(std::byte* own_row, std::size_t slots, Pages nobody,
               std::vector<std::unique_ptr<Fabric>> fabrics);

  std::byte* own_row_;
  Pages nobody_;  // the row of every slot without a peer
  std::vector<std::unique_ptr<Fabric>> fabrics_;
  std::vector<Route> slots_;
};

}  // namespace tutti
