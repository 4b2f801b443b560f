#include "multicast/round_robin.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

// I3. What we have seen of sender j up to round k asks for our round k if we come before j in the
// order, for round k - 1 if we come after it.
template <class Memory>
std::uint64_t RoundRobin<Memory>::rounds_owed() const {
  std::uint64_t owed = 0;
  const SenderIndex own = state_.shape.own_sender;
  for (const SenderIndex j : state_.shape.sender_indices()) {
    if (j == own || state_.sent[j].rounds == 0) continue;
    owed = std::max(owed, state_.sent[j].rounds - (own < j ? 0 : 1));
  }
  return owed;
}

template <class Memory>
void RoundRobin<Memory>::publish_received() {
  for (const SenderIndex s : state_.shape.sender_indices()) {
    const std::uint64_t known = state_.sent[s].known_rounds();
    if (known == state_.received[s]) continue;
    TUTTI_ASSERT(known > state_.received[s], known, state_.received[s], s, state_.shape.view,
                 state_.shape.self);  // S1
    state_.received[s] = known;
    state_.say_running(ControlWords::kReceived[s], known);
  }
}

template <class Memory>
std::uint64_t RoundRobin<Memory>::undelivered() const {
  if (state_.delivered >= kDeliveredAll) return 0;
  std::uint64_t sum = 0;
  for (const SenderIndex s : state_.shape.sender_indices()) {
    const std::uint64_t done = rounds_before(state_.delivered, s);
    if (state_.sent[s].rounds > done) sum += state_.sent[s].rounds - done;
  }
  return sum;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class RoundRobin<NativeMemory>;
#endif

}  // namespace tutti
