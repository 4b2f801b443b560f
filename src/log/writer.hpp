/// \file writer.hpp
/// Writes the log of one group on one node: opens it after any crash, appends batches, lets go of
/// what is no longer needed.
///
/// Invariants:
///  WL1  next() grows only after the data, and the directory entries that lead to it, were synced
///       without an error (P2).
///  WL2  After an error nothing is written any more, by this object: no write or sync is tried
///       again on the same pages, and each call returns that error (P6, P7). What next() says stays
///       true. An error of prepare() is none: nothing of the log is in that file.
///  WL3  What was synced is never changed in place. To cut a log, a new segment is put behind the
///       one that it cuts (LR1). Only what is left of a batch that was not synced is overwritten.
///       That is harmless where it stays, too: its commit claims nothing about what comes later
///       (LF2).
///  WL4  Opening can stop at any step, any number of times, and begins again from what it finds.
///  WL5  Files are made, renamed and removed by their paths: only if the directory is still there.
/// A directory has the segments, named by the number of their first record, `LOCK`, `spare` (the
/// next segment's file, filled with zeros, so that a sync need not write where its blocks are), and
/// files `cut-N-*` with what was cut from the log when its newest segment had the number N; none of
/// them is ever replaced.
/// Threads: one at a time. All calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "log/batch.hpp"
#include "log/disk.hpp"
#include "log/format.hpp"
#include "log/read.hpp"

namespace tutti::log {

struct WriterOptions {
  /// The size of a segment's file. Larger than the largest batch by kHeaderBytes and 4 KiB.
  std::uint64_t segment_bytes = 64ULL << 20;
  /// Cuts a damaged log behind the last record before the damage, instead of refusing it, and keeps
  /// the rest in side files.
  bool repair = false;
  /// Sees the records that the log has when it is opened, up to damage, in order. So who needs to
  /// know what is in a log need not read it a second time.
  std::function<void(const Record&)> found{};
  /// LF1: a number that was never given before.
  std::function<Result<std::uint64_t>()> salts = random_u64;
};

/// What opening found behind the last batch that counts, and cut.
struct Recovered {
  Tail tail = Tail::clean;
  std::vector<std::string> kept{};  ///< the files that keep what was there: of a broken tail, or of
                                    ///< a log that was repaired
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
  /// The number behind its last record; all before it is on disk (WL1).
  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] const Recovered& recovered() const { return recovered_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] const DirectoryLock& lock() const { return *lock_; }
  /// What a batch may have at most, with its records' headers, to leave room in a segment.
  [[nodiscard]] std::uint64_t batch_bytes_max() const { return options_.segment_bytes / 4; }

  /// Writes and syncs a batch, whose first record has the number next(), and clears it.
  [[nodiscard]] Result<void> write(Batch& batch);
  /// Fills so many bytes more of the spare file. Whoever calls it after each write, with twice what
  /// that one wrote, never waits for the rest of it when a segment is full.
  /// True if there is more of it. If the disk fails, or is full, there is no spare file until the
  /// segment is full: this is tried once more then, and is an error of the log only then.
  [[nodiscard]] Result<bool> prepare(std::uint64_t bytes);
  /// Nothing is waiting: marks what was written as synced (LF2), without a sync of its own.
  [[nodiscard]] Result<void> rest();
  /// The records before that number are not needed any more: segments that have no others go, as
  /// long as those that stay have `keep` bytes.
  [[nodiscard]] Result<void> release_before(std::uint64_t seq, std::uint64_t keep = 0);
  /// It would release something.
  [[nodiscard]] bool may_release(std::uint64_t seq, std::uint64_t keep) const;
  /// What the segments have from that record on, with all else that is in them.
  [[nodiscard]] std::uint64_t bytes_from(std::uint64_t seq) const;
  /// Cuts the records from that number on, which is first() .. next(); a side file keeps them. In
  /// the gap before a begin_at(), the log ends before the gap.
  [[nodiscard]] Result<void> cut_to(std::uint64_t seq);
  /// The log goes on with that number, which is more than next(): this node was no member
  /// meanwhile.
  [[nodiscard]] Result<void> begin_at(std::uint64_t seq);
  /// A last mark, synced.
  [[nodiscard]] Result<void> close();

 private:
  static constexpr const char* kSpareName = "spare";
  struct Kept {
    std::uint64_t first;
    std::uint64_t next = 0;  // behind its last record; not of the newest one, which has next_
    std::uint64_t bytes;
    std::string path;
  };
  Writer(Disk& disk, std::string directory, Identity identity, WriterOptions options);

  // writer_open.cpp
  Result<void> recover();
  Result<void> take_over(const Reading& found);
  Result<void> settle(const SegmentContent& last);
  Result<void> clear_tail(const SegmentContent& last);
  Result<void> repair(const Reading& found);
  Result<void> find_spare();

  // writer_files.cpp
  Result<std::unique_ptr<File>> create(const std::string& path);
  Result<void> rename(const std::string& from, const std::string& to);
  Result<void> remove(const std::string& path);
  Result<void> keep_records(std::uint64_t number, Batch batch);
  Result<void> keep_files(const std::vector<std::string>& paths);
  Result<void> keep_bytes(const std::string& path, std::uint64_t begin, const std::string& name,
                          std::uint64_t end = ~0ULL);
  [[nodiscard]] std::string tail_name() const;
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] Result<std::string> kept_path(const std::string& name) const;

  // writer_cut.cpp
  Result<void> release_oldest();
  Result<void> cut(std::uint64_t seq);
  Result<void> go_on_at(std::uint64_t seq);

  struct Encoded {
    std::vector<std::byte> bytes;
    std::uint64_t digest;
  };
  static Encoded encode(const Segment& segment, Batch& batch);
  /// The batch, its commit, a mark behind it, and one that says that the log goes on.
  static std::uint64_t needed_by(const Batch& batch) { return batch.bytes() + 3 * kCommitBytes; }

  Result<void> append(Batch& batch);
  Result<void> start_segment(Segment segment, Batch batch);
  Result<void> fill_spare(std::uint64_t bytes, std::uint64_t size);
  Result<void> put_mark(std::uint32_t flags);
  [[nodiscard]] bool spare_is_full() const { return spare_bytes_ >= options_.segment_bytes; }
  Result<void> ended(Result<void> result);

  Disk& disk_;
  const std::string directory_;
  const Identity identity_;
  const WriterOptions options_;
  std::unique_ptr<DirectoryLock> lock_;
  std::vector<Kept> segments_;  // oldest first
  std::unique_ptr<File> file_;  // the newest one's
  Segment now_{};               // its header
  std::uint64_t offset_ = 0;    // in it: behind the last batch or mark
  std::uint64_t synced_ = 0;    // LF2
  std::uint64_t next_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t view_ = 0;  // of the last record
  std::unique_ptr<File> spare_;
  std::uint64_t spare_bytes_ = 0;   // filled so far
  std::uint64_t spare_synced_ = 0;  // of these, synced
  bool spare_failed_ = false;       // it could not be filled since the segment was begun
  Recovered recovered_{};
  std::optional<Error> error_{};
};

}  // namespace tutti::log
