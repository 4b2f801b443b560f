#include "node/disk_log.hpp"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

// How much of the next segment is prepared at a time while nothing waits.
constexpr std::uint64_t kPrepareBytes = 1U << 20;

class Marked {
 public:
  explicit Marked(CallMark& mark) : mark_(mark) { mark_.begin(); }
  ~Marked() { mark_.end(); }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

 private:
  CallMark& mark_;
};

}  // namespace

DiskLog::DiskLog(std::unique_ptr<log::Writer> writer, Signal& asked)
    : writer_(std::move(writer)),
      directory_(writer_->directory()),
      batch_bytes_(std::min<std::size_t>(kBatchBytes, writer_->batch_bytes_max())),
      asked_(asked) {}

void DiskLog::take_over(restart::LogSummary summary, std::uint64_t origin) {
  {
    const std::lock_guard lock(mutex_);
    taken_over_ = true;
    // What the predicate thread has appended meanwhile goes on from there.
    const std::vector<restart::Run> waiting = std::move(summary_.runs);
    summary_ = std::move(summary);
    for (const restart::Run& run : waiting) restart::add_run(summary_, run.view, run.first);
    if (snapshots_ != nullptr) snapshots_->hand_over(origin);
    persisted_.store(writer_->next(), std::memory_order_release);
  }
  asked_.notify();
}

restart::LogSummary DiskLog::summary() const {
  const std::lock_guard lock(mutex_);
  restart::LogSummary out = summary_;
  out.next = persisted();
  while (!out.runs.empty() && out.runs.back().first >= out.next) out.runs.pop_back();
  return out;
}

// While the lock is held nothing of it is written: what was no more as it was sent can go.
bool DiskLog::append(std::span<const Message> messages, const AsSent& as_sent) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t batches = waiting_.size();
    const std::optional<log::Batch::Mark> before =
        batches != 0 ? std::optional(waiting_.back().mark()) : std::nullopt;
    const std::size_t bytes = waiting_bytes_.load(std::memory_order_relaxed);
    const std::size_t runs = summary_.runs.size();
    for (const Message& message : messages) add(message);
    if (!as_sent()) {
      while (waiting_.size() > batches) waiting_.pop_back();
      if (before) waiting_.back().back_to(*before);
      waiting_bytes_.store(bytes, std::memory_order_relaxed);
      if (summary_.runs.size() > runs) summary_.runs.resize(runs);
      return false;
    }
  }
  asked_.notify();
  return true;
}

// DL3.
void DiskLog::add(const Message& message) {
  if (waiting_.empty() || waiting_.back().bytes() >= batch_bytes_) {
    if (empty_.empty()) {
      waiting_.emplace_back();
    } else {
      waiting_.push_back(std::move(empty_.back()));
      empty_.pop_back();
    }
  }
  log::Batch& batch = waiting_.back();
  const std::size_t before = batch.bytes();
  batch.add({.seq = message.seq.value,
             .view = message.view,
             .sender = message.sender.value,
             .tick = message.ticket == kTickTicket,
             .data = message.bytes()});
  waiting_bytes_.fetch_add(batch.bytes() - before, std::memory_order_relaxed);
  restart::add_run(summary_, message.view, message.seq.value);
}

bool DiskLog::waits() const {
  const std::lock_guard lock(mutex_);
  if (!taken_over_) return false;
  return !waiting_.empty() || (snapshots_ != nullptr && snapshots_->may_go_on());
}

bool DiskLog::is_taken_over() const {
  const std::lock_guard lock(mutex_);
  return taken_over_;
}

log::Batch DiskLog::take() {
  const std::lock_guard lock(mutex_);
  if (!taken_over_ || waiting_.empty()) return {};
  log::Batch batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

Result<bool> DiskLog::work() {
  log::Batch batch = take();
  if (batch.empty()) return false;
  const std::size_t bytes = batch.bytes();  // a batch that is written is empty
  const std::uint32_t records = batch.records();
  const std::uint64_t next = batch.next();
  {
    const Marked mark(writing_);
    if (Result<void> done = writer_->write(batch); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  // Before what it counts is told: who waits for that may look at the figures then.
  bytes_.add(bytes);
  syncs_.record(records);
  {
    const std::lock_guard lock(mutex_);
    persisted_.store(next, std::memory_order_release);  // DL1
    waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    empty_.push_back(std::move(batch));
  }
  written_ += bytes;
  if (snapshots_ != nullptr) snapshots_->wrote(bytes);
  return true;
}

void DiskLog::add_to(GroupStatistics& statistics) const {
  statistics.persisted = persisted();
  statistics.logged_bytes = bytes_.get();
  statistics.persist = syncs_.snapshot();
  if (snapshots_ != nullptr) snapshots_->add_to(statistics);
}

// Twice as much, so that the next segment is there before this one is full.
Result<void> DiskLog::prepare() {
  if (!is_taken_over()) return {};
  const Marked mark(writing_);
  const Result<bool> more = writer_->prepare(2 * std::exchange(written_, 0));
  if (!more) return std::unexpected(more.error());
  return {};
}

Result<bool> DiskLog::rest() {
  if (!is_taken_over()) return false;
  const Marked mark(writing_);
  if (Result<void> done = writer_->rest(); !done) return std::unexpected(std::move(done.error()));
  return writer_->prepare(kPrepareBytes);
}

Result<void> DiskLog::look_at_snapshots(std::uint64_t now_ns) {
  if (snapshots_ == nullptr || !is_taken_over()) return {};
  if (!std::exchange(snapshots_began_, true)) snapshots_->begin(now_ns);
  const Marked mark(writing_);
  const Result<bool> changed = snapshots_->work(now_ns);
  if (!changed) return std::unexpected(changed.error());
  if (!*changed) return {};
  const std::lock_guard lock(mutex_);
  summary_.snapshot = snapshots_->files().newest();
  summary_.next = writer_->next();
  restart::release_before(summary_, writer_->first());
  return {};
}

std::chrono::nanoseconds DiskLog::rests(std::uint64_t now_ns) const {
  constexpr std::chrono::hours kLong(1);
  return snapshots_ != nullptr && is_taken_over() ? snapshots_->rests(now_ns) : kLong;
}

Result<void> DiskLog::close() {
  if (!is_taken_over()) return {};
  const Marked mark(writing_);
  return writer_->close();
}

}  // namespace tutti
