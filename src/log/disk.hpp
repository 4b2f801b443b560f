/// \file disk.hpp
/// The seam between the log and the disk that it is on: the calls that the log makes, and nothing
/// more, so that tests and the simulator can have a disk that loses, refuses and forges.
///
/// What a caller may rely on after a power loss:
///  DK1  write() alone promises nothing: of what was written and not synced any part may be there,
///       in any order. Once sync() has returned, all that was written to the file before is there.
///  DK2  create(), rename() and remove() are there once sync_directory() of the directory has
///       returned. Before that each is there or not, in any order.
///  DK3  A failed sync() says that what was written since the last one may be lost, also if a later
///       sync() succeeds. (Linux marks the pages as clean: [Rebello et al., Can Applications
///       Recover from fsync Failures?].)
/// Each error names the file and what was tried. Threads: one at a time for each object. All calls
/// may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::log {

/// An open file; closed when it goes.
class File {
 public:
  File() = default;
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  /// Reads all of `into`; an error if the file ends before.
  [[nodiscard]] virtual Result<void> read(std::uint64_t offset,
                                          std::span<std::byte> into) const = 0;
  /// Writes all of `bytes`, or fails; then a part of them may have been written. Behind the end of
  /// the file it makes it longer.
  [[nodiscard]] virtual Result<void> write(std::uint64_t offset,
                                           std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Result<void> sync() = 0;
};

/// Holds a directory against other writers until it goes.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  virtual ~DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// An error if the path does not lead to the directory any more: it was moved away or removed,
  /// and what is there now may be another writer's. Any thread.
  [[nodiscard]] virtual Result<void> still_there() const = 0;
};

enum class Access : std::uint8_t { read, write };

class Disk {
 public:
  Disk() = default;
  virtual ~Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  /// With its parents. Once it has returned they are all there also after a power loss, even if the
  /// process that made them was killed before it returned.
  [[nodiscard]] virtual Result<void> make_directory(const std::string& path) = 0;
  /// The names of the files in it, sorted; without directories.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& path) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string& path,
                                                           Access access) const = 0;
  /// An empty file; what was there under that name is gone.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  /// Within a directory. What was there under the name `to` is gone.
  [[nodiscard]] virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Result<void> remove(const std::string& path) = 0;
  [[nodiscard]] virtual Result<void> sync_directory(const std::string& path) = 0;
  /// Fails with the holder's process, if that can be told.
  [[nodiscard]] virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& path) = 0;
};

/// The disks of this machine. Files get mode 0600, directories 0700.
[[nodiscard]] std::unique_ptr<Disk> posix_disk();

}  // namespace tutti::log
