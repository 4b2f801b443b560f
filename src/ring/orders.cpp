// The orders by name: which order, which way of the bytes, which rule of a level and which follower
// belong together. What the multicast declares at its seams is made here, for it does not know the
// rings.
#include <memory>
#include <utility>

#include "multicast/direct.hpp"
#include "multicast/dissemination.hpp"
#include "multicast/follower.hpp"
#include "multicast/order.hpp"
#include "multicast/round_follower.hpp"
#include "multicast/round_robin.hpp"
#include "multicast/sender_follower.hpp"
#include "multicast/stability.hpp"
#include "multicast/unordered.hpp"
#include "ring/lcr/acknowledged.hpp"
#include "ring/lcr/chain.hpp"
#include "ring/lcr/lcr.hpp"
#include "ring/token/agreed_and_safe.hpp"
#include "ring/token/number_follower.hpp"
#include "ring/token/safe.hpp"
#include "ring/token/token_ring.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
std::unique_ptr<GroupOrder<Memory>> make_order(ViewState<Memory>& state,
                                               const Stability<Memory>& stability,
                                               MulticastCounters& counters) {
  switch (state.shape.order) {
    case Order::none:
      return std::make_unique<Unordered<Memory>>(state);
    case Order::token_ring:
      return std::make_unique<TokenRing<Memory>>(state, stability, counters);
    case Order::lcr:
      return std::make_unique<Lcr<Memory>>(state, stability, counters);
    case Order::round_robin:
      break;
  }
  return std::make_unique<RoundRobin<Memory>>(state, stability);
}

template <class Memory>
std::unique_ptr<Dissemination<Memory>> make_dissemination(ViewState<Memory>& state,
                                                          MulticastCounters& counters) {
  if (state.shape.order == Order::lcr) return std::make_unique<Chain<Memory>>(state, counters);
  return std::make_unique<Direct<Memory>>(state, counters);
}

template <class Memory>
std::unique_ptr<Stability<Memory>> make_stability(ViewState<Memory>& state) {
  const GroupShape& shape = state.shape;
  if (shape.order == Order::token_ring) {
    if (shape.level == Level::agreed) return std::make_unique<AgreedAndSafe<Memory>>(state);
    return std::make_unique<Safe<Memory>>(state);
  }
  if (shape.order == Order::lcr) return std::make_unique<Acknowledged<Memory>>(state);
  return make_receipt_rule(state);
}

template <class Memory>
std::unique_ptr<Follower<Memory>> make_follower(const GroupShape& shape, Memory memory,
                                                const Bounds& bounds, DeliveryCallback callback,
                                                DeliveryTotals& totals) {
  switch (shape.order) {
    case Order::none:
      return std::make_unique<SenderFollower<Memory>>(shape, memory, bounds, std::move(callback),
                                                      totals);
    case Order::token_ring:
      return std::make_unique<NumberFollower<Memory>>(shape, memory, bounds, std::move(callback),
                                                      totals);
    case Order::lcr:
    case Order::round_robin:
      break;
  }
  return std::make_unique<RoundFollower<Memory>>(shape, memory, bounds, std::move(callback),
                                                 totals);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template std::unique_ptr<GroupOrder<NativeMemory>> make_order(ViewState<NativeMemory>&,
                                                              const Stability<NativeMemory>&,
                                                              MulticastCounters&);
template std::unique_ptr<Dissemination<NativeMemory>> make_dissemination(ViewState<NativeMemory>&,
                                                                         MulticastCounters&);
template std::unique_ptr<Stability<NativeMemory>> make_stability(ViewState<NativeMemory>&);
template std::unique_ptr<Follower<NativeMemory>> make_follower(const GroupShape&, NativeMemory,
                                                               const Bounds&, DeliveryCallback,
                                                               DeliveryTotals&);
#endif

}  // namespace tutti
