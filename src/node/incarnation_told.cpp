// What the engine tells of its course, and how it is told on: to the application, to the bootstrap,
// and to whoever reads the log.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "node/incarnation.hpp"

namespace tutti {

void Incarnation::lost(Slot slot, const std::string& reason, bool let_go) {
  if (let_go || events_.ends()) return;
  told_lost_[slot] = true;
  log(LogLevel::warning, "member '" + plan_.names[slot] + "' was lost: " + reason);
}

// Another member may have lost it before this one did: then the view is the first that is heard.
void Incarnation::tell_removed(const Entry& entry) {
  for (const ViewMember& member : entry.decision.left) {
    const bool told = told_lost_[member.slot];
    told_lost_[member.slot] = false;
    if (told || entry.decision.leaves_in_order(member) || events_.ends()) continue;
    log(LogLevel::warning, "member '" + plan_.names[member.slot] + "' was removed by view " +
                               std::to_string(entry.view.id) +
                               ": a member heard nothing of it for suspect_after (" +
                               in_seconds(node_.suspect_after) +
                               " s here), lost its connection, or removed it as slow");
  }
}

void Incarnation::silent(Slot slot) {
  const std::string is =
      view().id == 0 ? "' is connected, and has " : "' is connected and not in the group, and has ";
  log(LogLevel::warning, "'" + plan_.names[slot] + is + "shown no sign of life for " +
                             in_seconds(patience_with_outsiders()) +
                             " s: its connection is closed");
}

void Incarnation::let_go(Slot slot) {
  detach(slot);
  bootstrap_->release(slot);
}

void Incarnation::distrusted(Slot slot, const std::string& what) {
  events_.distrusted({ErrorCode::mismatch,
                      "the path from '" + plan_.names[slot] + "' cannot be trusted: " + what});
}

bool Incarnation::stepped() {
  bool more = false;
  if (passed_ns_ >= next_lags_ns_) [[unlikely]]
    more = watch_lags();
  if (view().id == 0) [[unlikely]]
    sees_group_.store(engine_->membership().group_exists(), std::memory_order_relaxed);
  return more;
}

ViewChange Incarnation::change_of(const Entry& entry) const {
  const View& view = entry.view;
  TUTTI_ASSERT(view.rank_of(self_).has_value(), view.id, self_);
  ViewChange change{.view = view.id, .rank = *view.rank_of(self_)};
  for (const Rank rank : view.ranks()) {
    const std::string& name = plan_.names[view.members[rank].slot];
    change.members.push_back(name);
    change.incarnations.push_back(view.members[rank].incarnation);
    if (rank.value >= view.survivors) change.joined.push_back(name);
  }
  for (const ViewMember& member : entry.decision.left) {
    change.left.push_back(
        {plan_.names[member.slot], member.incarnation,
         entry.decision.leaves_in_order(member) ? LeftReason::left : LeftReason::suspected});
  }
  return change;
}

void Incarnation::entered(const Entry& entry) {
  TUTTI_ASSERT(entry.view.id > newest_.view, entry.view.id, newest_.view, self_);
  next_lags_ns_ = 0;  // the course in a view is known from its beginning
  if (entry.before.id == 0) bootstrap_->set_running();
  newest_ = change_of(entry);
  tell_removed(entry);
  show(told_any_ ? NodeState::in_view : NodeState::joining, newest_);
}

void Incarnation::tell(const Entry& entry) {
  TUTTI_ASSERT(entry.view.id <= newest_.view, entry.view.id, newest_.view, self_);  // P3
  gives_state_.store(0, std::memory_order_relaxed);
  if (!std::exchange(told_any_, true)) show(NodeState::in_view, newest_);
  events_.installed(change_of(entry));
}

void Incarnation::show(NodeState state, const ViewChange& change) {
  bootstrap_->show({.state = state,
                    .view = change.view,
                    .members = change.members.all(),
                    .incarnations = change.incarnations.all()});
}

}  // namespace tutti
