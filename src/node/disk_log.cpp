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
    : writer_(std::move(writer)), asked_(asked) {}

void DiskLog::begin(std::uint64_t seq) {
  {
    const std::lock_guard lock(mutex_);
    begin_ = seq;
  }
  asked_.notify();
}

void DiskLog::append(std::span<const Message> messages) {
  {
    const std::lock_guard lock(mutex_);
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
    for (const Message& message : messages) {
      batch.add({.seq = message.seq.value,
                 .view = message.view,
                 .sender = message.sender.value,
                 .tick = message.ticket == kTickTicket,
                 .data = message.bytes()});
    }
    waiting_bytes_.fetch_add(batch.bytes() - before, std::memory_order_relaxed);
  }
  asked_.notify();
}

bool DiskLog::waits() const {
  const std::lock_guard lock(mutex_);
  return begin_.has_value() || !waiting_.empty();
}

log::Batch DiskLog::take(std::optional<std::uint64_t>& begin) {
  const std::lock_guard lock(mutex_);
  begin = std::exchange(begin_, {});
  if (waiting_.empty()) return {};
  log::Batch batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

Result<bool> DiskLog::work() {
  std::optional<std::uint64_t> begin;
  log::Batch batch = take(begin);
  if (!begin && batch.empty()) return false;
  const std::size_t bytes = batch.bytes();  // a batch that is written is empty
  const std::uint32_t records = batch.records();
  const std::uint64_t next = batch.empty() ? *begin : batch.next();
  {
    const Marked mark(writing_);
    if (begin) {
      if (Result<void> done = writer_->begin_at(*begin); !done) {
        return std::unexpected(std::move(done.error()));
      }
    }
    if (Result<void> done = writer_->write(batch); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  persisted_.store(next, std::memory_order_release);  // DL1
  if (bytes == 0) return true;
  bytes_.add(bytes);
  syncs_.record(records);
  written_ += bytes;
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    empty_.push_back(std::move(batch));
  }
  return true;
}

void DiskLog::add_to(GroupStatistics& statistics) const {
  statistics.persisted = persisted();
  statistics.logged_bytes = bytes_.get();
  statistics.persist = syncs_.snapshot();
}

// Twice as much, so that the next segment is there before this one is full.
Result<void> DiskLog::prepare() {
  const Result<bool> more = writer_->prepare(2 * std::exchange(written_, 0));
  if (!more) return std::unexpected(more.error());
  return {};
}

Result<bool> DiskLog::rest() {
  if (Result<void> done = writer_->rest(); !done) return std::unexpected(std::move(done.error()));
  return writer_->prepare(kPrepareBytes);
}

}  // namespace tutti
