/// \file sample_replay.hpp
/// A log with a few messages on a disk in memory, to be handed on.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "log/writer.hpp"
#include "node/log_replay.hpp"
#include "support/sim_disk.hpp"

namespace tutti::testing {

/// Records 0 to 9, each with its number as data: five of view 1, five of view 2.
struct SampleReplay final : WholeLog {
  SampleReplay() {
    auto writer = log::Writer::open(disk, "/state/g", {.node = "a", .group = "g"});
    EXPECT_TRUE(writer);
    log::Batch batch;
    for (std::uint64_t seq = 0; seq < 10; ++seq) {
      batch.add({.seq = seq,
                 .view = seq < 5 ? 1U : 2U,
                 .sender = 0,
                 .data = std::as_bytes(std::span(&seq, 1))});
    }
    EXPECT_TRUE((*writer)->write(batch));
  }
  [[nodiscard]] std::uint64_t whole_to() const override { return whole; }

  [[nodiscard]] std::unique_ptr<LogReplay> make(std::uint64_t until = 10) {
    return std::make_unique<LogReplay>(
        std::shared_ptr<const log::Disk>(std::shared_ptr<void>(), &disk), *this,
        ReplayOptions{.directory = "/state/g", .from = 0, .until = until});
  }

  SimDisk disk{};
  std::atomic<std::uint64_t> whole{10};
};

inline std::uint64_t number_in(const Message& message) {
  std::uint64_t number = ~0ULL;
  if (message.size == sizeof number) std::memcpy(&number, message.data, sizeof number);
  return number;
}

}  // namespace tutti::testing
