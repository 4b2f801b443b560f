#include "node/log_snapshots.hpp"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

// While a part of the log waits until it is not needed any more, it is looked at so often.
constexpr std::chrono::milliseconds kLookEvery(500);

constexpr std::chrono::hours kLong(1);

}  // namespace

LogSnapshots::LogSnapshots(log::Writer& writer, log::Snapshots found, SnapshotOptions options,
                           Signal& asked)
    : writer_(writer), files_(std::move(found)), options_(options), asked_(asked) {
  tell();
}

log::Snapshot LogSnapshots::header(std::uint64_t seq, std::uint64_t view) const {
  return {.identity = writer_.identity(),
          .origin = origin_.load(std::memory_order_relaxed),
          .seq = seq,
          .view = view};
}

Result<std::string> LogSnapshots::path() const {
  if (Result<void> there = writer_.lock().still_there(); !there) {
    return std::unexpected(std::move(there.error()));
  }
  return files_.path_of(log::Snapshots::kNewName);
}

void LogSnapshots::offer(const log::Snapshot& snapshot) {
  {
    const std::lock_guard lock(mutex_);
    offered_ = snapshot;
  }
  awaits_.store(snapshot.seq, std::memory_order_relaxed);
  stage_.store(Stage::offered, std::memory_order_seq_cst);
  asked_.notify();
}

void LogSnapshots::failed() {
  {
    const std::lock_guard lock(mutex_);
    offered_.reset();
  }
  awaits_.store(0, std::memory_order_relaxed);
  stage_.store(Stage::offered, std::memory_order_seq_cst);
  asked_.notify();
}

// Sequentially consistent, all: either this sees what is offered, or may_go_on(), which the
// writer's thread asks before it sleeps, sees the number.
void LogSnapshots::set_durable_to(std::uint64_t seq) {
  durable_to_.store(seq, std::memory_order_seq_cst);
  if (may_go_on()) asked_.notify();
}

bool LogSnapshots::may_go_on() const {
  return stage_.load(std::memory_order_seq_cst) == Stage::offered &&
         durable_to_.load(std::memory_order_seq_cst) >= awaits_.load(std::memory_order_relaxed);
}

void LogSnapshots::hand_over(std::uint64_t origin) {
  origin_.store(origin, std::memory_order_relaxed);
  tell();
}

void LogSnapshots::begin(std::uint64_t now_ns) {
  since_ns_ = now_ns;
  since_bytes_ = writer_.bytes_from(files_.newest());
  began_ = true;
}

bool LogSnapshots::is_due(std::uint64_t now_ns) const {
  if (writer_.next() == files_.newest()) return false;
  if (options_.every_bytes != 0 && since_bytes_ >= options_.every_bytes) return true;
  const auto every_ns = static_cast<std::uint64_t>(options_.every.count());
  return every_ns != 0 && now_ns - since_ns_ >= every_ns;
}

Result<bool> LogSnapshots::work(std::uint64_t now_ns) {
  if (!began_ || !options_.any()) return false;
  bool changed = false;
  if (stage_.load(std::memory_order_acquire) == Stage::offered) {
    const Result<bool> done = publish(now_ns);
    if (!done) return done;
    changed = *done;
  }
  if (stage_.load(std::memory_order_relaxed) == Stage::none && is_due(now_ns)) {
    stage_.store(Stage::wanted, std::memory_order_release);
    wish_ = true;
  }
  const Result<bool> released = release();
  if (!released) return released;
  return changed || *released;
}

// SC1.
Result<bool> LogSnapshots::publish(std::uint64_t now_ns) {
  if (!may_go_on()) return false;
  std::optional<log::Snapshot> snapshot;
  {
    const std::lock_guard lock(mutex_);
    snapshot = std::exchange(offered_, {});
  }
  since_bytes_ = 0;
  since_ns_ = now_ns;
  stage_.store(Stage::none, std::memory_order_relaxed);
  if (!snapshot || snapshot->seq > writer_.next()) return false;
  if (Result<void> done = files_.publish(log::Snapshots::kNewName, *snapshot); !done) {
    return std::unexpected(std::move(done.error()));
  }
  taken_.add(1);
  published_ = true;
  tell();
  return true;
}

// SC2.
Result<bool> LogSnapshots::release() {
  if (!published_) return false;
  const std::uint64_t limit = std::min(
      {files_.release_limit(), durable_to_.load(), keep_from_.load(std::memory_order_relaxed)});
  const std::uint64_t first = writer_.first();
  if (Result<void> done = writer_.release_before(limit, options_.keep_bytes); !done) {
    return std::unexpected(std::move(done.error()));
  }
  if (writer_.first() == first) return false;
  tell();
  return true;
}

std::vector<log::Snapshot> LogSnapshots::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void LogSnapshots::tell() {
  {
    const std::lock_guard lock(mutex_);
    kept_ = files_.all();
  }
  newest_.store(files_.newest(), std::memory_order_relaxed);
  log_from_.store(writer_.first(), std::memory_order_relaxed);
}

std::chrono::nanoseconds LogSnapshots::rests(std::uint64_t now_ns) const {
  if (!began_ || !options_.any()) return kLong;
  std::chrono::nanoseconds rest = kLong;
  const bool waits = published_ && writer_.may_release(files_.release_limit(), options_.keep_bytes);
  if (waits) rest = kLookEvery;
  const bool grew = writer_.next() != files_.newest();
  if (options_.every.count() != 0 && grew && stage_.load() == Stage::none) {
    const std::chrono::nanoseconds age(now_ns - since_ns_);
    rest = std::min(rest, std::max(options_.every - age, std::chrono::nanoseconds(0)));
  }
  return rest;
}

void LogSnapshots::add_to(GroupStatistics& statistics) const {
  statistics.snapshots = taken_.get();
  statistics.snapshot_before = newest_.load(std::memory_order_relaxed);
  statistics.log_from = log_from_.load(std::memory_order_relaxed);
}

}  // namespace tutti
