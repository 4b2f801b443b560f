#include "log/stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "log/batch_walk.hpp"
#include "log/listing.hpp"
#include "log/read.hpp"
#include "log/window.hpp"

namespace tutti::log {
namespace {

// The log may change between two looks; one that changes so often before it gives a record is an
// error.
constexpr int kChangesMost = 100;

Result<std::vector<std::string>> segment_names(const Disk& disk, const std::string& directory) {
  Result<std::vector<std::string>> names = disk.list(directory);
  if (names) std::erase_if(*names, [](const std::string& name) { return !first_of_name(name); });
  return names;
}

bool is_same_file(const Disk& disk, const std::string& path, const Segment& segment) {
  const Result<std::vector<std::byte>> head = read_file(disk, path, kHeaderBytes);
  if (!head) return false;
  const Result<Segment> header = decode_header(*head);
  return header && header->salt == segment.salt;
}

}  // namespace

// A segment, up to where the next one begins, and where it is in it.
struct Stream::Place {
  Place(const Candidate& found, std::unique_ptr<File> file)
      : path(found.path),
        header(*found.header),
        file_bytes(found.bytes),
        window(std::move(file), std::min(found.bytes, header.bytes), header.salt),
        walk(header, window, kNoLimit) {}

  const std::string path;
  const Segment header;
  const std::uint64_t file_bytes;
  std::uint64_t limit = kNoLimit;       // the number of the next segment's first record
  std::optional<std::uint64_t> gap_at;  // ... if it begins behind a gap: where that begins
  Window window;
  BatchWalk<Window> walk;           // what it says to count may be given
  std::uint64_t at = kHeaderBytes;  // the offset of the next record of these
};

Stream::Stream(const Disk& disk, std::string directory, std::uint64_t from)
    : disk_(disk), directory_(std::move(directory)), next_(from) {}

Stream::~Stream() = default;

// LR3. A cut begins a segment, which may have the name of one that it cuts; the file of one that is
// released may become another one.
Result<void> Stream::look() {
  Result<std::vector<std::string>> names = segment_names(disk_, directory_);
  if (!names) return std::unexpected(std::move(names.error()));
  if (place_ != nullptr && *names == names_ && next_ < place_->limit &&
      is_same_file(disk_, place_->path, place_->header)) {
    return {};
  }
  const Result<Listing> listing = list_segments(disk_, directory_);
  if (!listing) return std::unexpected(listing.error());
  names_ = std::move(*names);  // from before the listing: what is not in it is seen the next time
  return find_place(listing->live);
}

// The newest of those that begin at the next record or before (LR1).
Result<void> Stream::find_place(const std::vector<Candidate>& live) {
  const auto behind = std::ranges::upper_bound(live, next_, {}, &Candidate::first);
  if (live.empty()) return fail(ErrorCode::system, "there is no log in " + directory_);
  if (behind == live.begin()) {
    return fail(ErrorCode::invalid_argument,
                "the log in " + directory_ + " does not have record " + std::to_string(next_) +
                    " any more: it begins at number " + std::to_string(live.front().first));
  }
  const Candidate& found = *std::prev(behind);
  if (!found.header) {
    return fail(ErrorCode::damaged, found.path + ": " + found.header.error().message);
  }
  if (place_ == nullptr || place_->path != found.path ||
      place_->header.salt != found.header->salt) {
    Result<std::unique_ptr<File>> file = disk_.open(found.path, Access::read);
    if (!file) return std::unexpected(std::move(file.error()));
    // LR2, where it has read the one before to its end.
    if (place_ != nullptr && place_->walk.content().next == found.first && !found.header->begins &&
        place_->walk.content().digest != found.header->digest) {
      return fail(ErrorCode::damaged, "what comes before " + found.path +
                                          " is not what was there; `tutti log verify " +
                                          directory_ + "` tells more");
    }
    place_ = std::make_unique<Place>(found, std::move(*file));
  }
  place_->limit = behind != live.end() ? behind->first : kNoLimit;
  place_->gap_at.reset();
  if (behind != live.end() && behind->header && behind->header->begins) {
    place_->gap_at = behind->header->before;
  }
  place_->walk.set_until(place_->limit);
  return {};
}

// True: behind what was given there is something that counts.
Result<bool> Stream::find_records() {
  Place& place = *place_;
  const auto keep = [](const Found& /*found*/, std::uint64_t /*offset*/) {};
  for (int tries = 0; tries < 2; ++tries) {
    while (place.walk.content().next <= next_) {
      place.at = place.walk.content().end;
      if (!place.walk.batch(keep)) break;
    }
    if (!place.window.outcome()) return std::unexpected(place.window.outcome().error());
    if (place.walk.content().next > next_) return true;
    if (place.walk.content().next >= place.limit) return false;
    place.window.forget();  // the writer may have gone on since
  }
  return false;
}

// RS1, RS2: all up to the end of what counts; but a cut since may have made a part of it dead.
Result<void> Stream::take(std::size_t bytes, std::uint64_t until, Batch& into) {
  Place& place = *place_;
  const std::uint64_t end = std::min({until, place.limit, place.walk.content().next});
  while (next_ < end) {
    const std::optional<Found> found = place.window.at(place.at);
    if (!place.window.outcome()) return place.window.outcome();
    if (!found || (!found->is_commit() && found->header.seq > next_)) {
      place.window.forget();
      return fail(ErrorCode::damaged, place.path + ", offset " + std::to_string(place.at) +
                                          ": what is here has changed since it was read (record " +
                                          std::to_string(next_) + ")");
    }
    if (!found->is_commit() && found->header.seq == next_) {
      if (!into.empty() && into.bytes() + found->bytes() > bytes) return {};
      into.add(found->record());
      ++next_;
    }
    place.at += found->bytes();
  }
  return {};
}

// The reader found no further record that counts: the writer has not written it yet, or it is
// wrong.
Result<void> Stream::judge_end() {
  Place& place = *place_;
  if (place.walk.is_broken()) {
    place.walk.judge();
    if (!place.window.outcome()) return place.window.outcome();
  }
  const SegmentContent& found = place.walk.content();
  const bool begins = place.header.begins && found.next == place.header.first;
  if (place.gap_at == (begins ? place.header.before : found.next)) {
    return fail(ErrorCode::invalid_argument, "the log in " + directory_ + " does not have record " +
                                                 std::to_string(next_) +
                                                 ": its node was no member then, and it goes on at "
                                                 "number " +
                                                 std::to_string(place.limit));
  }
  const auto damage = [&](std::uint64_t offset, std::string what) {
    return fail(ErrorCode::damaged,
                "the log is damaged: " +
                    to_string(Damage{place.path, offset, found.next, std::move(what)}) +
                    "; `tutti log verify " + directory_ + "` tells more");
  };
  if (place.limit != kNoLimit) {
    return damage(found.tail != Tail::clean ? found.broken : found.end,
                  "records are missing up to number " + std::to_string(place.limit));
  }
  if (found.tail == Tail::damaged) return damage(found.broken, "what is here " + found.what);
  if (found.goes_on) return damage(found.end, "the segment that followed is missing");
  if (place.file_bytes == place.header.bytes) return {};
  return damage(place.file_bytes, "the file has " + std::to_string(place.file_bytes) +
                                      " bytes, it had " + std::to_string(place.header.bytes));
}

// LR3: what is wrong counts only if the next look finds the same.
Result<void> Stream::read(std::size_t bytes, std::uint64_t until, Batch& into) {
  TUTTI_ASSERT(into.empty(), into.records(), next_);
  std::string wrong;
  for (int looks = 0; next_ < until; ++looks) {
    if (looks == kChangesMost) {
      return fail(ErrorCode::system, "the log in " + directory_ +
                                         " changes faster than it can be read; read a copy, or "
                                         "later");
    }
    if (Result<void> looked = look(); !looked) return into.empty() ? looked : Result<void>{};
    const std::uint64_t at_look = next_;
    Result<void> result;
    for (;;) {
      const Result<bool> found = find_records();
      if (!found) return std::unexpected(found.error());
      if (!*found) break;
      const std::uint64_t before = next_;
      result = take(bytes, until, into);
      if (result && (next_ == before || next_ >= until || into.bytes() >= bytes)) return {};
      if (!result || next_ >= place_->limit) break;
    }
    if (next_ != at_look) looks = 0;
    if (result && next_ >= place_->limit) continue;
    if (!into.empty()) return {};  // what is wrong the next call finds, too
    if (result) result = judge_end();
    if (result) return {};
    if (std::exchange(wrong, result.error().message) == result.error().message) return result;
  }
  return {};
}

Result<std::uint64_t> whole_from(const Disk& disk, const std::string& directory) {
  const Result<Listing> listing = list_segments(disk, directory);
  if (!listing) return std::unexpected(listing.error());
  if (listing->live.empty()) return fail(ErrorCode::system, "there is no log in " + directory);
  std::uint64_t out = listing->live.front().first;
  for (const Candidate& candidate : listing->live) {
    if (!candidate.header) continue;
    const Segment& header = *candidate.header;
    if (header.begins && header.before != header.first) out = header.first;
  }
  return out;
}

}  // namespace tutti::log
