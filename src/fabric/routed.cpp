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

RoutedFabric::RoutedFabric(std::byte* own_row, std::vector<std::unique_ptr<Fabric>> fabrics,
                           const std::vector<std::size_t>& route)
    : own_row_(own_row), fabrics_(std::move(fabrics)) {
  for (const std::size_t index : route) {
    TUTTI_ASSERT(index == kNoFabric || index < fabrics_.size(), index, fabrics_.size());
    by_rank_.push_back(index == kNoFabric ? nullptr : fabrics_[index].get());
  }
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
  }
  return sum;
}

}  // namespace tutti
