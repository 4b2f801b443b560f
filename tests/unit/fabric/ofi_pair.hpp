/// \file ofi_pair.hpp
/// Two OfiFabrics of one process, attached to each other.
#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fabric/ofi/ofi_fabric.hpp"

namespace tutti::testing {

inline constexpr std::uint64_t kOfiEpoch = 7;
inline constexpr std::size_t kOfiRowBytes = 64 * 1024;

/// A watchdog: ends a test that hangs, and measures nothing.
template <class Condition>
bool eventually(const Condition& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

/// The first knows the second as slot 1, the second the first as slot 0.
struct OfiPair {
  explicit OfiPair(const std::string& provider) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    for (std::uint32_t i = 0; i < 2; ++i) {
      rows[i].resize(kOfiRowBytes / 8);
      sleepers[i] = Sleeper::create().value();
      const auto row = std::as_bytes(std::span(rows[i]));
      fabrics[i] = OfiFabric::create(*sleepers[i], row, provider, "127.0.0.1").value();
      EXPECT_TRUE(fabrics[i]->attach({.peer = Slot{1 - i},
                                      .socket = UniqueFd(ends[i]),
                                      .row_bytes = kOfiRowBytes,
                                      .epoch = kOfiEpoch}));
    }
  }

  /// Polls both until each can write to the other.
  [[nodiscard]] bool open() {
    return eventually([&] {
      for (const auto& fabric : fabrics) fabric->poll();
      return fabrics[0]->is_open(Slot{1}) && fabrics[1]->is_open(Slot{0});
    });
  }

  std::array<std::vector<std::uint64_t>, 2> rows;
  std::array<std::unique_ptr<Sleeper>, 2> sleepers;
  std::array<std::unique_ptr<OfiFabric>, 2> fabrics;
};

}  // namespace tutti::testing
