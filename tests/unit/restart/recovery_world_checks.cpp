// What is looked at after each step, and at the end.
#include <algorithm>
#include <utility>

#include "log/read.hpp"
#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {
std::optional<Views> views_on(const tutti::testing::SimDisk& disk) {
  const std::string path = "/state/views";
  if (!disk.has(path)) return {};
  const Result<Views> views = decode_views_file(disk.contents(path));
  return views ? std::optional(*views) : std::nullopt;
}

// `views` have come onto that disk.
void RecoveryWorld::look_at_views(Node& node, const Views& views) {
  if (views.accepted) accepted_.push_back(views.accepted->proposal);
  std::ranges::copy(views.chain, std::back_inserter(node.saved));
  // RY1. A node without a history, or with that of another founding, takes over a founding.
  const Views* before = node.recovery ? &node.recovery->views() : nullptr;
  if (before == nullptr || before->origin == views.origin || views.since != 1) return;
  ++counts_.foundings;
  note(names_[node.slot] + " adopts a founding");
  // What others have done since they said hello can only be without this node.
  for (const Node& one : nodes_) {
    holds(one.slot == node.slot || links_.contains(std::minmax(node.slot, one.slot)), "founds_once",
          names_[node.slot] + " adopts a founding while " + names_[one.slot] + " is away");
    const std::optional<Views> there = views_on(*one.disk);
    holds(!node.had_voted || !there || there->installed().id == 1, "founds_once",
          names_[node.slot] + " has lost its disk and adopts a founding, and " + names_[one.slot] +
              " has got beyond it");
  }
}

void RecoveryWorld::lose_disk(Node& node) {
  ++losses_;
  note(names_[node.slot] + " loses its disk");
  const std::optional<Views> views = views_on(*node.disk);
  node.had_voted = node.had_voted || (views && (views->installed().id > 1 || views->accepted));
  node.disk = std::make_unique<tutti::testing::SimDisk>();
  node.put_back = false;
}

// Somebody puts an older copy of its state directory back: one that can be noticed, for all others
// have heard of a later save, and the node can do nothing without them.
void RecoveryWorld::put_back(Node& node) {
  const std::optional<Views> older = node.copy ? views_on(*node.copy) : std::nullopt;
  if (!older || std::ranges::any_of(nodes_, &Node::put_back)) return;
  for (const Node& one : nodes_) {
    if (one.slot == node.slot) continue;
    const std::optional<Views> there = views_on(*one.disk);
    if (!there || !newer_than(older->edition, node.slot, there->heard)) return;
  }
  if (awaited(older->chain, {{node.slot, Told{.views = *older}}}).empty()) return;
  ++losses_;
  ++counts_.put_back;
  note(names_[node.slot] + " gets an older copy of its disk");
  node.had_voted = node.put_back = true;
  std::swap(node.disk, node.copy);
}

// The operator moves away what a founding that nobody needs has left, and an older copy: some know
// where the newest state directory is.
void RecoveryWorld::look_at_error(Node& node) {
  const Error error = *node.recovery->error();
  note(names_[node.slot] + " ends: " + error.message);
  if (node.put_back) {
    // An older copy may be of a founding that gave way to another one.
    holds(error.message.contains("was put back from an older copy") || origins_ > 1, "no_error",
          error.message);
    ++counts_.noticed;
    crash(node);
    node.put_back = node.bootstraps = false;
    std::swap(node.disk, node.copy);
    node.copy.reset();
    if (random_.one_in(4)) {
      node.disk = std::make_unique<tutti::testing::SimDisk>();
    } else {
      --losses_;
    }
    return;
  }
  const auto views = node.file->load();
  holds(origins_ > 1 && views && *views && (**views).installed().id == 1, "no_error",
        names_[node.slot] + ": " + error.message);
  ++counts_.errors;
  crash(node);
  node.bootstraps = false;
  node.disk = std::make_unique<tutti::testing::SimDisk>();
}

// After each call of a recovery: has it installed anything, and what?
void RecoveryWorld::look_at(Node& node) {
  if (!node.recovery || !wrong_.empty() || node.ends) return;
  if (node.recovery->error() && !node.failed) return look_at_error(node);
  holds(!node.put_back || node.recovery->stage() == Recovery::Stage::back, "is_noticed",
        names_[node.slot] + " takes part with an older copy of its disk");
  // One call may have decided several views.
  for (const ViewRecord& view : std::exchange(node.saved, {})) {
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
    node.recovery->founds() == view ? ++counts_.restarts : ++counts_.adoptions;
    decide(*proposal, cut_at(*proposal, node));
  }
  if (node.recovery->error()) {  // PT3
    note(names_[node.slot] + "'s disk: " + node.recovery->error()->message);
    node.ends = true;
    return;
  }
  const Views& views = node.recovery->views();
  if (views.chain.empty()) return;
  const ViewRecord& installed = views.installed();
  holds(std::ranges::any_of(decided_, [&](const Proposed& one) { return one.next == installed; }),
        "one_chain",
        "view " + std::to_string(installed.id) + " is installed at " + names_[node.slot] +
            " with other members or another cut");
  const auto on_disk = node.file->load();
  holds(mistake_ != RecoveryMistake::none || !wrong_.empty() ||
            (on_disk && *on_disk && **on_disk == views),
        "is_on_disk", names_[node.slot] + "'s views are not what is on its disk");
}

// What comes before a decided view: what was proposed, or what the log of a node has that has
// accepted it.
Sequences RecoveryWorld::cut_at(const Proposed& proposal, const Node& node) {
  if (const Known* of = known(proposal)) return of->cut;
  const Node* from = &node;
  for (const Node& one : nodes_) {
    if (!one.recovery) continue;
    const std::optional<Accepted>& accepted = one.recovery->views().accepted;
    const bool takes_part = one.recovery->stage() == Recovery::Stage::back ||
                            one.recovery->stage() == Recovery::Stage::founds;
    if (takes_part && accepted && accepted->proposal == proposal) from = &one;
  }
  Sequences cut;
  for (const GroupFirst& group : proposal.next.first) {
    Sequence& sequence = cut[group.group];
    sequence = read_log(*from, group.group);
    if (sequence.size() > group.first) sequence.resize(group.first);
  }
  return cut;
}

// What its file `views` says even if all that is not synced is lost.
std::optional<Views> RecoveryWorld::synced(const Node& node) const {
  const auto left = node.disk->after_power_loss(tutti::testing::SimDisk::kNothingKept);
  const auto views = ViewsFile(*left, "/state").load();
  return views ? *views : std::nullopt;
}

const Sequences* RecoveryWorld::cut_of(std::uint64_t view) const {
  for (std::size_t i = 0; i < decided_.size(); ++i) {
    if (decided_[i].next.id == view) return &cuts_[i];
  }
  return nullptr;
}

void RecoveryWorld::decide(const Proposed& proposal, const Sequences& cut) {
  if (std::ranges::find(decided_, proposal) != decided_.end()) return;
  const std::string view = "view " + std::to_string(proposal.next.id);
  std::string members;
  for (const std::uint32_t slot : proposal.next.members) members += names_[slot];
  note("decided: " + view + " after " + std::to_string(proposal.follows) +
       (proposal.restart ? ", a restart's, " : ", ") + members + ", first " +
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

Sequence RecoveryWorld::read_log(const Node& node, const std::string& group) {
  std::map<std::uint64_t, OwnedRecord> records;
  const auto visit = [&](const log::Record& record, std::uint64_t /*offset*/) {
    records[record.seq] = {record.seq,
                           record.view,
                           record.sender,
                           record.tick,
                           {record.data.begin(), record.data.end()}};
    return true;
  };
  const auto reading = log::read_log(*node.disk, node.writers.at(group)->directory(), visit);
  holds(reading && !reading->damage, "one_history", names_[node.slot] + "'s log is not whole");
  if (!reading) return {};
  std::erase_if(records, [&](const auto& one) { return one.first < reading->whole_from; });
  Sequence out;
  if (takes_snapshots_) out = read_beginning(node, group, reading->whole_from);
  for (const auto& [seq, record] : records) {
    const bool known = seq < out.size();
    const bool good = seq <= out.size() && record == record_of(group, seq, record.view) &&
                      (!known || out[seq] == record.view);
    holds(good, "one_history", names_[node.slot] + "'s log has what was never said");
    if (!known) out.push_back(record.view);
  }
  return out;
}

// The log is exactly what comes before the number with which the group began for this node.
void RecoveryWorld::Node::whole(std::size_t log, const LogSummary& summary) {
  const std::string& group = groups->at(log);
  Log& of = logs_of[group];
  const Sequence found = world->read_log(*this, group);
  world->holds(runs && of.begins && !of.handed, "is_whole",
               world->names_[slot] + "'s log is handed over before the group begins");
  world->holds(of.begins == found.size() && summary.next == of.begins, "is_whole",
               world->names_[slot] + "'s log is handed over before it is whole");
  world->holds(is_prefix(found, has[group]), "nothing_twice",
               world->names_[slot] + "'s log is not the beginning of the sequence");
  of.handed = true;
  of.written = found.size();
  of.summary = summary;
  world->see(view);
}

std::string RecoveryWorld::why() const {
  std::string why;
  for (const Node& node : nodes_) {
    if (!node.recovery) continue;
    const auto stage = static_cast<int>(node.recovery->stage());
    why += names_[node.slot] + " (" + std::to_string(stage) +
           (node.runs ? ", runs in " + std::to_string(node.view.id) : "") +
           "): " + node.recovery->why() + "; ";
  }
  return why;
}

bool RecoveryWorld::is_settled() {
  const Node& first = nodes_.front();
  for (Node& node : nodes_) {
    if (!node.runs || node.view != first.view || node.has != first.has) return false;
    if (node.boss || node.view.members.size() != nodes_.size()) return false;
    for (const std::string& group : groups_) {
      if (!node.logs_of[group].handed || node.logs_of[group].written != node.has[group].size()) {
        return false;
      }
    }
  }
  return true;
}

// Nothing fails any more: all run in one view in the end, and all logs are equal.
void RecoveryWorld::settle(bool all_stop) {
  calm_ = true;
  note(all_stop ? "all stop for good" : "nothing fails any more");
  if (all_stop) {
    for (Node& node : nodes_) crash(node);
  }
  constexpr int kRounds = 200;
  bool settled = false;
  for (int round = 0; round < kRounds && wrong_.empty() && !settled; ++round) {
    for (Node& node : nodes_) {
      if (!node.recovery) start(node);
    }
    for (const Node& one : nodes_) {
      for (const Node& other : nodes_) connect(one.slot, other.slot);
    }
    std::size_t said = 0;
    while (wrong_.empty() && deliver_one()) {
      holds(++said < 20000, "goes_on", "nodes talk without end: " + why());
    }
    for (Node& node : nodes_) {
      if (node.recovery && wrong_.empty()) turn(node);
    }
    if (round % 4 == 3) {
      for (Node& node : nodes_) {
        if (node.recovery && wrong_.empty()) at(node, [&] { node.recovery->tick(); });
      }
    }
    settled = is_settled();
  }
  calm_ = false;
  if (!wrong_.empty()) return;
  if (!settled && losses_ > 0) {
    // Too many of those disks are lost that the group needs.
    Present present;
    for (Node& node : nodes_) {
      if (node.recovery && !node.recovery->views().chain.empty() && !node.runs) {
        present[node.slot].views = node.recovery->views();
      }
    }
    const bool runs = std::ranges::any_of(nodes_, &Node::runs);
    if (!runs && (present.empty() || !awaited(chain_of(present), present).empty())) {
      ++counts_.stuck;
      return;
    }
  }
  holds(settled, "goes_on", why());
  if (!settled) return;
  for (const std::string& group : groups_) {
    const Sequence log = read_log(nodes_.front(), group);
    for (const Node& node : nodes_) {
      holds(read_log(node, group) == log, "one_history", "the logs are not equal in the end");
    }
    holds(is_prefix(durable_[group], log), "keeps_durable", "the logs lack what was durable");
  }
}

}  // namespace tutti::restart::testing
