// How the application follows the views, at its own pace (P3).
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "engine/engine.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Engine<Memory>::suspected(const ViewMember& member) {
  TUTTI_ASSERT(member.slot != self_, self_, view().id);
  states_->gone(member.slot);
  events_.suspected(member);
}

template <class Memory>
void Engine<Memory>::decided(const Proposal& proposal) {
  // J5: one for each view.
  TUTTI_ASSERT(proposal.next.id > view().id, proposal.next.id, view().id, self_);
  TUTTI_ASSERT(!decision_ || proposal.next.id > decision_->next.id, proposal.next.id,
               decision_->next.id, self_);
  decision_ = proposal;
  events_.decided(proposal);
}

template <class Memory>
void Engine<Memory>::installed(const View& view, const View& before) {
  TUTTI_ASSERT(decision_ && decision_->next == view, view.id, self_);
  TUTTI_ASSERT(view.id > before.id && view.rank_of(self_).has_value(), view.id, before.id, self_);
  TUTTI_ASSERT(untold_.empty() || untold_.back().entry.view.id < view.id, view.id, self_);  // Z1
  states_->expect(view, self_);
  joined_since_ |= was_complete_.load(std::memory_order_acquire) &&
                   (has_joiners() || view.groups != before.groups);
  untold_.push_back({.entry = {.view = view, .before = before, .decision = *decision_}});
  events_.entered(untold_.back().entry);
  if (requests_ != nullptr) requests_->enter(view);
}

template <class Memory>
void Engine<Memory>::stopped(StopReason reason) {
  if (requests_ != nullptr) requests_->end();
  events_.stopped(reason);
}

// Returns of how many views it told.
template <class Memory>
std::size_t Engine<Memory>::follow_views() {
  std::size_t told = 0;
  while (!untold_.empty() && !membership_->stopped() && !events_.ends()) {
    Untold& next = untold_.front();
    if (!delivered_before(next.entry.view.id)) break;
    const auto holds = [](const auto& subgroup) { return subgroup->pause().holds_views(); };
    if (std::ranges::any_of(subgroups_, holds)) break;  // DP2, M9
    if (!std::exchange(next.reached, true)) reach(next);
    if (states_->holds()) {  // M9
      if (next.awaits) follow_taking();
      break;
    }
    for (const auto& subgroup : subgroups_) subgroup->set_lacks_state(false);
    // M9, P3.
    TUTTI_ASSERT(next.reached && !states_->holds() && delivered_before(next.entry.view.id),
                 next.entry.view.id, self_, view().id);
    // The stand-in may enter further views while the application is told of this one.
    const Entry entry = std::move(next.entry);
    untold_.pop_front();
    events_.tell(entry);
    for (const auto& subgroup : subgroups_) subgroup->allow(entry.view.id);
    ++told;
  }
  return told;
}

// Some of its members may be gone by now: such a joiner takes no state, such a giver gives none.
template <class Memory>
void Engine<Memory>::reach(Untold& next) {
  TUTTI_ASSERT(!next.awaits && next.entry.view.id <= view().id, next.entry.view.id, self_,
               view().id);
  events_.reached(next.entry);
  next.awaits = states_->begin(next.entry.view, self_);
  for (const auto& subgroup : subgroups_) subgroup->set_lacks_state(next.awaits);
  for (const ViewMember& member : next.entry.view.members) {
    const bool here =
        view().contains(member) && !membership_->suspects(*view().rank_of(member.slot));
    if (!here) states_->gone(member.slot);
  }
}

// The state that we joined for is yet to come.
template <class Memory>
void Engine<Memory>::follow_taking() {
  if (states_->taking() == Taking::under_way) {
    if (const auto giver = states_->giver()) events_.takes_from(*giver);
  } else if (states_->taking() == Taking::lost) {
    ask_to_leave();
  } else if (states_->taking() == Taking::failed) {
    const Error why = states_->error();
    untold_.clear();
    events_.no_state(why);
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Engine<NativeMemory>;
#endif

}  // namespace tutti
