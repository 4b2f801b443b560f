/// \file view_rows.hpp
/// What the members of a view say of themselves, as one of them reads it, and what it says itself.
///
/// A word of another member's block counts only if the block is for our view, before the word is
/// read and after it (L3): that member may be a view behind us, or ahead. What we store is
/// kept apart from what is posted: the membership publishes all of it at once, if is_changed().
/// Threads: the predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "fabric/slot.hpp"
#include "membership/group_seat.hpp"
#include "membership/proposal.hpp"
#include "membership/view.hpp"
#include "membership/view_words.hpp"

namespace tutti {

template <class Memory>
class ViewRows {
 public:
  /// In view 0, which has `self`: this member.
  ViewRows(const ViewWords& words, ViewMember self, View view_0, std::byte* own_row, RowOf row_of,
           Memory memory);

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] const ViewWords& words() const { return words_; }
  /// Ours, in the view.
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] const ViewMember& self() const { return self_; }
  /// From here on blocks are those of that view, which has us in it. Stores nothing.
  void enter(const View& view);

  // Reading.
  [[nodiscard]] const std::byte* row(Slot slot) const {
    return slot == self_.slot ? own_row_ : row_of_(slot);
  }
  [[nodiscard]] const RowOf& row_of() const { return row_of_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t load(const std::byte* word) const { return memory_.load(word); }
  /// A word of the node in that slot that is not of a view.
  [[nodiscard]] std::uint64_t life(Slot slot, ViewWords::LifeWord word) const {
    return memory_.load(row(slot) + word);
  }
  /// A word of the member's block for our view, 0 if the block is not for it (L3).
  [[nodiscard]] std::uint64_t word(Rank rank, ViewWords::Word column) const;
  [[nodiscard]] bool says_suspected(Rank rank, Slot slot) const;
  /// The proposal for what comes after `view` that the word `accepted` of the node names; nothing
  /// if there is none that can be read.
  [[nodiscard]] std::optional<Proposal> proposal_of(Slot slot, std::uint64_t view,
                                                    std::uint64_t accepted) const;

  // Our own.
  void store(std::byte* word, std::uint64_t value) const { memory_.store(word, value); }
  void set(ViewWords::Word word, std::uint64_t value);
  void set_life(ViewWords::LifeWord word, std::uint64_t value);
  void say_suspected(Slot slot);
  [[nodiscard]] std::byte* own_row() const { return own_row_; }
  [[nodiscard]] std::byte* own_block() const { return own_row_ + words_.block(view_.id); }

  /// There is something to publish, or to act on in the next step at once.
  [[nodiscard]] bool is_changed() const { return changed_; }
  void mark_changed(bool changed = true) { changed_ = changed; }

 private:
  const ViewWords words_;
  const ViewMember self_;
  std::byte* own_row_;
  RowOf row_of_;
  Memory memory_;
  View view_;
  Rank rank_;
  bool changed_ = false;
};

}  // namespace tutti
