// A member delivers in its current view, messages of its members, before the wedge or after the
// decision (D3 D13 D14 M8). Only members of the view may write to it (F1 F3).
#include "history/checker/walk.hpp"

namespace tutti::history {

void Walk::install(std::uint64_t) {
  if (installed_ >= life_.installs.size()) return;
  const Installation& install = life_.installs[installed_++];
  view_ = install.view;
  content_ = install.whole ? &run_.content(install) : nullptr;
}

void Walk::check_in_view(const Step& step) {
  const Event& event = step.event;
  const Level level = *step.in.group->level;
  const bool safe = level == Level::agreed && !step.in.group->one_service && is_safe(event);
  if (level_of(event) != static_cast<std::uint8_t>(level) && !safe) {
    add(Property::D14, step.ref, "delivers at another level than the group's");
  }
  if (event.view == view_) {
    check_members(step);
  } else if (step.in.group->ordered()) {
    add(Property::D3, step.ref,
        view_ == kNever
            ? "delivers before it has installed a view"
            : "delivers in another view than its own, which is " + std::to_string(view_));
  }
  const bool wedged = step.in.wedged == event.view + 1 || wedged_all_ == event.view + 1;
  if (step.in.group->ordered() && wedged && step.in.cut != event.view + 1 &&
      decided_ != event.view + 1) {
    add(Property::M8, step.ref, "delivers after its wedge and before the decision");
  }
}

void Walk::check_members(const Step& step) {
  if (content_ == nullptr) return;
  InGroup& in = step.in;
  const std::uint16_t group = step.event.group;
  if (in.checked_view != view_) {
    in.checked_view = view_;
    if (content_->member(life_.who) != nullptr &&
        content_->group_member(group, life_.who) == nullptr) {
      add(Property::D13, step.ref, "delivers in a group that it is not a member of");
    }
  }
  if (step.sender.checked_view == view_) return;
  step.sender.checked_view = view_;
  const auto is_sender = [&](const ViewMember& member) {
    return member.who.node == step.event.peer &&
           fold(member.who.incarnation) == step.event.peer_incarnation;
  };
  const auto in_view = std::ranges::find_if(content_->members, is_sender);
  if (in_view == content_->members.end()) {
    return add(Property::D1, step.ref, "delivers a message of a node that is not in the view");
  }
  const ViewMember* member = content_->group_member(group, in_view->who);
  if (member == nullptr) {
    return add(Property::D13, step.ref,
               "delivers a message of a node that is not a member of the group");
  }
  step.sender.rank = member->rank;
  if ((member->flags & kMemberSends) == 0 && content_->names_senders(group)) {
    add(Property::D13, step.ref, "delivers a message of a member that is no sender in the view");
  }
}

/// The write's epoch is the id of its view; the event has the low bits of it.
void Walk::write_landed(const Event& event, std::uint64_t index) {
  if (view_ == kNever) return;
  const Property property =
      event.detail == static_cast<std::uint8_t>(WriteClass::row) ? Property::F1 : Property::F3;
  // The protocol's view; the application's view may be an earlier one.
  const std::uint64_t view = std::max(view_, event.view);
  const auto ahead = static_cast<std::int32_t>(event.extra - static_cast<std::uint32_t>(view));
  if (ahead < 0) {
    return add(property, {number_, index},
               "let a write of an older epoch land in view " + std::to_string(view));
  }
  const NodeRef source{event.peer, event.number};
  if (ahead == 0 && view == view_ && content_ != nullptr && content_->member(source) == nullptr) {
    add(property, {number_, index},
        "let a write of a node land that is not in view " + std::to_string(view_));
  }
}

}  // namespace tutti::history
