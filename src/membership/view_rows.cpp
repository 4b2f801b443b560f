#include "membership/view_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
ViewRows<Memory>::ViewRows(const ViewWords& words, ViewMember self, View view_0, std::byte* own_row,
                           RowOf row_of, Memory memory)
    : words_(words),
      self_(self),
      own_row_(own_row),
      row_of_(std::move(row_of)),
      memory_(memory),
      view_(std::move(view_0)) {
  TUTTI_ASSERT(view_.id == 0 && view_.contains(self), view_.id, self.slot);
  rank_ = *view_.rank_of(self.slot);
}

template <class Memory>
void ViewRows<Memory>::enter(const View& view) {
  TUTTI_ASSERT(view.id > view_.id && view.contains(self_), view.id, view_.id, self_.slot);
  view_ = view;
  rank_ = *view.rank_of(self_.slot);
}

template <class Memory>
std::uint64_t ViewRows<Memory>::word(Rank rank, ViewWords::Word column) const {
  const Slot slot = view_.members[rank].slot;
  const std::byte* block = row(slot) + words_.block(view_.id);
  if (memory_.load(block + ViewWords::kEpoch) != view_.id) return 0;
  const std::uint64_t value = memory_.load(block + column);
  if (value == 0 || memory_.load(block + ViewWords::kEpoch) != view_.id) return 0;
  // A block that is new to us, or cleared, has no epoch either.
  return view_.id == 0 && life(slot, ViewWords::kInstalled) != 0 ? 0 : value;
}

template <class Memory>
bool ViewRows<Memory>::says_suspected(Rank rank, Slot slot) const {
  return (word(rank, ViewWords::kSuspected[slot.value / 64]) >> slot.value % 64 & 1) != 0;
}

template <class Memory>
std::optional<Proposal> ViewRows<Memory>::proposal_of(Slot slot, std::uint64_t view,
                                                      std::uint64_t accepted) const {
  const std::byte* from = row(slot) + words_.block(view) + words_.proposal(accepted % 2);
  const std::size_t most = words_.proposal_bytes() / 8;
  std::vector<std::uint64_t> words;
  std::size_t count = 2;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(memory_.load(from + 8 * i));
    if (i == 1) count = std::clamp<std::size_t>(words[1], 2, most);
  }
  std::optional<Proposal> out = decode(words);
  // What follows view 0 may be the view of a restart: whoever founds knows which.
  if (out && view != 0 && out->next.id != view + 1) out.reset();
  return out;
}

template <class Memory>
void ViewRows<Memory>::say_suspected(Slot slot) {
  const ViewWords::Word word = ViewWords::kSuspected[slot.value / 64];
  set(word, NativeMemory::load(own_block() + word) | 1ULL << slot.value % 64);
}

template <class Memory>
void ViewRows<Memory>::set(ViewWords::Word word, std::uint64_t value) {
  memory_.store(own_block() + word, value);
  changed_ = true;
}

template <class Memory>
void ViewRows<Memory>::set_life(ViewWords::LifeWord word, std::uint64_t value) {
  memory_.store(own_row_ + word, value);
  changed_ = true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class ViewRows<NativeMemory>;
#endif

}  // namespace tutti
