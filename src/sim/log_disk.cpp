#include "sim/log_disk.hpp"

#include <algorithm>

#include "base/crc32c.hpp"

namespace tutti::sim {

LogRecord record_of(const Message& message) {
  return {.view = message.view,
          .sender = message.sender,
          .tick = message.ticket == kTickTicket,
          .size = message.size,
          .crc = crc32c(message.bytes())};
}

std::uint64_t LogDisk::draw_ns() {
  const bool slow = options_.slow_one_in != 0 && random_.one_in(options_.slow_one_in) && !mended_;
  return 1 + random_.below(slow ? options_.slow_ns : options_.sync_ns + 1);
}

// A sync that has not begun takes with it what comes until then.
void LogDisk::write(std::uint64_t end) {
  const std::uint64_t now_ns = net_.now_ns();
  while (!syncs_.empty() && syncs_.front().done_ns <= now_ns) {
    synced_ = syncs_.front().end;
    syncs_.pop_front();
  }
  if (!syncs_.empty() && syncs_.back().begin_ns > now_ns) {
    syncs_.back().end = end;
    return;
  }
  const std::uint64_t begin_ns = syncs_.empty() ? now_ns : syncs_.back().done_ns;
  syncs_.push_back({.begin_ns = begin_ns, .done_ns = begin_ns + draw_ns(), .end = end});
}

void LogDisk::begin(std::uint64_t seq) {
  if (first_) misplaced_ = seq;
  first_ = seq;
  write(seq);
}

bool LogDisk::has_room() const {
  return !has_begun() || end() - std::max(persisted(), first()) < options_.room;
}

bool LogDisk::append(std::span<const Message> messages, const AsSent& as_sent) {
  const std::size_t before = records_.size();
  for (const Message& message : messages) {
    if ((!has_begun() || message.seq.value != end()) && !misplaced_) misplaced_ = message.seq.value;
    records_.push_back(record_of(message));
  }
  const bool keeps = as_sent();
  if (!keeps) records_.resize(before);
  if (has_begun()) write(end());
  return keeps;
}

std::uint64_t LogDisk::persisted() const {
  std::uint64_t synced = synced_;
  for (const Sync& sync : syncs_) {
    if (sync.done_ns <= net_.now_ns()) synced = sync.end;
  }
  return synced;
}

std::uint64_t LogDisk::next_ns() const {
  for (const Sync& sync : syncs_) {
    if (sync.done_ns > net_.now_ns()) return sync.done_ns;
  }
  return ~0ULL;
}

void LogDisk::mend() {
  mended_ = true;
  std::uint64_t begin_ns = net_.now_ns();
  for (Sync& sync : syncs_) {
    if (sync.done_ns <= net_.now_ns()) continue;
    sync.begin_ns = std::min(sync.begin_ns, begin_ns);
    sync.done_ns = std::min(sync.done_ns, begin_ns + draw_ns());
    begin_ns = sync.done_ns;
  }
}

void LogDisk::crash() {
  synced_ = persisted();
  syncs_.clear();
  if (has_begun()) records_.resize(std::max(synced_, first()) - first());
}

void LogDisk::close() {
  syncs_.clear();
  if (has_begun()) synced_ = end();
}

}  // namespace tutti::sim
