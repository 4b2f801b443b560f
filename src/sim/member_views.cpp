// How a member's application follows its views, at its own pace, and what it tells of them.
#include <algorithm>
#include <utility>

#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {
bool Member::turn_delivery_threads() {
  bool delivered = false;
  if (net_.now_ns() < threads_stuck_until_ns_ || membership_->stopped()) return false;
  for (const Seat& seat : seats_) {
    if (seat.own_thread) delivered |= seat.subgroup->deliver_here();
  }
  return delivered;
}

bool Member::delivered_before(std::uint64_t view) const {
  return std::ranges::all_of(
      seats_, [view](const Seat& seat) { return seat.subgroup->delivered_before(view); });
}

bool Member::delivered_all() const {
  return std::ranges::all_of(seats_,
                             [](const Seat& seat) { return seat.subgroup->delivered_all(); });
}

// As Incarnation does: the application is told of a view between its messages and those before.
std::size_t Member::follow_views() {
  std::size_t told = 0;
  while (!untold_.empty() && delivered_before(untold_.front().view.id)) {
    Untold& next = untold_.front();
    if (!std::exchange(next.begun, true)) {
      tell(next);
      next.awaits = states_->begin(next.view, self_.slot);
      for (const Seat& seat : seats_) seat.subgroup->set_lacks_state(next.awaits);
      for (const ViewMember& member : next.view.members) {
        const bool here =
            view().contains(member) && !membership_->suspects(*view().rank_of(member.slot));
        if (!here) states_->gone(member.slot);
      }
    }
    if (states_->holds()) break;
    for (const Seat& seat : seats_) {
      seat.subgroup->set_lacks_state(false);
      seat.subgroup->allow(next.view.id);
    }
    untold_.pop_front();
    ++told;
  }
  return told;
}

void Member::part_from_removed() {
  std::erase_if(parting_, [this](const Parting& gone) {
    if (!delivered_before(gone.view)) return false;
    const std::uint32_t slot = gone.member.slot;
    if (connected_[slot] == gone.member.incarnation) fabric_->fence(Rank{slot});
    return true;
  });
}

void Member::installed(const View& view, const View& before) {
  entries_.push_back({view, net_.now_ns()});
  states_->expect(view, self_.slot);
  Untold& next = untold_.emplace_back();
  next.view = view;
  next.before = before;
  next.decision = cuts_.back();
  for (const Seat& seat : seats_) next.first_seqs.push_back(seat.subgroup->shape().first_seq);
}

void Member::tell(const Untold& next) {
  const View& view = next.view;
  const std::uint64_t digest = digest_of(next.decision);
  for (std::uint16_t g = 0; g < seats_.size() && next.before.id != 0; ++g) {
    const bool ordered = plan_.groups[g].level != Level::unordered;
    record(history::make_cut(told_at(g), digest, ordered ? next.first_seqs[g] : 0));
  }
  told_ = view;
  const history::At at{.view = view.id, .time_ns = net_.now_ns()};
  record(history::make_install(at, digest, static_cast<std::uint32_t>(view.members.size()), 0));
  for (std::uint32_t rank = 0; rank < view.members.size(); ++rank) {
    const ViewMember& member = view.members[rank];
    const bool joined = rank >= view.survivors;
    record(history::make_view_member(
        at, ref(member), rank,
        static_cast<std::uint8_t>((joined ? history::kMemberJoined : 0) | history::kMemberSends)));
  }
  for (const ViewMember& member : next.decision.left) {
    const bool in_order = next.decision.leaves_in_order(member);
    record(history::make_view_left(
        at, ref(member), in_order ? history::LeftReason::leave : history::LeftReason::suspected));
  }
}

void Member::removed(const ViewMember& member) {
  states_->gone(member.slot);
  const bool entering = !cuts_.empty() && cuts_.back().next.id == view_id() + 1;
  parting_.push_back({member, entering ? view_id() + 1 : view_id()});
}

}  // namespace tutti::sim
