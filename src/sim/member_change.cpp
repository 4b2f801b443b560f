// What a member shows of a change of view in its row: what it accepts, for the history, and that
// what is wedged stands still (M8).
#include "history/make_event.hpp"
#include "sim/member.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

// Not part of hash(): the protocol told nobody.
void Member::note_accepted(std::uint64_t view) {
  if (view == 0) return;
  const ViewWords& words = plan_.rows.words;
  const std::byte* block = row_.data() + words.block(view);
  if (NativeMemory::load(block + ViewWords::kEpoch) != view) return;
  const std::uint64_t accepted = NativeMemory::load(block + ViewWords::kAccepted);
  if (accepted == 0 || (accepted == accepted_ && view == accepted_view_)) return;
  accepted_ = accepted;
  accepted_view_ = view;
  const std::uint64_t digest = NativeMemory::load(block + words.proposal(accepted % 2));
  recorder_->append(history::make_accept({.view = view, .time_ns = net_.now_ns()}, digest,
                                         static_cast<std::uint32_t>(accepted / 2)));
}

// I5: nothing is sent any more, and at `atomic` nothing received.
void Member::note_frozen() {
  frozen_view_ = view_id();
  frozen_words_.clear();
  for (const GroupOptions& group : plan_.rows.groups) {
    const GroupPlace place = plan_.rows.layouts[self_.slot].place(group.name);
    const std::byte* block = row_.data() + place.control[frozen_view_ % 2];
    frozen_words_.push_back(NativeMemory::load(block + kSentOffset));
    const std::size_t senders = group.level == Level::atomic ? group.senders.size() : 0;
    for (std::size_t sender = 0; sender < senders; ++sender) {
      frozen_words_.push_back(NativeMemory::load(block + kReceivedOffset + 8 * sender));
    }
  }
}

void Member::check_frozen() {
  const std::vector<std::uint64_t> before = frozen_words_;
  note_frozen();
  if (frozen_words_ == before || !finding_.empty()) return;
  finding_ = "M8: " + name() + " has wedged in view " + std::to_string(frozen_view_) +
             " and still sends or receives in it";
}

}  // namespace tutti::sim
