// How a view ends in the order token_ring: behind the last number that all who go on have, with all
// before it. What comes later is sent again, with new numbers, in the next view.
#include <algorithm>

#include "ring/token/token_ring.hpp"
#include "sst/memory.hpp"

namespace tutti {

// Nobody holds more for safe than any of them has (TK7). Where each delivers by itself all must
// have the same first.
template <class Memory>
std::optional<Cut> TokenRing<Memory>::find_cut(const IndexedBy<Rank, bool>& goes_on,
                                               const Follower<Memory>& /*follower*/) {
  const bool must_be_equal = stability_.delivers_alone(goes_on);
  std::uint64_t least = state_.here;
  for (const Rank m : state_.shape.ranks()) {
    if (!goes_on[m] || m == state_.shape.self) continue;
    const std::uint64_t word = state_.blocks.count(m, words_.here());
    if ((word & TokenWords::kWedged) == 0) return {};
    const std::uint64_t here = word & ~TokenWords::kWedged;
    if (must_be_equal && here != state_.here) return {};
    least = std::min(least, here);
  }
  return Cut{{least}};
}

template <class Memory>
std::optional<ViewEnd> TokenRing<Memory>::count_cut(const Cut& cut, std::uint64_t first_seq,
                                                    const Follower<Memory>& follower) const {
  const std::uint64_t numbers = cut.words.empty() ? 0 : cut.words[0];
  if (numbers > state_.here) return {};
  IndexedBy<SenderIndex, std::uint64_t> before;
  before.assign(state_.shape.senders(), numbers);
  return this->count_before(before, first_seq, follower);
}

template <class Memory>
void TokenRing<Memory>::set_end(const Cut& cut, const ViewEnd& end) {
  const std::uint64_t numbers = cut.words.empty() ? 0 : cut.words[0];
  for (const SenderIndex s : state_.shape.sender_indices()) {
    state_.set_end(s, end.records[s], numbers);
  }
}

template <class Memory>
bool TokenRing<Memory>::at_cut(const Cut& cut, const ViewEnd& /*end*/,
                               const Follower<Memory>& follower) const {
  return follower.position() >= (cut.words.empty() ? 0 : cut.words[0]);
}

template <class Memory>
bool TokenRing<Memory>::is_sensible(const Cut& cut) const {
  if (state_.shape.members() == 0) return cut.words.empty();
  return cut.words.size() == 1 && cut.words[0] < kNoRound;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class TokenRing<NativeMemory>;
#endif

}  // namespace tutti
