#include "fabric/routed.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "fabric/row_header.hpp"

namespace tutti {
namespace {

/// To the next value; returns it. Odd is asleep.
std::uint64_t advance_asleep(std::byte* own_row) {
  auto* header = reinterpret_cast<RowHeader*>(own_row);
  return header->asleep.fetch_add(1, std::memory_order_seq_cst) + 1;
}

}  // namespace

Result<std::unique_ptr<RoutedFabric>> RoutedFabric::create(
    std::byte* own_row, std::size_t slots, std::size_t row_bytes_max,
    std::vector<std::unique_ptr<Fabric>> fabrics) {
  Result<Pages> nobody = Pages::read_only(row_bytes_max);
  if (!nobody) return std::unexpected(std::move(nobody.error()));
  return std::unique_ptr<RoutedFabric>(
      new RoutedFabric(own_row, slots, std::move(*nobody), std::move(fabrics)));
}

RoutedFabric::RoutedFabric(std::byte* own_row, std::size_t slots, Pages nobody,
                           std::vector<std::unique_ptr<Fabric>> fabrics)
    : own_row_(own_row),
      nobody_(std::move(nobody)),
      fabrics_(std::move(fabrics)),
      slots_(slots, Route{.fabric = nullptr, .row = nobody_.bytes().data()}) {}

void RoutedFabric::route(Slot peer, Fabric& fabric) {
  TUTTI_ASSERT(peer.value < slots_.size(), peer.value, slots_.size());
  TUTTI_ASSERT(slots_[peer.value].fabric == nullptr, peer.value);
  slots_[peer.value] = {.fabric = &fabric, .row = fabric.row(peer)};
}

void RoutedFabric::unroute(Slot peer) {
  TUTTI_ASSERT(peer.value < slots_.size(), peer.value, slots_.size());
  slots_[peer.value] = {.fabric = nullptr, .row = nobody_.bytes().data()};
}

void RoutedFabric::flush() {
  for (const auto& fabric : fabrics_) fabric->flush();
}

std::size_t RoutedFabric::poll() {
  std::size_t landed = 0;
  for (const auto& fabric : fabrics_) landed += fabric->poll();
  return landed;
}

bool RoutedFabric::drained() const {
  return std::ranges::all_of(fabrics_, [](const auto& fabric) { return fabric->drained(); });
}

std::vector<PeerLoss> RoutedFabric::take_losses() {
  std::vector<PeerLoss> losses;
  for (const auto& fabric : fabrics_) {
    std::vector<PeerLoss> found = fabric->take_losses();
    if (!found.empty()) [[unlikely]]
      std::ranges::move(found, std::back_inserter(losses));
  }
  return losses;
}

void RoutedFabric::arm() {
  const std::uint64_t asleep = advance_asleep(own_row_);
  TUTTI_ASSERT(asleep % 2 == 1, asleep);
  // Pairs with the fence in ShmFabric::flush: the caller's poll after this sees what was posted by
  // whoever did not see us asleep.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const auto& fabric : fabrics_) fabric->arm();
}

void RoutedFabric::disarm() {
  const std::uint64_t asleep = advance_asleep(own_row_);
  TUTTI_ASSERT(asleep % 2 == 0, asleep);
  for (const auto& fabric : fabrics_) fabric->disarm();
}

FabricCounters RoutedFabric::counters() const {
  FabricCounters sum;
  for (const auto& fabric : fabrics_) {
    const FabricCounters counters = fabric->counters();
    sum.writes += counters.writes;
    sum.bytes += counters.bytes;
    sum.doorbells += counters.doorbells;
    sum.posting_ns += counters.posting_ns;
    sum.signalled += counters.signalled;
  }
  return sum;
}

}  // namespace tutti
