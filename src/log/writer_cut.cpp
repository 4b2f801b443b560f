#include <algorithm>
#include <ranges>
#include <utility>

#include "base/assert.hpp"
#include "log/writer.hpp"

namespace tutti::log {

std::uint64_t Writer::bytes_from(std::uint64_t seq) const {
  if (seq >= next_) return 0;
  std::uint64_t bytes = offset_;  // of the newest segment what is written counts
  for (std::size_t i = segments_.size() - 1; i != 0 && segments_[i].first > seq; --i) {
    bytes += segments_[i - 1].bytes;
  }
  return bytes;
}

bool Writer::may_release(std::uint64_t seq, std::uint64_t keep) const {
  return segments_.size() > 1 && segments_[1].first <= seq &&
         (keep == 0 || bytes_from(segments_[1].first) >= keep);
}

Result<void> Writer::release_before(std::uint64_t seq, std::uint64_t keep) {
  if (error_) return std::unexpected(*error_);
  while (may_release(seq, keep)) {
    if (Result<void> done = ended(release_oldest()); !done) return done;
  }
  return {};
}

// One at a time, and synced: if a later one went before an earlier one, there would be a hole.
Result<void> Writer::release_oldest() {
  const Kept oldest = segments_.front();
  const bool serves = !spare_is_full() && oldest.bytes == options_.segment_bytes;
  const std::string spare = path_of(kSpareName);
  Result<void> done = serves ? rename(oldest.path, spare) : remove(oldest.path);
  if (!done) return done;
  segments_.erase(segments_.begin());
  if (done = disk_.sync_directory(directory_); !done || !serves) return done;
  Result<std::unique_ptr<File>> file = disk_.open(spare, Access::write);
  if (!file) return std::unexpected(std::move(file.error()));
  spare_ = std::move(*file);
  spare_bytes_ = spare_synced_ = options_.segment_bytes;
  return {};
}

Result<void> Writer::cut_to(std::uint64_t seq) {
  if (error_) return std::unexpected(*error_);
  if (seq < first() || seq > next_) {
    return fail(ErrorCode::invalid_argument, "the log in " + directory_ + " has the numbers " +
                                                 std::to_string(first()) + " to " +
                                                 std::to_string(next_) + ": it cannot be cut at " +
                                                 std::to_string(seq));
  }
  if (seq == next_) return {};
  return ended(cut(seq));
}

// WL3. The cut counts once the new segment has its name: before that everything is as it was, and
// after it what is behind is dead.
Result<void> Writer::cut(std::uint64_t seq) {
  const auto behind = std::ranges::upper_bound(segments_, seq, {}, &Kept::first);
  TUTTI_ASSERT(behind != segments_.begin(), seq, first());
  const Kept cuts = *std::prev(behind);
  std::vector<std::string> dead;
  for (auto it = behind; it != segments_.end(); ++it) dead.push_back(it->path);

  const Result<std::vector<std::byte>> file = read_file(disk_, cuts.path, cuts.bytes);
  if (!file) return std::unexpected(file.error());
  const Result<Segment> header = decode_header(*file);
  if (!header) return fail(ErrorCode::damaged, cuts.path + ": " + header.error().message);
  // Whole batches stay where they are; of the one that is cut the first part is written again.
  const SegmentContent whole = read_segment(*header, *file, {}, seq);
  Batch stays;
  Batch goes;
  // Not where the next one begins: that may be behind a gap.
  const std::uint64_t until = behind == segments_.end() ? next_ : cuts.next;
  const auto sort = [&](const Record& record, std::uint64_t /*offset*/) {
    if (record.seq >= whole.next) (record.seq < seq ? stays : goes).add(record);
    return true;
  };
  const SegmentContent all = read_segment(*header, *file, sort, until);
  if (all.next != until) {
    return fail(ErrorCode::damaged, cuts.path + " is not what was written: it ends at number " +
                                        std::to_string(all.next) + ", not " +
                                        std::to_string(until));
  }
  const std::uint64_t number = now_.number + 1;
  if (!goes.empty()) {
    if (Result<void> done = keep_records(number, std::move(goes)); !done) return done;
  }
  segments_.erase(behind, segments_.end());
  // The batch may be of a time when segments were larger.
  const std::uint64_t fits =
      (kHeaderBytes + needed_by(stays) + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
  Segment segment{.identity = identity_,
                  .number = number,
                  .first = whole.next,
                  .digest = whole.digest,
                  .bytes = std::max(options_.segment_bytes, fits),
                  .begins = header->begins && whole.next == header->first,
                  .before = header->before};
  view_ = whole.view;
  if (Result<void> done = start_segment(std::move(segment), std::move(stays)); !done) return done;
  return keep_files(dead);
}

Result<void> Writer::begin_at(std::uint64_t seq) {
  if (error_) return std::unexpected(*error_);
  const bool empty = now_.first == next_;
  const std::uint64_t last = empty && now_.begins ? now_.before : next_;
  if (empty && seq == next_) return {};
  if (empty ? seq < last : seq <= last) {
    return fail(ErrorCode::invalid_argument,
                "the log in " + directory_ + " goes up to number " + std::to_string(last) +
                    ": it cannot begin again at " + std::to_string(seq));
  }
  return ended(go_on_at(seq));
}

Result<void> Writer::go_on_at(std::uint64_t seq) {
  // An empty segment that begins is not needed any more. One that cuts is: without it the records
  // that it cuts would count again (LR1).
  const bool replaces = now_.first == next_ && now_.begins;
  const std::string last = segments_.back().path;
  Segment segment{.identity = identity_,
                  .number = now_.number + 1,
                  .first = seq,
                  .digest = digest_,
                  .bytes = options_.segment_bytes,
                  .begins = true,
                  .before = replaces ? now_.before : next_};
  if (Result<void> done = start_segment(std::move(segment), {}); !done || !replaces) return done;
  segments_.erase(segments_.end() - 2);
  if (Result<void> done = remove(last); !done) return done;
  return disk_.sync_directory(directory_);
}

}  // namespace tutti::log
