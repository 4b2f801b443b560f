// What a member shows of a change of view in its row: what it accepts, for the history, and that
// what is wedged stands still (M8).
#include "history/make_event.hpp"
#include "multicast/stability.hpp"
#include "sim/member.hpp"
#include "sim/token_watch.hpp"
#include "sst/memory.hpp"
#include "sst/token_words.hpp"

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

void Member::stop_in_pass() {
  note_accepted(view_before_);
  for (std::size_t group = 0; group < seats_.size(); ++group) {
    note_rounds(static_cast<std::uint16_t>(group));
  }
  if (plan_.one_host) check_stable();
  if (plan_.logs != nullptr) check_disks();
}

// I5: nothing is sent any more, and at `atomic` nothing received.
void Member::note_frozen() {
  frozen_view_ = view_id();
  frozen_words_.clear();
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const GroupOptions& group = plan_.rows.groups[g];
    const GroupOffsets offsets = plan_.rows.layouts[self_.slot].offsets_of(group.name);
    const std::byte* block = row_.data() + offsets.control[frozen_view_ % 2];
    frozen_words_.push_back(NativeMemory::load(block + ControlWords::kSent));
    if (!waits_for_all(group.level)) continue;
    for (const SenderIndex sender : engine_->subgroup(g).shape().sender_indices()) {
      frozen_words_.push_back(NativeMemory::load(block + ControlWords::kReceived[sender]));
    }
  }
}

bool Member::is_frozen() const {
  return frozen_view_ != 0 && frozen_view_ == view_id() && changing() && !stopped() &&
         !engine_->membership().has_decided();
}

void Member::check_frozen() {
  const std::vector<std::uint64_t> before = frozen_words_;
  note_frozen();
  if (frozen_words_ == before || !finding_.empty()) return;
  finding_ = "M8: " + name() + " has wedged in view " + std::to_string(frozen_view_) +
             " and still sends or receives in it";
}

// I2, I7, as the owners' rows are just now: what may be delivered here, at `atomic` each member of
// the view has received, and at `agreed` each has met all senders. One that is in a later view had.
void Member::check_stable() {
  if (!finding_.empty() || stopped() || view_id() == 0) return;
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const GroupShape& shape = engine_->subgroup(g).shape();
    if (shape.level == Level::unordered || shape.view != view_id()) continue;
    for (const Rank m : shape.ranks()) {
      const std::byte* words = shape.member_controls[m];
      const bool here = NativeMemory::load(words + ControlWords::kEpoch) == shape.view;
      const std::byte* row = net_.row(number(), view().members[m].slot.value);
      if (m == shape.self) continue;
      if (!here && NativeMemory::load(row + ViewWords::kInstalled) > shape.view) continue;
      const bool met =
          (NativeMemory::load(words + ControlWords::kBase) & ControlWords::kMetAll) != 0;
      for (const SenderIndex s : shape.sender_indices()) {
        const std::uint64_t received =
            shape.order == Order::token_ring
                ? NativeMemory::load(words + TokenWords(shape.senders()).here()) &
                      ~TokenWords::kWedged
                : NativeMemory::load(words + ControlWords::kReceived[s]);
        const bool atomic = waits_for_all(shape.level);
        if (!atomic && here && engine_->subgroup(g).safe() > received) {
          finding_ = "I2: " + name() + " may deliver as safe in view " +
                     std::to_string(shape.view) + " what " +
                     plan_.rows.names[view().members[m].slot] + " does not have";
        }
        const std::uint64_t most = here && atomic ? received : here && met ? kNoRound : 0;
        if (engine_->subgroup(g).stable(s) <= most || !finding_.empty()) continue;
        finding_ = (atomic ? "I2: " : "I7: ") + name() + " may deliver in view " +
                   std::to_string(shape.view) + " what " +
                   plan_.rows.names[view().members[m].slot] + " does not have";
      }
    }
  }
}

// E10.
void Member::check_tokens() {
  for (std::size_t g = 0; g < seats_.size() && finding_.empty() && view_id() != 0; ++g) {
    const GroupShape& shape = engine_->subgroup(g).shape();
    if (shape.order != Order::token_ring || shape.members() == 0) continue;
    if (NativeMemory::load(shape.own_control + ControlWords::kEpoch) != shape.view) continue;
    const std::string wrong = plan_.tokens->see(g, shape);
    if (!wrong.empty()) {
      finding_ = "E10: in view " + std::to_string(shape.view) + " of group " + std::to_string(g) +
                 " " + wrong;
    }
  }
}

// Y4. No node of the world writes what a correct one does not, so nobody may call another corrupt.
void Member::check_violations() {
  for (std::size_t g = 0; g < seats_.size() && finding_.empty(); ++g) {
    const std::optional<Violation> violation = engine_->subgroup(g).violation();
    if (!violation || stopped()) continue;
    finding_ = "Y4: " + name() + " says that " + plan_.rows.names[violation->slot] +
               " is corrupt: " + violation->what;
  }
  if (!requests_ || !engine_->requests()->violation() || !finding_.empty()) return;
  const Violation& violation = *engine_->requests()->violation();
  finding_ = "Y4: " + name() + " says that " + plan_.rows.names[violation.slot] +
             " is corrupt: " + violation.what;
}

}  // namespace tutti::sim
