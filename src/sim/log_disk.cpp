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

void LogDisk::begin(std::uint64_t seq) {
  if (first_) misplaced_ = seq;
  first_ = seq;
  syncs_.write(seq);
}

bool LogDisk::has_room() const {
  return !has_begun() || end() - std::max(persisted(), first()) < room_;
}

bool LogDisk::append(std::span<const Message> messages, const AsSent& as_sent) {
  const std::size_t before = records_.size();
  for (const Message& message : messages) {
    if ((!has_begun() || message.seq.value != end()) && !misplaced_) misplaced_ = message.seq.value;
    records_.push_back(record_of(message));
  }
  const bool keeps = as_sent();
  if (!keeps) records_.resize(before);
  if (has_begun()) syncs_.write(end());
  return keeps;
}

void LogDisk::crash() {
  syncs_.drop();
  if (has_begun()) records_.resize(std::max(persisted(), first()) - first());
}

void LogDisk::close() {
  if (has_begun()) syncs_.close(end());
}

}  // namespace tutti::sim
