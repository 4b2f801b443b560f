/// \file dump.cpp
/// `tutti log dump`: the records of a log, one a line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>

#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/log/find.hpp"
#include "cli/log/log.hpp"
#include "cli/log/reading.hpp"
#include "cli/log/record_text.hpp"
#include "cli/output.hpp"

namespace tutti::cli {
namespace {

struct DumpCommand : LogCommand {
  std::uint64_t from = 0;
  std::uint64_t to = std::numeric_limits<std::int64_t>::max();
  std::string payload = "auto";
};

int dump(const DumpCommand& options) {
  const Result<PayloadAs> payload = payload_as(options.payload);
  if (!payload) return report(payload.error());
  if (options.from > options.to) {
    return report({ErrorCode::invalid_argument, "--from " + std::to_string(options.from) +
                                                    " is behind --to " +
                                                    std::to_string(options.to)});
  }
  const Result<std::string> directory = find_log(options.directory);
  if (!directory) return report(directory.error());
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  const Result<log::Reading> reading = log::read_log(*disk, *directory);
  if (!reading) return report_log(reading.error());
  if (options.from >= reading->next || options.to < reading->first) {
    log_warning("none of these is in the log, which has " + range_text(*reading));
  }
  Output output(STDOUT_FILENO, "standard output");
  const auto print_one = [&](const log::Record& record, const Place& place) {
    output.append(options.json ? json_line(record, place, *payload)
                               : text_line(record, place, *payload));
    return !output.failed();
  };
  const Result<void> done = visit_records(*disk, *reading, options.from, options.to + 1, print_one);
  output.flush();
  if (output.failed()) {
    log_error(output.error());
    return kExitError;
  }
  if (!done) return report_log(done.error());
  const bool reached = reading->damage && options.to >= reading->next;
  return reached ? warn_of_damage(*reading->damage) : kExitOk;
}

}  // namespace

void add_log_dump(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("dump", "Print the records of a log, one a line");
  command->footer(
      "A line has the record's number, its view, its sender (its index in Group::members()), "
      "where\n"
      "it lies in its segment, its size and its bytes; of a tick, its time instead.");
  auto options = std::make_shared<DumpCommand>();
  add_log_options(*command, *options, "print each record as a JSON object on a line of its own");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
  command
      ->add_option("--from", options->from, "SEQ, the first record to print (default: the first)")
      ->check(whole_number(0, kMost));
  command->add_option("--to", options->to, "SEQ, the last record to print (default: the last)")
      ->check(whole_number(0, kMost));
  command
      ->add_option("--payload", options->payload,
                   "auto: as text if all of it is, else as hex; hex; text; none")
      ->capture_default_str();
  command->callback([options, &status] { status = dump(*options); });
}

}  // namespace tutti::cli
