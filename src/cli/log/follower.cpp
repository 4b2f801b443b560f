#include "cli/log/follower.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tutti::cli {
namespace {

// Files are listed, and released before they are read: so often in one look, none can be read.
constexpr int kAttemptsMost = 100;

}  // namespace

Follower::Follower(const log::Disk& disk, std::string directory, const log::Reading& reading,
                   Moved moved)
    : disk_(disk),
      directory_(std::move(directory)),
      moved_(std::move(moved)),
      number_(reading.segments.empty() ? 0 : reading.segments.back().header.number),
      next_(reading.next) {}

Result<std::vector<std::string>> Follower::names() const {
  Result<std::vector<std::string>> all = disk_.list(directory_);
  if (all) std::erase_if(*all, [](const std::string& name) { return !log::first_of_name(name); });
  return all;
}

Result<void> Follower::look(const RecordVisit& visit) {
  Result<std::vector<std::string>> before = names();
  for (int attempt = 1;; ++attempt) {
    if (!before) return std::unexpected(before.error());
    const Result<void> done = look_once(*before, visit);
    if (done) return {};
    // A file that was released meanwhile is no error.
    Result<std::vector<std::string>> after = names();
    if (attempt == kAttemptsMost || (after && *after == *before)) return done;
    before = std::move(after);
  }
}

// The newest segment that was seen, if it is still there, and those behind it, in the order in
// which they were begun. Names are sorted by the first record, so those of a log that was cut are
// at the end, too.
Result<std::vector<Follower::Part>> Follower::parts(const std::vector<std::string>& names) const {
  std::vector<Part> parts;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const std::string path = directory_ + "/" + *name;
    const Result<std::unique_ptr<log::File>> file = disk_.open(path, log::Access::read);
    if (!file) return std::unexpected(file.error());
    std::vector<std::byte> head(log::kHeaderBytes);
    if (const Result<void> read = (*file)->read(0, head); !read) {
      return std::unexpected(read.error());
    }
    const Result<log::Segment> header = log::decode_header(head);
    if (!header) return fail(header.error().code, path + ": " + header.error().message);
    if (header->number >= number_) parts.push_back({path, *header});
    // A lower number may be dead, before segments of the log that is left.
    if (header->number == number_) break;
  }
  std::ranges::sort(parts, {}, [](const Part& part) { return part.header.number; });
  return parts;
}

Result<void> Follower::look_once(const std::vector<std::string>& names, const RecordVisit& visit) {
  const Result<std::vector<Part>> all = parts(names);
  if (!all) return std::unexpected(all.error());
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Part& part = (*all)[i];
    if (part.header.number > number_ && part.header.first != next_) {
      moved_(next_, part.header.first);
      next_ = part.header.first;
    }
    const std::uint64_t until = i + 1 < all->size() ? (*all)[i + 1].header.first : log::kNoLimit;
    if (const Result<void> done = read(part, until, visit); !done) return done;
    number_ = part.header.number;
  }
  return {};
}

Result<void> Follower::read(const Part& part, std::uint64_t until, const RecordVisit& visit) {
  const Result<std::vector<std::byte>> file = log::read_file(disk_, part.path, part.header.bytes);
  if (!file) return std::unexpected(file.error());
  const log::SegmentFile segment{.path = part.path, .header = part.header, .content = {}};
  const auto see = [&](const log::Record& record, std::uint64_t offset) {
    if (record.seq < next_) return true;
    next_ = record.seq + 1;
    return visit(record, {segment, offset});
  };
  static_cast<void>(log::read_segment(part.header, *file, see, until));
  return {};
}

}  // namespace tutti::cli
