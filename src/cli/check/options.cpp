#include "cli/check/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "cli/common_options.hpp"

namespace tutti::cli {
namespace {

/// "GROUP=LEVEL", such as "0=atomic".
Result<void> add_level(std::string_view word, history::CheckOptions& options) {
  const std::size_t equals = word.find('=');
  const std::string_view number = word.substr(0, equals);
  std::uint16_t group = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), group);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  if (equals == std::string_view::npos || !is_number) {
    return fail(ErrorCode::invalid_argument,
                "--level: '" + std::string(word) +
                    "' is not GROUP=LEVEL, such as 0=atomic; a group is "
                    "a number of 0 .. 65535");
  }
  const Result<Level> level = level_from(word.substr(equals + 1));
  if (!level) return std::unexpected(level.error());
  options.groups[group].level = *level;
  return {};
}

Result<void> set_bound(double seconds, std::string_view option, std::uint64_t& bound_ns) {
  if (seconds == 0) return {};
  const Result<std::chrono::nanoseconds> bound = duration_from(seconds, option);
  if (!bound) return std::unexpected(bound.error());
  bound_ns = static_cast<std::uint64_t>(bound->count());
  return {};
}

}  // namespace

void add_options(CLI::App& app, CheckCommand& command) {
  app.add_option("FILE", command.files, "the histories of all members of one run")->required();
  app.add_option("--level", command.levels,
                 "GROUP=LEVEL, the level of a group, such as 0=atomic; may be given for several "
                 "groups (default: as recorded)")
      ->allow_extra_args(false);
  app.add_flag("--incomplete", command.incomplete,
               "some histories are missing: skip the checks that need all of them");
  app.add_flag("--round-robin", command.round_robin,
               "the histories record rounds: check that senders take turns");
  app.add_flag(
      "--one-service", command.one_service,
      "no group is in the order token_ring: check that no message is delivered as safe in a "
      "group at agreed, and where the views of such a group end");
  app.add_option("--deliver-bound", command.deliver_bound_s,
                 "seconds from send or healing to the delivery (V1); 0: not checked");
  app.add_option("--view-bound", command.view_bound_s,
                 "seconds from healing to the view of the core (M10); 0: not checked");
  app.add_option("--stop-bound", command.stop_bound_s,
                 "seconds from losing the majority to having stopped (V3); 0: not checked");
  app.add_option("--leave-bound", command.leave_bound_s,
                 "seconds from leaving to having stopped (V4); 0: not checked");
  app.add_option("--wake-bound", command.wake_bound_s,
                 "seconds that a lost doorbell may delay a delivery (V5); 0: not checked");
  app.add_option("--show", command.shown, "violations to show of each property; all are counted")
      ->capture_default_str();
  app.add_flag("--json", command.json, "print the report as JSON");
}

Result<history::CheckOptions> check_options(const CheckCommand& command) {
  history::CheckOptions options;
  options.complete = !command.incomplete;
  options.shown_max = command.shown;
  for (const std::string& word : command.levels) {
    if (Result<void> level = add_level(word, options); !level) {
      return std::unexpected(level.error());
    }
  }
  options.other_groups.round_robin = command.round_robin;
  options.other_groups.one_service = command.one_service;
  options.other_groups.one_number = !command.one_service;
  for (auto& [id, rules] : options.groups) {
    rules.round_robin = command.round_robin;
    rules.one_service = command.one_service;
    rules.one_number = !command.one_service;
  }
  for (const auto& [seconds, option, bound_ns] :
       {std::tuple(command.deliver_bound_s, "--deliver-bound", &options.deliver_bound_ns),
        std::tuple(command.view_bound_s, "--view-bound", &options.view_bound_ns),
        std::tuple(command.stop_bound_s, "--stop-bound", &options.stop_bound_ns),
        std::tuple(command.leave_bound_s, "--leave-bound", &options.leave_bound_ns),
        std::tuple(command.wake_bound_s, "--wake-bound", &options.wake_bound_ns)}) {
    if (Result<void> bound = set_bound(seconds, option, *bound_ns); !bound) {
      return std::unexpected(bound.error());
    }
  }
  return options;
}

}  // namespace tutti::cli
