#include "log/read.hpp"

#include <algorithm>
#include <utility>

#include "log/listing.hpp"

namespace tutti::log {
namespace {

// A writer that is faster than its reader is one; what never stands still is an error.
constexpr int kLooksMost = 100;

std::string str(std::uint64_t number) { return std::to_string(number); }

class Reader {
 public:
  Reader(const Disk& disk, const std::string& directory, const Visitor& visitor)
      : disk_(disk), directory_(directory), visitor_(visitor) {}

  // LR3.
  Result<Reading> run() {
    Result<Listing> listing = list_segments(disk_, directory_);
    for (int look = 0; listing && look < kLooksMost; ++look) {
      const Result<void> read = walk(*listing);
      if (read && !out_.damage) return std::move(out_);
      Result<Listing> now = list_segments(disk_, directory_);
      if (now && still_so(*listing, *now)) {
        if (!read) return std::unexpected(read.error());
        return std::move(out_);
      }
      listing = std::move(now);
      if (!listing) break;
      const bool goes_on = goes_on_in(*listing);
      out_.damage.reset();
      if (goes_on) continue;
      if (const Result<void> anew = start_anew(); !anew) return std::unexpected(anew.error());
    }
    if (!listing) return std::unexpected(std::move(listing.error()));
    return fail(ErrorCode::system, "the log in " + directory_ +
                                       " changes faster than it can be read; read a copy, or "
                                       "later");
  }

 private:
  // Reads on behind the segments that were read.
  Result<void> walk(const Listing& listing) {
    const std::vector<Candidate>& all = listing.live;
    lacks_next_ = false;
    out_.dead = listing.dead;
    if (out_.segments.empty() && !all.empty()) {
      out_.first = out_.whole_from = out_.next = all.front().first;
    }
    for (at_ = out_.segments.size(); at_ < all.size() && !out_.damage && !enough_; ++at_) {
      const Candidate* next = at_ + 1 < all.size() ? &all[at_ + 1] : nullptr;
      if (const Result<void> read = segment(all[at_], next); !read) return read;
      if (out_.damage) return {};
    }
    lacks_next_ = !enough_ && !out_.segments.empty() && out_.segments.back().content.goes_on &&
                  out_.segments.size() == all.size();
    if (!lacks_next_) return {};
    at_ = all.size() - 1;
    const SegmentFile& last = out_.segments.back();
    damaged(last.path, last.content.end, "the segment that followed is missing");
    return {};
  }

  // LR3: what is wrong is about the segment at_, the one before it, and whether one follows.
  bool still_so(const Listing& before, const Listing& now) const {
    const Candidate& wrong = before.live[at_];
    const auto found = std::ranges::find_if(
        now.live, [&](const Candidate& candidate) { return is_same(candidate, wrong); });
    if (found == now.live.end()) return false;
    if (lacks_next_ && found + 1 != now.live.end()) return false;
    if (at_ == 0) return true;
    return found != now.live.begin() && is_same(*(found - 1), before.live[at_ - 1]);
  }

  // Whether what was read is what comes first there, and nothing of it was cut.
  bool goes_on_in(const Listing& now) const {
    const std::size_t read = out_.segments.size();
    if (read == 0 || now.live.size() < read) return false;
    if (out_.segments.back().content.tail == Tail::damaged) return false;
    for (std::size_t i = 0; i < read; ++i) {
      const Candidate& candidate = now.live[i];
      if (candidate.path != out_.segments[i].path || !candidate.header ||
          candidate.header->salt != out_.segments[i].header.salt) {
        return false;
      }
    }
    return now.live.size() == read || now.live[read].first >= out_.next;
  }

  // The log was cut, or its beginning was released.
  Result<void> start_anew() {
    out_ = {};
    ended_ = 0;
    if (seen_ == 0) return {};
    if (!visitor_.begin_anew) {
      return fail(ErrorCode::system, "the log in " + directory_ +
                                         " was cut or released while it was read; read it again");
    }
    visitor_.begin_anew();
    seen_ = 0;
    return {};
  }

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
      if (before != until || header.digest != out_.digest) {
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
    // By its name, also if its header cannot be read: it may have cut what is behind (LR1).
    const std::uint64_t until = next != nullptr ? next->first : kNoLimit;
    Result<SegmentContent> read = content_of(candidate, until);
    // A batch is written, and the next one, while the file is read: the second may be seen without
    // the first. Then the next look does not stop at the same place.
    for (int look = 0; next == nullptr && read && read->tail == Tail::damaged; ++look) {
      const std::uint64_t broken = read->broken;
      read = content_of(candidate, until);
      if (look == kLooksMost || (read && read->broken == broken)) break;
    }
    if (!read) return std::unexpected(std::move(read.error()));
    if (header.begins && (out_.next != header.first || out_.segments.empty())) {
      out_.whole_from = header.first;
    }
    out_.next = read->next;
    ended_ = header.begins && out_.next == header.first ? header.before : out_.next;
    out_.digest = read->digest;
    out_.segments.push_back(
        {.path = candidate.path, .header = header, .content = std::move(*read)});
    const SegmentContent& found = out_.segments.back().content;
    if (enough_) return {};
    if (found.tail == Tail::damaged) {
      damaged(candidate.path, found.broken, "what is here " + found.what);
    } else if (next == nullptr && candidate.bytes != header.bytes) {
      damaged(candidate.path, candidate.bytes,
              "the file has " + str(candidate.bytes) + " bytes, it had " + str(header.bytes));
    }
    return {};
  }

  Result<SegmentContent> content_of(const Candidate& candidate, std::uint64_t until) {
    const Segment& header = *candidate.header;
    if (Result<void> read = read_file(disk_, candidate.path, header.bytes, file_); !read) {
      return std::unexpected(std::move(read.error()));
    }
    const Visit visit_new = [this](const Record& record, std::uint64_t offset) {
      if (record.seq < visitor_.from || record.seq < seen_) return true;
      seen_ = record.seq + 1;
      enough_ = !visitor_.visit(record, offset);
      return !enough_;
    };
    return read_segment(header, file_, visitor_.visit ? visit_new : Visit{}, until);
  }

  const Disk& disk_;
  const std::string& directory_;
  const Visitor& visitor_;
  std::vector<std::byte> file_;  // of all segments in turn: new pages cost as much as the reading
  std::uint64_t seen_ = 0;       // behind the last record that was visited
  bool enough_ = false;
  std::size_t at_ = 0;       // the segment that is read
  bool lacks_next_ = false;  // the damage is that none follows it
  std::uint64_t ended_ = 0;  // the number behind the last record so far, not behind a gap
  Reading out_;
};

}  // namespace

Result<std::vector<std::byte>> read_file(const Disk& disk, const std::string& path,
                                         std::uint64_t at_most) {
  std::vector<std::byte> out;
  if (Result<void> read = read_file(disk, path, at_most, out); !read) {
    return std::unexpected(std::move(read.error()));
  }
  return out;
}

Result<void> read_file(const Disk& disk, const std::string& path, std::uint64_t at_most,
                       std::vector<std::byte>& into) {
  const Result<std::unique_ptr<File>> file = disk.open(path, Access::read);
  if (!file) return std::unexpected(file.error());
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  into.resize(std::min(*size, at_most));
  return (*file)->read(0, into);
}

std::string to_string(const Damage& damage) {
  return damage.file + ", offset " + str(damage.offset) + ": " + damage.what + " (record " +
         str(damage.seq) + " and those behind it are not read)";
}

Result<Reading> read_log(const Disk& disk, const std::string& directory, const Visitor& visitor) {
  return Reader(disk, directory, visitor).run();
}

Result<Reading> read_log(const Disk& disk, const std::string& directory, const Visit& visit,
                         std::uint64_t from) {
  return read_log(disk, directory, Visitor{.visit = visit, .from = from});
}

}  // namespace tutti::log
