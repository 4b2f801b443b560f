// How the application follows the views, at its own pace (P3).
#include <utility>

#include "engine/engine.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Engine<Memory>::suspected(const ViewMember& member) {
  states_->gone(member.slot);
  events_.suspected(member);
}

template <class Memory>
void Engine<Memory>::decided(const Proposal& proposal) {
  decision_ = proposal;
  events_.decided(proposal);
}

template <class Memory>
void Engine<Memory>::installed(const View& view, const View& before) {
  states_->expect(view, self_);
  untold_.push_back({.entry = {.view = view, .before = before, .decision = *decision_}});
  events_.entered(untold_.back().entry);
}

// Returns of how many views it told.
template <class Memory>
std::size_t Engine<Memory>::follow_views() {
  std::size_t told = 0;
  while (!untold_.empty() && !membership_->stopped() && !events_.ends()) {
    Untold& next = untold_.front();
    if (!delivered_before(next.entry.view.id)) break;
    if (!std::exchange(next.reached, true)) reach(next);
    if (states_->holds()) {  // M9
      if (next.awaits) follow_taking();
      break;
    }
    for (const auto& subgroup : subgroups_) subgroup->set_lacks_state(false);
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
    if (std::exchange(leaves_, true)) return;
    events_.leaves_without_state();
    membership_->leave();
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
