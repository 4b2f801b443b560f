/// \file views_file.hpp
/// The file `views` in a node's state directory.
///
///     0   8  "TUTTIVWS"
///     8   4  version of the format, 2
///     12  4  bytes of the content
///     16  4  crc32c of the content
///     20     the content: encode(Encoder&, const Views&)
///
/// Invariant VF1: after a crash at any step of save() the file is as it was, or as it was to be.
/// Threads: one at a time. All calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "restart/views.hpp"

namespace tutti::restart {

[[nodiscard]] std::vector<std::byte> encode_views_file(const Views& views);
/// The error says what is wrong with it, but not which file it is.
[[nodiscard]] Result<Views> decode_views_file(std::span<const std::byte> bytes);

class ViewsFile {
 public:
  /// The directory is there. The disk outlives this.
  ViewsFile(log::Disk& disk, std::string directory)
      : disk_(disk), directory_(std::move(directory)) {}

  /// Nothing if there is no such file. A damaged one is an error (ErrorCode::damaged): that node
  /// has no vote.
  [[nodiscard]] Result<std::optional<Views>> load() const;
  /// Once it has returned without an error, the file is on disk. After an error it may be there.
  [[nodiscard]] Result<void> save(const Views& views);
  /// What load() has found stays, whatever happens: an earlier process may have ended between its
  /// rename and its sync, and what only the system's memory has must not be told to others.
  [[nodiscard]] Result<void> sync() { return disk_.sync_directory(directory_); }
  [[nodiscard]] log::Disk& disk() const { return disk_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string path() const { return directory_ + "/views"; }

 private:
  log::Disk& disk_;
  const std::string directory_;
};

}  // namespace tutti::restart
