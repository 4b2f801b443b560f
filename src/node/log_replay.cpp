#include "node/log_replay.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti {
namespace {

// Data in a batch is at a multiple of that, as its memory begins at one.
constexpr std::size_t kBatchAlignment = 8;

}  // namespace

// RE2.
Result<void> LogReplay::read() {
  batch_.clear();
  messages_.clear();
  at_ = 0;
  if (is_over()) {  // for good: a node goes on for long
    batch_ = {};
    messages_ = {};
    aligned_ = {};
    stream_.reset();
    return {};
  }
  const std::uint64_t until = std::min(options_.until, whole_.whole_to());
  if (!stream_) {
    if (next_.load(std::memory_order_relaxed) >= until) return {};
    // What lies before a gap is not the beginning of what is handed on behind it.
    const Result<std::uint64_t> whole_from = log::whole_from(*disk_, options_.directory);
    if (!whole_from) return std::unexpected(whole_from.error());
    const std::uint64_t from = std::min(std::max(options_.from, *whole_from), options_.until);
    next_.store(from, std::memory_order_release);
    stream_.emplace(*disk_, options_.directory, from);
  }
  if (stream_->next() >= until) return {};
  if (Result<void> done = stream_->read(kPieceBytes, until, batch_); !done) return done;
  if (batch_.empty()) {
    return fail(ErrorCode::damaged, "the log in " + options_.directory + " ends before record " +
                                        std::to_string(stream_->next()) + ", which was in it");
  }
  place();
  return {};
}

void LogReplay::place() {
  const std::size_t alignment = options_.alignment;
  const bool copies = alignment > kBatchAlignment;
  const auto up = [&](std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  std::byte* to = nullptr;
  if (copies) {
    std::size_t bytes = alignment;
    batch_.for_each([&](const log::Record& record) { bytes += up(record.data.size()); });
    if (aligned_.size() < bytes) aligned_.resize(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(aligned_.data());
    to = aligned_.data() + (up(begin) - begin);
  }
  messages_.reserve(batch_.records());
  batch_.for_each([&](const log::Record& record) {
    const std::byte* data = record.data.data();
    if (copies) {
      std::ranges::copy(record.data, to);
      data = std::exchange(to, to + up(record.data.size()));
    }
    messages_.push_back({.seq = {record.seq},
                         .data = data,
                         .size = static_cast<std::uint32_t>(record.data.size()),
                         .sender = {record.sender},
                         .ticket = record.tick ? kTickTicket : Ticket{},
                         .view = record.view});
  });
}

Result<std::span<const Message>> LogReplay::next(std::size_t max) {
  if (at_ == messages_.size()) {
    if (Result<void> done = read(); !done) return std::unexpected(std::move(done.error()));
  }
  const std::size_t first = at_;
  std::size_t bytes = 0;
  while (at_ < messages_.size() && at_ - first < max && bytes < kHandedBytes &&
         messages_[at_].view == messages_[first].view) {
    bytes += messages_[at_++].size;
  }
  if (at_ == first) return std::span<const Message>{};
  next_.store(messages_[at_ - 1].seq.value + 1, std::memory_order_release);  // RE1
  replayed_.add(at_ - first);
  return std::span<const Message>(messages_).subspan(first, at_ - first);
}

}  // namespace tutti
