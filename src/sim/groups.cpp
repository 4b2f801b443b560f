#include "sim/groups.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "base/crc32c.hpp"
#include "base/prng.hpp"
#include "multicast/stability.hpp"
#include "sim/plan.hpp"

namespace tutti::sim {
namespace {

// Which of the nodes are in the group, and which of those send.
void choose_parts(const Options& options, GroupOptions& group) {
  Prng random(options.seed ^ crc32c(std::as_bytes(std::span(group.name))));
  const auto choose = [&random](const std::vector<std::string>& from) {
    std::vector<std::string> some;
    for (const std::string& name : from) {
      if (!random.one_in(3)) some.push_back(name);
    }
    return some.empty() ? from : some;
  };
  std::vector<std::string> names;
  for (std::uint32_t node = 0; node < options.nodes; ++node) names.push_back(name_of(node));
  group.members = choose(names);
  group.senders = choose(group.members);
}

// Small windows, so that runs meet each of them. A sixteenth of all that is under way goes in a
// rotation at least, or in two where the gap is as small.
void choose_windows(const Options& options, GroupOptions& group) {
  Prng random(options.seed ^ 0x746f6b656e);
  const std::uint64_t least = std::max(1U, options.window_messages / 16);
  const std::uint64_t personal = std::max(least, 1 + random.below(8));
  const std::uint64_t global = std::max(options.nodes * least, personal * (1 + random.below(4)));
  group.personal_window = static_cast<std::uint32_t>(personal);
  group.accelerated_window = static_cast<std::uint32_t>(random.below(personal + 1));
  group.global_window = static_cast<std::uint32_t>(global);
  group.maximum_gap = static_cast<std::uint32_t>(global * (1 + random.below(4)));
}

}  // namespace

std::vector<GroupOptions> groups_of(const Options& options) {
  std::vector<GroupOptions> groups;
  for (std::uint32_t g = 0; g < options.groups + options.spaces; ++g) {
    const bool space = g >= options.groups;
    GroupOptions group;
    group.name = (space ? "s" : "g") + std::to_string(g);
    const bool durable = options.logged && (options.seed + g) % 2 == 0;
    group.level = g == 0 ? options.level : durable && !space ? Level::durable : Level::atomic;
    group.logged =
        !space && waits_for_all(group.level) && (options.logged || group.level == Level::durable);
    group.durable_quorum = options.durable_quorum && group.level == Level::durable;
    group.order = group.level == Level::unordered ? Order::none : options.order;
    if (group.order == Order::token_ring) choose_windows(options, group);
    group.message_max_bytes = options.message_max_bytes;
    group.window_bytes = options.window_bytes;
    group.window_messages = options.window_messages;
    group.alignment = options.alignment;
    if (group.order != Order::none && !space)
      group.tick_every = std::chrono::nanoseconds(options.tick_every_ns);
    if (options.own_threads && !space) {
      group.delivery = options.takes ? DeliveryThread::application : DeliveryThread::own;
    }
    if (options.parts && !space) choose_parts(options, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tutti::sim
