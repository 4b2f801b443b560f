#include "sim/story/story.hpp"

#include <vector>

#include "sim/story/commands.hpp"

namespace tutti::sim {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kRule = "----";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

Result<std::string> without_rule(std::size_t line) {
  return fail(ErrorCode::invalid_argument,
              "line " + std::to_string(line) +
                  ": the block of commands ends without a line ----, " +
                  "below which stands what is told");
}

}  // namespace

Result<std::string> retell(std::string_view story) {
  Commands script;
  std::string out;
  enum class In : std::uint8_t { prose, commands, telling } in = In::prose;
  std::size_t number = 0;
  for (const std::string& line : lines_of(story)) {
    ++number;
    const bool fence = line.starts_with(kFence);
    if (in != In::telling || fence) out += line + "\n";
    if (fence && in == In::commands) return without_rule(number);
    if (fence) {
      in = in == In::prose ? In::commands : In::prose;
      if (in == In::commands) script.begin();
    } else if (in == In::commands && line == kRule) {
      out += script.told();
      in = In::telling;
    } else if (in == In::commands) {
      if (Result<void> done = script.obey(line); !done) {
        return fail(done.error().code,
                    "line " + std::to_string(number) + ", '" + line + "': " + done.error().message);
      }
    }
  }
  if (in == In::commands) return without_rule(number);
  return out;
}

std::string_view about_stories() { return Commands::about(); }

}  // namespace tutti::sim
