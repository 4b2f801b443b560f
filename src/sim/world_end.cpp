// How a run is judged: what members found, and what is not as it should be at the end.
#include <algorithm>

#include "history/make_event.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

std::string World::finding() const {
  if (!net_.stale_read().empty()) return net_.stale_read();
  if (!logs_.finding().empty()) return logs_.finding();
  if (!views_.finding().empty()) return views_.finding();
  if (!openings_.finding().empty()) return openings_.finding();
  const auto of = [this](const Member* member) -> std::string {
    if (member == nullptr) return {};
    if (member->finding().empty() && member->suspected_any() && !options_.faults.ends &&
        harmless(options_)) {
      return "V6: " + member->name() + " suspected somebody for nothing";
    }
    if (std::string found = wrong_end(*member); member->finding().empty() && !found.empty()) {
      return found;
    }
    if (member->finding().empty() && member->lost_state() && orderly(options_)) {
      return "M9: " + member->name() +
             " joined and was left without the state, although nobody failed";
    }
    return member->finding();
  };
  for (const auto& member : gone_) {
    if (std::string found = of(member.get()); !found.empty()) return found;
  }
  for (const Node& node : nodes_) {
    if (std::string found = of(node.member.get()); !found.empty()) return found;
  }
  return {};
}

std::uint64_t World::views() const {
  std::uint64_t newest = 0;
  for (const Node& node : nodes_) {
    if (node.member) newest = std::max(newest, node.member->view().id);
  }
  return newest;
}

std::uint64_t World::messages() const {
  std::uint64_t sent = 0;
  for (const auto& member : gone_) sent += member->messages_sent();
  for (const Node& node : nodes_) sent += node.member ? node.member->messages_sent() : 0;
  return sent;
}

// Nobody has sent for long and all is delivered, or the run is not fit for this: who has just come
// still fetches a state.
void World::begin_quiet() {
  const std::uint64_t long_ago_ns = now_ns_ - std::min(now_ns_, options_.calm_ns / 12);
  if (options_.tick_every_ns != 0) return end_ticks();
  if (options_.faults.ends || views() == 0 || !unfinished().empty()) return;
  for (const std::uint32_t node : running()) {
    if (member(node)->entries().back().at_ns > long_ago_ns) return;
    if (member(node)->told_at_ns() > long_ago_ns) return;
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    posts_before_quiet_.push_back(net_.data_posts(node));
  }
  quiet_view_ = views();
  record(history::make_event(history::EventKind::quiet_begin, {.time_ns = now_ns_}));
}

// It is never quiet while groups have ticks: all members finish, and then none may come (TI4).
void World::end_ticks() {
  const std::vector<std::uint32_t> nodes = running();
  const bool all_is_well =
      !options_.faults.ends && views() != 0 && unfinished().empty() &&
      std::ranges::any_of(nodes, [this](std::uint32_t n) { return !member(n)->finished(); });
  for (const std::uint32_t node : nodes) {
    if (all_is_well && lacks_ticks_.empty()) {
      lacks_ticks_ = member(node)->lacks_ticks(options_.calm_ns / 4);
    }
    if (!options_.faults.ends) member(node)->finish();
  }
}

// V2: since then nothing but the membership's words goes out, as long as nobody comes.
void World::end_quiet() {
  if (posts_before_quiet_.empty() || views() != quiet_view_ || !unfinished().empty()) {
    posts_before_quiet_.clear();
  }
  for (std::uint32_t node = 0; node < posts_before_quiet_.size(); ++node) {
    if (member(node) == nullptr) continue;
    member(node)->note_data_posts(net_.data_posts(node) - posts_before_quiet_[node]);
    member(node)->note_use();
  }
}

// Of a group that was there when all was healed, those that are gone left or ended.
std::string World::died_in_calm() const {
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::optional<StopReason> why = gone_[i]->stopped();
    if (!core_ns_ || gone_ns_[i] < *core_ns_ || !why || *why == StopReason::left) continue;
    return "M10: " + gone_[i]->name() + " stopped, after all was healed";
  }
  return {};
}

// After the calm: all who run are in the newest view, nobody is missing from it, and all that was
// sent is delivered. If everybody had to stop, there is no group left to join.
std::string World::unfinished() const {
  const std::uint64_t newest = views();
  if (!founded_) {
    const auto may_create =
        static_cast<std::size_t>(std::ranges::count_if(running(), [this](std::uint32_t node) {
          return founds(plan_, Slot{node}) && !nodes_[node].may_have_created;
        }));
    return may_create < plan_.founders ? "" : "M10: no group was founded";
  }
  if (newest == 0) return options_.faults.ends ? "" : died_in_calm();
  if (options_.faults.ends) return unended();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    const Member* here = member(node);
    if (here == nullptr) continue;
    const std::string& name = plan_.rows.names[Slot{node}];
    if (nodes_[node].left && !here->stopped()) return "V4: " + name + " still has to leave";
    if (here->view().id != newest) {
      return "M10: " + name + " is in view " + std::to_string(here->view().id) + ", others in " +
             std::to_string(newest);
    }
    if (here->told_view().id != newest) {
      return "M10: the application of " + name + " is in view " +
             std::to_string(here->told_view().id) + ", others in " + std::to_string(newest);
    }
    if (here->changing()) return "M10: " + name + " does not come to an end of a change of view";
    for (const ViewMember& other : here->view().members) {
      if (member(other.slot.value) == nullptr || member(other.slot.value)->self() != other) {
        return "M10: the view of " + name + " has " + plan_.rows.names[other.slot] +
               ", which is gone";
      }
    }
    if (!here->idle()) return "V1: " + name + " has sent what it has not delivered";
    if (const std::string what = here->unanswered(); !what.empty()) return what;
    if (const std::string what = logs_.lacks(here->self()); !what.empty()) return what;
    if (plan_.views == nullptr) continue;
    if (const std::string what = views_.lacks(here->self(), newest); !what.empty()) return what;
  }
  if (const std::string what = unmet_wishes(); !what.empty()) return what;
  return lacks_ticks_;
}

// GR3: the groups are those that follow from what the members wish. All are in one view.
std::string World::unmet_wishes() const {
  const std::vector<std::uint32_t> nodes = running();
  if (options_.spaces == 0 || nodes.empty()) return {};
  const View& view = member(nodes.front())->view();
  IndexedBy<Slot, std::vector<GroupWish>> wishes(options_.nodes);
  std::vector<Slot> stay;
  for (const ViewMember& one : view.members) {
    stay.push_back(one.slot);
    wishes[one.slot] = member(one.slot.value)->wishing().wishes;
    if (!member(one.slot.value)->wishing().leaving.empty()) {
      return "GR3: " + plan_.rows.names[one.slot] + " does not come out of a group";
    }
  }
  if (next_groups(plan_.rows.spaces, view.groups, view.id + 1, stay, wishes) == view.groups) {
    return {};
  }
  return "GR3: the groups of view " + std::to_string(view.id) +
         " are not those that are wished for";
}

}  // namespace tutti::sim
