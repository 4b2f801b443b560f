/// \file routed.hpp
/// One node's fabrics as one: each peer is reached through its own, shared memory or a network.
///
/// Also keeps the own row's RowHeader::asleep, which is the node's and not any one fabric's.
/// Threads: the predicate thread only. The own row outlives the fabric.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"

namespace tutti {

class RoutedFabric final : public Fabric {
 public:
  /// In a route: there is no such peer (oneself).
  static constexpr std::size_t kNoFabric = static_cast<std::size_t>(-1);

  /// `route` gives for each rank the index of its fabric, or kNoFabric.
  RoutedFabric(std::byte* own_row, std::vector<std::unique_ptr<Fabric>> fabrics,
               const std::vector<std::size_t>& route);

  [[nodiscard]] const std::byte* row(Rank peer) const override { return to(peer).row(peer); }
  void write(Rank peer, Extent data) override { to(peer).write(peer, data); }
  void publish(Rank peer, std::uint64_t offset, std::span<const std::byte> words) override {
    to(peer).publish(peer, offset, words);
  }
  void flush() override;
  std::size_t poll() override;
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Rank peer) override { to(peer).fence(peer); }
  void arm() override;
  void disarm() override;
  [[nodiscard]] FabricCounters counters() const override;

 private:
  [[nodiscard]] Fabric& to(Rank peer) const { return *by_rank_[peer.value]; }

  std::byte* own_row_;
  std::vector<std::unique_ptr<Fabric>> fabrics_;
  std::vector<Fabric*> by_rank_;  // nullptr where there is no such peer
};

}  // namespace tutti
