#include "ring/token/local_aru.hpp"

#include "sst/memory.hpp"

namespace tutti {

// Whether the sender's next record has the next number.
template <class Memory>
typename LocalAru<Memory>::Next LocalAru<Memory>::look(SenderIndex sender) {
  std::optional<RingWalk<Memory>>& walk = walks_[sender];
  const std::uint64_t records = state_.sent[sender].records;
  if (records == 0 || (walk && walk->cursor().records == records)) return Next::elsewhere;
  if (!walk) walk.emplace(*state_.walk_from(sender, {}));
  if (!walk->look(number_)) return Next::impossible;
  if (walk->beyond() || walk->cursor().round > number_) return Next::elsewhere;
  return walk->cursor().round == number_ && walk->pass() ? Next::here : Next::impossible;
}

// A sender's numbers come in runs, so the next number is most often its next record's.
template <class Memory>
void LocalAru<Memory>::advance() {
  const std::uint32_t senders = state_.shape.senders();
  for (std::uint32_t tried = 0; tried < senders;) {
    switch (look(turn_)) {
      case Next::here: {
        RingWalk<Memory>& walk = *walks_[turn_];
        const std::uint64_t left = state_.sent[turn_].records - walk.cursor().records;
        number_ += 1 + walk.pass_run(left);
        tried = 0;
        break;
      }
      case Next::elsewhere:
        turn_ = next_in_turn(turn_, senders);
        ++tried;
        break;
      case Next::impossible:
        state_.refuse_record(turn_);
        return;
    }
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class LocalAru<NativeMemory>;
#endif

}  // namespace tutti
