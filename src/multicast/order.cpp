#include "multicast/order.hpp"

#include "multicast/round_robin.hpp"
#include "multicast/unordered.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
std::unique_ptr<GroupOrder<Memory>> make_order(ViewState<Memory>& state,
                                               const Stability<Memory>& stability) {
  if (state.shape.order == Order::none) return std::make_unique<Unordered<Memory>>(state);
  return std::make_unique<RoundRobin<Memory>>(state, stability);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template std::unique_ptr<GroupOrder<NativeMemory>> make_order(ViewState<NativeMemory>&,
                                                              const Stability<NativeMemory>&);
#endif

}  // namespace tutti
