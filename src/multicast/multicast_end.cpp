// How a view begins and ends in a group, whatever its order.
#include <utility>

#include "base/assert.hpp"
#include "multicast/multicast.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
std::optional<std::uint64_t> Multicast<Memory>::first_seq() const {
  if (state_.shape.first_seq != kUnknownSeq) return state_.shape.first_seq;
  for (const Rank m : state_.shape.ranks()) {
    if (const std::uint64_t said = state_.blocks.count(m, ControlWords::kFirstSeq); said != 0) {
      return said - 1;
    }
  }
  return {};
}

template <class Memory>
void Multicast<Memory>::tell_first_seq(std::uint64_t seq) {
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(shape.first_seq == kUnknownSeq &&
                   state_.blocks.load(shape.self, ControlWords::kFirstSeq) == 0,
               seq, shape.view, shape.self);
  state_.blocks.say(ControlWords::kFirstSeq, seq + 1);
}

template <class Memory>
bool Multicast<Memory>::settled(const IndexedBy<Rank, bool>& suspected) const {
  if (!stability_->receives_wedged()) return true;
  if (state_.violation) return false;
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(shape.members() == 0 || (state_.wedged && suspected.size() == shape.members()),
               state_.wedged, suspected.size(), shape.members(), shape.view, shape.self);
  for (const SenderIndex s : shape.sender_indices()) {
    const Rank rank = shape.sender_ranks[s];
    if (suspected[rank] || s == shape.own_sender) continue;
    SentState last = state_.sent[s];
    const std::uint64_t word = state_.blocks.load(rank, ControlWords::kSent);
    if (!state_.met[s] || !state_.blocks.in_view(rank)) return false;
    if (advance(last, word, shape.window_records) != SentChange::none) return false;
  }
  return true;
}

template <class Memory>
std::optional<Cut> Multicast<Memory>::find_cut(const IndexedBy<Rank, bool>& goes_on,
                                               const Follower<Memory>& follower) {
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(goes_on.size() == shape.members() && goes_on[shape.self], goes_on.size(),
               shape.members(), shape.view, shape.self);
  TUTTI_ASSERT(state_.wedged, shape.view, shape.self);  // I5: else our own words still move
  std::optional<Cut> cut = order_->find_cut(goes_on, follower);
  if (cut && shape.logged) {
    const std::optional<std::uint64_t> first = first_seq();
    if (!first) return {};
    const std::optional<ViewEnd> end = order_->count_cut(*cut, *first, follower);
    if (!end) return {};
    cut->next_seq = end->next_seq;
  }
  TUTTI_ASSERT(!cut || cut->words.size() <= cut_words_max(shape.senders()), cut->words.size(),
               shape.senders(), shape.view, shape.self);
  return cut;
}

template <class Memory>
bool Multicast<Memory>::apply_cut(const Cut& cut, const Follower<Memory>& follower) {
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(!state_.bounds.is_open() && !state_.bounds.is_final(), shape.view,
               shape.self);  // N2
  TUTTI_ASSERT(shape.members() == 0 || state_.wedged, shape.view, shape.self);
  const std::optional<std::uint64_t> first = first_seq();
  if (!first) return false;
  std::optional<ViewEnd> end = order_->count_cut(cut, *first, follower);
  if (!end) return false;
  order_->set_end(cut, *end);
  end_ = std::move(*end);
  state_.bounds.make_final();
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
