#include "cli/demo/check_logs.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/demo/mapped_file.hpp"
#include "log/read.hpp"

namespace tutti::cli {
namespace {

/// The part of `text` from its line with that number on, counted from 0; null if it is shorter.
const char* line_of(std::string_view text, std::uint64_t number) {
  std::size_t at = 0;
  for (; number > 0 && at < text.size(); --number) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return number > 0 ? nullptr : text.data() + at;
}

/// As `tutti run` prints it.
std::string printed(const log::Record& record, const std::vector<MemberFiles>& members) {
  const bool known = record.sender < members.size();
  return std::to_string(record.seq) + " " + (known ? members[record.sender].member : "?") + " " +
         std::string(reinterpret_cast<const char*>(record.data.data()), record.data.size()) + "\n";
}

/// What was printed by one that went on, and how far a log goes in it.
class Comparison {
 public:
  Comparison(std::string_view all, const std::vector<MemberFiles>& members)
      : all_(all), members_(members) {}

  /// All its records, in order, are lines of it.
  Result<void> read(const MemberFiles& member) {
    const std::unique_ptr<log::Disk> disk = log::posix_disk();
    bool begun = false;
    std::string wrong;
    const Result<log::Reading> read =
        log::read_log(*disk, member.log.string(), [&](const log::Record& record, std::uint64_t) {
          if (!begun) {
            const char* line = line_of(all_, record.seq);
            rest_ = line == nullptr ? std::string_view() : all_.substr(line - all_.data());
            begun = true;
          }
          const std::string line = printed(record, members_);
          if (rest_.starts_with(line)) {
            rest_.remove_prefix(line.size());
            return true;
          }
          wrong = "record " + std::to_string(record.seq) + " is not what was delivered";
          return false;
        });
    if (!read) return std::unexpected(read.error());
    if (read->damage) return fail(ErrorCode::damaged, log::to_string(*read->damage));
    if (!begun) rest_ = all_;
    first_ = read->first;
    if (wrong.empty()) return {};
    return fail(ErrorCode::mismatch, "the log in " + member.log.string() + ": " + wrong);
  }

  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::size_t bytes() const { return all_.size() - rest_.size(); }
  [[nodiscard]] bool to_the_end() const { return rest_.empty(); }

 private:
  const std::string_view all_;
  const std::vector<MemberFiles>& members_;
  std::string_view rest_;
  std::uint64_t first_ = 0;
};

}  // namespace

Result<void> check_logs(const std::vector<MemberFiles>& members) {
  const auto killed = std::ranges::find(members, true, &MemberFiles::killed);
  const bool any_killed = killed != members.end();
  const MemberFiles& reference = members[killed == members.begin() ? 1 : 0];
  const Result<MappedFile> all = MappedFile::open(reference.output);
  if (!all) return std::unexpected(all.error());
  for (const MemberFiles& member : members) {
    const bool joined_late = any_killed && &member == &members.back();
    Comparison comparison(all->text(), members);
    if (Result<void> read = comparison.read(member); !read) return read;
    const Result<MappedFile> output = MappedFile::open(member.output);
    if (!output) return std::unexpected(output.error());
    const bool whole =
        member.killed ? comparison.bytes() >= output->text().size() : comparison.to_the_end();
    if (whole && (joined_late || comparison.first() == 0)) continue;
    return fail(ErrorCode::mismatch, "the log in " + member.log.string() + " lacks messages that " +
                                         member.member + " delivered");
  }
  return {};
}

}  // namespace tutti::cli
