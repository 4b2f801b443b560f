// Members that end: all finish, at about the same time, and go without a word (P2); some leave
// instead, some end long after they have finished, some join meanwhile or die.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/world.hpp"

namespace tutti::sim {

// Nodes that join do so about then.
void World::plan_ends() {
  Prng& random = rare_random_;
  const std::uint64_t unit_ns = options_.net.delay_ns + options_.net.jitter_ns;
  const std::array<std::uint64_t, 4> spreads{unit_ns, 8 * unit_ns, options_.suspect_after_ns,
                                             4 * options_.suspect_after_ns};
  const std::uint64_t spread_ns = spreads[random.below(spreads.size())];
  const std::uint64_t begin_ns = options_.fault_ns / 4 + random.below(options_.fault_ns / 2);
  const auto then = [&] { return begin_ns + random.below(spread_ns); };
  // Some are removed although they live, while all is complete and they have yet to end. Or nodes
  // join just then.
  const bool removes = options_.faults.lies != 0;
  const bool found_alone = 2 * options_.founders > options_.nodes;
  const bool joined_late = found_alone && options_.founders < options_.nodes && random.one_in(3);
  for (std::uint32_t node = 0; node < options_.nodes; ++node) {
    const std::uint64_t finish_ns = then();
    const std::uint64_t late_ns = random.below(
        random.one_in(4) || removes || joined_late ? 4 * options_.suspect_after_ns : unit_ns);
    const Ending how = random.one_in(5) ? Ending::leaves : Ending::stops;
    at(finish_ns, What::finish, node);
    at(finish_ns + late_ns, What::end, node, 0, static_cast<std::uint64_t>(how));
  }
  const std::uint64_t early_ns = 4 * options_.heartbeat_ns;
  for (std::uint32_t node = options_.founders; node < options_.nodes; ++node) {
    if (joined_late) {
      latecomers_.push_back(node);
    } else {
      at(then() + random.below(2 * early_ns) - early_ns, What::start, node);
    }
  }
  if (options_.faults.crashes != 0) at(then(), What::crash, kAnyNode, kAnyNode);
  for (std::uint32_t n = 0; n < 2 * options_.faults.lies; ++n) {
    at(begin_ns + spread_ns + random.below(2 * options_.suspect_after_ns),
       n % 2 == 0 ? What::lie : What::break_link, kAnyNode, kAnyNode);
  }
}

// All is complete at a member, and it has yet to end.
void World::start_latecomers() {
  for (const std::uint32_t node : std::exchange(latecomers_, {})) {
    at(now_ns_ + 1 + rare_random_.below(options_.suspect_after_ns), What::start, node);
  }
}

// A member wedges, and the applications of several stop just then: the change may count on them.
void World::end_in_change() {
  if (calm_ || !rare_random_.one_in(2)) return;
  const std::uint64_t unit_ns = options_.net.delay_ns + options_.net.jitter_ns;
  for (std::uint32_t node = 0; node < options_.nodes; ++node) {
    if (!nodes_[node].finishes || rare_random_.one_in(4)) continue;
    at(now_ns_ + 1 + rare_random_.below(4 * unit_ns), What::end, node, 0,
       static_cast<std::uint64_t>(Ending::stops));
  }
}

// What the node's application wants, of each of its incarnations that is in a view. True if that
// is new.
bool World::ask_to_end(std::uint32_t node) {
  Node& runner = nodes_[node];
  Member& here = *runner.member;
  if (!runner.finishes || here.told_view().id == 0) return false;
  if (here.complete()) start_latecomers();
  const bool news = here.ending() != runner.ends || !here.finished();
  here.finish();
  if (runner.ends != Ending::none) here.end(runner.ends);
  runner.left = runner.left || runner.ends == Ending::leaves;
  return news;
}

// It has lost the others, and nothing with them: it beats no more, and does not say so.
void World::fall_silent(std::uint32_t node) {
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != node) troubles_.lost(other, node);
  }
}

// The process is gone. The end of a connection comes after the last words that went over it.
void World::hang_up(std::uint32_t node, std::uint64_t incarnation) {
  Node& runner = nodes_[node];
  if (!runner.member || runner.member->self().incarnation != incarnation) return;
  if (runner.paused_until_ns > now_ns_) {
    return at(runner.paused_until_ns, What::hang_up, node, 0, incarnation);
  }
  gone(node, true);
  // Some are started again. They join, if anybody is left, and end like the first.
  if (!rare_random_.one_in(4)) return;
  at(now_ns_ + 1 + rare_random_.below(4 * options_.suspect_after_ns), What::start, node);
}

void World::hear_end(const Happening& now) {
  if (net_.connections(now.node, now.other) != now.which) return;
  if (net_.has_met(now.node, now.other) && !net_.has_landed(now.other, now.node)) {
    return at(soon(options_.net.delay_ns), What::hear_end, now.node, now.other, now.which);
  }
  lost(now);
}

std::vector<const Member*> World::all_members() const {
  std::vector<const Member*> members;
  for (const auto& member : gone_) members.push_back(member.get());
  for (const Node& node : nodes_) {
    if (node.member) members.push_back(node.member.get());
  }
  return members;
}

const Member& World::find(const ViewMember& member) const {
  const std::vector<const Member*> all = all_members();
  return **std::ranges::find(all, member, &Member::self);
}

bool World::was_suspected_before(const Suspicion& suspicion) const {
  const auto before = [&](const Suspicion& other) {
    return other.whom == suspicion.whom && other.view == suspicion.view &&
           other.at_ns < suspicion.at_ns;
  };
  return std::ranges::any_of(all_members(), [&](const Member* member) {
    return std::ranges::any_of(member->suspicions(), before);
  });
}

// P2: who ends is missed by nobody, unless the others stay for longer than silence is borne.
std::string World::lost_for_nothing(const Member& member) const {
  if (!orderly(options_) || member.view().id == 0) return {};
  // Where no sender is left, a member that does not end cannot know that all is complete
  // (Engine::is_through).
  const auto has_sender = [&](const GroupOptions& group) {
    return std::ranges::any_of(group.senders, [&](const std::string& sender) {
      return std::ranges::any_of(member.view().members, [&](const ViewMember& one) {
        return plan_.rows.names[one.slot] == sender;
      });
    });
  };
  const bool knows = member.ended_then() || std::ranges::all_of(plan_.rows.groups, has_sender);
  if (knows && member.stopped() && *member.stopped() != StopReason::left && !member.rests()) {
    return "P2: " + member.name() + " lost the others, although nobody failed";
  }
  for (const Suspicion& suspicion : member.suspicions()) {
    const std::string whom = member.name() + " suspected " + plan_.rows.names[suspicion.whom.slot];
    const Member& other = find(suspicion.whom);
    if (suspicion.decided || other.stopped() == StopReason::left) continue;
    const std::optional<std::uint64_t> ended_ns = other.ended_ns();
    if (!ended_ns || *ended_ns > suspicion.at_ns) {
      return "P2: " + whom + ", which had not ended";
    }
    if (was_suspected_before(suspicion)) continue;
    const bool silent =
        suspicion.at_ns - *ended_ns + 2 * options_.heartbeat_ns >= options_.suspect_after_ns;
    if (!suspicion.changing && !silent) {
      return "P2: " + whom + ", which had ended, with no need";
    }
    // Where no majority is there, nobody is reported.
    const bool goes_on = std::ranges::any_of(
        member.entries(), [&](const Entered& entry) { return entry.view.id > suspicion.view; });
    const std::uint64_t waited_ns = suspicion.at_ns - suspicion.since_ns;
    if (suspicion.changing && goes_on && waited_ns > options_.suspect_after_ns / 2) {
      return "P2: " + whom + ", which had ended, late: a change of view waited for it";
    }
  }
  return {};
}

// Who ended in the same view was given the same, and all of it.
std::string World::lacks_something(const Member& member) const {
  if (!member.ended()) return {};
  for (const auto& other : gone_) {
    if (!other->ended() || other->view() != member.view()) continue;
    for (std::size_t g = 0; g < options_.groups; ++g) {
      if (!member.is_in(g) || !other->is_in(g)) continue;
      const auto from_the_first = [](const Member& one) {
        return one.entries().front().view.survivors == 0;
      };
      const bool unordered = plan_.rows.groups[g].level == Level::unordered;
      // A member that joins a group without a state is given nothing of what came before.
      const bool comparable = has_state(plan_, g) || from_the_first(member);
      if (!comparable || (!unordered && !has_state(plan_, g) && !from_the_first(*other))) continue;
      const bool lacks = unordered ? member.last_ticket(g, other->self()) != other->last_sent(g)
                                   : member.state(g) != other->state(g);
      if (!lacks) continue;
      return "D10: " + member.name() + " and " + other->name() +
             " have ended, and have not been given the same in group " + std::to_string(g);
    }
  }
  if (!member.idle()) return "D10: " + member.name() + " ended before it delivered what it sent";
  return {};
}

std::string World::wrong_end(const Member& member) const {
  if (!options_.faults.ends) return {};
  std::string found = lost_for_nothing(member);
  return found.empty() ? lacks_something(member) : found;
}

// Nobody that was ever in a view is there any more.
std::string World::unended() const {
  for (const std::uint32_t node : running()) {
    if (member(node)->view().id == 0 || member(node)->ended()) continue;
    return "V4: " + plan_.rows.names[Slot{node}] + " has finished and does not end";
  }
  return {};
}

}  // namespace tutti::sim
