// Passes that have stopped in the middle: when they go on, and what waits until they are over.
#include <utility>

#include "sim/world.hpp"

namespace tutti::sim {

void World::follow_pass(std::uint32_t node, bool over) {
  Node& runner = nodes_[node];
  if (over) {
    end_pass(node, runner.work);
    if (std::exchange(runner.woken, false) && runner.member) wake(node, now_ns_ + 1);
    return;
  }
  runner.member->stop_in_pass();
  const std::uint64_t gap_ns = interrupts_.gap_ns();
  stop_for(node, gap_ns);
  Prng& random = rare_random_;
  // Others of the host find the time to run, also such as would sleep.
  const bool changes = runner.member->changing() || runner.member->view().id == 0;
  const std::uint64_t rarely = changes ? 2 : 8;
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != node && random.one_in(rarely)) wake(other, now_ns_ + 1 + random.below(gap_ns));
  }
  // Best of all while the view changes.
  if (calm_ || (!changes && !random.one_in(16))) return;
  if (long_stops_ != 0) {
    --long_stops_;
    stop_for_long(node);
  } else if (mid_deaths_ != 0) {
    --mid_deaths_;
    at(now_ns_ + 1 + random.below(gap_ns), What::crash, node);
  }
}

// The others go on without it, through more than one view.
void World::stop_for_long(std::uint32_t node) {
  Prng& random = rare_random_;
  const std::uint64_t patience_ns = options_.suspect_after_ns;
  pause(node, now_ns_ + patience_ns * (1 + random.below(5)) + random.below(patience_ns));
  const std::uint64_t later_ns = now_ns_ + patience_ns + random.below(2 * patience_ns);
  if (later_ns >= options_.fault_ns || random.one_in(3)) return;
  at(later_ns, random.one_in(3) ? What::crash : What::leave, kAnyNode);
}

void World::stop_for(std::uint32_t node, std::uint64_t ns) {
  nodes_[node].goes_on_at_ns = now_ns_ + ns;
  at(now_ns_ + ns, What::go_on, node);
}

void World::go_on(std::uint32_t node) {
  const Node& runner = nodes_[node];
  if (!interrupts_.in_pass(node)) return;
  if (runner.paused_until_ns > now_ns_) return stop_for(node, runner.paused_until_ns - now_ns_);
  follow_pass(node, interrupts_.go_on(node));
}

// What is to happen to a member comes between two passes.
bool World::waits_for_pass(const Happening& now) {
  if (!interrupts_.in_pass(now.node)) return false;
  at(nodes_[now.node].goes_on_at_ns + 1, now.what, now.node, now.other, now.which);
  return true;
}

// At the end of the run.
void World::end_passes() {
  for (const std::uint32_t node : running()) {
    if (interrupts_.in_pass(node)) interrupts_.finish(node);
  }
}

}  // namespace tutti::sim
