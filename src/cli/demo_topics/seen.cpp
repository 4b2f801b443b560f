#include "cli/demo_topics/seen.hpp"

#include <fstream>
#include <sstream>

namespace tutti::cli {
namespace {

void append_number(Output& output, std::uint64_t number) {
  output.append(" ");
  output.append(number);
}

/// False: it is no line of such a file.
bool add_line(const std::string& line, Seen& seen) {
  std::istringstream words(line);
  char kind = 0;
  std::size_t topic = 0;
  if (!(words >> kind >> topic) || topic >= kDemoTopics.size()) return false;
  if (kind == 'A') {
    std::uint64_t number = 0;
    if (!(words >> number)) return false;
    seen.acknowledged[topic] = number;
    return true;
  }
  SeenSample sample;
  words >> sample.position >> sample.sample.writer >> sample.sample.number >> sample.sample.is_last;
  if (kind != 'S' || !words || sample.sample.writer >= kDemoWriters.size()) return false;
  seen.samples[topic].push_back(sample);
  return true;
}

}  // namespace

void append_sample(Output& output, std::size_t topic, const SeenSample& seen) {
  output.append("S");
  append_number(output, topic);
  append_number(output, seen.position);
  append_number(output, seen.sample.writer);
  append_number(output, seen.sample.number);
  append_number(output, seen.sample.is_last);
  output.append("\n");
}

void append_acknowledged(Output& output, std::size_t topic, std::uint64_t number) {
  output.append("A");
  append_number(output, topic);
  append_number(output, number);
  output.append("\n");
}

Result<Seen> read_seen(const std::filesystem::path& file) {
  std::ifstream input(file);
  Seen seen;
  std::string line;
  while (std::getline(input, line) && !input.eof()) {  // eof: a line without its end
    if (!add_line(line, seen)) {
      return fail(ErrorCode::system, file.string() + ": the line '" + line + "' is none of ours");
    }
  }
  if (!input.eof()) return fail(ErrorCode::system, "cannot read " + file.string());
  return seen;
}

}  // namespace tutti::cli
