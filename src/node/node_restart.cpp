// How a node whose groups are logged comes back into them: what lasts over its incarnations.
#include <utility>

#include "node/node_core.hpp"

namespace tutti {

// The incarnation came into no view, and another one may.
bool NodeCore::gives_way() const {
  if (is_unfounded()) return true;
  return disk_ != nullptr && !life_.in_view() && disk_->has_news();
}

// For all incarnations.
Result<void> NodeCore::open_disk() {
  Result<std::unique_ptr<NodeDisk>> disk =
      NodeDisk::open(options_, group_options_,
                     {.changed =
                          [this] {
                            changed_.notify();
                            if (!life_.in_view()) return;  // incarnations come and go
                            notify_work();
                            incarnation_->wake_states();
                            for (const auto& group : groups_) group->log_moved();
                          },
                      .wants_snapshot =
                          [this] {
                            if (life_.in_view()) incarnation_->wake_states();
                          },
                      .failed = [this](const Error& why) { fail_with(why); },
                      .log = [this](LogLevel level, std::string_view text) { log(level, text); },
                      .ended = [this] { calls_ended(); }});
  if (!disk) return std::unexpected(std::move(disk.error()));
  disk_ = std::move(*disk);
  if (disk_ != nullptr) may_create_ = false;  // only views that a restart has decided
  return {};
}

}  // namespace tutti
