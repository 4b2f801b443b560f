// A pass of a member, and what the world does about what it finds then: the member dies at a
// failpoint, ends, stops and comes back, or sleeps until something lands.
#include <algorithm>
#include <utility>

#include "sim/world.hpp"

namespace tutti::sim {

void World::pass(std::uint32_t node) {
  Node& runner = nodes_[node];
  runner.wake_at_ns = ~0ULL;
  if (!runner.member || runner.member->ended()) return;
  if (interrupts_.in_pass(node)) {
    runner.woken = true;
    return;
  }
  if (runner.paused_until_ns > now_ns_) return wake(node, runner.paused_until_ns);
  ++passes_;
  if (runner.looks_again) runner.member->look_at_once();
  const bool changes = runner.member->changing() || runner.member->view().id == 0;
  if (interrupts_.draw(changes)) {
    return follow_pass(node,
                       interrupts_.run(node, [&runner] { runner.work = runner.member->pass(); }));
  }
  const Member* const here = runner.member.get();
  const std::size_t work = runner.member->pass();
  if (runner.member.get() == here) end_pass(node, work);  // else it died in a callback
}

void World::end_pass(std::uint32_t node, std::size_t work) {
  Node& runner = nodes_[node];
  const bool in_callback = lingering_ == node;
  if (options_.faults.ends && ask_to_end(node)) ++work;
  const bool has_threads =
      options_.own_threads || options_.handler_one_in + options_.request_one_in != 0;
  if (has_threads && !std::exchange(runner.turns, true)) {
    at(soon(2 * options_.step_ns), What::turn, node);
  }
  if (!in_callback && gives_up(node)) return;
  founded_ = founded_ || runner.member->view().id != 0;
  const bool changes = runner.member->changing();
  if (!std::exchange(runner.changing, changes) && changes) {
    hit_change(runner.member->view());
    if (options_.faults.ends) end_in_change();
    for (std::uint32_t n = options_.burst; n > 1; --n) runner.member->send();
  }
  if (options_.faults.lone) follow_lone(node);
  if (successors_left_ != 0 && !runner.member->stopped()) cut_off_successor(node);
  if (splits_left_ != 0 && !runner.member->stopped()) split_founders(node);
  const std::uint64_t decisions = runner.member->decisions();
  if (std::exchange(runner.decisions, decisions) < decisions) hit_decision(node);
  if (dies(runner)) return crash(node, random_.one_in(3));
  if (runner.member->ended()) {
    const std::uint64_t later_ns = 1 + rare_random_.below(options_.suspect_after_ns / 4);
    return at(now_ns_ + later_ns, What::hang_up, node, 0, runner.member->self().incarnation);
  }
  if (runner.member->rests()) fall_silent(node);
  if (runner.member->stopped() && !runner.member->rests()) {
    const bool left = *runner.member->stopped() == StopReason::left;
    if (in_callback) return wake(node, now_ns_ + options_.poll_ns);  // T4
    // As a node does: the others learn the end from what it still has to say.
    if (left && !runner.member->drained()) return wake(node, now_ns_ + options_.step_ns);
    const bool for_good = left && runner.left;  // else it lost those who give it the state
    gone(node, true);
    if (!for_good) come_back(node);
    return;
  }
  // Before it sleeps it looks once more, as a node does: what the groups found just now, the
  // membership has not seen yet. Only in a change of view may somebody wait for that, or where the
  // last pass left out the membership.
  const bool may_miss = changes || options_.look_every_ns != 0;
  runner.looks_again = may_miss && work == 0 && !runner.looks_again;
  if (work != 0 || runner.looks_again)
    return wake(node, now_ns_ + 1 + random_.below(options_.step_ns));
  // It hears of what lands a little later, of several things at once.
  const std::uint64_t ring_ns = net_.next_ring_ns(node);
  std::uint64_t next_ns = std::min(runner.member->next_step_ns(), now_ns_ + options_.poll_ns);
  if (ring_ns < next_ns) next_ns = std::min(next_ns, ring_ns + random_.below(options_.step_ns));
  wake(node, std::max(now_ns_ + 1, next_ns));
}

// The node's delivery threads. They have a pass follow on what they did.
void World::turn(std::uint32_t node) {
  Node& runner = nodes_[node];
  runner.turns = false;
  if (!runner.member || runner.paused_until_ns > now_ns_ || lingering_ == node) return;
  const Member* const here = runner.member.get();
  if (runner.member->ended()) return;
  const bool delivered = runner.member->turn_delivery_threads();
  if (runner.member.get() != here) return;
  if (!runner.member->turn_handlers() && !delivered) return;
  wake(node, now_ns_ + 1);
  if (!std::exchange(runner.turns, true)) at(soon(2 * options_.step_ns), What::turn, node);
}

}  // namespace tutti::sim
