#include "multicast/direct.hpp"

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool Direct<Memory>::receive(const IndexedBy<SenderIndex, bool>& ignored) {
  const GroupShape& shape = state_.shape;
  bool advanced = false;
  std::uint64_t fresh = 0;
  for (const SenderIndex s : shape.sender_indices()) {
    if (s == shape.own_sender || ignored[s]) continue;
    SentState& sent = state_.sent[s];
    const std::uint64_t before = sent.records;
    const std::uint64_t word = state_.blocks.load(shape.sender_ranks[s], ControlWords::kSent);
    if (!state_.met[s] || !state_.blocks.in_view(shape.sender_ranks[s])) continue;  // I6
    switch (advance(sent, word, shape.window_records)) {
      case SentChange::none:
        break;
      case SentChange::advanced:
        TUTTI_ASSERT(sent.records <= sent.rounds, sent.records, sent.rounds, s, shape.view,
                     shape.self);
        advanced = true;
        fresh += sent.records - before;
        break;
      case SentChange::impossible:
        state_.violation = {shape.sender_ranks[s], kImpossibleSent};
        return false;
    }
  }
  this->count_received(fresh);
  return advanced;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Direct<NativeMemory>;
#endif

}  // namespace tutti
