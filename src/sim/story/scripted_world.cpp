#include "sim/story/scripted_world.hpp"

#include <algorithm>
#include <utility>

namespace tutti::sim {
namespace {

constexpr std::uint64_t kSeed = 1;  // of sizes of messages; nothing depends on them

// The end of a connection comes after the last words that went over it, in a story.
constexpr std::uint64_t kLossNs = 2 * ScriptedWorld::kDelayNs;
}  // namespace

ScriptedWorld::ScriptedWorld(const Plan& plan, bool shared, ScriptEvents& events,
                             const NetOptions& net)
    : plan_(plan),
      shared_(shared),
      events_(events),
      troubles_(plan.rows.nodes(), kHeartbeatNs, shared ? 1 : plan.rows.nodes()),
      net_(plan.rows.nodes(), plan.rows.row_bytes(), kMembershipOffset + plan.rows.words.bytes(),
           net, kSeed, troubles_,
           [this](std::uint32_t slot, std::uint64_t at_ns) {
             nodes_[slot].rings_ns.push_back(at_ns);
             return true;
           }),
      nodes_(plan.rows.nodes()) {
  net_.set_watch([this](const Net::Posted& posted) { events_.posted(posted); });
}

bool ScriptedWorld::start(std::uint32_t slot, bool may_create) {
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (member(other) != nullptr && net_.has_end(other, slot)) return false;
  }
  const ViewMember self{Slot{slot}, ++incarnations_};
  Node& node = nodes_[slot];
  node = {};
  node.member = std::make_unique<Member>(plan_, self, may_create, net_, kSeed);
  poke(slot);
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other == slot || member(other) == nullptr) continue;
    net_.connect(slot, other, shared_);
    net_.meet(slot, other);
    net_.meet(other, slot);
    node.member->connected(other, member(other)->self().incarnation);
    member(other)->connected(slot, self.incarnation);
    poke(other);
  }
  return true;
}

void ScriptedWorld::kill(std::uint32_t slot, bool secretly) {
  gone(slot, "dies", secretly ? kNever : kLossNs);
}

void ScriptedWorld::kill_at(std::uint32_t slot, Failpoint point) {
  nodes_[slot].dies_at = point;
  nodes_[slot].progress = member(slot)->progress();
}

std::uint64_t ScriptedWorld::next_ns(const Node& node) {
  std::uint64_t next = node.wake_at_ns;
  for (const std::uint64_t rings_ns : node.rings_ns) next = std::min(next, rings_ns);
  return std::max(next, node.paused_until_ns);
}

std::uint64_t ScriptedWorld::next_ns() const {
  std::uint64_t next = net_.next_port_ns();
  for (const Node& node : nodes_) {
    if (node.member) next = std::min(next, next_ns(node));
  }
  for (const Loss& loss : losses_) {
    next = std::min(next, std::max(loss.at_ns, nodes_[loss.node].paused_until_ns));
  }
  return next;
}

void ScriptedWorld::run(const std::function<bool(std::uint64_t)>& is_over) {
  for (std::uint64_t next = next_ns(); next != kNever && !is_over(next); next = next_ns()) {
    set_time(std::max(now_ns_, next));
    for (std::uint32_t slot = 0; slot < nodes_.size(); ++slot) {
      hear_losses(slot);
      const Node& node = nodes_[slot];
      if (node.member && next_ns(node) <= now_ns_) turn(slot);
    }
  }
}

void ScriptedWorld::run_to(std::uint64_t at_ns) {
  run([at_ns](std::uint64_t next) { return next > at_ns; });
  set_time(at_ns);
}

void ScriptedWorld::set_time(std::uint64_t at_ns) {
  now_ns_ = at_ns;
  net_.set_time(at_ns);
  troubles_.set_time(at_ns);
}

std::string ScriptedWorld::finding() const {
  std::string found = net_.stale_read();
  for (const auto& member : gone_) {
    if (found.empty()) found = member->finding();
  }
  for (const Node& node : nodes_) {
    if (node.member && found.empty()) found = node.member->finding();
  }
  return found;
}

void ScriptedWorld::hear_losses(std::uint32_t slot) {
  std::erase_if(losses_, [&](const Loss& loss) {
    if (loss.node != slot || loss.at_ns > now_ns_) return false;
    if (nodes_[slot].paused_until_ns > now_ns_) return false;
    Member* loser = member(slot);
    const bool same = net_.connections(slot, loss.of) == loss.connection;
    if (loser == nullptr || !same || !net_.has_met(slot, loss.of)) return true;
    events_.hears_loss(slot, loss.of);
    loser->lost(loss.of);
    poke(slot);
    return true;
  });
}

// Passes until there is nothing to do, and once more, as a node does before it sleeps.
void ScriptedWorld::turn(std::uint32_t slot) {
  Node& node = nodes_[slot];
  const auto rung = std::erase_if(node.rings_ns, [this](auto at_ns) { return at_ns <= now_ns_; });
  events_.wakes(slot, rung != 0);
  for (std::uint32_t idle = 0; idle < 2;) {
    const std::size_t work = node.member->pass();
    events_.passed(slot);
    if (dies(node)) return kill(slot, false);
    if (ends(slot)) return;
    idle = work == 0 ? idle + 1 : 0;
  }
  const bool ending = node.member->stopped().has_value() || node.member->ended();
  const std::uint64_t next_ns = ending ? now_ns_ + kDelayNs : node.member->next_step_ns();
  node.wake_at_ns = std::max(now_ns_ + 1, next_ns);
  events_.sleeps(slot);
}

bool ScriptedWorld::dies(Node& node) {
  if (node.dies_at == Failpoint::none) return false;
  const Progress before = std::exchange(node.progress, node.member->progress());
  return reached(node.dies_at, before, node.progress);
}

bool ScriptedWorld::ends(std::uint32_t slot) {
  const Member& here = *nodes_[slot].member;
  const bool left = here.stopped() == StopReason::left;
  const bool stopped = here.stopped().has_value() && !here.rests();
  if (!here.ended() && !stopped) return false;
  if ((left || here.ended()) && !here.drained()) return false;
  gone(slot, "'s process ends", kLossNs);
  return true;
}

void ScriptedWorld::gone(std::uint32_t slot, const std::string& why, std::uint64_t told_after_ns) {
  Node& node = nodes_[slot];
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other == slot || !net_.connected(slot, other)) continue;
    net_.close(slot, other, ~std::size_t{0});
    if (member(other) == nullptr || told_after_ns == kNever || net_.is_cut(slot, other)) continue;
    losses_.push_back({now_ns_ + told_after_ns, other, slot, net_.connections(slot, other)});
  }
  net_.part_from_all(slot);
  events_.gone(slot, why);
  gone_.push_back(std::move(node.member));
}

}  // namespace tutti::sim
