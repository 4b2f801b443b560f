/// \file control_blocks.hpp
/// The control blocks of a group's members in one view: those of the others as this member reads
/// them, and its own as it writes it.
///
/// Invariant I6: words of a member count only while its block is that of this view (L3). Hence a
/// word is read between two looks at the epoch. The first look need not be repeated: a member that
/// has entered the view once is not looked at again before a word, only after it.
/// Threads: the predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "sst/control_words.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/types.hpp"

namespace tutti {

template <class Memory>
class ControlBlocks {
 public:
  /// `own` is the block of `self`. They outlive this. A view without members has no block.
  ControlBlocks(std::uint64_t view, Rank self, std::byte* own,
                const IndexedBy<Rank, const std::byte*>& blocks, Memory memory)
      : view_(view),
        self_(self),
        own_(own),
        blocks_(blocks.all()),
        memory_(memory),
        entered_(blocks.size()),
        unentered_(static_cast<std::uint32_t>(blocks.size())) {
    if (blocks.empty()) return;
    TUTTI_ASSERT(self.value < blocks.size() && own == blocks[self], self, blocks.size(), view);
    entered_[self] = true;  // our words are those of the view that we are in
    --unentered_;
  }

  [[nodiscard]] std::uint32_t members() const { return static_cast<std::uint32_t>(blocks_.size()); }
  [[nodiscard]] auto ranks() const {
    return std::views::iota(std::uint32_t{0}, members()) |
           std::views::transform([](std::uint32_t rank) { return Rank{rank}; });
  }

  /// The word as it is, whatever view it is of.
  [[nodiscard]] std::uint64_t load(Rank member, ControlWords::Word word) const {
    return memory_.load(blocks_[member.value] + word);
  }
  /// The look after a word: what was read of the member before is of this view, if it had entered.
  [[nodiscard]] bool in_view(Rank member) const {
    return load(member, ControlWords::kEpoch) == view_;
  }
  [[nodiscard]] bool have_all_entered() const { return unentered_ == 0 || look_whether_all(); }
  /// One look after words of all others.
  [[nodiscard]] bool are_all_in_view() const {
    for (const Rank m : ranks()) {
      if (m != self_ && !in_view(m)) return false;
    }
    return true;
  }
  /// A counter of a member: 0 unless its block is that of this view.
  [[nodiscard]] std::uint64_t count(Rank member, ControlWords::Word word) const {
    if (!has_entered(member)) return 0;
    const std::uint64_t value = load(member, word);
    return value != 0 && in_view(member) ? value : 0;
  }
  /// No other member is in this view, or none any more.
  [[nodiscard]] bool alone() const {
    for (const Rank m : ranks()) {
      if (m != self_ && in_view(m)) return false;
    }
    return true;
  }

  /// Writes a word of our own, which is then to be posted. Release: what this member did before is
  /// seen by who sees the word.
  void say(ControlWords::Word word, std::uint64_t value) {
    memory_.store(own_ + word, value);
    unsaid_ = true;
  }
  /// The same for a word that goes with whatever is posted next.
  void note(ControlWords::Word word, std::uint64_t value) { memory_.store(own_ + word, value); }
  void ask_for_post() { unsaid_ = true; }
  /// The same for a word that only the next member of a ring waits for, or the one before.
  void say_to_next(ControlWords::Word word, std::uint64_t value) {
    memory_.store(own_ + word, value);
    unsaid_to_next_ = true;
  }
  void say_to_last(ControlWords::Word word, std::uint64_t value) {
    memory_.store(own_ + word, value);
    unsaid_to_last_ = true;
  }
  /// Our own words are to be posted. They are, from now on, until the next say().
  [[nodiscard]] bool take_unsaid() { return std::exchange(unsaid_, false); }
  [[nodiscard]] bool take_unsaid_to_next() { return std::exchange(unsaid_to_next_, false); }
  [[nodiscard]] bool take_unsaid_to_last() { return std::exchange(unsaid_to_last_, false); }

 private:
  // The look before a word.
  [[nodiscard]] bool has_entered(Rank member) const {
    return unentered_ == 0 || look_whether_entered(member);
  }
  [[gnu::noinline]] bool look_whether_entered(Rank member) const {
    if (entered_[member]) return true;
    if (!in_view(member)) return false;
    TUTTI_ASSERT(unentered_ != 0 && member != self_, unentered_, member, view_);
    entered_[member] = true;
    --unentered_;
    return true;
  }
  [[gnu::noinline]] bool look_whether_all() const {
    for (const Rank m : ranks()) {
      if (!look_whether_entered(m)) return false;
    }
    return true;
  }

  const std::uint64_t view_;
  const Rank self_;
  std::byte* const own_;
  const std::span<const std::byte* const> blocks_;  // by rank
  mutable Memory memory_;
  mutable IndexedBy<Rank, bool> entered_;  // its block was seen to be that of this view
  mutable std::uint32_t unentered_;        // of how many it was not
  bool unsaid_ = false;
  bool unsaid_to_next_ = false;
  bool unsaid_to_last_ = false;
};

}  // namespace tutti
