#include "node/disk_log.hpp"

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
      had_(writer_->next()),
      asked_(asked) {}

void DiskLog::begin(std::uint64_t seq) {
  {
    const std::lock_guard lock(mutex_);
    begin_ = {.seq = seq, .number = begin_.number + 1};
    waiting_.clear();
    waiting_bytes_.store(0, std::memory_order_relaxed);
    persisted_.store(0, std::memory_order_release);  // DL4
  }
  asked_.notify();
}

// While the lock is held nothing of it is written: what was no more as it was sent can go.
bool DiskLog::append(std::span<const Message> messages, const AsSent& as_sent) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t batches = waiting_.size();
    const std::optional<log::Batch::Mark> before =
        batches != 0 ? std::optional(waiting_.back().mark()) : std::nullopt;
    const std::size_t bytes = waiting_bytes_.load(std::memory_order_relaxed);
    for (const Message& message : messages) add(message);
    if (!as_sent()) {
      while (waiting_.size() > batches) waiting_.pop_back();
      if (before) waiting_.back().back_to(*before);
      waiting_bytes_.store(bytes, std::memory_order_relaxed);
      return false;
    }
  }
  asked_.notify();
  return true;
}

// DL3.
void DiskLog::add(const Message& message) {
  if (waiting_.empty() || waiting_.back().bytes() >= kBatchBytes) {
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
}

bool DiskLog::waits() const {
  const std::lock_guard lock(mutex_);
  return begin_.number != begun_ || !waiting_.empty();
}

log::Batch DiskLog::take(Begin& begin) {
  const std::lock_guard lock(mutex_);
  begin = begin_;
  if (waiting_.empty()) return {};
  log::Batch batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

// DL4. What is cut stays beside the log.
Result<void> DiskLog::begin_at(std::uint64_t seq) {
  if (writer_->next() < seq) return writer_->begin_at(seq);
  if (writer_->next() == seq) return {};
  if (writer_->first() >= seq) {
    if (Result<void> cut = writer_->cut_to(writer_->first()); !cut) return cut;
    return writer_->begin_at(seq);
  }
  return writer_->cut_to(seq);
}

Result<bool> DiskLog::work() {
  Begin begin;
  log::Batch batch = take(begin);
  if (begin.number == begun_ && batch.empty()) return false;
  const std::size_t bytes = batch.bytes();  // a batch that is written is empty
  const std::uint32_t records = batch.records();
  const std::uint64_t next = batch.empty() ? begin.seq : batch.next();
  {
    const Marked mark(writing_);
    if (begin.number != begun_) {
      if (Result<void> done = begin_at(begin.seq); !done) {
        return std::unexpected(std::move(done.error()));
      }
      begun_ = begin.number;
    }
    if (Result<void> done = writer_->write(batch); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (begin_.number == begun_) {                        // DL4
      persisted_.store(next, std::memory_order_release);  // DL1
      waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    }
    if (bytes != 0) empty_.push_back(std::move(batch));
  }
  if (bytes == 0) return true;
  bytes_.add(bytes);
  syncs_.record(records);
  written_ += bytes;
  return true;
}

void DiskLog::add_to(GroupStatistics& statistics) const {
  statistics.persisted = persisted();
  statistics.logged_bytes = bytes_.get();
  statistics.persist = syncs_.snapshot();
}

// Twice as much, so that the next segment is there before this one is full.
Result<void> DiskLog::prepare() {
  const Marked mark(writing_);
  const Result<bool> more = writer_->prepare(2 * std::exchange(written_, 0));
  if (!more) return std::unexpected(more.error());
  return {};
}

Result<bool> DiskLog::rest() {
  const Marked mark(writing_);
  if (Result<void> done = writer_->rest(); !done) return std::unexpected(std::move(done.error()));
  return writer_->prepare(kPrepareBytes);
}

Result<void> DiskLog::close() {
  const Marked mark(writing_);
  return writer_->close();
}

void DiskLog::forget() {
  if (writer_ != nullptr) static_cast<void>(writer_->cut_to(writer_->first()));
}

}  // namespace tutti
