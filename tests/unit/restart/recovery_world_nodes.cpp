// What a node does with its recovery until it is in a view.
#include <algorithm>

#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {

using Stage = Recovery::Stage;

// A view names incarnations of nodes, and each enters it once (Z13).
bool RecoveryWorld::named(const Node& node, std::uint64_t view) const {
  const auto who = who_.find(view);
  if (who == who_.end() || !node.incarnation) return false;
  const auto found = who->second.find(node.slot);
  return found != who->second.end() && found->second == node.incarnation->number;
}

// Members admit nodes that are not in their view, and are not held back.
bool RecoveryWorld::is_admissible(const Node& node, const ViewRecord& view) const {
  if (!node.incarnation || node.runs || view.has(node.slot)) return false;
  for (const auto& [id, who] : who_) {
    if (id > view.id && named(node, id)) return false;
  }
  const bool held = !node.incarnation->founds && node.recovery->stage() != Stage::runs &&
                    !(node.recovery->stage() == Stage::joins && node.recovery->may_join());
  return !held || mistake_ == RecoveryMistake::not_held_back;
}

void RecoveryWorld::turn(Node& node) {
  // What it has said before is still on its way for a while.
  if (node.ends) return calm_ || random_.one_in(4) ? crash(node) : void();
  at(node, [&] {
    if (node.runs) {
      if (!calm_) return run_step(node, random_.below(16));
      for (std::uint64_t kind = 0; kind < 16 && node.runs && wrong_.empty(); ++kind) {
        run_step(node, kind);
      }
      return;
    }
    incarnate(node);
    if (node.incarnation) found_together(node);
    if (node.incarnation) come_in(node);
  });
}

void RecoveryWorld::incarnate(Node& node) {
  Recovery& recovery = *node.recovery;
  if (!node.incarnation) {
    node.incarnation = Incarnation{.number = ++incarnations_, .founds = recovery.founds()};
    return;
  }
  const bool ignores = mistake_ == RecoveryMistake::ignores_vain;
  const bool vain = !ignores && (node.vain || recovery.founds_in_vain());
  if (!vain && !(recovery.founds() && !node.incarnation->founds)) return;
  const bool again = vain || node.incarnation->founds;
  node.incarnation.reset();
  node.vain = false;
  if (vain) ++counts_.vain;
  if (again) recovery.begin_again();
}

// The members of the view of a restart found it once all of them are there.
void RecoveryWorld::found_together(Node& node) {
  const std::optional<ViewRecord>& view = node.incarnation->founds;
  if (!view || who_.contains(view->id)) return;
  Who who;
  for (const std::uint32_t slot : view->members) {
    const std::optional<Incarnation>& other = nodes_[slot].incarnation;
    if (!other || nodes_[slot].runs || other->founds != view) return;
    who[slot] = other->number;
  }
  note("view " + std::to_string(view->id) + " is founded");
  who_[view->id] = who;
}

// This incarnation enters the first view that names it.
void RecoveryWorld::come_in(Node& node) {
  for (const auto& [id, who] : who_) {
    if (!named(node, id)) continue;
    const auto view =
        std::ranges::find_if(decided_, [&](const Proposed& one) { return one.next.id == id; });
    if (view == decided_.end()) return;
    const bool founds = node.incarnation->founds && node.incarnation->founds->id == id;
    if (!founds && together(view->next).empty()) {
      // It hears of the view from one that is in it. If all have gone on, a later incarnation
      // joins.
      if (decided_.back().next.id > id) node.vain = true;
      return;
    }
    return install_first(node, view->next);
  }
}

void RecoveryWorld::install_first(Node& node, const ViewRecord& view) {
  Recovery::Installed done = Recovery::Installed::not_yet;
  unsaved(node, RecoveryMistake::installs_unsaved, [&] { done = node.recovery->install(view); });
  if (done == Recovery::Installed::not_yet) return;
  if (done == Recovery::Installed::never) {
    node.vain = true;
    return;
  }
  if (!node.incarnation->founds) ++counts_.joins;
  node.runs = true;
  const Sequences& cut = *cut_of(view.id);
  for (const std::string& group : groups_) {
    node.logs_of[group] = Log{.begins = *view.first_of(group)};
    if (mistake_ == RecoveryMistake::counts_before_whole) {
      node.logs_of[group].written = *view.first_of(group);
    }
  }
  enter(node, view, cut);
}

void RecoveryWorld::enter(Node& node, const ViewRecord& view, const Sequences& cut) {
  note(names_[node.slot] + " enters view " + std::to_string(view.id));
  const std::optional<Views> views = synced(node);
  holds(views && views->installed() == view, "is_on_disk",
        names_[node.slot] + " enters a view that its disk does not know");
  node.view = view;
  node.has = cut;
  node.boss.reset();
  node.vow = 0;
  node.shown = false;
  node.accepted.reset();
  node.proposed.reset();
}

}  // namespace tutti::restart::testing
