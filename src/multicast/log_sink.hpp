/// \file log_sink.hpp
/// Where the messages of a group that is logged go, on their way to this member's disk: the seam
/// between the multicast and whoever writes them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "tutti/message.hpp"

namespace tutti {

/// What was read of messages until now is what their senders wrote.
using AsSent = std::function<bool()>;

/// Threads: the predicate thread. No call waits for the disk.
class LogSink {
 public:
  LogSink() = default;
  virtual ~LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  /// The sequence begins for this member with that number. Before the first append(); again with
  /// the same number at most.
  virtual void begin(std::uint64_t seq) = 0;
  /// It takes a batch of up to kDeliveryBatchMax messages. False: the disk is behind, and the
  /// group's space waits for it.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Copies the messages, which go on from those before, and asks then whether they were `as_sent`.
  /// If not, it forgets them. True: it keeps them.
  virtual bool append(std::span<const Message> messages, const AsSent& as_sent) = 0;
  /// Everything before that number is on disk, as far as this member has had it; 0 until what
  /// begin() asked for is. It only grows.
  [[nodiscard]] virtual std::uint64_t persisted() const = 0;
};

}  // namespace tutti
