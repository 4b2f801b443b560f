// What goes wrong in the world, and when.
#include <algorithm>
#include <array>
#include <utility>

#include "history/make_event.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

void World::plan_faults() {
  const Faults& faults = options_.faults;
  if (faults.lost_doorbells_percent != 0) disturbances_.add(0, options_.fault_ns);
  const auto plan = [this](What what, std::uint32_t most) {
    for (std::uint64_t n = most == 0 ? 0 : 1 + random_.below(most); n > 0; --n) {
      at(soon(options_.fault_ns), what, kAnyNode, kAnyNode);
    }
  };
  plan(What::crash, faults.crashes);
  plan(What::pause, faults.pauses);
  plan(What::standstill, faults.standstills);
  plan(What::partition, faults.partitions);
  plan(What::one_way_cut, faults.one_way_cuts);
  plan(What::mute, faults.muted);
  plan(What::flap, faults.flaps);
  plan(What::break_link, faults.broken_links);
  plan(What::lie, faults.lies);
  plan(What::leave, faults.leaves);
  plan(What::stick, faults.stuck);
  hits_left_ = faults.in_changes;
  newcomers_left_ = faults.newcomers;
  successors_left_ = faults.successors;
  splits_left_ = faults.splits;
  const InterruptOptions& stops = options_.interrupts;
  for (std::uint32_t n = 0; n < stops.pauses + stops.deaths; ++n) {
    at(1 + rare_random_.below(options_.fault_ns), What::arm, 0, 0, n < stops.pauses ? 0 : 1);
  }
  failpoint_after_ = faults.failpoint_after;
  failpoint_left_ = faults.failpoint == Failpoint::none ? 0 : faults.failpoint_times;
  at(options_.fault_ns, What::heal);
  at(options_.fault_ns + options_.calm_ns / 3, What::judge);
  at(options_.fault_ns + options_.calm_ns / 4 * 3, What::quiet);
}

void World::crash(std::uint32_t node, bool secretly) {
  record(history::make_fault(history::EventKind::fault_begin, {.time_ns = now_ns_},
                             history::FaultKind::crash, static_cast<std::uint16_t>(node)));
  gone(node, !options_.faults.silent_crashes, secretly);
  crashed_.back() = true;
  if (!nodes_[node].left) come_back(node);
}

void World::pause(std::uint32_t node, std::uint64_t until_ns) {
  nodes_[node].paused_until_ns = until_ns;
  if (interrupts_.in_pass(node)) stop_for(node, until_ns - now_ns_);
  troubles_.resumed(node);
  troubles_.paused(node, until_ns);
  disturbances_.add(now_ns_, until_ns);
}

// Its application does not come back from a callback, its protocol goes on.
void World::stick(std::uint32_t node) {
  if (member(node) == nullptr || calm_) return;
  member(node)->get_stuck(soon(8 * options_.suspect_after_ns), random_.one_in(2));
}

// Its application stays in a callback, one at a time in the world, while all else goes on: another
// thread of the node passes for the one that calls (T1).
Lingered World::linger(std::uint32_t node) {
  if (lingers_left_ == 0 || calm_ || lingering_ != kAnyNode || !rare_random_.one_in(8)) {
    return Lingered::not_at_all;
  }
  --lingers_left_;
  const Member* const here = member(node);
  const std::uint64_t unit_ns = options_.net.delay_ns + options_.net.jitter_ns;
  const bool is_short = rare_random_.one_in(2);
  std::uint64_t until_ns =
      now_ns_ + 1 + rare_random_.below(is_short ? 8 * unit_ns : 3 * options_.suspect_after_ns);
  lingering_ = node;
  wake(node, now_ns_ + 1);
  while (member(node) == here) {
    until_ns = std::max(until_ns, nodes_[node].paused_until_ns);
    until_ns = std::min(until_ns, options_.fault_ns - 1);
    if (queue_.empty() || queue_.top().at_ns > until_ns) break;
    happen_next();
  }
  lingering_ = kAnyNode;
  if (member(node) != here) return Lingered::until_death;
  set_time(std::max(now_ns_, until_ns));
  return Lingered::for_a_while;
}

// Holds what the one posts to the other.
void World::cut(std::uint32_t from, std::uint32_t to, std::uint64_t until_ns) {
  net_.cut(from, to, true);
  at(until_ns, What::mend, from, to);
  disturbances_.add(now_ns_, until_ns + one_way_ns());
}

// Some do not hear any more what it sends, and it dies before they miss it: what it sent meanwhile
// the others have alone. Several at a time may be so.
void World::mute(std::uint32_t node) {
  if (member(node) == nullptr || calm_) return;
  const std::uint64_t dies_ns = soon(options_.suspect_after_ns / 2);
  at(dies_ns, What::crash, node, kAnyNode, random_.below(2));
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != node && random_.one_in(2)) cut(node, other, dies_ns);
  }
}

// Between the two, in one direction or both, now it goes through and now it does not.
void World::flap(std::uint32_t a, std::uint32_t b) {
  if (a == b) return;
  const bool both_ways = random_.one_in(2);
  std::uint64_t at_ns = now_ns_;
  for (std::uint64_t n = 2 + random_.below(6); n > 0; --n) {
    const std::uint64_t lasts_ns = 1 + random_.below(options_.suspect_after_ns);
    at(at_ns, What::blink, a, b, lasts_ns);
    if (both_ways) at(at_ns, What::blink, b, a, lasts_ns);
    at_ns += lasts_ns + 1 + random_.below(options_.suspect_after_ns / 2);
  }
}

void World::stand_still() {
  const std::uint64_t until = soon(3 * options_.suspect_after_ns);
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    pause(node, std::max(nodes_[node].paused_until_ns, until));
  }
}

void World::partition() {
  const std::uint64_t until = soon(4 * options_.suspect_after_ns);
  std::vector<bool> side(nodes_.size());
  for (std::size_t host = 0; host < options_.hosts; ++host) {
    const bool there = random_.one_in(2);
    for (std::size_t node = host; node < side.size(); node += options_.hosts) side[node] = there;
  }
  for (std::uint32_t a = 0; a < nodes_.size(); ++a) {
    for (std::uint32_t b = 0; b < nodes_.size(); ++b) {
      if (side[a] == side[b]) continue;
      cut(a, b, until);
    }
  }
}

void World::break_link(std::uint32_t a, std::uint32_t b) {
  if (a == b || !net_.connected(a, b) || member(a) == nullptr || member(b) == nullptr) return;
  net_.close(a, b, random_.below(5));
  // What was on its way is lost. In a change of view one of them may hear the decision from a
  // third.
  if (member(a)->changing() || member(b)->changing()) {
    disturbances_.add(now_ns_, now_ns_ + one_way_ns());
  }
  // If both are complete, neither reports the other (P2); and neither rings the other any more.
  // In a change of view each finds the other's words as it looks up by itself.
  if (nodes_[a].finishes && nodes_[b].finishes) {
    disturbances_.open(now_ns_);
    apart_.insert(std::minmax(a, b));
  }
  lose(a, b, 5 * options_.net.delay_ns);
  lose(b, a, 5 * options_.net.delay_ns);
}

// The node believes that it has lost another member of its view, or all of them, though it still
// hears them; or each member believes that it has lost the member of the next rank.
void World::lie(std::uint32_t node) {
  if (member(node) == nullptr || member(node)->stopped()) return;
  const View view = member(node)->view();
  if (view.id == 0) return;  // it would wait for the other to come again, which does not know
  const std::uint64_t kind = random_.below(8);
  const std::uint32_t other = some_node();
  const auto members = static_cast<std::uint32_t>(view.members.size());
  for (const Rank rank : view.ranks()) {
    const std::uint32_t there = view.members[rank].slot.value;
    const std::uint32_t next = view.members[Rank{(rank.value + 1) % members}].slot.value;
    if (kind == 0) {
      believe_lost(there, next);
    } else if (kind <= 2 || there == other) {
      believe_lost(node, there);
    }
  }
}

void World::believe_lost(std::uint32_t node, std::uint32_t other) {
  if (node == other || member(node) == nullptr || member(node)->stopped()) return;
  // A lie that waited for the end of a pass may come to the next incarnation there, see lie().
  if (member(node)->view().id == 0 || !member(node)->view().rank_of(Slot{other})) return;
  if (waits_for_pass({.what = What::believe_lost, .node = node, .other = other})) return;
  troubles_.lost(node, other);
  member(node)->believe_lost(other);
  wake(node, now_ns_ + 1);
}

// It has just got to the run's failpoint, and it is its turn.
bool World::dies(Node& node) {
  if (failpoint_left_ == 0 || calm_ || node.member->stopped()) return false;
  const Progress before = std::exchange(node.progress, node.member->progress());
  if (!reached(options_.faults.failpoint, before, node.progress)) return false;
  if (failpoint_after_ != 0) {
    --failpoint_after_;
    return false;
  }
  --failpoint_left_;
  ++deaths_;
  return true;
}

// A change of view takes some six one-way delays. Meanwhile its leader dies, stops for a while or
// is cut off, often when somebody has not heard all that it said.
void World::hit_change(const View& view) {
  if (hits_left_ == 0 || calm_ || random_.one_in(3)) return;
  --hits_left_;
  std::vector<std::uint32_t> there;
  for (const ViewMember& one : view.members) {
    if (member(one.slot.value) != nullptr) there.push_back(one.slot.value);
  }
  const std::uint64_t one_way_ns = options_.net.delay_ns + options_.net.jitter_ns;
  const std::uint64_t early = soon(5 * one_way_ns);
  const std::uint32_t leader = random_.one_in(4) ? some_node() : there.front();
  const std::uint32_t successor = random_.one_in(2) ? there[1 % there.size()] : some_node();
  if (!random_.one_in(3)) at(early, What::one_way_cut, leader, successor);
  static constexpr std::array kWhats{What::crash, What::pause, What::break_link, What::one_way_cut};
  const What what = kWhats[random_.below(kWhats.size())];
  at(early + random_.below(5 * one_way_ns), what, leader, some_node());
}

// The node has just decided, or heard so, and goes on without anybody hearing of it from it: for a
// while, or until it is gone for ever.
void World::hit_decision(std::uint32_t node) {
  if (calm_) return;
  if (lone_ == node) return die_alone();
  if (cut_off_leader_ == node) {
    cut_off_leader_ = kAnyNode;
    return silence(node);
  }
  if (newcomers_left_ != 0) part_a_newcomer();
  if (hits_left_ == 0 || !random_.one_in(3)) return;
  --hits_left_;
  silence(node);
}

// A view is decided, and one that is to come in does not know it yet. It loses another, which may
// be heard in that view by the others already.
void World::part_a_newcomer() {
  std::vector<std::uint32_t> newcomers;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    const Member* one = member(node);
    if (one != nullptr && !one->stopped() && one->view().id == 0) newcomers.push_back(node);
  }
  if (newcomers.empty()) return;
  --newcomers_left_;
  const std::uint64_t one_way_ns = options_.net.delay_ns + options_.net.jitter_ns;
  at(soon(one_way_ns), What::break_link, newcomers[random_.below(newcomers.size())], some_node());
}

void World::silence(std::uint32_t node) {
  const std::uint64_t one_way_ns = options_.net.delay_ns + options_.net.jitter_ns;
  if (random_.one_in(2)) at(soon(8 * one_way_ns), What::crash, node, kAnyNode, 1);
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != node) at(now_ns_, What::one_way_cut, node, other);
  }
}

// The node has just proposed as leader. Its successor, the member of the next rank, does not hear
// of the proposal until it leads itself: when it misses the leader's heartbeats, or at once, just
// as the others accept.
void World::cut_off_successor(std::uint32_t node) {
  const Progress before = std::exchange(nodes_[node].progress, member(node)->progress());
  if (calm_ || !reached(Failpoint::proposed, before, nodes_[node].progress)) return;
  const View view = member(node)->view();
  const std::optional<Rank> rank = view.rank_of(Slot{node});
  if (view.id == 0 || !rank || rank->value + 1 >= view.members.size()) return;
  --successors_left_;
  cut_off_leader_ = node;
  const std::uint32_t successor = view.members[Rank{rank->value + 1}].slot.value;
  cut(node, successor, now_ns_ + 3 * options_.suspect_after_ns);
  if (options_.faults.hasty)
    at(soon(options_.net.delay_ns + options_.net.jitter_ns), What::believe_lost, successor, node);
}

// It has just agreed to found a group, says so, and hears no more of the others that do. With those
// that are not among them it may come to be as many as found a group.
void World::split_founders(std::uint32_t node) {
  const Progress before = std::exchange(nodes_[node].progress, member(node)->progress());
  const Progress& after = nodes_[node].progress;
  if (calm_ || after.view != 0 || !reached(Failpoint::accepted, before, after)) return;
  --splits_left_;
  const std::uint64_t until_ns = now_ns_ + 10 * options_.suspect_after_ns;
  const auto is_founder = [&](std::uint32_t other) {
    const Member* there = member(other);
    return other != node && there != nullptr && (there->changing() || there->view().id != 0);
  };
  for (std::uint32_t one = 0; one < nodes_.size(); ++one) {
    for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
      if (!is_founder(one) || is_founder(other)) continue;
      cut(one, other, until_ns);
      if (other != node) cut(other, one, until_ns);
    }
  }
}

// Soon the node is told that its connection to the other is no more.
void World::lose(std::uint32_t node, std::uint32_t other, std::uint64_t most_ns, What how) {
  at(soon(most_ns), how, node, other, net_.connections(node, other));
}

// What a member of its view has written stays until that is removed.
void World::lost(const Happening& now) {
  Member* loser = member(now.node);
  if (loser == nullptr || loser->ended() || net_.connections(now.node, now.other) != now.which)
    return;
  if (!net_.has_met(now.node, now.other) || waits_for_pass(now)) return;
  loser->lost(now.other);
  nodes_[now.node].looks_again = false;  // as of any work: another pass acts on it
  wake(now.node, now_ns_ + 1);
}

void World::heal() {
  calm_ = true;
  openings_.calm();
  net_.mend_all();
  if (options_.faults.disorders != 0) mend_paths();
  net_.set_slow_one_in(0);
  logs_.mend();
  views_.mend();
  disturbances_.end(now_ns_ + one_way_ns());
  if (options_.faults.lost_doorbells_percent != 0) {
    disturbances_.add(now_ns_, now_ns_ + options_.poll_ns);
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (Member* one = member(node)) {
      one->get_stuck(now_ns_, false);
      one->get_stuck(now_ns_, true);
      wake(node, now_ns_ + 1);
    }
    if (nodes_[node].paused_until_ns > now_ns_) {
      nodes_[node].paused_until_ns = now_ns_;
      troubles_.resumed(node);
      wake(node, now_ns_ + 1);
      if (interrupts_.in_pass(node)) stop_for(node, 1);
    }
  }
}

}  // namespace tutti::sim
