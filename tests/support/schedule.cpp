#include "support/schedule.hpp"

#include <algorithm>

namespace tutti::testing {

Schedule::Schedule(World& world, const ScheduleOptions& options)
    : world_(world), options_(options), random_(options.seed ^ 0x5eed) {
  const auto draw = [this](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  };
  hold_one_in_ = 1 + draw(20);
  abandon_one_in_ = 1 + draw(20) + draw(20);
  burst_max_ = 1 + draw(random_.one_in(2) ? 3 : 40);
  size_kind_ = draw(4);
  for (std::size_t i = 0; i < world.parts().size(); ++i) {
    const bool silent = random_.one_in(5);
    plans_.push_back({silent ? 0 : 1 + draw(options.messages_max), random_.one_in(3)});
    thread_one_in_.push_back(1 + draw(random_.one_in(4) ? options.slow_factor_max : 4));
  }
  for (std::uint32_t node = 0; node < world.nodes(); ++node) {
    node_one_in_.push_back(1 + draw(random_.one_in(4) ? options.slow_factor_max : 4));
  }
}

bool Schedule::act(std::uint32_t actions) {
  for (std::uint32_t i = 0; i < actions; ++i) {
    act_once();
    if (i % 16 == 0 && world_.complete()) return false;
  }
  return true;
}

bool Schedule::complete() {
  for (World::Part& part : world_.parts()) {
    while (!part.open.empty()) world_.commit(part, 0);
    world_.finish(part);
  }
  for (std::uint32_t pass = 0; pass < options_.passes_max; ++pass) {
    if (world_.complete()) return true;
    for (std::uint32_t node = 0; node < world_.nodes(); ++node) world_.pass(node);
    for (World::Part& part : world_.parts()) {
      if (part.own_thread) world_.deliver_here(part);
    }
  }
  return false;
}

void Schedule::act_once() {
  const auto node = static_cast<std::uint32_t>(random_.below(world_.nodes()));
  if (random_.one_in(node_one_in_[node])) world_.pass(node);
  const std::uint64_t number = random_.below(world_.parts().size());
  World::Part& part = world_.parts()[number];
  if (part.own_thread && random_.one_in(thread_one_in_[number])) world_.deliver_here(part);
  if (random_.one_in(3)) act_as_sender(part, plans_[number]);
}

void Schedule::act_as_sender(World::Part& part, Plan& plan) {
  if (part.sender == kNone) return;
  commit_some(part);
  for (std::uint64_t burst = random_.below(burst_max_ + 1); burst > 0 && plan.messages > 0;
       --burst) {
    if (part.finished || !world_.claim(part, draw_size(part))) break;
    --plan.messages;
    if (!random_.one_in(hold_one_in_)) {
      world_.commit(part, part.open.size() - 1, random_.one_in(abandon_one_in_));
    }
  }
  const bool early = plan.finishes_early && random_.one_in(100);
  if (!part.finished && (early || (plan.messages == 0 && random_.one_in(10)))) world_.finish(part);
}

void Schedule::commit_some(World::Part& part) {
  while (!part.open.empty() && random_.one_in(2)) {
    world_.commit(part, random_.below(part.open.size()), random_.one_in(abandon_one_in_));
  }
}

std::uint32_t Schedule::draw_size(const World::Part& part) {
  const std::uint32_t max = world_.group(part.group).message_max_bytes;
  switch (size_kind_) {
    case 0:
      return static_cast<std::uint32_t>(random_.below(10));
    case 1:
      return max;
    case 2:
      return static_cast<std::uint32_t>(random_.below(max + 1));
    default:
      return random_.one_in(4) ? max : static_cast<std::uint32_t>(random_.below(65));
  }
}

std::string run_to_the_end(const WorldOptions& world_options, ScheduleOptions schedule_options) {
  schedule_options.seed = world_options.seed;
  World world(world_options);
  Schedule schedule(world, schedule_options);
  schedule.act(schedule_options.actions);
  if (!schedule.complete()) world.log().report("V1: not complete in time");
  world.check_end();
  return world.findings();
}

}  // namespace tutti::testing
