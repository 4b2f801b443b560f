/// \file writer.hpp
/// Writes the log of one group on one node: opens it after any crash, appends batches, lets go of
/// what is no longer needed.
///
/// Invariants:
///  LW1  next() grows only after the data, and the directory entries that lead to it, were synced
///       without an error (P2).
///  LW2  After an error nothing is written any more, by this object: no write or sync is tried
///  again
///       on the same pages, and each call returns that error (P6, P7). What next() says stays true.
///  LW3  What counts is never changed in place. To cut a log, a new segment that begins earlier is
///       put behind the one that it cuts (LR1). Only a torn tail is overwritten, with zeros, before
///       anything is written there.
///  LW4  Opening can stop at any step, any number of times, and begins again from what it finds.
/// A directory has the segments, named by the number of their first record, `LOCK`, `spare` (the
/// next segment's file, filled with zeros, so that a sync need not write where its blocks are), and
/// files `cut-*` with what was cut.
/// Threads: one at a time. All calls may block for as long as the disk does.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/batch.hpp"
#include "log/disk.hpp"
#include "log/format.hpp"
#include "log/read.hpp"

namespace tutti::log {

struct WriterOptions {
  /// The size of a segment's file. Larger than the largest batch by kHeaderBytes and 4 KiB.
  std::uint64_t segment_bytes = 64ULL << 20;
};

/// What opening found behind the last batch that counts, and has overwritten.
struct Recovered {
  Tail tail = Tail::clean;
  std::string kept{};  ///< the file that keeps what was there, of a broken tail; else empty
};

class Writer {
 public:
  /// Opens the log in `directory`, or begins one there. A log that is damaged, or another one's, is
  /// an error and stays as it is; a torn tail is cut. One directory has one writer.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> open(Disk& disk, std::string directory,
                                                            Identity identity,
                                                            WriterOptions options = {});
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// The number of the log's first record.
  [[nodiscard]] std::uint64_t first() const { return segments_.front().first; }
  /// The number behind its last record; all before it is on disk (LW1).
  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] const Recovered& recovered() const { return recovered_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

  /// Writes and syncs a batch, whose first record has the number next(), and clears it.
  [[nodiscard]] Result<void> write(Batch& batch);
  /// Nothing is waiting: marks what was written as synced (LF2), without a sync of its own, and
  /// prepares a part of the spare file. True if there is more to prepare.
  [[nodiscard]] Result<bool> rest();
  /// The records before that number are not needed any more: segments that have no others go.
  [[nodiscard]] Result<void> release_before(std::uint64_t seq);
  /// Cuts the records from that number on, which is first() .. next(); a side file keeps them.
  [[nodiscard]] Result<void> cut_to(std::uint64_t seq);
  /// The log goes on with that number, which is more than next(): this node was no member
  /// meanwhile.
  [[nodiscard]] Result<void> begin_at(std::uint64_t seq);
  /// A last mark, synced.
  [[nodiscard]] Result<void> close();

 private:
  struct Kept {
    std::uint64_t first;
    std::string path;
  };
  Writer(Disk& disk, std::string directory, Identity identity, WriterOptions options);

  Result<void> recover();
  Result<void> take_over(const Reading& found);
  Result<void> cut_tail(const SegmentFile& last);
  Result<void> start_segment(std::uint64_t first, bool begins, std::span<std::byte> batch);
  Result<void> prepare(std::uint64_t most);
  Result<void> say_goes_on();
  Result<void> put_mark(std::uint32_t flags);
  Result<void> append_commit(Batch& batch);
  Result<void> write_here(Batch& batch);
  [[nodiscard]] std::string path_of(const std::string& name) const;
  template <class T>
  Result<T> ended(Result<T> result);

  Disk& disk_;
  const std::string directory_;
  const Identity identity_;
  const WriterOptions options_;
  std::unique_ptr<DirectoryLock> lock_;
  std::vector<Kept> segments_;  // oldest first
  std::unique_ptr<File> file_;  // the newest one's
  Segment now_{};               // its header
  std::uint64_t offset_ = 0;    // in it: behind the last batch
  std::uint64_t next_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t view_ = 0;
  bool marked_ = false;
  std::unique_ptr<File> spare_;
  std::uint64_t spare_bytes_ = 0;   // filled so far
  std::uint64_t spare_synced_ = 0;  // of these, synced
  bool spare_ready_ = false;
  Recovered recovered_{};
  std::optional<Error> error_{};
};

}  // namespace tutti::log
