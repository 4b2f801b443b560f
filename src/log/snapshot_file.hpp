/// \file snapshot_file.hpp
/// One file of a snapshot: how it is written, and how it is read.
/// Threads: one at a time for each object. All calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/snapshot_format.hpp"

namespace tutti::log {

/// Writes a state, whose size need not be known. It is no snapshot before finish() has returned.
class SnapshotWriter {
 public:
  /// What was there under that path is gone. `salt`: SF1.
  [[nodiscard]] static Result<std::unique_ptr<SnapshotWriter>> create(Disk& disk,
                                                                      const std::string& path,
                                                                      std::uint64_t salt);

  /// The next bytes of the state.
  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  /// The state is complete: writes the header, whose `salt` and `bytes` this knows, and syncs.
  [[nodiscard]] Result<Snapshot> finish(Snapshot header);

 private:
  SnapshotWriter(std::unique_ptr<File> file, std::uint64_t salt)
      : file_(std::move(file)), salt_(salt) {
    block_.reserve(kBlockBytes);
  }
  [[nodiscard]] Result<void> put_block();

  const std::unique_ptr<File> file_;
  const std::uint64_t salt_;
  std::vector<std::byte> block_;  // its data so far
  std::uint64_t blocks_ = 0;      // that were written
  std::uint64_t bytes_ = 0;       // of the state
};

/// Reads a state, and checks every byte of it.
class SnapshotFile {
 public:
  /// The header is right, and the file has the size that it says. Else an error, which names the
  /// file: ErrorCode::damaged, or one of the disk.
  [[nodiscard]] static Result<std::unique_ptr<SnapshotFile>> open(const Disk& disk,
                                                                  std::string path);

  [[nodiscard]] const Snapshot& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t blocks() const;
  /// The bytes of the state in that block. ErrorCode::damaged if they are not what was written.
  [[nodiscard]] Result<std::span<const std::byte>> block(std::uint64_t index);
  /// Reads all of it.
  [[nodiscard]] Result<void> verify();

 private:
  SnapshotFile(std::unique_ptr<File> file, std::string path, Snapshot header)
      : file_(std::move(file)), path_(std::move(path)), header_(std::move(header)) {}

  const std::unique_ptr<File> file_;
  const std::string path_;
  const Snapshot header_;
  std::vector<std::byte> block_;
};

}  // namespace tutti::log
