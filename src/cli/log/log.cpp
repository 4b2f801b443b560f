#include "cli/log/log.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/log/find.hpp"
#include "cli/log/printable.hpp"
#include "cli/log/reading.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {

void add_log_options(CLI::App& command, LogCommand& options, const std::string& json_help) {
  command
      .add_option("DIR", options.directory,
                  "the directory of a group's log, or one with such directories below it")
      ->required();
  command.add_flag("--json", options.json, json_help);
}

int report_log(const Error& error) {
  log_error(error.message);
  return kExitError;
}

std::string advice_on_damage(const std::string& directory) {
  return "A node does not open this log. The other members' logs have the same records: see "
         "whether "
         "theirs are good. Then move this directory away, and the node begins a new log. If no "
         "other member has the records, `tutti log repair " +
         directory + "` cuts the log before the damage; copy it first.";
}

int report_on_logs(const LogCommand& options, const LogReport& report) {
  const Result<std::vector<std::string>> logs = find_logs(options.directory);
  if (!logs) return report_log(logs.error());
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  int status = kExitOk;
  nlohmann::json all = nlohmann::json::array();
  std::string text;
  for (const std::string& directory : *logs) {
    if (report.begin) report.begin();
    const Result<log::Reading> reading =
        log::read_log(*disk, directory, {.visit = report.visit, .begin_anew = report.begin});
    if (!reading) {
      status = std::max(status, report_log(reading.error()));
      continue;
    }
    if (reading->damage) status = kExitDamaged;
    if (options.json) {
      all.push_back(report.json(directory, *reading));
    } else {
      text += (text.empty() ? "" : "\n") + report.text(directory, *reading);
    }
  }
  if (options.json) {
    text = all.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return print(text) ? status : kExitError;
}

std::string damage_text(const log::Reading& reading) {
  return reading.damage ? "damage: " + escaped(log::to_string(*reading.damage)) + "\n" : "";
}

nlohmann::json damage_json(const log::Reading& reading) {
  if (!reading.damage) return nullptr;
  return {{"file", reading.damage->file},
          {"offset", reading.damage->offset},
          {"seq", reading.damage->seq},
          {"what", reading.damage->what}};
}

int warn_of_damage(const log::Damage& damage) {
  log_warning("damaged: " + log::to_string(damage) + "; see `tutti log verify`");
  return kExitDamaged;
}

std::string_view to_word(log::Tail tail) {
  switch (tail) {
    case log::Tail::clean:
      return "clean";
    case log::Tail::torn:
      return "torn";
    case log::Tail::broken:
      return "broken";
    case log::Tail::damaged:
      return "damaged";
  }
  return "?";
}

std::string tail_text(const log::SegmentContent& content) {
  std::string word(to_word(content.tail));
  std::string place = word + " at offset " + std::to_string(content.broken);
  switch (content.tail) {
    case log::Tail::clean:
      return word + (content.marked ? ", all of it synced" : "");
    case log::Tail::torn:
      return place +
             ": a part of a batch that was not synced; the node overwrites it when it opens the "
             "log";
    case log::Tail::broken:
      return place +
             ": the last batch is not whole, though its end is there; the node keeps it in a file "
             "of its own when it opens the log";
    case log::Tail::damaged:
      return place;
  }
  return word;
}

std::string range_text(const log::Reading& reading) {
  if (reading.next == reading.first) return "no records";
  return "records " + std::to_string(reading.first) + " to " + std::to_string(reading.next - 1);
}

std::string digest_text(std::uint64_t digest) {
  std::string digits(16, '0');
  for (std::size_t at = 16; at-- > 0; digest >>= 4) digits[at] = "0123456789abcdef"[digest & 15];
  return digits;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

log::Identity identity_of(const log::Reading& reading) {
  return reading.segments.empty() ? log::Identity{} : reading.segments.front().header.identity;
}

void add_log(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("log", "Look into the log that a group keeps on disk");
  command->require_subcommand(1);
  command->footer(
      "Only `repair` changes something; the others take no lock and may run beside the node.\n"
      "Exit status: 0 done; 1 there is no log that can be read; 2 wrong usage; 4 the log is\n"
      "damaged, and what was printed ends before the damage. docs/log.md explains the files.");
  add_log_ls(*command, status);
  add_log_info(*command, status);
  add_log_dump(*command, status);
  add_log_verify(*command, status);
  add_log_repair(*command, status);
  add_log_tail(*command, status);
}

}  // namespace tutti::cli
