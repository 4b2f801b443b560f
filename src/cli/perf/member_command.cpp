/// \file member_command.cpp
/// `tutti perf-member`: what `tutti perf` starts; requests come by standard input, replies go to
/// standard output.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/perf/take_part.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

constexpr std::int64_t kSetupTimeoutNs = 30 * kNsPerSecond;

int perf_member() {
  ignore_interrupt();
  // A parent that starts its members says itself why it gave up before they were all there.
  return take_part(Channel(UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                           UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))),
                   hello_here(), now_ns() + kSetupTimeoutNs)
      .value_or(kExitError);
}

}  // namespace

void add_perf_member(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("perf-member", "One member of a measurement");
  command->group("");  // hidden
  command->callback([&status] { status = perf_member(); });
}

}  // namespace tutti::cli
