#include "cli/sim/options.hpp"

#include <charconv>

#include "tutti/options.hpp"

namespace tutti::cli {
namespace {

bool read(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

sim::Options SimKind::options(std::uint64_t seed) const {
  sim::Options options = sim::options_from(seed);
  scenario.apply(options);
  if (level) options.level = *level;
  if (level == Level::durable) options.logged = true;
  options.durable_quorum |= durable_quorum;
  options.order = order;
  if (order == Order::lcr && options.level == Level::agreed) options.level = Level::atomic;
  if (copied) options.hosts = options.nodes;
  return options;
}

std::string SimKind::text() const {
  return "--scenario " + std::string(scenario.name) +
         (level ? " --level " + std::string(to_string(*level)) : "") +
         (order != Order::round_robin ? " --order " + std::string(to_string(order)) : "") +
         (durable_quorum ? " --durable-quorum" : "") + (copied ? " --copied" : "");
}

Result<SimKind> kind_from(const SimWords& words) {
  const Result<sim::Scenario> scenario = sim::scenario_from(words.scenario);
  if (!scenario) return std::unexpected(scenario.error());
  const Result<Order> order = order_from(words.order);
  if (!order) return std::unexpected(order.error());
  if (*order == Order::none) {
    return fail(ErrorCode::invalid_argument,
                "--order none: groups at level 'unordered' have none; --level unordered makes the "
                "first group such a one, and --order is for the others");
  }
  SimKind kind{.scenario = *scenario,
               .order = *order,
               .durable_quorum = words.durable_quorum,
               .copied = words.copied};
  if (words.level.empty()) return kind;
  const Result<Level> level = level_from(words.level);
  if (!level) return std::unexpected(level.error());
  kind.level = *level;
  if (*order == Order::lcr && *level == Level::agreed) {
    return fail(ErrorCode::invalid_argument,
                "--level agreed does not go with --order lcr: that is atomic by nature");
  }
  return kind;
}

Result<SeedRange> seeds_from(const std::string& text) {
  SeedRange range;
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
  if (!read(first, range.first) || !read(last, range.last) || range.last < range.first) {
    return fail(ErrorCode::invalid_argument,
                "--seeds '" + text + "': give a seed, or a range such as 1..2000");
  }
  return range;
}

}  // namespace tutti::cli
