// The running group: what the members of a view do, as in models/restart.pml. A change of view
// collects its promises in one step; each member accepts, decides and enters in a step of its own.
#include <algorithm>

#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {

std::vector<RecoveryWorld::Node*> RecoveryWorld::together(const ViewRecord& view) {
  std::vector<Node*> all;
  for (const std::uint32_t slot : view.members) {
    if (nodes_[slot].runs && nodes_[slot].view == view) all.push_back(&nodes_[slot]);
  }
  return all;
}

const RecoveryWorld::Known* RecoveryWorld::known(const Proposed& proposal) const {
  const auto found = std::ranges::find(proposals_, proposal, &Known::proposal);
  return found == proposals_.end() ? nullptr : &*found;
}

void RecoveryWorld::run_step(Node& node, std::uint64_t kind) {
  switch (kind) {
    case 0:
      return begin_logs(node);
    case 1:
      return confirm_view(node);
    case 2:
      return calm_ || random_.one_in(4) ? change(node) : confirm_view(node);
    case 3:
    case 4:
      return accept(node);
    case 5:
    case 6:
      return try_decide(node);
    case 7:
    case 8:
      return hear(node);
    case 9:
    case 10:
    case 11:
      return calm_ && kind != 9 ? begin_logs(node) : receive(node);
    default:
      return write(node);
  }
}

// A log is told of its group's beginning a while after the view is entered.
void RecoveryWorld::begin_logs(Node& node) {
  for (std::size_t log = 0; log < groups_.size(); ++log) {
    Log& of = node.logs_of[groups_[log]];
    if (of.told) continue;
    of.told = true;
    return node.recovery->begin(log, *of.begins);
  }
}

void RecoveryWorld::receive(Node& node) {
  if (node.boss) return;  // wedged
  const std::string& group = groups_[random_.below(groups_.size())];
  Sequence& has = node.has[group];
  if (calm_) {  // what others have, and then nothing more
    std::size_t most = 0;
    for (const Node* one : together(node.view)) most = std::max(most, one->has.at(group).size());
    for (const std::string& each : groups_) {
      for (const Node* one : together(node.view)) {
        if (one->has.at(each).size() > node.has[each].size()) node.has[each] = one->has.at(each);
      }
    }
    return;
  }
  has.push_back(node.view.id);
}

// Z3. Nothing is written before the recovery has handed the log over.
void RecoveryWorld::write(Node& node) {
  if (!calm_ && slow_.contains(node.slot) && !random_.one_in(100)) return;
  const std::string& group = groups_[random_.below(groups_.size())];
  Log& of = node.logs_of[group];
  if (!of.handed) return;
  log::Writer& writer = *node.writers.at(group);
  const std::vector<Node*> all = together(node.view);
  std::uint64_t until = node.has[group].size();
  std::uint64_t stable = all.size() == node.view.members.size() ? until : 0;
  for (const Node* one : all) stable = std::min(stable, one->has.at(group).size());
  until = std::min(until, std::max(stable, *node.view.first_of(group)));
  const std::uint64_t most = takes_snapshots_ ? 2 : 50;  // of long records few fit a segment
  until = std::min(until, writer.next() + 1 + (calm_ ? most : random_.below(3)));
  if (until <= writer.next()) return;
  log::Batch batch;
  LogSummary summary = of.summary;
  for (std::uint64_t seq = writer.next(); seq < until; ++seq) {
    const OwnedRecord record = record_of(group, seq, node.has[group][seq]);
    batch.add(record.record());
    add(summary, record.record());
  }
  const Result<void> done = writer.write(batch);
  if (!done) {
    disk_failed(node, done.error());
    return write_failed(node, of, group, until, summary);
  }
  of.written = writer.next();
  of.summary = summary;
  see(node.view);
  if (node.recovery->awaits_logs()) node.recovery->logs_grew();
  take_snapshot(node, group);
}

// What a majority of a view has synced is durable, and somebody sees that at once: as with
// GroupOptions::durable_quorum.
void RecoveryWorld::see(const ViewRecord& view) {
  for (const std::string& group : groups_) {
    std::vector<std::uint64_t> written;
    const Node* longest = nullptr;
    for (Node* one : together(view)) {
      written.push_back(one->logs_of[group].written);
      if (longest == nullptr || one->has.at(group).size() > longest->has.at(group).size()) {
        longest = one;
      }
    }
    if (!is_majority(written.size(), view)) continue;
    written.resize(view.members.size());
    std::ranges::sort(written, std::ranges::greater{});
    std::size_t last = view.members.size() / 2;  // of the smallest majority
    if (mistake_ == RecoveryMistake::durable_by_less && last != 0) --last;
    const std::uint64_t end = written[last];
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
void RecoveryWorld::confirm_view(Node& node) {
  std::size_t votes = 0;
  for (Node* one : together(node.view)) {
    const bool all = std::ranges::all_of(node.view.first, [&](const GroupFirst& group) {
      return one->logs_of[group.group].handed && one->logs_of[group.group].written >= group.first;
    });
    votes += all ? 1 : 0;
  }
  if (is_majority(votes, node.view)) node.recovery->confirm(node.view.id);
}

void RecoveryWorld::change(Node& node) {
  std::vector<Node*> all = together(node.view);
  if (!calm_ && all.size() > 1 && random_.one_in(6)) {
    all.erase(all.begin() + 1 + random_.below(all.size() - 1));
  }
  const bool is_over = std::ranges::any_of(decided_, [&](const Proposed& one) {
    return !one.restart && one.follows == node.view.id && !together(one.next).empty();
  });
  if (all.front() != &node || is_over) return;
  // Those that are about to enter are waited for, most times.
  bool waits = false;
  for (const std::uint32_t slot : node.view.members) {
    waits = waits || (!nodes_[slot].runs && named(nodes_[slot], node.view.id));
  }
  if (waits && (calm_ || !random_.one_in(8))) return;
  if (!is_majority(all.size(), node.view)) {  // J6
    if (calm_ || random_.one_in(4)) crash(node);
    return;
  }
  std::vector<Node*> joiners;
  for (Node& one : nodes_) {
    if (is_admissible(one, node.view) && (calm_ || random_.one_in(2))) joiners.push_back(&one);
  }
  const bool led = std::ranges::all_of(all, [&](const Node* one) {
    return one->boss == node.slot && one->vow == node.vow && node.proposed;
  });
  if (led || (all.size() == node.view.members.size() && joiners.empty())) return;
  propose(node, all, joiners);
}

void RecoveryWorld::propose(Node& node, const std::vector<Node*>& all,
                            const std::vector<Node*>& joiners) {
  const Accepted* highest = nullptr;
  std::uint64_t ballot = 1;
  Known fresh{
      .proposal = {.follows = node.view.id, .next = {.id = node.view.id + 1}, .restart = false},
      .cut = node.has};
  const auto name = [&](const Node& one) {
    fresh.proposal.next.members.push_back(one.slot);
    fresh.who[one.slot] = one.incarnation->number;
  };
  for (const Node* one : all) {
    name(*one);
    ballot = std::max(ballot, one->vow + 1);
    if (one->accepted && (highest == nullptr || one->accepted->ballot > highest->ballot)) {
      highest = &*one->accepted;
    }
    for (auto& [group, sequence] : fresh.cut) {
      if (one->has.at(group).size() < sequence.size()) sequence = one->has.at(group);
    }
  }
  for (const Node* one : joiners) name(*one);
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
  } else if (known(fresh.proposal) != nullptr) {
    node.boss.reset();  // the same view of other incarnations: not now
  } else {
    for (const Node* one : joiners) {
      const std::optional<Views> views = synced(*one);
      holds(views && views->since <= fresh.proposal.next.id, "has_a_vote",
            names_[one->slot] + " is admitted, and its disk will not count");
    }
    node.proposed = fresh.proposal;
    proposals_.push_back(fresh);
  }
}

// Z2.
void RecoveryWorld::accept(Node& node) {
  if (!node.boss || node.shown) return;
  const Node& leader = nodes_[*node.boss];
  if (!leader.runs || leader.view != node.view || leader.vow != node.vow ||
      leader.boss != leader.slot || !leader.proposed) {
    return;
  }
  const Accepted accepted{.ballot = node.vow, .proposal = *leader.proposed};
  unsaved(node, RecoveryMistake::accepts_unsaved, [&] { node.recovery->accept(accepted); });
  if (node.recovery->error()) return;
  const std::optional<Views> views = synced(node);
  holds(views && views->accepted == accepted, "is_on_disk",
        names_[node.slot] + " shows an acceptance that is not on its disk");
  node.accepted = accepted;
  node.shown = true;
}

void RecoveryWorld::try_decide(Node& node) {
  if (!node.proposed || node.boss != node.slot) return;
  std::size_t votes = 0;
  for (const Node* one : together(node.view)) {
    votes += one->boss == node.slot && one->vow == node.vow && one->shown ? 1 : 0;
  }
  if (!is_majority(votes, node.view)) return;
  const Proposed proposal = *node.proposed;
  if (const Known* of = known(proposal)) {
    decide(proposal, of->cut);
    who_[proposal.next.id] = of->who;
  }
  hear(node);
}

// A member of the old view enters the next, or was evicted.
void RecoveryWorld::hear(Node& node) {
  for (const Proposed& next : std::vector<Proposed>(decided_)) {
    if (next.restart || next.follows != node.view.id) continue;
    const Known* of = known(next);
    const bool heard = node.proposed == next || !together(next.next).empty();
    if (of == nullptr || !heard) continue;
    if (!named(node, next.next.id)) return crash(node);
    holds(are_prefixes(of->cut, node.has), "has_the_cut",
          names_[node.slot] + " has not received what is before the cut");
    Recovery::Installed done = Recovery::Installed::not_yet;
    unsaved(node, RecoveryMistake::installs_unsaved,
            [&] { done = node.recovery->install(next.next); });
    if (node.recovery->error()) return;
    holds(done == Recovery::Installed::yes, "goes_on",
          names_[node.slot] + " runs, and does not install the next view");
    if (done == Recovery::Installed::yes) enter(node, next.next, of->cut);
    return;
  }
}

}  // namespace tutti::restart::testing
