/// \file member_command.cpp
/// `tutti perf-member`: what `tutti perf` starts; requests come by standard input, replies go to
/// standard output.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/perf/channel.hpp"
#include "cli/perf/member.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kSetupTimeoutNs = 30 * kNsPerSecond;
constexpr std::int64_t kSliceNs = kNsPerSecond / 10;
constexpr unsigned kGiveUpSeconds = 5;

/// Keeps this process on the `index`-th of the processors that it may use, modulo their number.
void pin(std::uint32_t index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int skip = static_cast<int>(index) % CPU_COUNT(&allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || skip-- > 0) ++cpu;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(cpu, &chosen);
  if (sched_setaffinity(0, sizeof(chosen), &chosen) != 0) log_warning("--pin had no effect");
}

/// Tells the parent, which prints it.
int give_up(Channel& channel, const Error& error) {
  const Result<void> told =
      channel.send({{"error", error.message}, {"code", static_cast<int>(error.code)}});
  if (!told) return report(error);
  exit_within(kGiveUpSeconds, kExitError);
  return kExitError;
}

/// Serves requests until "stop" is done or something fails.
int serve(Channel& channel, PerfMember& member) {
  while (true) {
    const Result<json> request = channel.receive(now_ns() + kSliceNs);
    if (!request && request.error().code == ErrorCode::timed_out) {
      if (const std::optional<Error> failure = member.failure()) return give_up(channel, *failure);
      continue;
    }
    if (!request) return kExitError;  // the parent is gone
    const Result<json> reply = member.handle(*request);
    if (!reply) return give_up(channel, reply.error());
    if (!channel.send(*reply)) return kExitError;
    if (request->at("do") == "stop") return kExitOk;
  }
}

int perf_member() {
  ignore_interrupt();
  Channel channel(UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                  UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)));
  const Result<json> setup = channel.receive(now_ns() + kSetupTimeoutNs);
  if (!setup) {
    log_error("perf-member is started by `tutti perf`, not by hand");
    return kExitUsage;
  }
  const auto rank = setup->at("rank").get<std::uint32_t>();
  set_up_log(setup->at("verbose") == true ? Verbosity::verbose : Verbosity::quiet,
             "m" + std::to_string(rank));
  if (setup->at("options").at("pin") == true) pin(rank);
  Result<std::unique_ptr<PerfMember>> member = PerfMember::start(*setup);
  if (!member) return give_up(channel, member.error());
  if (!channel.send(json::object())) return kExitError;
  return serve(channel, **member);
}

}  // namespace

void add_perf_member(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("perf-member", "One member of a measurement");
  command->group("");  // hidden
  command->callback([&status] { status = perf_member(); });
}

}  // namespace tutti::cli
