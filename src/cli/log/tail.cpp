/// \file tail.cpp
/// `tutti log tail`: the last records of a log, and those that come.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/log/changes.hpp"
#include "cli/log/find.hpp"
#include "cli/log/follower.hpp"
#include "cli/log/log.hpp"
#include "cli/log/reading.hpp"
#include "cli/log/record_text.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

struct TailCommand : LogCommand {
  std::uint64_t records = 10;
  std::string payload = "auto";
  bool follow = false;
  bool poll = false;
};

void tell_move(std::uint64_t from, std::uint64_t to) {
  if (to < from) {
    return log_warning("the log was cut: it goes on from record " + std::to_string(to));
  }
  log_warning("records " + std::to_string(from) + " to " + std::to_string(to - 1) +
              " are not in the log, which goes on behind them");
}

class Tail {
 public:
  Tail(const TailCommand& options, std::string directory, PayloadAs payload)
      : options_(options), directory_(std::move(directory)), payload_(payload) {}

  int run() {
    const Result<log::Reading> reading = log::read_log(*disk_, directory_);
    if (!reading) return report_log(reading.error());
    const std::uint64_t most = reading->next - reading->first;
    const std::uint64_t from = reading->next - std::min(options_.records, most);
    if (const int status = print(visit_records(*disk_, *reading, from, reading->next, visit_));
        status != kExitOk) {
      return status;
    }
    if (reading->damage) return warn_of_damage(*reading->damage);
    return options_.follow ? follow(*reading) : kExitOk;
  }

 private:
  int print(const Result<void>& visited) {
    output_.flush();
    if (output_.failed()) {
      log_error(output_.error());
      return kExitError;
    }
    return visited ? kExitOk : report_log(visited.error());
  }

  int follow(const log::Reading& reading) {
    note_interrupt(kGiveUpSeconds);  // it may be writing to a pipe that is full
    Changes changes(directory_, !options_.poll);
    Follower follower(*disk_, directory_, reading, tell_move);
    for (;;) {
      if (const int status = print(follower.look(visit_)); status != kExitOk) return status;
      switch (changes.wait()) {
        case Changes::Event::changed:
          break;
        case Changes::Event::interrupted:
          return kExitOk;
        case Changes::Event::directory_gone:
          log_error(directory_ +
                    ": the directory was moved away, removed or replaced, so what is written to "
                    "its log is not seen any more; run the command again with the path of the "
                    "log that you want to follow");
          return kExitError;
        case Changes::Event::reader_gone:
          log_error("the program that read standard output has ended");
          return kExitError;
      }
    }
  }

  const TailCommand& options_;
  const std::string directory_;
  const PayloadAs payload_;
  const std::unique_ptr<log::Disk> disk_ = log::posix_disk();
  Output output_{STDOUT_FILENO, "standard output"};
  const RecordVisit visit_ = [this](const log::Record& record, const Place& place) {
    output_.append(options_.json ? json_line(record, place, payload_)
                                 : text_line(record, place, payload_));
    return !output_.failed();
  };
};

int tail(const TailCommand& options) {
  const Result<PayloadAs> payload = payload_as(options.payload);
  if (!payload) return report(payload.error());
  Result<std::string> directory = find_log(options.directory);
  if (!directory) return report(directory.error());
  return Tail(options, std::move(*directory), *payload).run();
}

}  // namespace

void add_log_tail(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("tail", "The last records of a log, and those that come");
  command->footer(
      "The lines are those of `tutti log dump`. With --follow, Ctrl-C ends it with status 0. It "
      "also\n"
      "shows records that the node has written and not synced yet. It looks ten times a second at\n"
      "most.");
  auto options = std::make_shared<TailCommand>();
  add_log_options(*command, *options, "print each record as a JSON object on a line of its own");
  command->add_option("-n,--records", options->records, "how many of the last records to print")
      ->check(whole_number(0, 1LL << 62))
      ->capture_default_str();
  command->add_flag("-f,--follow", options->follow, "go on with what is written to the log");
  command->add_flag("--poll", options->poll,
                    "with --follow: look every 100 ms instead of using inotify, as for a log on a "
                    "network's file system that another host writes");
  command
      ->add_option("--payload", options->payload,
                   "auto: as text if all of it is, else as hex; hex; text; none")
      ->capture_default_str();
  command->callback([options, &status] { status = tail(*options); });
}

}  // namespace tutti::cli
