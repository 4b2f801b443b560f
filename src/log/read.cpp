#include "log/read.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

namespace tutti::log {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr std::size_t kDigits = 20;

std::string str(std::uint64_t number) { return std::to_string(number); }

std::string whose(const Segment& segment) {
  return "of the log of group '" + segment.identity.group + "' on node '" + segment.identity.node +
         "'";
}

struct Candidate {
  std::string path;
  std::uint64_t first = 0;  // by its name
  Result<Segment> header;
};

Result<Candidate> look_at(const Disk& disk, std::string path, std::uint64_t first) {
  const Result<std::unique_ptr<File>> file = disk.open(path, Access::read);
  if (!file) return std::unexpected(file.error());
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  std::vector<std::byte> head(std::min<std::uint64_t>(*size, kHeaderBytes));
  if (const Result<void> read = (*file)->read(0, head); !read) return std::unexpected(read.error());
  Candidate out{std::move(path), first, decode_header(head)};
  if (!out.header && out.header.error().code == ErrorCode::mismatch) {
    return fail(ErrorCode::mismatch, out.path + ": " + out.header.error().message +
                                         "; use the version of tutti that wrote it");
  }
  if (out.header && out.header->first != first) {
    out.header = fail(ErrorCode::invalid_argument, "its header says that its first record is " +
                                                       str(out.header->first) + ", its name says " +
                                                       str(first));
  }
  return out;
}

Result<std::vector<Candidate>> candidates(const Disk& disk, const std::string& directory) {
  const Result<std::vector<std::string>> names = disk.list(directory);
  if (!names) return std::unexpected(names.error());
  std::vector<Candidate> out;
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> first = first_of_name(name);
    if (!first) continue;
    Result<Candidate> candidate = look_at(disk, directory + "/" + name, *first);
    if (!candidate) return std::unexpected(std::move(candidate.error()));
    out.push_back(std::move(*candidate));
  }
  std::ranges::sort(out, {}, &Candidate::first);
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
void take_dead(std::vector<Candidate>& all, std::vector<std::string>& dead) {
  std::vector<Candidate> live;
  std::uint64_t highest = 0;  // of their numbers so far
  for (Candidate& candidate : all) {
    if (candidate.header && candidate.header->number < highest) {
      dead.push_back(std::move(candidate.path));
      continue;
    }
    if (candidate.header) highest = candidate.header->number;
    live.push_back(std::move(candidate));
  }
  all = std::move(live);
}

class Reader {
 public:
  Reader(const Disk& disk, const std::string& directory, const Visit& visit, std::uint64_t from)
      : disk_(disk), directory_(directory), visit_(visit), from_(from) {}

  Result<Reading> run() {
    Result<std::vector<Candidate>> all = candidates(disk_, directory_);
    if (!all) return std::unexpected(std::move(all.error()));
    if (Result<void> one = of_one_log(*all); !one) return std::unexpected(std::move(one.error()));
    take_dead(*all, out_.dead);
    if (!all->empty()) {
      out_.first = out_.whole_from = out_.next = all->front().first;
    }
    for (std::size_t i = 0; i < all->size() && !out_.damage && !enough_; ++i) {
      const Candidate* next = i + 1 < all->size() ? &(*all)[i + 1] : nullptr;
      if (const Result<void> read = segment((*all)[i], next); !read) {
        return std::unexpected(read.error());
      }
    }
    return std::move(out_);
  }

 private:
  void damaged(std::string file, std::uint64_t offset, std::string what) {
    if (!out_.damage) out_.damage = Damage{std::move(file), offset, out_.next, std::move(what)};
  }

  // LR2: what comes before it and its header.
  Result<void> segment(const Candidate& candidate, const Candidate* next) {
    if (!candidate.header) {
      damaged(candidate.path, 0, candidate.header.error().message);
      return {};
    }
    const Segment& header = *candidate.header;
    if (!out_.segments.empty()) {
      const SegmentFile& last = out_.segments.back();
      const std::uint64_t before = header.begins ? header.before : header.first;
      const std::uint64_t until = header.begins ? ended_ : out_.next;
      if (before != until || (!header.begins && header.digest != out_.digest)) {
        damaged(last.path, last.content.broken != 0 ? last.content.broken : last.content.end,
                before == until ? "what comes before " + candidate.path + " is not what was there"
                                : "records are missing up to number " + str(before) + ", which " +
                                      candidate.path + " follows");
        return {};
      }
    }
    return content(candidate, next);
  }

  Result<void> content(const Candidate& candidate, const Candidate* next) {
    const Segment& header = *candidate.header;
    const Result<std::vector<std::byte>> file = read_file(disk_, candidate.path);
    if (!file) return std::unexpected(file.error());
    const Visit from_on = [this](const Record& record, std::uint64_t offset) {
      if (record.seq < from_) return true;
      enough_ = !visit_(record, offset);
      return !enough_;
    };
    SegmentFile out{.path = candidate.path, .header = header, .content = {}};
    // By its name, also if its header cannot be read: it may have cut what is behind (LR1).
    const std::uint64_t until = next != nullptr ? next->first : kNoLimit;
    out.content = read_segment(header, *file, visit_ ? from_on : Visit{}, until);
    if (header.begins) {
      if (out_.next != header.first || out_.segments.empty()) out_.whole_from = header.first;
      out_.digest = header.digest;
    }
    out_.next = out.content.next;
    ended_ = header.begins && out_.next == header.first ? header.before : out_.next;
    out_.digest = out.content.digest;
    out_.segments.push_back(std::move(out));
    const SegmentContent& found = out_.segments.back().content;
    if (enough_) return {};
    if (found.tail == Tail::damaged) {
      damaged(candidate.path, found.broken, "what is here " + found.what);
    } else if (next == nullptr && file->size() != header.bytes) {
      damaged(candidate.path, file->size(),
              "the file has " + str(file->size()) + " bytes, it had " + str(header.bytes));
    } else if (next == nullptr && found.goes_on) {
      damaged(candidate.path, found.end, "the segment that followed is missing");
    }
    return {};
  }

  const Disk& disk_;
  const std::string& directory_;
  const Visit& visit_;
  const std::uint64_t from_;
  bool enough_ = false;
  std::uint64_t ended_ = 0;  // the number behind the last record so far, not behind a gap
  Reading out_;
};

}  // namespace

std::string segment_name(std::uint64_t first) {
  const std::string digits = str(first);
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

Result<std::vector<std::byte>> read_file(const Disk& disk, const std::string& path) {
  const Result<std::unique_ptr<File>> file = disk.open(path, Access::read);
  if (!file) return std::unexpected(file.error());
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  std::vector<std::byte> out(*size);
  if (const Result<void> read = (*file)->read(0, out); !read) return std::unexpected(read.error());
  return out;
}

std::string to_string(const Damage& damage) {
  return damage.file + ", offset " + str(damage.offset) + ": " + damage.what + " (record " +
         str(damage.seq) + " and those behind it are not read)";
}

Result<Reading> read_log(const Disk& disk, const std::string& directory, const Visit& visit,
                         std::uint64_t from) {
  return Reader(disk, directory, visit, from).run();
}

}  // namespace tutti::log
