// How nodes of the world start, and come to be connected to each other.
#include <algorithm>
#include <utility>

#include "sim/world.hpp"

namespace tutti::sim {

void World::start(std::uint32_t node) {
  if (member(node) != nullptr) return;
  const ViewMember self{Slot{node}, random_.next() | 1};
  // J7, as NodeCore and those who start processes keep it.
  nodes_[node].member =
      std::make_unique<Member>(plan_, self, !nodes_[node].may_have_created, net_, random_.next());
  nodes_[node].left = false;
  nodes_[node].woken = false;
  nodes_[node].progress = {};
  nodes_[node].peers.assign(nodes_.size(), 0);
  at(soon(10 * options_.net.delay_ns), What::attach, node, 0, self.incarnation);
  at(soon(options_.send_every_ns), What::send, node);
  wake(node, now_ns_ + 1);
}

// Again and again until it is connected to all, some sooner, some later: others may not have parted
// yet from the one that was here before.
void World::attach(std::uint32_t node, std::uint64_t incarnation) {
  if (member(node) == nullptr || member(node)->self().incarnation != incarnation) return;
  if (waits_for_pass({.what = What::attach, .node = node, .which = incarnation})) return;
  bool all = true;
  std::uint64_t next_ns = now_ns_ + options_.heartbeat_ns;
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other == node || member(other) == nullptr) continue;
    const bool later = !net_.connected(node, other) && random_.one_in(3);
    all &= !later && try_attach(node, other);
    if (interrupts_.in_pass(other)) next_ns = std::min(next_ns, nodes_[other].goes_on_at_ns + 1);
    if (member(node) == nullptr) return;
  }
  if (!all || member(node)->view().id == 0) {
    at(next_ns, What::attach, node, 0, incarnation);
  }
}

bool World::try_attach(std::uint32_t a, std::uint32_t b) {
  if (net_.connected(a, b)) return true;
  if (net_.is_cut(a, b) || net_.is_cut(b, a)) return false;
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (nodes_[one].paused_until_ns > now_ns_ || interrupts_.in_pass(one)) return false;
    if (net_.has_end(one, other)) {
      // The other end is gone, and what this one posts is answered so.
      if (nodes_[one].peers[other] != nodes_[other].vanished) {
        lose(one, other, options_.net.delay_ns);
      }
      return false;
    }
    if (member(one)->stopped() || member(one)->ended()) return false;
    if (member(one)->view().id != 0 && member(one)->view().rank_of(Slot{other})) return false;
    if (member(one)->reads(other)) return false;
    if (member(one)->was_removed(member(other)->self().incarnation)) {
      if (other == lingering_) return false;
      gone(other, true);
      come_back(other);
      return false;
    }
    // One that decided on a view with the other in it will part from that first.
    if (member(one)->view().id != 0 && member(one)->changing()) return false;
  }
  net_.connect(a, b, a % options_.hosts == b % options_.hosts);
  if (apart_.erase(std::minmax(a, b)) != 0) disturbances_.close(now_ns_);
  const std::uint64_t which = net_.connections(a, b);
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    nodes_[one].peers[other] = member(other)->self().incarnation;
    const std::uint64_t later_ns = random_.below(options_.learn_within_ns + 1);
    at(now_ns_ + later_ns, What::meet, one, other, which);
  }
  return true;
}

// The node learns of a connection, which may be broken by now.
void World::meet(const Happening& now) {
  Node& node = nodes_[now.node];
  if (!node.member || node.member->ended() || net_.connections(now.node, now.other) != now.which)
    return;
  if (!net_.has_end(now.node, now.other)) return;  // it was made by the one that was here before
  if (node.paused_until_ns > now_ns_) {
    return at(node.paused_until_ns, What::meet, now.node, now.other, now.which);
  }
  if (waits_for_pass(now)) return;
  net_.meet(now.node, now.other);
  node.member->connected(now.other, node.peers[now.other]);
  if (!net_.connected(now.node, now.other)) {
    troubles_.lost(now.node, now.other);
    lose(now.node, now.other, 5 * options_.net.delay_ns);
  }
  if (node.member->view().id == 0) hush(now.node);
  wake(now.node, now_ns_ + 1);
}

}  // namespace tutti::sim
