#include "log/segment.hpp"

#include <cstring>
#include <vector>

namespace tutti::log {
namespace {

// Reads on from `content`, one batch at a time.
class Walk {
 public:
  Walk(const Segment& segment, std::span<const std::byte> file, std::uint64_t until)
      : segment_(segment), file_(file), until_(until) {
    content_.next = segment.first;
    content_.digest = segment.digest;
    content_.end = content_.synced = kHeaderBytes;
  }

  SegmentContent run(const Visit& visit) {
    bool goes_on = true;
    while (goes_on && batch()) {
      for (std::size_t i = 0; goes_on && visit && i < records_.size(); ++i) {
        goes_on = visit(records_[i].found.record(), records_[i].offset);
      }
    }
    return content_;
  }

 private:
  struct At {
    Found found;
    std::uint64_t offset;
  };

  [[nodiscard]] std::optional<Found> at(std::uint64_t offset) const {
    if (offset >= file_.size()) return {};
    return find_record(file_.subspan(offset), segment_.salt, offset);
  }

  // True: it counts, and its records are in records_.
  bool batch() {
    records_.clear();
    if (content_.next >= until_) return false;
    std::uint64_t offset = content_.end;
    std::uint64_t digest = content_.digest;
    for (;;) {
      const std::optional<Found> found = at(offset);
      if (!found) return stop_at(offset, "is neither a record nor what ends a batch");
      if (found->is_commit()) return commit(*found, offset, digest);
      if (found->header.seq != content_.next + records_.size()) {
        return stop_at(offset, "is a record with another number than the one that comes here");
      }
      digest += found->digest;
      records_.push_back({*found, offset});
      offset += found->bytes();
    }
  }

  bool commit(const Found& found, std::uint64_t offset, std::uint64_t digest) {
    const Commit commit = found.commit();
    if (found.header.seq != content_.next + records_.size() ||
        found.header.sender != records_.size() || commit.digest != digest ||
        commit.begins != content_.synced) {
      return stop_at(offset, "is the end of another batch");
    }
    if (found.header.seq > until_) return false;
    const std::uint64_t end = offset + found.bytes();
    const bool mark = records_.empty();
    content_.marked = mark;
    content_.goes_on = (found.header.flags & kGoesOnFlag) != 0;
    content_.next = found.header.seq;
    content_.digest = digest;
    content_.end = end;
    if (!mark) {
      content_.last = content_.synced;
      content_.synced = end;
      content_.view = records_.back().found.header.view;
      ++content_.batches;
    }
    return true;
  }

  // SG1.
  bool stop_at(std::uint64_t offset, const char* what) {
    const std::uint64_t begins = content_.synced;
    content_.broken = content_.tail_end = offset;
    if (!records_.empty()) content_.tail = Tail::torn;
    for (std::uint64_t at_offset = offset; at_offset + kCommitBytes <= file_.size();
         at_offset += 8) {
      const std::optional<Commit> commit = commit_at(at_offset);
      if (!commit) continue;
      if (commit->begins > offset) {
        content_.tail = Tail::damaged;
      } else if (commit->begins == begins && content_.tail != Tail::damaged) {
        content_.tail = Tail::broken;
      } else {
        continue;
      }
      content_.tail_end = at_offset + kCommitBytes;
    }
    if (content_.tail != Tail::clean) content_.what = what;
    return false;
  }

  [[nodiscard]] std::optional<Commit> commit_at(std::uint64_t offset) const {
    RecordHeader header{};
    std::memcpy(&header, file_.data() + offset, sizeof header);
    if ((header.flags & kCommitFlag) == 0 || header.length != sizeof(Commit)) return {};
    const std::optional<Found> found = at(offset);
    return found ? std::optional(found->commit()) : std::nullopt;
  }

  const Segment& segment_;
  const std::span<const std::byte> file_;
  const std::uint64_t until_;
  std::vector<At> records_;  // of the batch that is looked at
  SegmentContent content_;
};

}  // namespace

SegmentContent read_segment(const Segment& segment, std::span<const std::byte> file,
                            const Visit& visit, std::uint64_t until) {
  return Walk(segment, file, until).run(visit);
}

}  // namespace tutti::log
