// How a node whose groups are logged comes back into them.
#include <utility>

#include "base/text.hpp"
#include "node/node_core.hpp"

namespace tutti {

// Before the first incarnation, for the whole life of the node.
Result<void> NodeCore::open_logs() {
  Result<std::unique_ptr<DiskLogs>> logs =
      DiskLogs::open(options_, group_options_,
                     {.persisted =
                          [this] {
                            restart_->logs_grew();
                            // Before a view, incarnations come and go; it looks by itself.
                            if (life_.in_view()) notify_work();
                          },
                      .failed = [this](const Error& why) { fail_with(why); },
                      .ended = [this] { calls_ended(); }});
  if (!logs) return std::unexpected(std::move(logs.error()));
  disk_logs_ = std::move(*logs);
  if (disk_logs_ == nullptr) return {};
  Result<std::unique_ptr<RestartThread>> restart = RestartThread::open(
      options_, group_options_, *disk_logs_,
      {.changed =
           [this] {
             changed_.notify();
             if (life_.in_view()) notify_work();
           },
       .failed = [this](const Error& why) { fail_with(why); },
       .log = [this](LogLevel level, std::string_view text) { log(level, text); },
       .ended = [this] { calls_ended(); }});
  if (!restart) return std::unexpected(std::move(restart.error()));
  restart_ = std::move(*restart);
  may_create_ = false;  // only views that a restart has decided
  return {};
}

// The incarnation is to give way to another one. It has come into no view, and will not (RC3).
bool NodeCore::has_restart_news() const {
  if (restart_ == nullptr || life_.in_view()) return false;
  const RestartThread::Progress progress = restart_->progress();
  return progress.in_vain || (progress.founds.has_value() && !founds_restart_);
}

// The incarnation is gone. If the view that it was to found did not begin, or it could not enter
// one, that is over.
void NodeCore::restart_again() {
  if (restart_ == nullptr) return;
  if (founds_restart_ || restart_->progress().in_vain) restart_->begin_again();
}

std::optional<Error> NodeCore::why_not_back() const {
  if (restart_ == nullptr) return {};
  const std::string why = restart_->why();
  if (why.empty()) return {};
  return Error{ErrorCode::unreachable, "start_timeout of " + in_seconds(options_.start_timeout) +
                                           " s is over; this node waits to come back into its "
                                           "groups: " +
                                           why};
}

}  // namespace tutti
