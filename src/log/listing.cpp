#include "log/listing.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace tutti::log {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr std::size_t kDigits = 20;

std::string whose(const Segment& segment) {
  return "of the log of group '" + segment.identity.group + "' on node '" + segment.identity.node +
         "'";
}

Result<Candidate> look_at(const Disk& disk, std::string path, std::uint64_t first) {
  const Result<std::unique_ptr<File>> file = disk.open(path, Access::read);
  if (!file) return std::unexpected(file.error());
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  std::vector<std::byte> head(std::min<std::uint64_t>(*size, kHeaderBytes));
  if (const Result<void> read = (*file)->read(0, head); !read) return std::unexpected(read.error());
  Candidate out{std::move(path), first, *size, decode_header(head)};
  if (!out.header && out.header.error().code == ErrorCode::mismatch) {
    return fail(ErrorCode::mismatch, out.path + ": " + out.header.error().message +
                                         "; use the version of tutti that wrote it");
  }
  if (out.header && out.header->first != first) {
    out.header = fail(ErrorCode::invalid_argument, "its header says that its first record is " +
                                                       std::to_string(out.header->first) +
                                                       ", its name says " + std::to_string(first));
  }
  return out;
}

// Sorted, as names are. A file that is not in the directory any more was released meanwhile.
Result<std::vector<Candidate>> candidates(const Disk& disk, const std::string& directory) {
  const Result<std::vector<std::string>> names = disk.list(directory);
  if (!names) return std::unexpected(names.error());
  std::vector<Candidate> out;
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> first = first_of_name(name);
    if (!first) continue;
    std::string path = directory;
    path += "/" + name;
    Result<Candidate> candidate = look_at(disk, std::move(path), *first);
    if (candidate) {
      out.push_back(std::move(*candidate));
      continue;
    }
    const Result<std::vector<std::string>> now = disk.list(directory);
    if (!now) return std::unexpected(now.error());
    if (std::ranges::binary_search(*now, name)) return std::unexpected(candidate.error());
  }
  return out;
}

// Also those that LR1 calls dead: another log's segment is not, and is nobody's to move.
Result<void> of_one_log(const std::vector<Candidate>& all) {
  const Candidate* first = nullptr;
  for (const Candidate& candidate : all) {
    if (!candidate.header) continue;
    if (first == nullptr) first = &candidate;
    if (candidate.header->identity != first->header->identity) {
      return fail(ErrorCode::mismatch, candidate.path + " is " + whose(*candidate.header) +
                                           ", but " + first->path + " is " + whose(*first->header) +
                                           "; move away what does not belong here");
    }
  }
  return {};
}

// LR1: takes out those that were cut.
Listing without_dead(std::vector<Candidate> all) {
  Listing out;
  std::uint64_t highest = 0;  // of their numbers so far
  for (Candidate& candidate : all) {
    if (candidate.header && candidate.header->number < highest) {
      out.dead.push_back(std::move(candidate.path));
      continue;
    }
    if (candidate.header) highest = candidate.header->number;
    out.live.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace

Result<Listing> list_segments(const Disk& disk, const std::string& directory) {
  Result<std::vector<Candidate>> all = candidates(disk, directory);
  if (!all) return std::unexpected(std::move(all.error()));
  if (Result<void> one = of_one_log(*all); !one) return std::unexpected(std::move(one.error()));
  return without_dead(std::move(*all));
}

bool is_same(const Candidate& a, const Candidate& b) {
  if (a.path != b.path || a.header.has_value() != b.header.has_value()) return false;
  return !a.header || a.header->salt == b.header->salt;
}

std::string segment_name(std::uint64_t first) {
  const std::string digits = std::to_string(first);
  return std::string(kDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

std::optional<std::uint64_t> first_of_name(const std::string& name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return {};
  std::uint64_t first = 0;
  const char* const end = name.data() + kDigits;
  const auto [stopped, error] = std::from_chars(name.data(), end, first);
  if (error != std::errc{} || stopped != end) return {};
  return first;
}

}  // namespace tutti::log
