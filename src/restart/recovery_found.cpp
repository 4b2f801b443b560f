// A node without a vote: how it comes to one when the group is new, and what it waits for.
#include <algorithm>

#include "restart/recovery.hpp"

namespace tutti::restart {

// Nothing has happened since the group's founding was written down.
bool Recovery::is_founding(const Views& views, const std::vector<LogSummary>& logs) const {
  const ViewRecord& view = views.installed();
  if (view.id != 1 || views.chain.size() != 1 || views.accepted) return false;
  if (view.members.size() != options_.names.size()) return false;
  for (std::uint32_t slot = 0; slot < view.members.size(); ++slot) {
    if (view.members[slot] != slot) return false;
  }
  return std::ranges::all_of(logs, [](const LogSummary& log) { return log.next == 0; });
}

// What another node says counts if it is of the same group. One of the two may have to give way.
bool Recovery::fits(std::uint32_t slot, const Told& told) {
  const Views& mine = views();
  if (mine.origin == 0 || told.views.origin == mine.origin) return true;
  const bool new_here = is_founding(mine, logs_.summaries());
  const bool new_there = is_founding(told.views, told.logs);
  const std::string other = name_of(slot, options_.names);
  if (new_here && new_there) return true;  // consider_adopting()
  if (new_here) {
    fail_with({ErrorCode::invalid_argument,
               "this node was told that the group is new (bootstrap), and " + other +
                   " has been in one already. If that is the group to go on with, move the state "
                   "directory " +
                   file_.directory() + " away, and start this node again without bootstrap"});
    return false;
  }
  if (!new_there) {
    trouble_ = other +
               " belongs to a group that was founded another time; if what this node has is not "
               "wanted, move its state directory " +
               file_.directory() + " away";
  }
  return false;
}

// RY1. Of several that were told that the group is new, the one in the lowest slot counts.
void Recovery::consider_adopting() {
  if (stage_ == Stage::back && !is_founding(views(), logs_.summaries())) return;
  if (up_.size() + 1 != options_.names.size()) return;
  const Views* first = stage_ == Stage::back ? &views() : nullptr;
  std::uint32_t from = slot_;
  for (const auto& [slot, heard] : up_) {
    if (!heard || heard->runs) return;
    if (!heard->told) continue;
    if (!is_founding(heard->told->views, heard->told->logs)) return;
    if (first == nullptr || slot < from) {
      first = &heard->told->views;
      from = slot;
    }
  }
  if (first == nullptr || first->origin == views().origin) return;
  if (std::ranges::any_of(logs_.summaries(), [](const auto& log) { return !log.runs.empty(); })) {
    return;
  }
  Views views{.node = options_.names[slot_],
              .nodes = options_.names,
              .origin = first->origin,
              .since = 1,
              .chain = first->chain,
              .edition = edition()};
  participant_.reset();
  if (save(views)) start_participant();
}

std::string Recovery::why() const {
  if (error_) return error_->message;
  const auto also = [&](const std::string& text) {
    return trouble_.empty() ? text : text + " (" + trouble_ + ")";
  };
  if (stage_ == Stage::back) return also(participant_->why());
  if (stage_ == Stage::joins) {
    return also(may_join_ ? "waits to be admitted" : "fetches what its logs lack");
  }
  if (stage_ == Stage::founds) {
    std::string members;
    for (const std::uint32_t slot : founds_->members) {
      members += (members.empty() ? "" : ", ") + name_of(slot, options_.names);
    }
    return also("founds view " + std::to_string(founds_->id) + " of " + members +
                ", and waits until all of them are connected");
  }
  if (stage_ != Stage::fresh) return {};
  std::string away;
  bool all_fresh = true;
  for (std::uint32_t slot = 0; slot < options_.names.size(); ++slot) {
    if (slot == slot_) continue;
    const auto found = up_.find(slot);
    if (found == up_.end()) away += (away.empty() ? "" : ", ") + name_of(slot, options_.names);
    all_fresh = all_fresh && (found == up_.end() || (found->second && !found->second->told));
  }
  if (!all_fresh) {
    return also(
        "its state directory has been in no group, so it has no vote: it joins once enough of the "
        "others run");
  }
  if (!away.empty()) {
    return also("its state directory has been in no group; it waits for " + away);
  }
  return also(
      "no node has been in a group. If the group is new, say so once, at one node: `tutti "
      "bootstrap`, or NodeOptions::bootstrap");
}

}  // namespace tutti::restart
