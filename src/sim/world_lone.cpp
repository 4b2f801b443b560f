// One member is left of those that founded the group. Several nodes join it at once, and it dies as
// it lets them in: some hear of their first view from each other, or of how it begins, or not.
#include <utility>

#include "sim/world.hpp"

namespace tutti::sim {

void World::plan_lone() {
  Prng& random = rare_random_;
  const auto stays = static_cast<std::uint32_t>(random.below(options_.founders));
  for (std::uint32_t node = 0; node < options_.founders; ++node) {
    const std::uint64_t later_ns = random.below(4 * options_.suspect_after_ns);
    if (node != stays) at(options_.fault_ns / 8 + later_ns, What::leave, node);
  }
  for (std::uint32_t node = options_.founders; node < options_.nodes; ++node) {
    latecomers_.push_back(node);
  }
}

void World::follow_lone(std::uint32_t node) {
  const Member& here = *nodes_[node].member;
  if (calm_ || latecomers_.empty() || here.view().members.size() != 1) return;
  lone_ = node;
  for (const std::uint32_t other : std::exchange(latecomers_, {})) {
    at(now_ns_ + 1 + rare_random_.below(one_way_ns()), What::start, other);
  }
  // They are connected, but it has yet to learn of that, of all at once.
  at(now_ns_ + 12 * options_.net.delay_ns + one_way_ns(), What::pause, node);
}

// What it said last arrives at some. Of one that is alone with another, nobody could go on.
void World::die_alone() {
  if (member(lone_)->next_size() == 1) return;  // this is how it came to be alone
  const std::uint32_t node = std::exchange(lone_, kAnyNode);
  if (member(node)->next_size() < 3) return;
  // Of what it posted last each hears a part, or all hear about as much: then all lack the same.
  const bool alike = rare_random_.one_in(2);
  const std::uint64_t heard = rare_random_.below(24);
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other == node || !net_.connected(node, other)) continue;
    if (!alike && rare_random_.one_in(2)) continue;
    net_.close(node, other, alike ? heard + rare_random_.below(2) : rare_random_.below(24));
    lose(other, node, 20 * options_.net.delay_ns);
  }
  at(now_ns_ + 1, What::crash, node, kAnyNode, 1);
}

}  // namespace tutti::sim
