/// \file stream.hpp
/// Reads a log from a number on, in pieces, also while its writer goes on: for another node that
/// lacks records, and for the application when its node starts again.
///
/// Invariants:
///  RS1  What it gives has counted, by the same walk as read.hpp's (SG1, LR1), when it was read.
///  RS2  It gives each number from `from` on once, in order, or an error: never another number.
///  RS3  No segment is in memory as a whole (Window), and pieces that follow each other read no
///       byte of the log again, but for batches that are larger than a window.
/// Of a log that is cut at next() or behind it, or whose beginning is released, it says what is
/// right then. Whoever cuts a log before next() reads on with a new stream.
/// Threads: one at a time. Calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "log/batch.hpp"
#include "log/disk.hpp"
#include "log/listing.hpp"

namespace tutti::log {

class Stream {
 public:
  /// Of the log in that directory, from the record `from` on. The disk outlives it.
  Stream(const Disk& disk, std::string directory, std::uint64_t from);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Puts the next records before the number `until` into the batch, which is empty: as many as
  /// `bytes` hold, but at least one if there is one. It stays empty if there is none yet; with an
  /// `until` that the log has not got to, that takes a look at the rest of the newest segment. An
  /// error if the log does not have the next record any more, or never had it (a gap), or is
  /// damaged there.
  [[nodiscard]] Result<void> read(std::size_t bytes, std::uint64_t until, Batch& into);
  /// The number of the next record.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  struct Place;

  [[nodiscard]] Result<void> look();
  [[nodiscard]] Result<void> find_place(const std::vector<Candidate>& live);
  [[nodiscard]] Result<bool> find_records();
  [[nodiscard]] Result<void> take(std::size_t bytes, std::uint64_t until, Batch& into);
  [[nodiscard]] Result<void> judge_end();

  const Disk& disk_;
  const std::string directory_;
  std::uint64_t next_;
  std::vector<std::string> names_;  // of the segments, at the last look at their headers
  std::unique_ptr<Place> place_;    // where it reads; null: to be found
};

/// The number from which on no record is missing in the log: that of its first one, or of the one
/// behind the last gap. Reads only the segments' headers.
[[nodiscard]] Result<std::uint64_t> whole_from(const Disk& disk, const std::string& directory);

}  // namespace tutti::log
