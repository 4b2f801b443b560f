// How a member's application joins and leaves groups while it runs, and what it tells of them.
#include <algorithm>
#include <utility>

#include "history/make_event.hpp"
#include "sim/member.hpp"
#include "sim/openings.hpp"

namespace tutti::sim {

DeliveryCallback Member::joins(std::size_t group, const OpenGroup& open) {
  Seat& seat = seats_[group];
  if (!seat.waiting.empty() && finding_.empty()) {
    finding_ = "GR4: " + name() + " comes into group '" + open.name + "' with messages on its way";
  }
  return [this, group](std::span<const Message> batch) {
    deliver(static_cast<std::uint16_t>(group), batch);
  };
}

// In the histories each opening is a group.
history::At Member::told_at(std::uint16_t group) const {
  const OpenGroup* const open = is_space(plan_, group) ? find_space(told_.groups, group) : nullptr;
  return {.view = told_.id,
          .time_ns = net_.now_ns(),
          .group = open != nullptr ? plan_.openings->number_of(*open) : group};
}

void Member::record_open_group(const OpenGroup& open, const View& view) {
  std::uint32_t rank = 0;
  for (const ViewMember& member : view.members) {
    if (!open.has(member.slot)) continue;
    record(history::make_group_member(
        {.view = view.id, .time_ns = net_.now_ns(), .group = plan_.openings->number_of(open)},
        ref(member), rank++, history::kMemberSends));
  }
}

// The application acts on what it was told last, if that is what there is.
void Member::change_groups() {
  if (stopped() || view_id() == 0 || told_ != view() || finished_) return;
  leave_groups();
  constexpr std::uint64_t kPassesPerWish = 64;
  if (plan_.openings->is_calm() || !wishing_.random.one_in(kPassesPerWish)) return;
  if (wishing_.random.one_in(2)) {
    // Few at a time, so that members meet.
    const std::uint64_t period = 1 + net_.now_ns() / (8 * plan_.suspect_after_ns);
    const std::vector<GroupSpaces::Space>& spaces = plan_.rows.spaces.all;
    const bool first_kind = spaces.size() == 1 || wishing_.random.one_in(2);
    wish_for({.name = "t" + std::to_string(3 * period + wishing_.random.below(3)),
              .kind = first_kind ? spaces.front().kind : spaces.back().kind});
    return;
  }
  if (wishing_.wishes.empty()) return;
  const std::string& left = wishing_.wishes[wishing_.random.below(wishing_.wishes.size())].name;
  if (std::ranges::find(wishing_.leaving, left) == wishing_.leaving.end()) {
    wishing_.leaving.push_back(left);
  }
}

// Each once, so that it is another group when it is opened again.
void Member::wish_for(const GroupWish& wish) {
  if (std::ranges::find(wishing_.wished, wish) != wishing_.wished.end()) return;
  if (engine_->membership().wish(wish) != Membership<Memory>::Wished::yes) return;
  wishing_.wished.push_back(wish);
  wishing_.wishes.push_back(wish);
  // A join may time out while the leader acts on it.
  if (wishing_.random.one_in(4)) wishing_.leaving.push_back(wish.name);
}

void Member::leave_groups() {
  std::vector<GroupWish> again;
  std::erase_if(wishing_.leaving, [&](const std::string& left) {
    const OpenGroup* const open = find_name(view().groups, left);
    const bool is_in = open != nullptr && open->has(self_.slot);
    if (is_in) engine_->subgroup(open->group).ring()->close();
    if (!engine_->membership().withdraw(left)) return false;
    if (is_in && !seats_[open->group].waiting.empty() && finding_.empty()) {
      finding_ = "GR4: " + name() + " left group '" + left + "' before all it sent was delivered";
    }
    if (is_in) plan_.openings->part(*open, self_.incarnation, view_id());
    const auto wish = std::ranges::find(wishing_.wishes, left, &GroupWish::name);
    // Also of another kind, while a view may yet be made of this wish.
    const GroupSpaces& spaces = plan_.rows.spaces;
    const bool first = wish->kind == spaces.all.front().kind;
    again.push_back({left, first ? spaces.all.back().kind : spaces.all.front().kind});
    wishing_.wishes.erase(wish);
    return true;
  });
  if (plan_.openings->is_calm()) return;
  for (const GroupWish& wish : again) wish_for(wish);
}

}  // namespace tutti::sim
