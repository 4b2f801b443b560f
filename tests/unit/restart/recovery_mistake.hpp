/// \file recovery_mistake.hpp
/// Mistakes that are planted in worlds of recoveries (recovery_world.hpp): each must be found.
#pragma once
#include <cstdint>

namespace tutti::restart::testing {

/// What a node, or the wire that it speaks through, does wrong.
enum class RecoveryMistake : std::uint8_t {
  none,
  adopts_while_away,       ///< nodes that are away are taken to be fresh
  adopts_beyond_first,     ///< nodes that have got beyond view 1 are taken to be fresh
  lost_disk_votes,         ///< a node without `views` takes view 1 for its own
  keeps_tail,              ///< a joiner does not cut what the others do not have
  counts_before_whole,     ///< a log counts as persisted before it is whole
  installs_unsaved,        ///< install() does not write
  accepts_unsaved,         ///< accept() does not write
  promises_unsaved,        ///< a promise is not written
  forgets_promise,         ///< a start forgets what was promised
  may_join_unsaved,        ///< a node may be admitted before its `views` say so
  not_held_back,           ///< nodes are admitted that may not join
  ignores_vain,            ///< a founding in vain is not given up
  promises_while_running,  ///< members take part in a restart
  counts_older_copy,       ///< nobody notices that a state directory is an older copy
  older_copy_not_told,     ///< the node that has it does not learn it
  forgets_heard,           ///< a start forgets what was heard of others' directories
  tells_next_edition,      ///< a node tells of a save that it has not made yet
  durable_by_less,         ///< what one member less than a majority has is delivered as durable
  // In worlds with snapshots.
  snapshot_not_durable,    ///< a snapshot counts once this node's own log has what it has
  released_too_far,        ///< the log goes up to the newest snapshot, and behind it
  beyond_cut_kept,         ///< a snapshot beyond a cut stays
  suffix_before_snapshot,  ///< a joiner is not told that there is a snapshot
  renamed_unsynced,        ///< a snapshot gets its name before its content is on disk
  numbered_wrong,          ///< a snapshot has one message less than it says
  old_goes_first,          ///< the snapshots before go before the new one is there
  fetched_is_lost,         ///< a log begins at a snapshot that is not there for good
  parting_hidden,          ///< logs that cannot be compared are taken for the same
  // Of disks that fail or rot, which no other mistake's worlds have.
  ignores_failed_write,  ///< what a log was to take counts as persisted though its disk has failed
  opens_failed_log,      ///< such a log is opened again, and what is read there counts
  cuts_at_damage,        ///< a log is cut where it is damaged, and goes on
};

}  // namespace tutti::restart::testing
