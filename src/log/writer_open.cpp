#include <algorithm>
#include <utility>

#include "log/writer.hpp"

namespace tutti::log {

Result<std::unique_ptr<Writer>> Writer::open(Disk& disk, std::string directory, Identity identity,
                                             WriterOptions options) {
  const auto named = [](const std::string& name) {
    return !name.empty() && name.size() <= kNameBytesMax;
  };
  if (!named(identity.node) || !named(identity.group)) {
    return fail(ErrorCode::invalid_argument, "a log's node and group have names of 1 to 255 bytes");
  }
  if (options.segment_bytes < 2 * kHeaderBytes || options.segment_bytes % kHeaderBytes != 0) {
    return fail(ErrorCode::invalid_argument,
                "a segment has a multiple of 4096 bytes, at least 8192, not " +
                    std::to_string(options.segment_bytes));
  }
  std::unique_ptr<Writer> writer(
      new Writer(disk, std::move(directory), std::move(identity), std::move(options)));
  if (Result<void> done = writer->recover(); !done) return std::unexpected(std::move(done.error()));
  return writer;
}

// WL4.
Result<void> Writer::recover() {
  if (Result<void> done = disk_.make_directory(directory_); !done) return done;
  Result<std::unique_ptr<DirectoryLock>> lock = disk_.lock(directory_);
  if (!lock) return std::unexpected(std::move(lock.error()));
  lock_ = std::move(*lock);

  Visit visit;
  if (options_.found) {
    visit = [this](const Record& record, std::uint64_t /*offset*/) {
      options_.found(record);
      return true;
    };
  }
  Result<Reading> found = read_log(disk_, directory_, visit);
  if (!found) return std::unexpected(std::move(found.error()));
  if (!found->segments.empty() && found->segments.front().header.identity != identity_) {
    const Identity& other = found->segments.front().header.identity;
    return fail(ErrorCode::mismatch, directory_ + " has the log of group '" + other.group +
                                         "' on node '" + other.node + "', not of group '" +
                                         identity_.group + "' on node '" + identity_.node +
                                         "'; use another directory");
  }
  if (found->damage && !options_.repair) {
    return fail(ErrorCode::damaged,
                "the log is damaged: " + to_string(*found->damage) +
                    "; `tutti log verify` tells more, `tutti log repair` cuts it there");
  }
  if (Result<void> done = find_spare(); !done) return done;
  if (Result<void> done = take_over(*found); !done) return done;
  if (Result<void> done = keep_files(found->dead); !done) return done;
  if (found->damage) return repair(*found);
  if (segments_.empty()) {
    return start_segment(
        {.identity = identity_, .number = 1, .bytes = options_.segment_bytes, .begins = true}, {});
  }
  return {};
}

// What is there of a spare file serves again. Whatever is in it, it is not valid (LF1).
Result<void> Writer::find_spare() {
  const Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names) return std::unexpected(names.error());
  if (!std::ranges::binary_search(*names, std::string(kSpareName))) return {};
  Result<std::unique_ptr<File>> file = disk_.open(path_of(kSpareName), Access::write);
  if (!file) return std::unexpected(std::move(file.error()));
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  if (*size > options_.segment_bytes) return {};  // it is created anew
  spare_ = std::move(*file);
  spare_bytes_ = *size;
  spare_synced_ = 0;
  return {};
}

Result<void> Writer::take_over(const Reading& found) {
  for (const SegmentFile& segment : found.segments) {
    segments_.push_back({.first = segment.header.first,
                         .next = segment.content.next,
                         .bytes = segment.header.bytes,
                         .path = segment.path});
  }
  if (found.segments.empty()) return {};
  const SegmentFile& last = found.segments.back();
  Result<std::unique_ptr<File>> file = disk_.open(last.path, Access::write);
  if (!file) return std::unexpected(std::move(file.error()));
  file_ = std::move(*file);
  now_ = last.header;
  offset_ = last.content.end;
  synced_ = last.content.synced;
  next_ = found.next;
  digest_ = found.digest;
  view_ = last.content.view;
  recovered_.tail = last.content.tail;
  if (Result<void> done = settle(last.content); !done) return done;
  if (found.damage || last.content.tail != Tail::broken) return {};
  Result<void> kept = keep_bytes(last.path, last.content.end, tail_name(), last.content.tail_end);
  return kept ? clear_tail(last.content) : kept;
}

// Else the next batch, or a mark, is written over a part of it, and what is left looks like another
// tail when the log is opened again.
Result<void> Writer::clear_tail(const SegmentContent& last) {
  const std::vector<std::byte> zeros(last.tail_end - last.end);
  if (Result<void> done = file_->write(last.end, zeros); !done) return done;
  return file_->sync();
}

// WL1: what is read here may not be on disk yet. The process before may have ended between a write,
// or a rename, and its sync; or that sync has failed, and then another one without a write does
// nothing (DK3). Only the last batch, with the mark before it, can be so (LF2); if a mark says that
// this batch was synced, then only that mark.
Result<void> Writer::settle(const SegmentContent& last) {
  const std::uint64_t from = last.marked || last.last == 0 ? last.synced : last.last;
  if (from < last.end) {
    std::vector<std::byte> bytes(last.end - from);
    if (Result<void> done = file_->read(from, bytes); !done) return done;
    if (Result<void> done = file_->write(from, bytes); !done) return done;
    if (Result<void> done = file_->sync(); !done) return done;
  }
  return disk_.sync_directory(directory_);
}

// Everything from the damage on is kept beside the log, which goes on in a new segment. That one
// comes first: it may take the place of one that cut the log, and what was cut must stay so (LR1).
// Stopped behind it, the log is damaged where it was, or whole.
Result<void> Writer::repair(const Reading& found) {
  const Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names) return std::unexpected(names.error());
  const std::uint64_t first = segments_.empty() ? found.first : found.next;
  std::vector<std::string> behind;
  for (const std::string& name : *names) {
    const std::string path = path_of(name);
    const bool reads = std::ranges::find(segments_, path, &Kept::path) != segments_.end();
    if (!first_of_name(name) || reads) continue;
    if (name != segment_name(first)) {
      behind.push_back(path);
    } else if (Result<void> kept = keep_bytes(path, 0, name); !kept) {
      return kept;
    }
  }
  if (!segments_.empty()) {
    // What lies behind the size that the file had is not of the log.
    Result<void> kept = keep_bytes(segments_.back().path, offset_, tail_name(), now_.bytes);
    if (!kept) return kept;
  }
  Result<void> started = start_segment({.identity = identity_,
                                        .number = now_.number + 1,
                                        .first = first,
                                        .digest = digest_,
                                        .bytes = options_.segment_bytes,
                                        .begins = segments_.empty()},
                                       {});
  return started ? keep_files(behind) : started;
}

}  // namespace tutti::log
