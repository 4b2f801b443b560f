/// \file snapshot_samples.hpp
/// Snapshots of states that a test knows, on a disk in memory.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "log/snapshots.hpp"
#include "support/sim_disk.hpp"

namespace tutti::log::testing {

inline const std::string kSnapshotFolder = "/log";

inline std::vector<std::byte> some_state(std::size_t size, std::uint64_t seed) {
  Prng random(seed);
  std::vector<std::byte> out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random.next());
  return out;
}

/// Written and synced under that path, but not published.
inline Result<Snapshot> write_snapshot(Disk& disk, const std::string& path, std::uint64_t seq,
                                       const std::vector<std::byte>& state, std::uint64_t salt = 5,
                                       const std::string& group = "g") {
  auto writer = SnapshotWriter::create(disk, path, salt);
  if (!writer) return std::unexpected(writer.error());
  for (std::size_t at = 0; at < state.size();) {  // in pieces that fit no block
    const std::size_t part = std::min<std::size_t>(50'001, state.size() - at);
    if (auto done = (*writer)->append(std::span(state).subspan(at, part)); !done) {
      return std::unexpected(done.error());
    }
    at += part;
  }
  return (*writer)->finish(
      {.identity = {.node = "a", .group = group}, .origin = 7, .seq = seq, .view = 3});
}

/// Nothing if it is not whole.
inline Result<std::vector<std::byte>> read_snapshot(const Disk& disk, const std::string& path) {
  auto file = SnapshotFile::open(disk, path);
  if (!file) return std::unexpected(file.error());
  std::vector<std::byte> out;
  for (std::uint64_t i = 0; i < (*file)->blocks(); ++i) {
    const auto block = (*file)->block(i);
    if (!block) return std::unexpected(block.error());
    out.insert(out.end(), block->begin(), block->end());
  }
  return out;
}

}  // namespace tutti::log::testing
