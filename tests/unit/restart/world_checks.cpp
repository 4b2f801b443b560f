// What is looked at after each step, and at the end.
#include <algorithm>
#include <utility>

#include "log/read.hpp"
#include "unit/restart/world.hpp"

namespace tutti::restart::testing {

// After each call of a participant: has it decided anything, and what?
void World::look_at(Node& node) {
  if (node.participant->error()) {
    holds(false, "no_error", node.participant->error()->message);
    return;
  }
  const Views views = node.participant->views();
  const ViewRecord& installed = views.installed();
  // One call may have decided several views.
  for (const ViewRecord& view : std::exchange(node.installed, {})) {
    if (view.id <= decided_.back().next.id) continue;
    // The same view may have been proposed to follow an earlier one as well, and not been decided.
    auto proposal = std::ranges::find_if(accepted_, [&](const Proposed& one) {
      return one.next == view && one.follows == decided_.back().next.id;
    });
    if (proposal == accepted_.end()) {
      proposal = std::ranges::find(accepted_, view, &Proposed::next);
    }
    if (proposal == accepted_.end()) {
      return holds(false, "one_chain", "a view is installed that nobody has accepted");
    }
    Sequences cut;
    if (const Known* from = known(*proposal)) {
      cut = from->cut;
    } else {
      for (const GroupFirst& group : view.first) {
        Sequence& sequence = cut[group.group];
        sequence = read_log(acceptor(*proposal, node), group.group);
        if (sequence.size() > group.first) sequence.resize(group.first);
      }
    }
    const bool entered = node.participant->decided() && view == installed;
    entered ? ++restarts_ : ++adoptions_;
    decide(*proposal, cut);
  }
  holds(std::ranges::any_of(decided_, [&](const Proposed& one) { return one.next == installed; }),
        "one_chain",
        "view " + std::to_string(installed.id) + " is installed at " + names_[node.slot] +
            " with other members or another cut");
  if (!wrong_.empty() || !node.participant->decided()) return;
  const ViewRecord view = *node.participant->decided();
  Sequences cut;
  for (const std::string& group : groups_) cut[group] = read_log(node, group);
  holds(cut == *cut_of(view.id), "nothing_twice",
        names_[node.slot] + " begins view " + std::to_string(view.id) + " with another sequence");
  node.views = views;
  enter(node, view, cut);
}

// A node that has what comes before the proposal's cuts: this one, unless it has adopted it.
const World::Node& World::acceptor(const Proposed& proposal, const Node& node) const {
  for (const Node& one : nodes_) {
    if (one.state != State::back) continue;
    const std::optional<Accepted>& accepted = one.participant->views().accepted;
    if (accepted && accepted->proposal == proposal) return one;
  }
  return node;
}

const Sequences* World::cut_of(std::uint64_t view) const {
  for (std::size_t i = 0; i < decided_.size(); ++i) {
    if (decided_[i].next.id == view) return &cuts_[i];
  }
  return nullptr;
}

void World::decide(const Proposed& proposal, const Sequences& cut) {
  if (std::ranges::find(decided_, proposal) != decided_.end()) return;
  const std::string view = "view " + std::to_string(proposal.next.id);
  note("decided: " + view + " after " + std::to_string(proposal.follows) +
       (proposal.restart ? ", a restart's, " : ", ") +
       std::to_string(proposal.next.members.size()) + " members, first " +
       std::to_string(proposal.next.first.front().first));
  holds(proposal.follows == decided_.back().next.id, "one_chain",
        view + " is decided to follow view " + std::to_string(proposal.follows) + ", which view " +
            std::to_string(decided_.back().next.id) + " follows");
  holds(are_prefixes(durable_, cut), "keeps_durable", view + " lacks what was durable");
  for (const GroupFirst& group : proposal.next.first) {
    const auto found = cut.find(group.group);
    holds(found != cut.end() && found->second.size() == group.first, "within_cut",
          view + " begins elsewhere than its cut");
  }
  decided_.push_back(proposal);
  cuts_.push_back(cut);
}

Sequence World::read_log(const Node& node, const std::string& group) {
  Sequence out;
  bool good = true;
  const auto visit = [&](const log::Record& record, std::uint64_t /*offset*/) {
    OwnedRecord found{record.seq,
                      record.view,
                      record.sender,
                      record.tick,
                      {record.data.begin(), record.data.end()}};
    good = good && record.seq == out.size() && found == record_of(group, record.seq, record.view);
    out.push_back(record.view);
    return true;
  };
  const auto reading = log::read_log(*node.disk, node.writers.at(group)->directory(), visit);
  holds(good && reading && !reading->damage, "one_history",
        names_[node.slot] + "'s log has what was never said");
  return out;
}

// Nothing fails any more. Those that run stop, all are started, and then they must go on, twice:
// what a restart leaves is good enough for the next.
void World::settle() {
  calm_ = true;
  for (int round = 0; round < 2 && wrong_.empty(); ++round) {
    note("all stop for good, round " + std::to_string(round));
    for (Node& node : nodes_) crash(node);
    const std::size_t before = decided_.size();
    for (Node& node : nodes_) start(node);
    if (!wrong_.empty()) return;
    for (const Node& one : nodes_) {
      for (const Node& other : nodes_) connect(one.slot, other.slot);
    }
    Present present;
    for (Node& node : nodes_) {
      if (node.participant) present[node.slot].views = node.participant->views();
    }
    const auto enough = [&] {
      for (Node& node : nodes_) {
        if (node.participant) present[node.slot].views = node.participant->views();
      }
      return !present.empty() && awaited(chain_of(present), present).empty();
    };
    const auto runs = [&] {
      return std::ranges::any_of(nodes_, [](const Node& n) { return n.state == State::runs; });
    };
    holds(enough() || losses_ != 0, "goes_on", "all are back, and that is not enough");
    for (int tries = 0; tries < 8 && wrong_.empty(); ++tries) {
      while (deliver_one() && wrong_.empty()) {
      }
      for (Node& node : nodes_) {
        if (node.state == State::back) at(node, [&] { node.participant->tick(); });
      }
    }
    if (!wrong_.empty()) return;
    std::string why;
    for (Node& node : nodes_) {
      if (node.participant) why += names_[node.slot] + ": " + node.participant->why() + "; ";
    }
    holds(!enough() || runs(), "goes_on", why);
    holds(!runs() || decided_.size() > before, "goes_on", "they run in a view that was there");
  }
}

}  // namespace tutti::restart::testing
