/// \file shared_fabric.hpp
/// Rows that everybody maps: there is nothing to post. As shm does it, in one address space.
#pragma once
#include <optional>
#include <vector>

#include "fabric/fabric.hpp"
#include "support/aligned_row.hpp"

namespace tutti::testing {

class SharedFabric final : public Fabric {
 public:
  explicit SharedFabric(const std::vector<AlignedRow>& rows) : rows_(rows) {}

  [[nodiscard]] const std::byte* row(Slot peer) const override { return rows_[peer.value].data(); }
  [[nodiscard]] std::byte* replica(Slot) override { return nullptr; }
  void write(Slot, Extent) override { ++counters_.writes; }
  void publish(Slot, std::uint64_t, std::span<const std::byte>) override { ++counters_.writes; }
  void flush() override {}
  std::size_t poll() override { return 0; }
  [[nodiscard]] bool drained() const override { return true; }
  [[nodiscard]] std::uint64_t heard(Slot peer) const override { return peer == noisy ? noise : 0; }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return {}; }
  void fence(Slot) override {}
  void hang_up(Slot peer) override { hung_up.push_back(peer); }
  void arm() override {}
  void disarm() override {}
  [[nodiscard]] FabricCounters counters() const override { return counters_; }

  std::vector<Slot> hung_up;
  std::optional<Slot> noisy{};  // what is heard() of it is `noise`
  std::uint64_t noise = 0;

 private:
  const std::vector<AlignedRow>& rows_;
  FabricCounters counters_;
};

}  // namespace tutti::testing
