#include "cli/demo/check_lives.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cli/demo/mapped_file.hpp"

namespace tutti::cli {
namespace {

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

std::string line_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kMost = 100;
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.empty() ? "(the end)" : std::string(line.substr(0, kMost));
}

std::unexpected<Error> other(const MemberFiles& member, std::string_view known,
                             std::string_view text) {
  const auto differ = std::ranges::mismatch(known, text);
  const auto at = static_cast<std::size_t>(differ.in1 - known.begin());
  return fail(ErrorCode::mismatch,
              member.output.string() + ", line " +
                  std::to_string(lines_in(text.substr(0, at)) + 1) +
                  ": not what was delivered before\n  delivered before: " + line_at(known, at) +
                  "\n  delivered now: " + line_at(text, at));
}

/// Takes a number off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// One line, "SEQ NAME NAME.LIFE N".
struct Printed {
  std::uint64_t seq = 0;
  std::string sender{};
  std::uint64_t life = 0;
  std::uint64_t number = 0;
};

std::optional<Printed> printed_from(std::string_view line) {
  const std::optional<std::uint64_t> seq = take_number(line);
  if (!seq || !take(line, " ")) return {};
  Printed out{.seq = *seq, .sender = std::string(line.substr(0, line.find(' ')))};
  if (!take(line, out.sender + " " + out.sender + ".")) return {};
  const std::optional<std::uint64_t> life = take_number(line);
  if (!life || !take(line, " ")) return {};
  const std::optional<std::uint64_t> number = take_number(line);
  if (!number || !line.empty()) return {};
  out.life = *life;
  out.number = *number;
  return out;
}

}  // namespace

Result<LifeFound> KnownSequence::add(const std::vector<MemberFiles>& outputs, bool all_caught_up) {
  const std::string before = known_;
  const LifeFound found{.known_lines = lines_};
  for (const MemberFiles& member : outputs) {
    const Result<MappedFile> output = MappedFile::open(member.output);
    if (!output) return std::unexpected(output.error());
    const std::string_view text = output->text();
    if (all_caught_up && text.size() < before.size()) return other(member, before, text);
    const std::size_t common = std::min(text.size(), known_.size());
    if (text.substr(0, common) != std::string_view(known_).substr(0, common)) {
      return other(member, known_, text);
    }
    if (text.size() > known_.size()) known_ = text;
  }
  lines_ = lines_in(known_);
  return LifeFound{.known_lines = found.known_lines, .new_lines = lines_ - found.known_lines};
}

Result<void> KnownSequence::check_lines(std::uint64_t last_life, std::uint64_t last,
                                        const std::vector<MemberFiles>& members) const {
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> counts;  // by sender and life
  std::string_view rest = known_;
  for (std::uint64_t number = 0; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::optional<Printed> printed = printed_from(line);
    if (printed && printed->seq == number &&
        printed->number == counts[{printed->sender, printed->life}]++) {
      continue;
    }
    return fail(ErrorCode::mismatch,
                members.front().output.string() + ", line " + std::to_string(number + 1) +
                    ": a message is missing before it, or comes twice: " + std::string(line));
  }
  for (const MemberFiles& member : members) {
    const std::uint64_t count = counts[{member.member, last_life}];
    if (count == last) continue;
    return fail(ErrorCode::mismatch, members.front().output.string() + " has " +
                                         std::to_string(count) + " of the " + std::to_string(last) +
                                         " lines that " + member.member + " sent in the last life");
  }
  return {};
}

}  // namespace tutti::cli
