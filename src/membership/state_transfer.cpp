#include "membership/state_transfer.hpp"

#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool StateTransfer<Memory>::begin(const View& view, std::uint32_t slot) {
  const bool any = std::ranges::any_of(
      jobs_.groups(), [](const GroupState& group) { return group.load != nullptr; });
  if (!any || view.survivors == 0 || view.survivors == view.members.size()) return false;
  const std::uint32_t rank = *view.rank_of(slot);
  const std::size_t givers = std::min<std::size_t>(kGivers, view.survivors);
  if (rank < givers) giver_.begin(view, rank);
  if (rank < view.survivors) return false;
  taker_.begin(view, givers);
  takes_ = true;
  return true;
}

template <class Memory>
bool StateTransfer<Memory>::step(Fabric& fabric) {
  bool moved = false;
  // One piece in a pass: others wait for our words meanwhile.
  for (bool read = false; !read;) {
    const StateJob* job = jobs_.done();
    if (job == nullptr) break;
    read = job->kind == StateJob::Kind::read;
    if (job->kind == StateJob::Kind::load) {
      taker_.finished(*job);
    } else {
      giver_.finished(*job, fabric);
    }
    jobs_.take();
    moved = true;
  }
  if (giver_.gives()) [[unlikely]]
    moved |= giver_.step(fabric);
  if (taking() == Taking::under_way) [[unlikely]]
    moved |= taker_.step(fabric);
  return moved;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class StateTransfer<NativeMemory>;
#endif

}  // namespace tutti
