/// \file listing.hpp
/// Which files of a directory are the segments of its log, by their names and headers. Nothing that
/// is behind a header is read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/format.hpp"

namespace tutti::log {

/// A file with the name of a segment.
struct Candidate {
  std::string path;
  std::uint64_t first = 0;  ///< by its name
  std::uint64_t bytes = 0;  ///< the size of the file
  Result<Segment> header;   ///< or what is wrong with it
};

struct Listing {
  std::vector<Candidate> live{};    ///< by their first records
  std::vector<std::string> dead{};  ///< paths of those that were cut (LR1)
};

/// Fails if a file cannot be read, if two are of different logs, or if one has another format.
/// Files that are released meanwhile are left out.
[[nodiscard]] Result<Listing> list_segments(const Disk& disk, const std::string& directory);

/// Whether both are the same file, with the same content up to where it is written on.
[[nodiscard]] bool is_same(const Candidate& a, const Candidate& b);

/// The name of the segment whose first record has that number, and back.
[[nodiscard]] std::string segment_name(std::uint64_t first);
[[nodiscard]] std::optional<std::uint64_t> first_of_name(const std::string& name);

}  // namespace tutti::log
