#include "fire/options.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <utility>

#include "cli/member_list.hpp"

namespace tutti::fire {
namespace {

std::chrono::nanoseconds in_ns(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  app.add_option("--name", options.name, "which of the members this one is")->required();
  app.add_option("--members", options.members, "a=HOST:PORT,b=HOST:PORT,...")->required();
  app.add_option("--fabric", options.fabric, "auto, shm, tcp or ofi:PROVIDER")
      ->capture_default_str();
  app.add_option("--levels", options.levels, "one group for each, such as atomic,agreed")
      ->capture_default_str();
  app.add_option("--order", options.order, "of groups that have one: round_robin, token_ring, lcr")
      ->capture_default_str();
  app.add_option("--history", options.history, "record to this file");
  app.add_option("--rate", options.rate, "messages per second; 0: as fast as it goes")
      ->capture_default_str();
  app.add_option("--size-max", options.size_max, "bytes of a message")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the messages' sizes")->capture_default_str();
  app.add_flag("--join", options.join_only, "only join a group that is there");
  app.add_option("--founders", options.founders, "how many found the group; 0: all");
  app.add_option("--suspect-after", options.suspect_after_s, "seconds")->capture_default_str();
  app.add_option("--start-timeout", options.start_timeout_s, "seconds")->capture_default_str();
}

Result<Setup> set_up(const Options& options) {
  Setup setup;
  Result<std::vector<MemberAddress>> members = cli::members_from(options.members);
  if (!members) return std::unexpected(std::move(members.error()));
  setup.node = {.name = options.name,
                .members = std::move(*members),
                .start_timeout = in_ns(options.start_timeout_s),
                .founders = options.founders,
                .join_only = options.join_only,
                .suspect_after = in_ns(options.suspect_after_s)};
  if (Result<void> fabric = set_fabric(setup.node, options.fabric); !fabric) {
    return std::unexpected(fabric.error());
  }
  const Result<Order> order = order_from(options.order);
  if (!order) return std::unexpected(order.error());
  for (const std::string& word : cli::split_list(options.levels)) {
    const Result<Level> level = level_from(word);
    if (!level) return std::unexpected(level.error());
    setup.groups.push_back({.name = "g" + std::to_string(setup.groups.size()),
                            .order = *level == Level::unordered ? Order::none : *order,
                            .level = *level});
  }
  return setup;
}

}  // namespace tutti::fire
