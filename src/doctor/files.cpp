#include "doctor/files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace tutti::doctor {
namespace {

constexpr std::string_view kBlank = " \t\n";
constexpr unsigned kNumberMax = 1U << 16;  // more processors than any machine has

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// The name as its letters and the number at its end, which is sorted as a number.
std::pair<std::string_view, std::uint64_t> sorted_by(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return {name.substr(0, digits), number_of(name.substr(digits)).value_or(0)};
}

}  // namespace

std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {};
  std::ostringstream out;
  out << stream.rdbuf();  // of a file that cannot be read, nothing
  std::string text = std::move(out).str();
  text.erase(text.find_last_not_of(kBlank) + 1);
  return text;
}

std::optional<std::string> field_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return std::string(stripped(line.substr(key.size())));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::optional<std::uint64_t> number_of(std::string_view text, int base) {
  text = stripped(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return {};
  return number;
}

std::vector<unsigned> numbers_of(std::string_view list) {
  std::vector<unsigned> numbers;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    const std::size_t dash = range.find('-');
    const auto first = number_of(range);
    const auto last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1));
    if (!first || !last || *last > kNumberMax) continue;
    for (std::uint64_t i = *first; i <= *last; ++i) numbers.push_back(static_cast<unsigned>(i));
  }
  return numbers;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names, {}, [](const std::string& name) { return sorted_by(name); });
  return names;
}

}  // namespace tutti::doctor
