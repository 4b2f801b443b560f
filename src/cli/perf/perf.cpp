/// \file perf.cpp
/// `tutti perf multicast`, `tutti perf topic` and `tutti perf idle`: measurements on this host or
/// several.
#include <CLI/CLI.hpp>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/perf/log_folder.hpp"
#include "cli/perf/measure.hpp"
#include "cli/perf/members.hpp"
#include "cli/perf/options.hpp"
#include "cli/perf/places.hpp"
#include "cli/perf/plan.hpp"
#include "cli/perf/result.hpp"
#include "cli/signals.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

struct PerfCommand {
  PerfOptions options;
  PerfPlaces places;
  std::string json_file;  ///< "-": standard output, and no table
  bool verbose = false;
};

void add_output_options(CLI::App& command, PerfCommand& perf) {
  command.add_option("--json", perf.json_file,
                     "write all results to this file as JSON; -: to standard output, no table");
  command.add_flag("-v,--verbose", perf.verbose, "print the members' messages on standard error");
}

/// A failed member is an error of the measurement, whatever it was for the member.
int fail_measurement(const Error& error) {
  if (interrupted() != 0) {
    log_error("interrupted; the members were stopped");
    return 128 + interrupted();
  }
  log_error(error.message);
  return error.code == ErrorCode::invalid_argument ? kExitUsage : kExitError;
}

/// For logs that are to be somewhere: nothing if nothing is logged, or if there is a place.
Result<std::optional<TemporaryFolder>> make_place_for_logs(const PerfPlan& plan,
                                                           PerfOptions& options) {
  if (!plan.group.logged || !options.log.state_dir.empty()) return std::nullopt;
  Result<TemporaryFolder> folder = TemporaryFolder::create("tutti-perf", ".");
  if (!folder) return std::unexpected(folder.error());
  options.log.state_dir = folder->path().string();
  return std::optional(std::move(*folder));
}

Result<json> measure_once(const PerfCommand& perf, const std::string& benchmark,
                          PerfOptions options) {
  const Result<PerfPlan> plan = plan_for(options);
  if (!plan) return std::unexpected(plan.error());
  const Result<std::optional<TemporaryFolder>> folder = make_place_for_logs(*plan, options);
  if (!folder) return std::unexpected(folder.error());
  std::deque<LogFolder> logs;  // also of members that are ended before they can remove them
  if (plan->group.logged && !perf.places.elsewhere()) {
    for (const std::string& name : perf_member_names(options.members)) {
      logs.emplace_back(options.log.state_dir, name);
    }
  }
  Result<PerfMembers> members = PerfMembers::start(options, perf.places, perf.verbose);
  if (!members) return std::unexpected(members.error());
  const Result<std::vector<json>> results = measure(*members, options);
  if (!results) return std::unexpected(results.error());
  if (options.verify) {
    const bool ordered = plan->group.order != Order::none;
    if (const Result<void> same = verify(*results, ordered); !same) {
      return std::unexpected(same.error());
    }
  }
  return result_of(benchmark, options, *results);
}

/// One after the other, so that they do not disturb each other.
Result<json> measure_orders(const PerfCommand& perf, const std::string& benchmark) {
  json results = json::array();
  for (const std::string& order : orders_of(perf.options.level)) {
    PerfOptions options = perf.options;
    options.order = order;
    Result<json> result = measure_once(perf, benchmark, options);
    if (!result) return result;
    results.push_back(std::move(*result));
  }
  return json{{"benchmark", "orders"}, {"results", std::move(results)}};
}

bool compares(const PerfCommand& perf, const std::string& benchmark) {
  return perf.options.order == "all" && benchmark == "multicast";
}

Result<void> check(const PerfCommand& perf, const std::string& benchmark) {
  PerfOptions options = perf.options;
  if (compares(perf, benchmark)) {
    if (perf.places.elsewhere()) {
      return fail(ErrorCode::invalid_argument,
                  "--order all measures one order after the other, and members on other hosts join "
                  "once: give one order with --hosts and --listen");
    }
    if (orders_of(options.level).empty()) {
      return fail(ErrorCode::invalid_argument,
                  "--order all: level '" + printable(options.level) +
                      "' has no orders; give --level atomic, agreed or durable");
    }
    options.order = orders_of(options.level).front();
  }
  const Result<PerfPlan> plan = plan_for(options);
  if (!plan) return std::unexpected(plan.error());
  if (plan->group.logged && options.log.state_dir.empty() && perf.places.elsewhere()) {
    return fail(ErrorCode::invalid_argument,
                "--state-dir is missing: say in which folder the members on other hosts log");
  }
  return {};
}

int run(PerfCommand& perf, const std::string& benchmark, std::string (*table)(const json& result)) {
  if (!perf.places.hosts.empty()) {
    perf.options.members = static_cast<std::uint32_t>(split_list(perf.places.hosts).size());
  }
  if (const Result<void> ok = check(perf, benchmark); !ok) return report(ok.error());
  const bool to_file = !perf.json_file.empty() && perf.json_file != "-";
  if (to_file && !write_file(perf.json_file, "")) return kExitError;  // now, not after the work
  note_interrupt();  // a temporary folder is to be removed
  const bool all = compares(perf, benchmark);
  const Result<json> result =
      all ? measure_orders(perf, benchmark) : measure_once(perf, benchmark, perf.options);
  if (!result) return fail_measurement(result.error());
  const std::string text = result->dump(2) + "\n";
  if (perf.json_file == "-") return print(text) ? kExitOk : kExitError;
  if (!print(all ? orders_table(*result) : table(*result))) return kExitError;
  if (perf.options.verify &&
      !print("verified: every byte, and the same sequence at all members\n")) {
    return kExitError;
  }
  return !to_file || write_file(perf.json_file, text) ? kExitOk : kExitError;
}

void add_multicast(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "multicast", "Members multicast to each other: rates, latencies, processor time");
  command->footer(
      "Senders write every byte of each message in place, receivers read every byte. Latency runs\n"
      "from the first attempt to send, waits for space included, to the delivery callback: `own`\n"
      "at the sender, `others` elsewhere (for messages of 16 bytes or more).");
  auto perf = std::make_shared<PerfCommand>();
  add_common_perf_options(*command, perf->options,
                          "who decides the sequence, but at level unordered: round_robin, "
                          "token_ring, lcr; all: one measurement of each, compared");
  add_load_options(*command, perf->options);
  add_multicast_options(*command, perf->options);
  add_place_options(*command, perf->places);
  add_output_options(*command, *perf);
  command->callback([perf, &status] { status = run(*perf, "multicast", multicast_table); });
}

void add_topics(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "topic", "Participants write topics and read them: what `multicast` measures of groups");
  command->footer(
      "Each group carries one topic of the load. Samples are of a type that is sent as it lies in\n"
      "memory: writers build them in place, readers are handed them in batches (on_samples).\n"
      "All else is as `tutti perf multicast --help` says.");
  auto perf = std::make_shared<PerfCommand>();
  perf->options.service = "atomic";
  add_common_perf_options(*command, perf->options,
                          "who decides the sequence, but of unordered topics: round_robin, "
                          "token_ring, lcr");
  add_load_options(*command, perf->options);
  add_topic_options(*command, perf->options);
  add_place_options(*command, perf->places);
  add_output_options(*command, *perf);
  command->callback([perf, &status] { status = run(*perf, "topic", multicast_table); });
}

void add_idle(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "idle", "Members with nothing to do: processor time and writes, which should be none");
  auto perf = std::make_shared<PerfCommand>();
  perf->options.active = "0";
  add_common_perf_options(
      *command, perf->options,
      "who decides the sequence, but at level unordered: round_robin, token_ring, lcr");
  add_place_options(*command, perf->places);
  add_output_options(*command, *perf);
  command->callback([perf, &status] { status = run(*perf, "idle", idle_table); });
}

}  // namespace

void add_perf(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("perf", "Measure, on this host or several");
  command->require_subcommand(1);
  add_multicast(*command, status);
  add_topics(*command, status);
  add_idle(*command, status);
  add_perf_join(*command, status);
}

}  // namespace tutti::cli
