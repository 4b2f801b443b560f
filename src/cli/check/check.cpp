/// \file check.cpp
/// `tutti check`: did the members of a run do what the library promises?
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/check/options.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/terminal.hpp"
#include "history/checker/check.hpp"
#include "history/reader.hpp"
#include "history/text.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

json json_of(const history::Violation& violation) {
  json events = json::array();
  for (const history::Witness& witness : violation.events) {
    events.push_back({{"source", witness.source},
                      {"member", history::to_string(witness.member)},
                      {"index", witness.index},
                      {"event", history::to_string(witness.event)}});
  }
  return {{"property", history::to_string(violation.property)},
          {"what", violation.what},
          {"events", std::move(events)}};
}

json json_of(const history::Report& report) {
  json by_property = json::object();
  for (std::size_t i = 0; i < history::kProperties; ++i) {
    if (report.count_of[i] == 0) continue;
    by_property[std::string(history::to_string(static_cast<history::Property>(i)))] =
        report.count_of[i];
  }
  json shown = json::array();
  for (const history::Violation& violation : report.violations) shown.push_back(json_of(violation));
  return {{"events", report.events},
          {"members", report.members},
          {"violations", report.violation_count},
          {"by_property", std::move(by_property)},
          {"shown", std::move(shown)},
          {"not_checked", report.skipped}};
}

/// The checker checks what a crash left of a file; warn the user that something is missing.
void tell_of_cuts(const history::HistoryFile& file) {
  const history::History& history = file.history();
  const auto tell = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) log_warning(history.source + ": " + std::to_string(count) + " " + what);
  };
  tell(file.cut_bytes(), "bytes at the end are an incomplete event, which is ignored");
  tell(file.cut_events(),
       "events at the end are missing: the file was cut off after it was closed");
  tell(file.unwritten(), "events were not written completely and are ignored");
}

int run(const CheckCommand& command) {
  const Result<history::CheckOptions> options = check_options(command);
  if (!options) return report(options.error());
  std::vector<history::HistoryFile> files;
  std::vector<history::History> histories;
  for (const std::string& name : command.files) {
    Result<history::HistoryFile> file = history::HistoryFile::open(name);
    if (!file) {
      log_error(file.error().message);
      return kExitUsage;
    }
    tell_of_cuts(*file);
    histories.push_back(file->history());
    files.push_back(std::move(*file));
  }
  const Result<history::Report> checked = history::check(histories, *options);
  if (!checked) return report(checked.error());
  const std::string text =
      command.json ? json_of(*checked).dump(2) + "\n" : history::to_string(*checked);
  if (!print(text)) return kExitError;
  return checked->good() ? kExitOk : kExitError;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("check", "Check the histories that the members of a run recorded");
  command->footer(
      "Prints `N events of M members, V violations`, then each violation with its events, then\n"
      "what was not checked. Exit status: 0 no violation, 1 violations, 2 a file that cannot be\n"
      "read or wrong usage. docs/histories.md lists the properties.");
  auto options = std::make_shared<CheckCommand>();
  add_options(*command, *options);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace tutti::cli
