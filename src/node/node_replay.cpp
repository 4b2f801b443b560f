// What is in the logs of a node comes to its application before anything new.
#include "node/node_core.hpp"

namespace tutti {

// It is new to the application, but for one that takes a state that has it.
bool NodeCore::replays(std::size_t group, bool joined) const {
  const DiskLog* log = disk_ != nullptr ? disk_->logs().log(group) : nullptr;
  if (log == nullptr) return false;
  const GroupOptions& options = groups_[group]->options();
  if (!options.on_delivery && options.delivery != DeliveryThread::application) return false;
  return !joined || !options.stateful;
}

// It has a disk of its own, for it reads on the thread that delivers. Of a group with a state the
// newest snapshot is loaded before what is in the log behind it.
FromLog NodeCore::from_log(std::size_t group, bool joined) {
  const std::optional<std::uint64_t> first_new = incarnation_->subgroup(group).first_new();
  const GroupOptions& options = groups_[group]->options();
  if (!replays(group, joined) || !first_new || options.deliver_from >= *first_new) return {};
  DiskLog& log = *disk_->logs().log(group);
  log.begin(*first_new);  // whoever waits for it here makes no pass
  FromLog out{.replay = std::make_unique<LogReplay>(log::posix_disk(), log,
                                                    ReplayOptions{.directory = log.directory(),
                                                                  .from = options.deliver_from,
                                                                  .until = *first_new,
                                                                  .alignment = options.alignment})};
  if (log.snapshots() == nullptr) return out;
  out.load = std::make_shared<SnapshotLoad>(options.deliver_from, *first_new);
  incarnation_->snapshots().ask_to_load(group, out.load);
  return out;
}

// On the thread for states, whose incarnation is there.
void NodeCore::delivery_may_move(std::size_t group) {
  if (!life_.in_view()) return;
  groups_[group]->look_again();
  notify_work();
}

void NodeCore::replay_failed(const GroupCore& group, const Error& why) {
  fail_with({why.code, "group '" + group.options().name +
                           "': what is in its log cannot be handed on: " + why.message});
}

}  // namespace tutti
