/// \file verify.cpp
/// `tutti log verify`: is each log as it was written? And `tutti log repair`, if one is not.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/log/find.hpp"
#include "cli/log/log.hpp"
#include "cli/log/printable.hpp"
#include "cli/log/reading.hpp"
#include "cli/log/snapshots.hpp"
#include "cli/terminal.hpp"
#include "log/writer.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

std::string verdict_text(const std::string& directory, const log::Reading& reading,
                         const std::vector<FoundSnapshot>& snapshots) {
  const std::string name = escaped(directory);
  std::string of_snapshots;
  for (const FoundSnapshot& one : snapshots) {
    of_snapshots += name + ": " + one.file + ": " +
                    (one.header ? "good, " + snapshot_text(one) : escaped(snapshot_text(one))) +
                    "\n";
  }
  if (reading.damage) {
    return name + ": DAMAGED; good: " + range_text(reading) + "\n" + damage_text(reading) +
           advice_on_damage(name) + "\n" + of_snapshots;
  }
  const std::string tail =
      reading.segments.empty() ? "" : "; tail " + tail_text(reading.segments.back().content);
  return name + ": good, " + range_text(reading) + ", digest " + digest_text(reading.digest) +
         tail + "\n" + of_snapshots;
}

json verdict_json(const std::string& directory, const log::Reading& reading,
                  const std::vector<FoundSnapshot>& snapshots) {
  json value = {{"directory", directory},
                {"good", !reading.damage.has_value()},
                {"first", reading.first},
                {"next", reading.next},
                {"digest", digest_text(reading.digest)},
                {"snapshots", snapshots_json(snapshots)},
                {"damage", damage_json(reading)}};
  if (!reading.segments.empty()) value["tail"] = to_word(reading.segments.back().content.tail);
  return value;
}

struct RepairCommand : LogCommand {
  bool yes = false;
};

int print_repair(const RepairCommand& options, const std::string& directory, bool done,
                 const log::Reading& reading, const std::vector<std::string>& kept) {
  std::string text;
  if (options.json) {
    const json value = {{"directory", directory}, {"done", done}, {"first", reading.first},
                        {"next", reading.next},   {"kept", kept}, {"damage", damage_json(reading)}};
    text = value.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
  } else {
    text = damage_text(reading);
    if (!reading.damage) {
      text += escaped(directory) + ": nothing to repair, it has " + range_text(reading) + "\n";
    } else if (done) {
      text += escaped(directory) + ": cut; it has " + range_text(reading) + " now\n";
      for (const std::string& file : kept) text += "kept: " + escaped(file) + "\n";
    } else {
      text += "With --yes the log is cut: " + range_text(reading) +
              " stay; what lies behind them is kept in files " + escaped(directory) +
              "/cut-*, which no node reads. Make sure that other members have it, or a copy.\n";
    }
  }
  return print(text) ? kExitOk : kExitError;
}

int repair(const RepairCommand& options) {
  const Result<std::string> directory = find_log(options.directory);
  if (!directory) return report(directory.error());
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  const Result<log::Reading> reading = log::read_log(*disk, *directory);
  if (!reading) return report_log(reading.error());
  if (!reading->damage) return print_repair(options, *directory, false, *reading, {});
  if (reading->segments.empty()) {
    log_error(log::to_string(*reading->damage));
    log_error(
        "the log is damaged from its beginning, so no record can stay: move the directory "
        "away, and the node begins a new log");
    return kExitDamaged;
  }
  if (!options.yes) {
    const int status = print_repair(options, *directory, false, *reading, {});
    return status == kExitOk ? kExitDamaged : status;
  }
  const log::Segment& last = reading->segments.back().header;
  const auto writer = log::Writer::open(*disk, *directory, last.identity,
                                        {.segment_bytes = last.bytes, .repair = true});
  if (!writer) return report_log(writer.error());
  const std::vector<std::string> kept = (*writer)->recovered().kept;
  if (const Result<void> closed = (*writer)->close(); !closed) return report_log(closed.error());
  return print_repair(options, *directory, true, *reading, kept);
}

}  // namespace

void add_log_verify(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "verify", "Whether a log, or all logs below DIR, are as they were written");
  command->footer(
      "Reads every byte. Says where the first damage is: file, offset and record. A torn tail is\n"
      "none: its records were not synced. Snapshots are read, too.\n"
      "Exit status: 0 good, 1 cannot be read, 4 damaged.");
  auto options = std::make_shared<LogCommand>();
  add_log_options(*command, *options, "print an array with an object for each log");
  command->callback([options, &status] {
    bool damaged = false;
    const auto with_snapshots = [&damaged](auto of) {
      return [&damaged, of](const std::string& directory, const log::Reading& reading) {
        const std::vector<FoundSnapshot> snapshots = find_snapshots(directory);
        damaged |= any_is_damaged(snapshots);
        return of(directory, reading, snapshots);
      };
    };
    status = report_on_logs(
        *options, {.text = with_snapshots(verdict_text), .json = with_snapshots(verdict_json)});
    if (damaged && status == kExitOk) status = kExitDamaged;
  });
}

void add_log_repair(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("repair", "Cut a damaged log before the damage");
  command->footer(
      "Without --yes it only says what it would do, and ends with 4. What it cuts is kept in "
      "files\n"
      "cut-* beside the log. It refuses while a node has the log.");
  auto options = std::make_shared<RepairCommand>();
  add_log_options(*command, *options, "print an object");
  command->add_flag("--yes", options->yes, "do it");
  command->callback([options, &status] { status = repair(*options); });
}

}  // namespace tutti::cli
