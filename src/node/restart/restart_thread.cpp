#include "node/restart/restart_thread.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "base/memory_advice.hpp"
#include "base/random.hpp"
#include "base/start_thread.hpp"
#include "node/restart/own_snapshots.hpp"
#include "node/restart/own_views.hpp"

namespace tutti {
namespace {

using restart::Recovery;

// Of records that one asks another for.
constexpr std::size_t kPieceBytes = 8U << 20;

// So often those that lag behind ask again.
constexpr std::chrono::seconds kTickEvery(1);

// After so many of these without a new link a restart goes on without those that are not back: they
// join later.
constexpr std::uint32_t kQuietTicks = 3;

std::vector<std::string> names_of(const NodeOptions& node) {
  std::vector<std::string> names;
  for (const MemberAddress& member : node.members) names.push_back(member.name);
  return names;
}

}  // namespace

Result<std::unique_ptr<RestartThread>> RestartThread::open(const NodeOptions& node,
                                                           const std::vector<GroupOptions>& groups,
                                                           DiskLogs& logs, RestartEvents events) {
  std::unique_ptr<RestartThread> out(new RestartThread(node, groups, logs, std::move(events)));
  if (Result<void> ready = out->prepare(); !ready) return std::unexpected(std::move(ready.error()));
  Result<std::thread> thread =
      start_thread("the thread for restarts", [self = out.get()] { self->run(); });
  if (!thread) return std::unexpected(thread.error());
  out->thread_ = std::move(*thread);
  return out;
}

RestartThread::RestartThread(const NodeOptions& node, const std::vector<GroupOptions>& groups,
                             DiskLogs& logs, RestartEvents events)
    : node_(node),
      groups_(groups),
      disk_logs_(logs),
      events_(std::move(events)),
      slot_(static_cast<std::uint32_t>(
          std::ranges::find(node.members, node.name, &MemberAddress::name) - node.members.begin())),
      context_(1),
      work_(asio::make_work_guard(context_)),
      timer_(context_),
      links_(context_, node, *this),
      file_(logs.disk(), node.state_dir) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (logs.log(g) != nullptr) logged_.push_back(g);
  }
}

// Behind all that was posted: a log whose beginning still waits here would lose all it was given.
void RestartThread::quit() {
  try {
    asio::post(context_, [this] { context_.stop(); });
  } catch (const std::bad_alloc&) {
    context_.stop();
  }
}

RestartThread::~RestartThread() {
  quit();
  join();
}

// Reading a long log takes its time; the node's start waits for it.
Result<void> RestartThread::prepare() {
  std::vector<restart::GroupLog> logs;
  for (std::size_t log = 0; log < logged_.size(); ++log) {
    DiskLog& of = *disk_logs_.log(logged_[log]);
    logs.push_back({.group = groups_[logged_[log]].name,
                    .writer = &of.writer(),
                    .snapshots = of.snapshots() ? &of.snapshots()->files() : nullptr,
                    .found = disk_logs_.take_found(logged_[log])});
    of.on_begin([this, log](std::uint64_t seq) {
      asio::post(context_, [this, log, seq] {
        recovery_->begin(log, seq);
        look();
      });
    });
  }
  logs_.emplace(disk_logs_.disk(), std::move(logs));
  if (Result<void> loaded = logs_->load(); !loaded) return loaded;
  Result<std::optional<restart::Views>> views = own_views(node_, groups_, file_, *logs_);
  if (!views) return std::unexpected(std::move(views.error()));
  const Result<std::uint64_t> directory = random_u64();
  if (!directory) return std::unexpected(directory.error());
  Result<void> checked = check_beginnings(node_, groups_, *views, *logs_);
  if (!checked) return checked;
  restart::RecoveryOwner& owner = *this;
  recovery_.emplace(file_, *logs_, links_, owner,
                    restart::RecoveryOptions{.slot = slot_,
                                             .names = names_of(node_),
                                             .views = std::move(*views),
                                             .directory = *directory,
                                             .piece_bytes = kPieceBytes});
  return {};
}

void RestartThread::run() {
  try {
    recovery_->start();
    look();
    links_.start();
    tick();
    context_.run();
    links_.close();
  } catch (const std::bad_alloc&) {
    fail_with({ErrorCode::system, "there is no memory for a restart: " + memory_advice()});
  } catch (const std::exception& problem) {
    fail_with({ErrorCode::system, std::string("the thread for restarts: ") + problem.what()});
  }
  ended_.store(true, std::memory_order_release);
  events_.ended();
}

void RestartThread::tick() {
  timer_.expires_after(kTickEvery);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    if (recovery_->stage() != Recovery::Stage::back) came_.clear();
    if (++quiet_ >= kQuietTicks || recovery_->stage() != Recovery::Stage::back) {
      writing_.begin();
      recovery_->tick();
      writing_.end();
      look();
    }
    if (const std::string why = this->why(); !why.empty() && why != said_) {
      said_ = why;
      if (events_.log) events_.log(LogLevel::info, "waits to come back into its groups: " + why);
    }
    tick();
  });
}

void RestartThread::look() {
  if (installing_) install();
  // The log may have grown just before: it looks once more.
  const bool awaits = recovery_->awaits_logs();
  if (awaits_logs_.exchange(awaits) != awaits && awaits) {
    asio::post(context_, [this] {
      recovery_->logs_grew();
      look();
    });
  }
  const bool may_join = recovery_->stage() == Recovery::Stage::runs ||
                        (recovery_->stage() == Recovery::Stage::joins && recovery_->may_join());
  bool changed = may_join_.exchange(may_join, std::memory_order_acq_rel) != may_join;
  {
    const std::lock_guard lock(mutex_);
    why_ = recovery_->why();
    progress_.may_join = may_join;
    const std::optional<restart::ViewRecord>& founds = recovery_->founds();
    if (!begins_again_ && recovery_->founds_in_vain() && !progress_.in_vain) {
      changed = progress_.in_vain = true;
    }
    if (!begins_again_ && founds.has_value() != progress_.founds.has_value()) {
      changed = true;
      progress_.founds.reset();
      if (founds) {
        RestartView view{.id = founds->id};
        for (const std::uint32_t slot : founds->members) view.members.push_back(Slot{slot});
        for (const GroupOptions& group : groups_) {
          view.firsts.push_back(founds->first_of(group.name).value_or(0));
        }
        progress_.founds = std::move(view);
      }
    }
  }
  if (recovery_->error()) return fail_with(*recovery_->error());
  if (changed) events_.changed();
}

void RestartThread::fail_with(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (progress_.error) return;
    progress_.error = error;
  }
  events_.failed(error);
  events_.changed();
}

RestartThread::Progress RestartThread::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::string RestartThread::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void RestartThread::begin_again() {
  {
    const std::lock_guard lock(mutex_);
    begins_again_ = true;
    progress_.in_vain = false;
    progress_.founds.reset();
    install_asked_.reset();
  }
  asio::post(context_, [this] {
    installing_.reset();
    recovery_->begin_again();
    {
      const std::lock_guard lock(mutex_);
      begins_again_ = false;
    }
    look();
  });
}

void RestartThread::logs_grew() {
  if (!awaits_logs_.load()) return;
  asio::post(context_, [this] {
    recovery_->logs_grew();
    look();
  });
}

void RestartThread::up(std::uint32_t slot) {
  if (came_.insert(slot).second) quiet_ = 0;  // one that comes and goes holds up nobody
  recovery_->up(slot);
  look();
}

void RestartThread::down(std::uint32_t slot) {
  recovery_->down(slot);
  look();
}

void RestartThread::received(std::uint32_t slot, std::span<const std::byte> bytes) {
  recovery_->receive(slot, bytes);
  look();
}

restart::LogSummary RestartThread::log_now(std::size_t log) {
  restart::LogSummary summary = disk_logs_.log(logged_[log])->summary();
  summary.group = groups_[logged_[log]].name;
  return summary;
}

void RestartThread::keep_from(std::size_t log, std::uint64_t seq) {
  LogSnapshots* const snapshots = disk_logs_.log(logged_[log])->snapshots();
  if (snapshots != nullptr) snapshots->keep_from(seq);
}

void RestartThread::whole(std::size_t log, const restart::LogSummary& summary) {
  disk_logs_.log(logged_[log])->take_over(summary, recovery_->views().origin);
  events_.changed();
}

}  // namespace tutti
