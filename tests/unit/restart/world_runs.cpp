// The running group: what the members of a view do, as in models/restart.pml. A change of view
// collects its promises in one step; each member accepts, decides and enters in a step of its own.
#include <algorithm>

#include "unit/restart/world.hpp"

namespace tutti::restart::testing {
namespace {

// Where two sequences part.
std::uint64_t common_length(const Sequence& one, const Sequence& other) {
  return std::ranges::mismatch(one, other).in1 - one.begin();
}

}  // namespace

void World::found() {
  ViewRecord view{.id = 1};
  const std::uint64_t few = random_.one_in(2) ? 2 : 5;
  for (const Node& node : nodes_) {
    if (view.members.empty() || !random_.one_in(few)) view.members.push_back(node.slot);
  }
  Sequences nothing;
  for (const std::string& group : groups_) {
    view.first.push_back({group, 0});
    nothing[group] = {};
  }
  decided_.push_back({.follows = 0, .next = view, .restart = false});
  cuts_.push_back(nothing);
  for (const std::uint32_t slot : view.members) {
    Node& node = nodes_[slot];
    open(node);
    node.views = {.node = names_[slot], .origin = 7, .since = 1, .chain = {view}};
    (void)node.file->save(node.views);
    enter(node, view, nothing);
  }
}

std::vector<World::Node*> World::together(const Node& node) {
  std::vector<Node*> all;
  for (const std::uint32_t slot : node.view.members) {
    if (nodes_[slot].state == State::runs && nodes_[slot].view == node.view) {
      all.push_back(&nodes_[slot]);
    }
  }
  return all;
}

const World::Known* World::known(const Proposed& proposal) const {
  const auto found = std::ranges::find(proposals_, proposal, &Known::proposal);
  return found == proposals_.end() ? nullptr : &*found;
}

bool World::may_enter(const Node& node, const ViewRecord& view) const {
  return view.has(node.slot) && !entered_.contains({view.id, node.slot});
}

void World::run_step(Node& node) {
  at(node, [&] {
    switch (random_.below(16)) {
      case 0:
        return confirm_view(node);
      case 1:
        return random_.one_in(4) ? change(node) : confirm_view(node);
      case 2:
      case 3:
        return accept(node);
      case 4:
      case 5:
        return try_decide(node);
      case 6:
      case 7:
        return hear(node);
      case 8:
      case 9:
      case 10:
      case 11:
        return receive(node);
      default:
        return write(node);
    }
  });
}

void World::receive(Node& node) {
  if (node.boss) return;  // wedged
  node.has[groups_[random_.below(groups_.size())]].push_back(node.view.id);
}

// Z3.
void World::write(Node& node) {
  if (slow_.contains(node.slot) && !random_.one_in(100)) return;
  const std::string& group = groups_[random_.below(groups_.size())];
  log::Writer& writer = *node.writers.at(group);
  const std::vector<Node*> all = together(node);
  std::uint64_t until = node.has[group].size();
  if (mistake_ != Mistake::logs_unstable) {
    std::uint64_t stable = all.size() == node.view.members.size() ? until : 0;
    for (const Node* one : all) stable = std::min(stable, one->has.at(group).size());
    until = std::min(until, std::max(stable, *node.view.first_of(group)));
  }
  until = std::min(until, writer.next() + 1 + random_.below(3));
  log::Batch batch;
  for (std::uint64_t seq = writer.next(); seq < until; ++seq) {
    batch.add(record_of(group, seq, node.has[group][seq]).record());
  }
  if (mistake_ == Mistake::persisted_unsynced) {
    node.written[group] = std::max(node.written[group], until);
    see(node.view);
  }
  const Result<void> done = writer.write(batch);
  holds(done.has_value(), "writes", done ? "" : done.error().message);
  node.written[group] = writer.next();
  see(node.view);
}

// What a majority of a view has synced is durable, and somebody sees that at once.
void World::see(const ViewRecord& view) {
  for (const std::string& group : groups_) {
    std::vector<std::uint64_t> written;
    const Node* longest = nullptr;
    for (const std::uint32_t slot : view.members) {
      Node& one = nodes_[slot];
      if (one.state != State::runs || one.view != view) continue;
      written.push_back(one.written[group]);
      if (longest == nullptr || one.has.at(group).size() > longest->has.at(group).size()) {
        longest = &one;
      }
    }
    if (!is_majority(written.size(), view)) continue;
    std::ranges::sort(written, std::ranges::greater{});
    const std::uint64_t end = written[view.members.size() / 2];
    const Sequence& all = longest->has.at(group);
    const Sequence seen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::uint64_t>(end, all.size())));
    Sequence& durable = durable_[group];
    holds(is_prefix(seen, durable) || is_prefix(durable, seen), "one_history",
          "what is durable contradicts what was durable before");
    const ViewRecord& newest = decided_.back().next;
    holds(newest == view || is_prefix(seen, cuts_.back().at(group)), "keeps_durable",
          "view " + std::to_string(newest.id) + " lacks what is durable in an earlier one");
    if (seen.size() > durable.size()) durable = seen;
  }
}

// Z10.
void World::confirm_view(Node& node) {
  std::size_t votes = 0;
  for (Node* one : together(node)) {
    const bool all = std::ranges::all_of(node.view.first, [&](const GroupFirst& group) {
      return one->written[group.group] >= group.first;
    });
    if (all || mistake_ == Mistake::confirms_received) ++votes;
  }
  if (!is_majority(votes, node.view) || node.views.confirmed() == node.view.id) return;
  Views views = node.views;
  confirm(views.chain, node.view.id);
  if (mistake_ == Mistake::installed_unsynced || node.file->save(views)) node.views = views;
}

void World::change(Node& node) {
  std::vector<Node*> all = together(node);
  if (all.size() > 1 && random_.one_in(4))
    all.erase(all.begin() + 1 + random_.below(all.size() - 1));
  if (all.front() != &node || !is_majority(all.size(), node.view)) return;
  std::vector<std::uint32_t> outside;
  for (const Node& one : nodes_) {
    // One that may still enter this view is no joiner of the next.
    const bool up =
        (one.state == State::back || one.state == State::outside) && !may_enter(one, node.view);
    if (up && outside.size() + 1 < all.size() && random_.one_in(2)) outside.push_back(one.slot);
  }
  const bool led = std::ranges::all_of(all, [&](const Node* one) {
    return one->boss == node.slot && one->vow == node.vow && node.proposed;
  });
  if (led || (all.size() == node.view.members.size() && outside.empty())) return;

  const Accepted* highest = nullptr;
  std::uint64_t ballot = 1;
  Known fresh{
      .proposal = {.follows = node.view.id, .next = {.id = node.view.id + 1}, .restart = false},
      .cut = node.has,
      .chain = node.views.chain};
  for (Node* one : all) {
    fresh.proposal.next.members.push_back(one->slot);
    ballot = std::max(ballot, one->vow + 1);
    const auto& accepted = one->views.accepted;
    if (accepted && accepted->proposal.follows == node.view.id &&
        (highest == nullptr || accepted->ballot > highest->ballot)) {
      highest = &*accepted;
    }
    for (auto& [group, sequence] : fresh.cut) {
      if (one->has.at(group).size() < sequence.size()) sequence = one->has.at(group);
    }
  }
  std::ranges::copy(outside, std::back_inserter(fresh.proposal.next.members));
  for (const auto& [group, sequence] : fresh.cut) {
    fresh.proposal.next.first.push_back({group, sequence.size()});
  }
  for (Node* one : all) {
    one->boss = node.slot;
    one->vow = ballot;
    one->shown = false;
  }
  if (highest != nullptr) {
    node.proposed = highest->proposal;
  } else {
    node.proposed = fresh.proposal;
    proposals_.push_back(fresh);
  }
}

// Z2.
void World::accept(Node& node) {
  if (!node.boss || node.shown) return;
  const Node& leader = nodes_[*node.boss];
  if (leader.state != State::runs || leader.view != node.view || leader.vow != node.vow ||
      leader.boss != leader.slot || !leader.proposed) {
    return;
  }
  Views views = node.views;
  views.accepted = Accepted{.ballot = node.vow, .proposal = *leader.proposed};
  if (mistake_ == Mistake::installed_unsynced) views.chain = (**node.file->load()).chain;
  if (mistake_ != Mistake::accepts_unsynced && !node.file->save(views)) return;
  node.views = views;
  node.shown = true;
}

void World::try_decide(Node& node) {
  if (!node.proposed || node.boss != node.slot) return;
  std::size_t votes = 0;
  for (const Node* one : together(node)) {
    votes += one->boss == node.slot && one->vow == node.vow && one->shown ? 1 : 0;
  }
  if (!is_majority(votes, node.view)) return;
  const Proposed proposal = *node.proposed;
  if (const Known* of = known(proposal)) decide(proposal, of->cut);
  hear(node);
}

// A member of the old view enters the next, or was evicted.
void World::hear(Node& node) {
  for (const Proposed& next : std::vector<Proposed>(decided_)) {
    if (next.restart || next.follows != node.view.id) continue;
    const Known* of = known(next);
    const bool leads = node.proposed == next;
    const bool heard = leads || std::ranges::any_of(nodes_, [&](const Node& one) {
                         return one.state == State::runs && one.view == next.next;
                       });
    if (of == nullptr || !heard) continue;
    if (!may_enter(node, next.next)) return crash(node);
    holds(are_prefixes(of->cut, node.has), "has_the_cut",
          names_[node.slot] + " has not received what is before the cut");
    Views views = node.views;
    const std::uint64_t before = views.confirmed();
    views.chain = of->chain;
    views.chain.push_back(next.next);
    confirm(views.chain, before);
    if (mistake_ != Mistake::installed_unsynced && !node.file->save(views)) return;
    node.views = views;
    leave_restart(node);
    return enter(node, next.next, of->cut);
  }
}

// Z1, Z11. The log keeps what it has before the cut, and gets the rest later.
void World::join(Node& node) {
  for (const Node& one : nodes_) {
    if (one.state != State::runs || !may_enter(node, one.view)) continue;
    const auto decided = std::ranges::find(decided_, one.view, &Proposed::next);
    const Known* of = decided == decided_.end() ? nullptr : known(*decided);
    if (of == nullptr) continue;
    const auto load = node.file->load();
    if (!load) return;
    const std::uint64_t installed = *load ? (**load).installed().id : 0;
    if (installed >= one.view.id) continue;  // Z12
    return at(node, [&] {
      Views views =
          *load ? **load : Views{.node = names_[node.slot], .origin = 7, .since = one.view.id};
      leave_restart(node);
      node.state = State::outside;
      for (const auto& [group, cut] : of->cut) {
        const std::uint64_t keep = common_length(read_log(node, group), cut);
        if (mistake_ == Mistake::keeps_tail) continue;
        const Result<void> done = node.writers.at(group)->cut_to(keep);
        holds(done.has_value(), "cuts", done ? "" : done.error().message);
      }
      const std::uint64_t before = views.chain.empty() ? 0 : views.confirmed();
      views.chain = of->chain;
      views.chain.push_back(of->proposal.next);
      confirm(views.chain, before);
      if (!node.file->save(views)) return;
      node.views = views;
      ++joins_;
      enter(node, of->proposal.next, of->cut);
    });
  }
}

void World::enter(Node& node, const ViewRecord& view, const Sequences& cut) {
  note(names_[node.slot] + " enters view " + std::to_string(view.id));
  entered_.insert({view.id, node.slot});
  node.state = State::runs;
  node.view = view;
  node.has = cut;
  for (const std::string& group : groups_) {
    const std::uint64_t next = node.writers.at(group)->next();
    holds(next <= *view.first_of(group), "within_cut",
          names_[node.slot] + "'s log has more than what is before the cut");
    const Sequence log = read_log(node, group);
    holds(is_prefix(log, cut.at(group)), "nothing_twice",
          names_[node.slot] + "'s log is not the beginning of the sequence");
    node.written[group] = next;
  }
  node.boss.reset();
  node.vow = 0;
  node.shown = false;
  node.proposed.reset();
}

}  // namespace tutti::restart::testing
