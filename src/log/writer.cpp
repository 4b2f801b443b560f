#include "log/writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace tutti::log {
namespace {

// The spare file is written and synced in such parts.
constexpr std::uint64_t kFillBytes = 1U << 20;
constexpr std::uint64_t kSyncBytes = 4U << 20;

// The records' checksums, for where the first one will be. Returns what they add to the digest.
std::uint64_t seal_all(std::span<std::byte> records, std::uint64_t salt, std::uint64_t offset) {
  std::uint64_t digest = 0;
  for (std::size_t at = 0; at < records.size();) {
    RecordHeader header{};
    std::memcpy(&header, records.data() + at, sizeof header);
    const std::size_t bytes = bytes_of_record(header.length);
    digest += seal(records.subspan(at, bytes), salt, offset + at);
    at += bytes;
  }
  return digest;
}

using CommitBytes = std::array<std::byte, kCommitBytes>;

CommitBytes sealed_commit(RecordHeader header, const Commit& commit, std::uint64_t salt,
                          std::uint64_t offset) {
  CommitBytes out{};
  header.length = sizeof commit;
  header.flags |= kCommitFlag;
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, &commit, sizeof commit);
  seal(out, salt, offset);
  return out;
}

}  // namespace

auto Writer::encode(const Segment& segment, Batch& batch) -> Encoded {
  const std::string header = encode_header(segment);
  Encoded out{.bytes = std::vector<std::byte>(kHeaderBytes), .digest = segment.digest};
  std::memcpy(out.bytes.data(), header.data(), kHeaderBytes);
  if (batch.empty()) return out;
  TUTTI_ASSERT(batch.first() == segment.first, batch.first(), segment.first);  // LF3
  out.digest += seal_all(batch.bytes_, segment.salt, kHeaderBytes);
  const CommitBytes commit = sealed_commit({.crc = 0,
                                            .length = 0,
                                            .seq = batch.next(),
                                            .view = batch.view_,
                                            .sender = batch.records(),
                                            .flags = 0},
                                           {.begins = kHeaderBytes, .digest = out.digest},
                                           segment.salt, kHeaderBytes + batch.bytes());
  out.bytes.insert(out.bytes.end(), batch.bytes_.begin(), batch.bytes_.end());
  out.bytes.insert(out.bytes.end(), commit.begin(), commit.end());
  return out;
}

Writer::Writer(Disk& disk, std::string directory, Identity identity, WriterOptions options)
    : disk_(disk),
      directory_(std::move(directory)),
      identity_(std::move(identity)),
      options_(std::move(options)) {}

Writer::~Writer() = default;

// WL2.
Result<void> Writer::ended(Result<void> result) {
  if (result || error_) return result;
  error_ = Error{result.error().code,
                 "the log in " + directory_ + " has ended; what comes before number " +
                     std::to_string(next_) + " is safe there: " + result.error().message};
  return std::unexpected(*error_);
}

Result<void> Writer::write(Batch& batch) {
  if (error_) return std::unexpected(*error_);
  if (batch.empty()) return {};
  TUTTI_ASSERT(batch.first() == next_, batch.first(), next_);  // LF3
  const std::uint64_t bytes = needed_by(batch);
  if (kHeaderBytes + bytes > options_.segment_bytes) {
    return fail(ErrorCode::invalid_argument, "a batch of " + std::to_string(batch.bytes()) +
                                                 " bytes does not fit into a segment of " +
                                                 std::to_string(options_.segment_bytes) +
                                                 "; make segments larger");
  }
  Result<void> written;
  if (offset_ + bytes > now_.bytes) {
    // One that is empty is replaced, and so is what it says about a gap before it.
    const bool begins = now_.begins && now_.first == next_;
    written = start_segment({.identity = identity_,
                             .number = now_.number + 1,
                             .first = next_,
                             .digest = digest_,
                             .bytes = options_.segment_bytes,
                             .begins = begins,
                             .before = begins ? now_.before : 0},
                            std::exchange(batch, {}));
  } else {
    written = append(batch);
    batch.clear();
  }
  return ended(std::move(written));
}

Result<void> Writer::append(Batch& batch) {
  const std::uint64_t digest = digest_ + seal_all(batch.bytes_, now_.salt, offset_);
  const CommitBytes commit =
      sealed_commit({.crc = 0,
                     .length = 0,
                     .seq = batch.next(),
                     .view = batch.view_,
                     .sender = batch.records(),
                     .flags = 0},
                    {.begins = synced_, .digest = digest}, now_.salt, offset_ + batch.bytes());
  batch.bytes_.insert(batch.bytes_.end(), commit.begin(), commit.end());
  if (Result<void> done = file_->write(offset_, batch.bytes_); !done) return done;
  if (Result<void> done = file_->sync(); !done) return done;
  offset_ += batch.bytes();
  synced_ = offset_;
  next_ = batch.next();  // WL1
  digest_ = digest;
  view_ = batch.view_;
  return {};
}

// WL1: the new segment gets its name only once its content is synced.
Result<void> Writer::start_segment(Segment segment, Batch batch) {
  if (Result<void> done = fill_spare(segment.bytes, segment.bytes); !done) return done;
  const Result<std::uint64_t> salt = options_.salts();
  if (!salt) return std::unexpected(salt.error());
  segment.salt = *salt;
  const Encoded encoded = encode(segment, batch);
  const std::string path = path_of(segment_name(segment.first));
  if (Result<void> done = spare_->write(0, encoded.bytes); !done) return done;
  if (Result<void> done = spare_->sync(); !done) return done;
  if (Result<void> done = rename(path_of(kSpareName), path); !done) return done;
  if (Result<void> done = disk_.sync_directory(directory_); !done) return done;
  if (file_ != nullptr) {  // so that nobody takes away what follows, or a cut, unseen
    if (Result<void> done = put_mark(kGoesOnFlag); !done) return done;
  }
  // Once more, so that its errors have its name.
  Result<std::unique_ptr<File>> file = disk_.open(path, Access::write);
  if (!file) return std::unexpected(std::move(file.error()));
  file_ = std::move(*file);
  spare_.reset();
  spare_bytes_ = spare_synced_ = 0;
  spare_failed_ = false;
  // A segment that is cut in its first batch is replaced.
  if (!segments_.empty() && segments_.back().path == path) {
    segments_.pop_back();
  } else if (!segments_.empty()) {
    segments_.back().next = std::min(next_, segment.first);
  }
  segments_.push_back({.first = segment.first, .bytes = segment.bytes, .path = path});
  now_ = std::move(segment);
  offset_ = synced_ = encoded.bytes.size();
  next_ = batch.empty() ? now_.first : batch.next();
  digest_ = encoded.digest;
  if (!batch.empty()) view_ = batch.view_;
  return {};
}

Result<void> Writer::fill_spare(std::uint64_t bytes, std::uint64_t size) {
  if (spare_ == nullptr) {
    Result<std::unique_ptr<File>> created = create(path_of(kSpareName));
    if (!created) return std::unexpected(std::move(created.error()));
    spare_ = std::move(*created);
    spare_bytes_ = spare_synced_ = 0;
  }
  static constexpr std::array<std::byte, kFillBytes> kZeros{};
  while (bytes != 0 && spare_bytes_ < size) {
    const std::uint64_t most = std::min(bytes, size - spare_bytes_);
    const std::uint64_t part = std::min<std::uint64_t>(most, kZeros.size());
    const auto zeros = std::span(kZeros).first(part);
    if (Result<void> done = spare_->write(spare_bytes_, zeros); !done) return done;
    spare_bytes_ += part;
    bytes -= part;
    const std::uint64_t unsynced = spare_bytes_ - spare_synced_;
    if (unsynced == 0 || (unsynced < kSyncBytes && spare_bytes_ < size)) continue;
    if (Result<void> done = spare_->sync(); !done) return done;
    spare_synced_ = spare_bytes_;
  }
  return {};
}

Result<bool> Writer::prepare(std::uint64_t bytes) {
  if (error_) return std::unexpected(*error_);
  if (spare_is_full() || spare_failed_) return false;
  if (fill_spare(bytes, options_.segment_bytes)) return !spare_is_full();
  // Nothing of the log is in it. Without it, there is also room for what else is on the disk.
  spare_failed_ = true;
  spare_.reset();
  spare_bytes_ = spare_synced_ = 0;
  static_cast<void>(remove(path_of(kSpareName)));  // else it is created anew all the same
  return false;
}

Result<void> Writer::put_mark(std::uint32_t flags) {
  const CommitBytes mark = sealed_commit(
      {.crc = 0, .length = 0, .seq = next_, .view = view_, .sender = 0, .flags = flags},
      {.begins = synced_, .digest = digest_}, now_.salt, offset_);
  if (Result<void> done = file_->write(offset_, mark); !done) return done;
  offset_ += mark.size();
  return {};
}

Result<void> Writer::rest() {
  if (error_) return std::unexpected(*error_);
  if (offset_ != synced_ || offset_ == kHeaderBytes) return {};  // there is one, or nothing to mark
  return ended(put_mark(0));
}

Result<void> Writer::close() {
  if (Result<void> done = rest(); !done) return done;
  return ended(file_->sync());
}

}  // namespace tutti::log
