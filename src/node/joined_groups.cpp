#include "node/joined_groups.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/incarnation.hpp"
#include "node/node_core.hpp"

namespace tutti {

void JoinedGroups::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& group : all_) {
    const bool asked = group->phase == Phase::wanted || group->phase == Phase::wished;
    if (asked) settle(*group, Phase::leaves);
  }
}

std::vector<std::shared_ptr<JoinedGroup>> JoinedGroups::opened() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<JoinedGroup>> out;
  std::ranges::copy_if(all_, std::back_inserter(out),
                       [](const auto& group) { return group->opened; });
  return out;
}

JoinedGroup* JoinedGroups::find(std::string_view name) const {
  const auto found = std::ranges::find_if(all_, [name](const auto& group) {
    return group->core.options().name == name && group->phase != Phase::left;
  });
  return found == all_.end() ? nullptr : found->get();
}

// `mutex_` is held.
void JoinedGroups::settle(JoinedGroup& group, Phase phase) {
  const bool was_open = std::exchange(group.phase, phase) == Phase::open;
  if (was_open == (phase == Phase::open)) return;
  unsettled_.fetch_add(was_open ? 1 : ~std::size_t{0}, std::memory_order_release);
}

bool JoinedGroups::is_in(const JoinedGroup& group, Slot self) const {
  const OpenGroup* const open = find_name(open_, group.core.options().name);
  return open != nullptr && open->has(self);
}

bool JoinedGroups::follow(Incarnation& incarnation, bool may_call) {
  bool left = false;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(seen_view_, incarnation.view().id) != incarnation.view().id) {
      open_ = incarnation.view().groups;
    }
    for (const auto& group : all_) left |= follow(incarnation, *group);
    for (const auto& group : all_) {
      if (may_call && group->phase == Phase::left && has_told_all(*group)) gone_.push_back(group);
    }
    for (const auto& group : gone_) std::erase(all_, group);
    awaits_others_ = std::ranges::any_of(
        all_, [](const auto& group) { return group->phase == Phase::leaves || group->closed; });
    unsettled_.fetch_sub(gone_.size(), std::memory_order_release);
    if (!gone_.empty()) opened_version_.fetch_add(1, std::memory_order_release);
  }
  node_.changed().notify();
  return left;
}

// The stand-in may pass meanwhile, and adds none.
bool JoinedGroups::let_go(IncarnationEvents& events) {
  if (gone_.empty()) return false;
  for (const std::shared_ptr<JoinedGroup>& group : std::exchange(gone_, {})) {
    if (!group->on_delivery) continue;
    const LentForCall lent(events, letting_go_);
    callbacks_.call(group->core.delivery_name(), [&] { group->on_delivery = {}; });
  }
  return true;
}

void JoinedGroups::show(CallWatch& watch) const {
  if (watch.version() == opened_version_.load(std::memory_order_acquire)) return;
  try {
    const std::lock_guard lock(mutex_);
    std::vector<CallWatch::Passing> calls;
    for (const auto& group : all_) {
      if (!group->opened) continue;
      const Completions& completions = group->core.completions();
      calls.push_back({completions.call(), completions.name(),
                       "the group's other completion handlers wait for it"});
    }
    watch.exchange(opened_version_.load(std::memory_order_relaxed), std::move(calls));
  } catch (const std::bad_alloc&) {  // nothing is lost: they are shown at the next look
  }
}

// `mutex_` is held. A handle may be dropped inside a handler: so that thread has ended before.
bool JoinedGroups::has_told_all(JoinedGroup& group) {
  if (!group.opened) return true;
  Completions& completions = group.core.completions();
  if (!std::exchange(group.closed, true)) completions.end();
  if (!completions.has_ended()) return false;
  completions.join();
  return true;
}

// `mutex_` is held. True if this member has left it.
bool JoinedGroups::follow(Incarnation& incarnation, JoinedGroup& group) {
  const bool asks = group.phase == Phase::wanted || group.phase == Phase::wished;
  if (asks && !group.refused) group.refused = mismatch(group);
  if (group.phase == Phase::wanted && !group.refused) {
    // If it is still in a group of that name, it asks again in the next view.
    const auto wished = incarnation.membership().wish({group.core.options().name, group.kind});
    if (wished == Membership<NativeMemory>::Wished::yes) settle(group, Phase::wished);
  }
  if (group.phase == Phase::leaves) take_back(incarnation, group);
  if (group.phase != Phase::parts || is_in(group, incarnation.self())) return false;
  settle(group, Phase::left);
  std::erase(here_, &group.core);
  if (group.opened) group.core.part();
  return group.opened;
}

// Of a group whose join has failed, the application knows nothing, though this member may be in it.
void JoinedGroups::take_back(Incarnation& incarnation, JoinedGroup& group) {
  const std::string& name = group.core.options().name;
  if (!group.opened && is_in(group, incarnation.self())) {
    incarnation.subgroup(find_name(open_, name)->group).mute();
  }
  if (incarnation.membership().withdraw(name)) settle(group, Phase::parts);
}

// The options live as long as this member is in the group.
DeliveryCallback JoinedGroups::admit(IncarnationEvents& events, const OpenGroup& open,
                                     std::uint64_t view, CallMark& call) {
  const std::lock_guard lock(mutex_);
  JoinedGroup* const group = find(open.name);
  // Wished for no more, or not yet, or another kind is: the membership mutes it.
  const bool asks =
      group != nullptr && (group->phase == Phase::wished || group->phase == Phase::leaves);
  if (!asks || in_plan_.find(open.group)->kind != group->kind) return {};
  group->first_view = view;
  if (!group->on_delivery) return {};
  return [&events, &call, group](std::span<const Message> batch) {
    if (!group->opened) return;  // JG1
    const LentForCall lent(events, call);
    group->on_delivery(batch);
  };
}

void JoinedGroups::entered(Incarnation& incarnation, std::uint64_t view) {
  const std::lock_guard lock(mutex_);
  for (const auto& group : all_) {
    const bool is_there = group->first_view != 0 && group->first_view <= view;
    if (group->phase == Phase::wished && is_there && !ended_) {
      // The newest view has it in the same space: this member's wish stands.
      const OpenGroup* const open =
          find_name(incarnation.view().groups, group->core.options().name);
      TUTTI_ASSERT(open != nullptr && open->has(incarnation.self()), view, group->first_view);
      group->subgroup = incarnation.subgroup_kept(open->group);
      group->core.open(*group->subgroup, incarnation.asleep(), nullptr, {},
                       incarnation.call(open->group));
      group->opened = true;
      opened_version_.fetch_add(1, std::memory_order_release);
      here_.push_back(&group->core);
      settle(*group, Phase::open);
    }
    if (group->opened && group->phase != Phase::left) group->core.entered(view);
  }
  node_.changed().notify();
}

}  // namespace tutti
