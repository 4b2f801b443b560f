#include <algorithm>
#include <ranges>
#include <utility>

#include "log/writer.hpp"

namespace tutti::log {
namespace {

constexpr std::uint64_t kCopyBytes = 1U << 20;

}  // namespace

// What was kept before stays, so the name is one that no file has.
Result<std::string> Writer::kept_path(const std::string& name) const {
  const Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names) return std::unexpected(names.error());
  const std::string base = "cut-" + std::to_string(now_.number) + "-" + name;
  std::string kept = base;
  for (int i = 2; std::ranges::binary_search(*names, kept); ++i) {
    kept = base + "." + std::to_string(i);
  }
  return path_of(kept);
}

std::string Writer::path_of(const std::string& name) const { return directory_ + "/" + name; }

// WL5.
Result<std::unique_ptr<File>> Writer::create(const std::string& path) {
  if (Result<void> there = lock_->still_there(); !there) {
    return std::unexpected(std::move(there.error()));
  }
  return disk_.create(path);
}

Result<void> Writer::rename(const std::string& from, const std::string& to) {
  if (Result<void> there = lock_->still_there(); !there) return there;
  return disk_.rename(from, to);
}

Result<void> Writer::remove(const std::string& path) {
  if (Result<void> there = lock_->still_there(); !there) return there;
  return disk_.remove(path);
}

// A file of its own, as large as they are.
Result<void> Writer::keep_records(std::uint64_t number, Batch batch) {
  const Result<std::uint64_t> salt = options_.salts();
  if (!salt) return std::unexpected(salt.error());
  const std::uint64_t bytes = kHeaderBytes + batch.bytes() + kCommitBytes;
  const Segment segment{.identity = identity_,
                        .number = number,
                        .salt = *salt,
                        .first = batch.first(),
                        .bytes = bytes,
                        .begins = true};
  const Result<std::string> path = kept_path(segment_name(batch.first()));
  if (!path) return std::unexpected(path.error());
  const Result<std::unique_ptr<File>> file = create(*path);
  if (!file) return std::unexpected(file.error());
  if (Result<void> done = (*file)->write(0, encode(segment, batch).bytes); !done) return done;
  if (Result<void> done = (*file)->sync(); !done) return done;
  return disk_.sync_directory(directory_);
}

// What is behind a cut, whole segments of it: under names that no log has. The last one first, and
// synced: of a log that is repaired, what is left would be whole if the first one went before it.
Result<void> Writer::keep_files(const std::vector<std::string>& paths) {
  for (const std::string& path : std::views::reverse(paths)) {
    const Result<std::string> kept = kept_path(path.substr(path.rfind('/') + 1));
    if (!kept) return std::unexpected(kept.error());
    if (Result<void> done = rename(path, *kept); !done) return done;
    if (Result<void> done = disk_.sync_directory(directory_); !done) return done;
    recovered_.kept.push_back(*kept);
  }
  return {};
}

std::string Writer::tail_name() const { return std::to_string(next_) + ".bytes"; }

Result<void> Writer::keep_bytes(const std::string& path, std::uint64_t begin,
                                const std::string& name, std::uint64_t end) {
  const Result<std::unique_ptr<File>> from = disk_.open(path, Access::read);
  if (!from) return std::unexpected(from.error());
  const Result<std::uint64_t> size = (*from)->size();
  if (!size) return std::unexpected(size.error());
  end = std::min(end, *size);
  const Result<std::string> kept = kept_path(name);
  if (!kept) return std::unexpected(kept.error());
  const Result<std::unique_ptr<File>> to = create(*kept);
  if (!to) return std::unexpected(to.error());
  std::vector<std::byte> bytes;
  for (std::uint64_t at = begin; at < end; at += bytes.size()) {  // a file may have any size
    bytes.resize(std::min(end - at, kCopyBytes));
    if (Result<void> done = (*from)->read(at, bytes); !done) return done;
    if (Result<void> done = (*to)->write(at - begin, bytes); !done) return done;
  }
  if (Result<void> done = (*to)->sync(); !done) return done;
  if (Result<void> done = disk_.sync_directory(directory_); !done) return done;
  recovered_.kept.push_back(*kept);
  return {};
}

}  // namespace tutti::log
