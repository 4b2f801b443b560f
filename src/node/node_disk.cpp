#include "node/node_disk.hpp"

#include <utility>

namespace tutti {

Result<std::unique_ptr<NodeDisk>> NodeDisk::open(const NodeOptions& node,
                                                 const std::vector<GroupOptions>& groups,
                                                 NodeDiskEvents events) {
  auto out = std::make_unique<NodeDisk>();
  Result<std::unique_ptr<DiskLogs>> logs =
      DiskLogs::open(node, groups,
                     {.persisted =
                          [self = out.get(), changed = events.changed] {
                            self->restart_->logs_grew();  // the logs get nothing before it is there
                            changed();
                          },
                      .wants_snapshot = events.wants_snapshot,
                      .failed = events.failed,
                      .ended = events.ended});
  if (!logs) return std::unexpected(std::move(logs.error()));
  if (*logs == nullptr) return nullptr;
  out->logs_ = std::move(*logs);
  Result<std::unique_ptr<log::DirectoryLock>> lock = out->logs_->disk().lock(node.state_dir);
  if (!lock) return std::unexpected(std::move(lock.error()));
  out->lock_ = std::move(*lock);
  Result<std::unique_ptr<RestartThread>> restart =
      RestartThread::open(node, groups, *out->logs_,
                          {.changed = std::move(events.changed),
                           .failed = std::move(events.failed),
                           .log = std::move(events.log),
                           .ended = std::move(events.ended)});
  if (!restart) return std::unexpected(std::move(restart.error()));
  out->restart_ = std::move(*restart);
  return out;
}

NodeDisk::~NodeDisk() {
  if (restart_ == nullptr) return;
  restart_->quit();
  restart_->join();
  logs_->quit();
  logs_->join();  // it may still tell restart_ that logs have grown
}

std::optional<RestartView> NodeDisk::begin_incarnation() {
  std::optional<RestartView> founds = restart_->progress().founds;
  founds_ = founds ? founds->id : 0;
  return founds;
}

bool NodeDisk::has_news() const {
  const RestartThread::Progress progress = restart_->progress();
  return progress.in_vain || (progress.founds && progress.founds->id != founds_);
}

// If the view that it was to found did not begin, or it could not enter one, that is over.
void NodeDisk::end_incarnation() {
  if (founds_ != 0 || restart_->progress().in_vain) restart_->begin_again();
}

// The thread for restarts first: then no other has a log.
bool NodeDisk::has_ended() {
  if (!restart_->has_ended()) return false;
  logs_->quit();
  return logs_->has_ended();
}

}  // namespace tutti
