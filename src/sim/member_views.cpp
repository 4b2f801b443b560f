// How a member's application follows its views, at its own pace, and what it tells of them.
#include <algorithm>
#include <utility>

#include "history/make_event.hpp"
#include "sim/member.hpp"
#include "sim/openings.hpp"
#include "sim/view_watch.hpp"

namespace tutti::sim {

bool Member::turn_delivery_threads() {
  bool delivered = false;
  if (net_.now_ns() < threads_stuck_until_ns_ || stopped()) return false;
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    if (seats_[g].takes || seats_[g].own_thread) {
      delivered |= turn_delivery(static_cast<std::uint16_t>(g));
    }
    if (died_) return false;
    pass_barriers(static_cast<std::uint16_t>(g));
  }
  if (delivered) wake_handlers(false);
  return delivered;
}

bool Member::delivered_all() const {
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    if (!engine_->subgroup(g).delivered_all()) return false;
  }
  return true;
}

// What it passed on in the view that it entered last.
void Member::note_pieces() {
  if (entries_.empty()) return;
  std::uint64_t pieces = 0;
  for (std::size_t g = 0; g < seats_.size(); ++g) pieces += engine_->subgroup(g).pieces_passed();
  entries_.back().pieces = pieces - pieces_;
}

void Member::entered(const Entry& entry) {
  note_pieces();
  if (!entries_.empty()) pieces_ += entries_.back().pieces;
  entries_.push_back({.view = entry.view, .at_ns = net_.now_ns()});
  for (const ViewMember& other : entry.view.members) {
    if (!net_.is_disordered(other.slot.value, number()) || !finding_.empty()) continue;
    finding_ = "LI3: " + name() + " is in a view with " + plan_.rows.names[other.slot] +
               ", from which writes come in any order";
  }
  // One that leaves in order is heard until it is gone (J8).
  for (const ViewMember& other : entry.before.members) {
    const bool stays = entry.view.contains(other) || entry.decision.leaves_in_order(other);
    if (!stays) net_.remove_member(number(), other, entry.before.id);
  }
  std::vector<std::uint64_t>& first = first_seqs_.emplace_back();
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    first.push_back(engine_->subgroup(g).shape().first_seq);
    if (plan_.views == nullptr || !plan_.rows.groups[g].logged) continue;
    plan_.views->enters(self_, g, entry.decision, first.back());
  }
  for (const OpenGroup& open : entry.view.groups) {
    const std::uint64_t seq = first[open.group];
    const bool tells = open.since == entry.view.id && seq != kUnknownSeq;
    plan_.openings->enter(open, tells ? std::optional(seq) : std::nullopt);
    if (!open.has(self_.slot) || engine_->membership().wishes().has(open)) continue;
    plan_.openings->part(open, self_.incarnation, entry.view.id);
  }
}

void Member::reached(const Entry& entry) {
  const View& view = entry.view;
  const std::uint64_t digest = digest_of(entry.decision);
  for (std::uint16_t g = 0; g < seats_.size() && entry.before.id != 0; ++g) {
    // Of an open group all tell: its only members may be slow to be told, and lost.
    if (is_space(plan_, g) && find_space(entry.before.groups, g) == nullptr) continue;
    const bool ordered = plan_.rows.groups[g].level != Level::unordered;
    record(history::make_cut(told_at(g), digest, ordered ? first_seqs_.front()[g] : 0));
  }
  first_seqs_.pop_front();
  told_ = view;
  told_at_ns_ = net_.now_ns();
  const history::At at{.view = view.id, .time_ns = net_.now_ns()};
  record(history::make_install(at, digest, static_cast<std::uint32_t>(view.members.size()), 0));
  for (const Rank rank : view.ranks()) {
    const ViewMember& member = view.members[rank];
    const bool joined = rank.value >= view.survivors;
    record(history::make_view_member(
        at, ref(member), rank.value,
        static_cast<std::uint8_t>((joined ? history::kMemberJoined : 0) | history::kMemberSends)));
  }
  for (std::uint16_t g = 0; g < seats_.size(); ++g) {
    if (plan_.rows.groups[g].senders.size() != plan_.rows.nodes()) record_group(g, view);
  }
  for (const OpenGroup& open : view.groups) record_open_group(open, view);
  for (const ViewMember& member : entry.decision.left) {
    const bool in_order = entry.decision.leaves_in_order(member);
    record(history::make_view_left(
        at, ref(member), in_order ? history::LeftReason::leave : history::LeftReason::suspected));
  }
}

// A group of which not all are members that send.
void Member::record_group(std::uint16_t group, const View& view) {
  const std::vector<std::string>& senders = plan_.rows.groups[group].senders;
  std::uint32_t rank = 0;
  for (const ViewMember& member : view.members) {
    if (std::ranges::find(seats_[group].slots, member.slot) == seats_[group].slots.end()) continue;
    const bool sends = std::ranges::find(senders, plan_.rows.names[member.slot]) != senders.end();
    record(history::make_group_member(told_at(group), ref(member), rank++,
                                      sends ? history::kMemberSends : std::uint8_t{0}));
  }
}

}  // namespace tutti::sim
