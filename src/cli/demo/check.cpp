#include "cli/demo/check.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cli/demo/mapped_file.hpp"

namespace tutti::cli {
namespace {

/// Takes the first line off the front of `text`, without its newline.
std::string_view take_line(std::string_view& text) {
  const std::size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  return line;
}

std::string quoted(const std::string& member, std::string_view rest) {
  constexpr std::size_t kShown = 100;
  if (rest.empty()) return "\n  " + member + ": (the end)";
  const std::string_view line = take_line(rest);
  return "\n  " + member + ": " + std::string(line.substr(0, kShown)) +
         (line.size() > kShown ? "..." : "");
}

/// Both at their first differing line, whose number is returned.
std::uint64_t skip_common_lines(std::string_view& left, std::string_view& right) {
  std::uint64_t line = 1;
  while (!left.empty() && !right.empty()) {
    std::string_view left_rest = left;
    std::string_view right_rest = right;
    if (take_line(left_rest) != take_line(right_rest)) break;
    left = left_rest;
    right = right_rest;
    ++line;
  }
  return line;
}

Result<std::vector<MappedFile>> map_inputs(const std::vector<MemberFiles>& members) {
  std::vector<MappedFile> inputs;
  for (const MemberFiles& member : members) {
    Result<MappedFile> input = MappedFile::open(member.input);
    if (!input) return std::unexpected(std::move(input.error()));
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

std::unexpected<Error> wrong(const MemberFiles& checked, const std::string& what) {
  return fail(ErrorCode::mismatch, checked.output.string() + ", " + what);
}

}  // namespace

Result<void> check_identical(const std::vector<MemberFiles>& members) {
  const MemberFiles& reference = members.front();
  const Result<MappedFile> expected = MappedFile::open(reference.output);
  if (!expected) return std::unexpected(expected.error());
  for (const MemberFiles& member : members) {
    const Result<MappedFile> output = MappedFile::open(member.output);
    if (!output) return std::unexpected(output.error());
    std::string_view left = expected->text();
    std::string_view right = output->text();
    if (left == right) continue;
    const std::uint64_t line = skip_common_lines(left, right);
    return fail(ErrorCode::mismatch, "the outputs differ, first in line " + std::to_string(line) +
                                         ":" + quoted(reference.member, left) +
                                         quoted(member.member, right));
  }
  return {};
}

Result<void> check_killed(const MemberFiles& reference, const MemberFiles& killed,
                          const MemberFiles& again) {
  const Result<MappedFile> all = MappedFile::open(reference.output);
  const Result<MappedFile> before = MappedFile::open(killed.output);
  const Result<MappedFile> after = MappedFile::open(again.output);
  for (const auto* file : {&all, &before, &after}) {
    if (!*file) return std::unexpected(file->error());
  }
  if (!all->text().starts_with(before->text())) {
    return wrong(killed, "which was killed, is no beginning of what the others delivered");
  }
  if (after->text().empty() || !all->text().ends_with(after->text())) {
    return wrong(again, "its second start, is not the end of what the others delivered");
  }
  return {};
}

Result<void> check_senders(const MemberFiles& checked, const std::vector<MemberFiles>& members) {
  const Result<MappedFile> output = MappedFile::open(checked.output);
  if (!output) return std::unexpected(output.error());
  const Result<std::vector<MappedFile>> inputs = map_inputs(members);
  if (!inputs) return std::unexpected(inputs.error());
  std::vector<std::string_view> expected;
  for (const MappedFile& input : *inputs) expected.push_back(input.text());

  std::string_view rest = output->text();
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    const std::size_t name = std::min(line.find(' '), line.size() - 1) + 1;
    const std::size_t text = std::min(line.find(' ', name), line.size());
    const auto sender =
        std::ranges::find(members, line.substr(name, text - name),
                          [](const MemberFiles& files) { return std::string_view(files.member); });
    const std::string where = "line " + std::to_string(number) + ": ";
    if (sender == members.end()) return wrong(checked, where + "not of the form `seq sender line`");
    std::string_view& sent = expected[static_cast<std::size_t>(sender - members.begin())];
    if (sent.empty()) return wrong(checked, where + "more than " + sender->member + " sent");
    if (take_line(sent) != line.substr(std::min(text + 1, line.size()))) {
      return wrong(checked, where + "not the next line that " + sender->member + " sent");
    }
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!expected[i].empty() && !members[i].killed) {
      return wrong(checked, "the end: lines of " + members[i].member + " are missing");
    }
  }
  return {};
}

}  // namespace tutti::cli
