// State directories that were put back from an older copy: others', and this node's own.
#include "restart/recovery.hpp"

namespace tutti::restart {

// Of the views that this node is to write, if it has none yet.
Edition Recovery::edition() const {
  const Edition& mine = views().edition;
  return mine.directory != 0 ? mine : Edition{.directory = options_.directory};
}

// RY6. The node with the older copy learns it from what this one has heard, which it is told at
// once, on disk here or not: whether it is does not make it less true.
bool Recovery::is_current(std::uint32_t slot, const Told& told) {
  const Views& mine = views();
  const std::string other = name_of(slot, options_.names);
  if (const auto newer = newer_than(mine.edition, slot_, told.views.heard)) {
    fail_with({ErrorCode::damaged,
               "the state directory " + file_.directory() + " was put back from an older copy: " +
                   other + " has heard of save " + std::to_string(newer->saves) +
                   " of this node's views, and it " + to_string(*newer, mine.edition) +
                   ". What this node has promised, accepted and logged since is not in it, so it "
                   "may not be gone on with: move it away, and start this node again; it fetches "
                   "everything from the others"});
    return false;
  }
  if (const auto newer = newer_than(told.views.edition, slot, editions_.heard())) {
    trouble_ = "the state directory of " + other + " was put back from an older copy: it told of " +
               "save " + std::to_string(newer->saves) + ", and " +
               to_string(*newer, told.views.edition) + "; it does not count. Move it away";
    outdated_.insert(slot);
    up_[slot].reset();
    if (stage_ == Stage::runs) {
      post(slot, Runs{told_now()});
    } else {
      post(slot, Hello{told_now(), stage_ == Stage::founds});
    }
    return false;
  }
  outdated_.erase(slot);
  // One of another group has nothing to do with the node that belongs here (ED1).
  if (told.views.origin == mine.origin) editions_.note(slot, told.views.edition);
  return true;
}

// A node that runs writes down of the others what it has heard since its last save.
bool Recovery::save_what_was_heard() { return views_->heard == editions_.heard() || save(*views_); }

}  // namespace tutti::restart
