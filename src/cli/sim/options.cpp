#include "cli/sim/options.hpp"

#include <charconv>

namespace tutti::cli {
namespace {

bool read(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<SeedRange> seeds_from(const std::string& text) {
  SeedRange range;
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
  if (!read(first, range.first) || !read(last, range.last) || range.last < range.first) {
    return fail(ErrorCode::invalid_argument,
                "--seeds '" + text + "': give a seed, or a range such as 1..2000");
  }
  return range;
}

}  // namespace tutti::cli
