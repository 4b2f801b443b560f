/// \file ls.cpp
/// `tutti log ls`: the files of each log.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/log/log.hpp"
#include "cli/log/printable.hpp"
#include "cli/terminal.hpp"
#include "log/snapshot_format.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

/// A file's name and its bytes.
using Sized = std::pair<std::string, std::uint64_t>;

// What is in the directory and no segment that counts: what was cut, what is not reached because of
// the damage, the file of the next segment.
std::vector<Sized> others_of(const std::string& directory, const log::Reading& reading) {
  std::vector<Sized> others;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    const auto is_it = [&name](const log::SegmentFile& one) { return file_name(one.path) == name; };
    std::error_code gone;
    const std::uint64_t bytes = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (gone || name == "LOCK" || std::ranges::any_of(reading.segments, is_it)) continue;
    others.emplace_back(std::move(name), bytes);
  }
  std::ranges::sort(others);
  return others;
}

std::string_view use_of(const std::string& name) {
  if (log::first_of_name(name)) return "not part of the log";
  if (log::seq_of_snapshot(name)) return "a snapshot";
  if (name.starts_with("snapshot.")) return "a snapshot that is being written";
  if (name == "spare") return "for the next segment";
  if (name.starts_with("cut-")) return "what was cut";
  return "not of the log";
}

// The newest one grows; nothing is written to the others any more.
std::string state_of(const log::Reading& reading, std::size_t index) {
  const log::SegmentContent& content = reading.segments[index].content;
  if (content.tail == log::Tail::damaged) return "damaged";
  if (index + 1 < reading.segments.size()) return "closed";
  if (content.tail == log::Tail::clean) return "newest";
  return "newest, " + std::string(to_word(content.tail));
}

std::string listing_text(const std::string& directory, const log::Reading& reading) {
  const log::Identity identity = identity_of(reading);
  std::string text = escaped(directory) + ": group " + escaped(identity.group) + " at node " +
                     escaped(identity.node) + ", " + range_text(reading) + "\n";
  Table table({"file", "number", "first", "next", "records", "used", "size", "state"});
  for (std::size_t i = 0; i < reading.segments.size(); ++i) {
    const log::SegmentFile& segment = reading.segments[i];
    table.add({file_name(segment.path), std::to_string(segment.header.number),
               std::to_string(segment.header.first), std::to_string(segment.content.next),
               std::to_string(segment.content.next - segment.header.first),
               std::to_string(segment.content.end), std::to_string(segment.header.bytes),
               state_of(reading, i)});
  }
  text += table.text();
  for (const auto& [name, bytes] : others_of(directory, reading)) {
    text += escaped(name) + ": " + std::to_string(bytes) + " bytes, " + std::string(use_of(name)) +
            "\n";
  }
  return text + damage_text(reading);
}

json listing_json(const std::string& directory, const log::Reading& reading) {
  const log::Identity identity = identity_of(reading);
  json segments = json::array();
  for (std::size_t i = 0; i < reading.segments.size(); ++i) {
    const log::SegmentFile& segment = reading.segments[i];
    segments.push_back({{"file", file_name(segment.path)},
                        {"number", segment.header.number},
                        {"first", segment.header.first},
                        {"next", segment.content.next},
                        {"records", segment.content.next - segment.header.first},
                        {"batches", segment.content.batches},
                        {"used", segment.content.end},
                        {"size", segment.header.bytes},
                        {"state", state_of(reading, i)}});
  }
  json others = json::array();
  for (const auto& [name, bytes] : others_of(directory, reading)) {
    others.push_back({{"file", name}, {"size", bytes}, {"use", use_of(name)}});
  }
  return {{"directory", directory},      {"node", identity.node},
          {"group", identity.group},     {"first", reading.first},
          {"next", reading.next},        {"segments", std::move(segments)},
          {"others", std::move(others)}, {"damage", damage_json(reading)}};
}

}  // namespace

void add_log_ls(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("ls", "The files of a log, or of all logs below DIR");
  auto options = std::make_shared<LogCommand>();
  add_log_options(*command, *options, "print an array with an object for each log");
  command->callback([options, &status] {
    status = report_on_logs(*options, {.text = listing_text, .json = listing_json});
  });
}

}  // namespace tutti::cli
