/// \file conformance.hpp
/// The fixture of all conformance tests and the words they share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "conformance/harness.hpp"

namespace tutti::testing {

inline constexpr Slot kFirst{0};
inline constexpr Slot kSecond{1};
inline constexpr std::size_t kSmallRow = 16384;
inline constexpr std::uint64_t kWord = 64;
inline constexpr std::uint64_t kOtherWord = 128;
inline constexpr std::uint64_t kData = 4096;

class FabricConformance : public ::testing::TestWithParam<FabricKind> {
 protected:
  /// The world of the test, connected.
  World& start(std::size_t nodes, std::size_t row_bytes) {
    world_ = std::make_unique<World>(nodes, row_bytes);
    GetParam().connect(*world_);
    return *world_;
  }

  /// For kinds whose peers come and go: a world in which nobody knows anybody.
  World& open(std::size_t nodes, std::size_t row_bytes) {
    world_ = std::make_unique<World>(nodes, row_bytes);
    for (const auto& node : world_->nodes) GetParam().open(*node, nodes);
    return *world_;
  }

  /// Two nodes attach each other.
  [[nodiscard]] Result<void> join(std::size_t a, std::size_t b) {
    return GetParam().join(*world_, a, b);
  }

  /// A new incarnation of a dead node, with a new row and without peers.
  void restart(std::size_t rank) {
    std::unique_ptr<Node>& node = world_->nodes[rank];
    node = std::make_unique<Node>(node->rank, node->row.size());
    GetParam().open(*node, world_->size());
  }

 private:
  std::unique_ptr<World> world_;
};

inline std::string kind_name(const ::testing::TestParamInfo<FabricKind>& kind) {
  return kind.param.name;
}

/// Writes a pattern into the own row.
inline void fill(Node& node, const Extent& extent, std::uint8_t first) {
  for (std::uint32_t i = 0; i < extent.bytes; ++i) {
    node.row.data()[extent.offset + i] = static_cast<std::byte>(first + i * 7);
  }
}

/// Whether that pattern is in the peer's row.
inline bool shows(const Node& reader, Slot peer, const Extent& extent, std::uint8_t first) {
  const std::byte* data = reader.fabric->row(peer) + extent.offset;
  for (std::uint32_t i = 0; i < extent.bytes; ++i) {
    if (data[i] != static_cast<std::byte>(first + i * 7)) return false;
  }
  return true;
}

/// Whether the peer's row is all zeros from there to its end.
inline bool shows_zeros(const Node& reader, Slot peer, std::uint64_t from = 0) {
  const std::byte* row = reader.fabric->row(peer);
  return std::all_of(row + from, row + reader.row.size(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace tutti::testing
