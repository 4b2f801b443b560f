/// \file batch_walk.hpp
/// Walks over the batches of one segment, wherever its bytes come from: says which of them count,
/// and what is wrong where they end.
///
/// A walk only goes on (SG1 of segment.hpp): what has counted once is not read again.
/// A source gives what lies at an offset:
///     std::uint64_t size() const;                              // of the file
///     std::optional<RecordHeader> header_at(std::uint64_t);    // the bytes there, whatever they
///     are std::optional<Found> at(std::uint64_t);                  // if they are valid
#pragma once
#include <cstdint>
#include <optional>

#include "log/format.hpp"
#include "log/segment.hpp"

namespace tutti::log {

template <class Source>
class BatchWalk {
 public:
  /// Both outlive the walk.
  BatchWalk(const Segment& segment, Source& source, std::uint64_t until)
      : source_(source), until_(until) {
    content_.next = segment.first;
    content_.digest = segment.digest;
    content_.end = content_.synced = kHeaderBytes;
  }

  /// What counts so far; its tail once judge() was called.
  [[nodiscard]] const SegmentContent& content() const { return content_; }
  /// Batches that go beyond that number do not count.
  void set_until(std::uint64_t until) { until_ = until; }

  /// Reads on by one batch, or a mark. Calls `keep(found, offset)` for each of its records, which
  /// count only if this returns true. False: there is none; then is_broken() says whether the bytes
  /// behind the last one are wrong, or the limit is reached.
  template <class Keep>
  [[nodiscard]] bool batch(const Keep& keep) {
    what_ = nullptr;
    records_ = 0;
    if (content_.next >= until_) return false;
    std::uint64_t offset = content_.end;
    std::uint64_t digest = content_.digest;
    std::uint64_t view = content_.view;
    for (;;) {
      const std::optional<Found> found = source_.at(offset);
      if (!found) return stop_at(offset, "is neither a record nor what ends a batch");
      if (found->is_commit()) return commit(*found, offset, digest, view);
      if (found->header.seq != content_.next + records_) {
        return stop_at(offset, "is a record with another number than the one that comes here");
      }
      digest += found->digest;
      view = found->header.view;
      ++records_;
      keep(*found, offset);
      offset += found->bytes();
    }
  }

  [[nodiscard]] bool is_broken() const { return what_ != nullptr; }

  /// After that: says in content() what the break means. Reads on to the end of the file.
  void judge() {
    content_.tail = records_ != 0 ? Tail::torn : Tail::clean;
    content_.broken = content_.tail_end = broken_;
    for (std::uint64_t at = broken_; at + kCommitBytes <= source_.size(); at += 8) {
      const std::optional<Commit> commit = commit_at(at);
      if (!commit) continue;
      if (commit->begins > broken_) {
        content_.tail = Tail::damaged;
      } else if (commit->begins == content_.synced && content_.tail != Tail::damaged) {
        content_.tail = Tail::broken;
      } else {
        continue;
      }
      content_.tail_end = at + kCommitBytes;
    }
    content_.what = content_.tail != Tail::clean ? what_ : "";
  }

 private:
  bool stop_at(std::uint64_t offset, const char* what) {
    broken_ = offset;
    what_ = what;
    return false;
  }

  bool commit(const Found& found, std::uint64_t offset, std::uint64_t digest, std::uint64_t view) {
    const Commit commit = found.commit();
    if (found.header.seq != content_.next + records_ || found.header.sender != records_ ||
        commit.digest != digest || commit.begins != content_.synced) {
      return stop_at(offset, "is the end of another batch");
    }
    if (found.header.seq > until_) return false;
    const bool mark = records_ == 0;
    content_.marked = mark;
    content_.goes_on = (found.header.flags & kGoesOnFlag) != 0;
    content_.next = found.header.seq;
    content_.digest = digest;
    content_.end = offset + found.bytes();
    if (!mark) {
      content_.last = content_.synced;
      content_.synced = content_.end;
      content_.view = view;
      ++content_.batches;
    }
    return true;
  }

  [[nodiscard]] std::optional<Commit> commit_at(std::uint64_t offset) {
    const std::optional<RecordHeader> header = source_.header_at(offset);
    if (!header || (header->flags & kCommitFlag) == 0 || header->length != sizeof(Commit)) {
      return {};
    }
    const std::optional<Found> found = source_.at(offset);
    return found ? std::optional(found->commit()) : std::nullopt;
  }

  Source& source_;
  std::uint64_t until_;
  SegmentContent content_;
  std::uint64_t records_ = 0;   // of the batch that is looked at
  const char* what_ = nullptr;  // is wrong at broken_
  std::uint64_t broken_ = 0;
};

}  // namespace tutti::log
