#include "membership/state_transfer.hpp"

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

// Some members want a state, and some have it.
template <class Memory>
bool StateTransfer<Memory>::has_joiners(const View& view) const {
  const bool any = std::ranges::any_of(
      jobs_.groups(), [](const GroupState& group) { return group.load != nullptr; });
  return any && view.survivors != 0 && view.survivors != view.members.size();
}

template <class Memory>
bool StateTransfer<Memory>::begin(const View& view, Slot slot) {
  if (!has_joiners(view)) return false;
  TUTTI_ASSERT(view.rank_of(slot).has_value(), view.id, slot);
  const Rank rank = *view.rank_of(slot);
  if (gives_in(view, slot)) {
    TUTTI_ASSERT(expected_ != 0, view.id, rank.value);
    --expected_;
    giver_.begin(view, rank.value);
  }
  // It takes in the view that it joins. A later view that lists it as joiner again is false.
  if (rank.value < view.survivors || takes_) return false;
  taker_.begin(view, givers_in(view));
  takes_ = true;
  return true;
}

template <class Memory>
bool StateTransfer<Memory>::step(Effects& effects) {
  bool moved = false;
  // One piece in a pass: others wait for our words meanwhile.
  for (bool read = false; !read;) {
    const StateJob* job = jobs_.done();
    if (job == nullptr) break;
    read = job->kind == StateJob::Kind::read;
    TUTTI_ASSERT(takes_ || job->kind != StateJob::Kind::load, job->view, job->at.group);
    if (job->kind == StateJob::Kind::load) {
      taker_.finished(*job);
    } else {
      giver_.finished(*job, effects);
    }
    jobs_.take();
    moved = true;
  }
  if (giver_.gives()) [[unlikely]]
    moved |= giver_.step(effects);
  if (taking() == Taking::under_way) [[unlikely]]
    moved |= taker_.step(effects);
  return moved;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class StateTransfer<NativeMemory>;
#endif

}  // namespace tutti
