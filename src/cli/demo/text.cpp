#include "cli/demo/text.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/demo/mapped_file.hpp"
#include "cli/output.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kWorthMeasuringBytes = 32 * 1024 * 1024;  // about a second

/// Appends the text, with a newline at its end, and counts its lines.
void append(std::string_view text, Output& output, MemberText& part) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    output.append(line);
    output.append("\n");
    ++part.lines;
    part.bytes += line.size();
    part.longest_line = std::max<std::uint64_t>(part.longest_line, line.size());
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
}

Result<std::uint64_t> total_bytes(const std::vector<fs::path>& files) {
  std::uint64_t total = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    if (fs::is_directory(file, error)) {
      return fail(ErrorCode::invalid_argument, file.string() + " is a folder; give files");
    }
    total += fs::file_size(file, error);
    if (error) {
      return fail(ErrorCode::invalid_argument,
                  "cannot read " + file.string() + ": " + error.message());
    }
  }
  if (total == 0) return fail(ErrorCode::invalid_argument, "all the given files are empty");
  return total;
}

Result<void> write_part(const std::vector<fs::path>& files, std::uint64_t repeats,
                        MemberText& part) {
  std::vector<MappedFile> contents;
  for (const fs::path& file : files) {
    Result<MappedFile> mapped = MappedFile::open(file);
    if (!mapped) return std::unexpected(std::move(mapped.error()));
    contents.push_back(std::move(*mapped));
  }
  const int fd = ::open(part.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fail(ErrorCode::system,
                "cannot make " + part.file.string() + ": " + std::strerror(errno));
  }
  Output output(fd, part.file.string());
  for (std::uint64_t turn = 0; turn < repeats && !output.failed(); ++turn) {
    for (const MappedFile& file : contents) append(file.text(), output, part);
  }
  output.close();
  if (output.failed()) return fail(ErrorCode::system, output.error());
  return {};
}

}  // namespace

std::uint64_t Text::lines() const {
  std::uint64_t total = 0;
  for (const MemberText& part : parts) total += part.lines;
  return total;
}

std::uint64_t Text::bytes() const {
  std::uint64_t total = 0;
  for (const MemberText& part : parts) total += part.bytes;
  return total;
}

std::uint64_t Text::longest_line() const {
  std::uint64_t longest = 0;
  for (const MemberText& part : parts) longest = std::max(longest, part.longest_line);
  return longest;
}

Result<Text> deal_text(const std::vector<fs::path>& files, const std::vector<std::string>& members,
                       std::uint64_t repeats, const fs::path& folder) {
  const Result<std::uint64_t> bytes = total_bytes(files);
  if (!bytes) return std::unexpected(bytes.error());
  Text text;
  text.files = files.size();
  text.file_bytes = *bytes;
  text.repeats = repeats > 0 ? repeats : std::max<std::uint64_t>(1, kWorthMeasuringBytes / *bytes);
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<fs::path> dealt;
    for (std::size_t k = i; k < std::max(files.size(), members.size()); k += members.size()) {
      dealt.push_back(files[k % files.size()]);
    }
    MemberText part;
    part.member = members[i];
    part.file = folder / (members[i] + ".in");
    if (Result<void> written = write_part(dealt, text.repeats, part); !written) {
      return std::unexpected(std::move(written.error()));
    }
    text.parts.push_back(std::move(part));
  }
  return text;
}

}  // namespace tutti::cli
