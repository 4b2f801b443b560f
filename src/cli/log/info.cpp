/// \file info.cpp
/// `tutti log info`: what is in each log.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/log/log.hpp"
#include "cli/log/printable.hpp"
#include "cli/log/snapshots.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

struct Counted {
  std::uint64_t records = 0;
  std::uint64_t ticks = 0;
  std::uint64_t bytes = 0;                                       // of the messages
  std::vector<std::pair<std::uint64_t, std::uint64_t>> views{};  // view, its first record

  void see(const log::Record& record) {
    ++records;
    if (record.tick) ++ticks;
    if (!record.tick) bytes += record.data.size();
    if (views.empty() || views.back().first != record.view) {
      views.emplace_back(record.view, record.seq);
    }
  }
};

std::string info_text(const std::string& directory, const log::Reading& reading,
                      const Counted& counted) {
  const log::Identity identity = identity_of(reading);
  const auto line = [](const std::string& name, const std::string& value) {
    return name + std::string(11 - name.size(), ' ') + value + "\n";
  };
  std::string views;
  for (const auto& [view, first] : counted.views) {
    views += (views.empty() ? "" : ", ") + std::to_string(view) + " from record " +
             std::to_string(first);
  }
  std::string records = std::to_string(counted.records);
  if (counted.records > 0) {
    records +=
        ", from " + std::to_string(reading.first) + " to " + std::to_string(reading.next - 1);
  }
  if (reading.whole_from != reading.first) {
    records += "; without a gap only from " + std::to_string(reading.whole_from);
  }
  std::string text = line("directory", escaped(directory));
  text += line("node", escaped(identity.node)) + line("group", escaped(identity.group));
  text += line("records", records) + line("ticks", std::to_string(counted.ticks)) +
          line("bytes", std::to_string(counted.bytes)) +
          line("views", views.empty() ? "none" : views);
  text += line("segments", std::to_string(reading.segments.size()));
  std::string snapshots;
  for (const FoundSnapshot& one : find_snapshots(directory)) {
    snapshots += (snapshots.empty() ? "" : ", ") + escaped(snapshot_text(one));
  }
  if (!snapshots.empty()) text += line("snapshots", snapshots);
  text += line("digest", digest_text(reading.digest));
  if (!reading.segments.empty()) {
    text += line("tail", tail_text(reading.segments.back().content));
  }
  return text + damage_text(reading);
}

json info_json(const std::string& directory, const log::Reading& reading, const Counted& counted) {
  const log::Identity identity = identity_of(reading);
  json views = json::array();
  for (const auto& [view, first] : counted.views) {
    views.push_back({{"view", view}, {"first", first}});
  }
  json value = {{"directory", directory},
                {"node", identity.node},
                {"group", identity.group},
                {"first", reading.first},
                {"next", reading.next},
                {"whole_from", reading.whole_from},
                {"records", counted.records},
                {"ticks", counted.ticks},
                {"bytes", counted.bytes},
                {"views", std::move(views)},
                {"segments", reading.segments.size()},
                {"snapshots", snapshots_json(find_snapshots(directory))},
                {"digest", digest_text(reading.digest)},
                {"damage", damage_json(reading)}};
  if (!reading.segments.empty()) {
    const log::SegmentContent& content = reading.segments.back().content;
    value["tail"] = to_word(content.tail);
    value["synced"] = content.marked;
  }
  return value;
}

}  // namespace

void add_log_info(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("info", "What is in a log, or in all logs below DIR");
  auto options = std::make_shared<LogCommand>();
  add_log_options(*command, *options, "print an array with an object for each log");
  command->callback([options, &status] {
    Counted counted;
    const auto with_counted = [&counted](auto of) {
      return [&counted, of](const std::string& directory, const log::Reading& reading) {
        return of(directory, reading, counted);
      };
    };
    status = report_on_logs(*options, {.text = with_counted(info_text),
                                       .json = with_counted(info_json),
                                       .begin = [&counted] { counted = {}; },
                                       .visit =
                                           [&counted](const log::Record& record, std::uint64_t) {
                                             counted.see(record);
                                             return true;
                                           }});
  });
}

}  // namespace tutti::cli
