/// \file deliveries.hpp
/// Prints each delivered message as `seq sender line`, and measures on the way. What is printed is
/// what was sent: if the others removed this member while it read a batch (Group::intact), nothing
/// more is printed.
/// Invariant D1: a message that could not be printed does not count as delivered, so that the other
/// members do not end without an error.
/// Threads: deliver() the group's delivery thread; failed(), error() and abandon() any; the rest
/// after the node has stopped.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/histogram.hpp"
#include "cli/output.hpp"
#include "cli/stamps.hpp"
#include "tutti/message.hpp"

namespace tutti::cli {

class Deliveries {
 public:
  /// `members` in rank order; `stamps` (may be null) has the time stamps of `self`.
  Deliveries(const std::vector<std::string>& members, MemberIndex self, const Stamps* stamps);

  /// Prints the batch and flushes, so that an interactive user sees each line at once. If that
  /// fails it returns only after abandon() (D1). `intact`: what was read of the batch is what was
  /// sent.
  void deliver(std::span<const Message> batch, const std::function<bool()>& intact);

  /// The node is about to end: the others hear of no deliveries any more.
  void abandon() {
    abandoned_.store(true, std::memory_order_relaxed);
    abandoned_.notify_all();
  }

  [[nodiscard]] bool failed() const { return output_.failed(); }
  [[nodiscard]] const std::string& error() const { return output_.error(); }

  /// The last flush; errors show in failed().
  void close() { output_.close(); }

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }
  /// Send to delivery of own messages.
  [[nodiscard]] const Histogram& latency() const { return latency_; }

 private:
  void note_own(std::int64_t now);
  void print(const std::function<bool()>& intact);

  std::vector<std::string> labels_;  // " name "
  const MemberIndex self_;
  const Stamps* const stamps_;
  std::string text_;  // of messages that were read, and not printed yet
  Output output_;
  std::atomic<bool> abandoned_ = false;
  bool overtaken_ = false;  // the last batch was not intact
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t own_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  Histogram latency_;
};

/// Which own messages carry a stamp: the first ones all, later ones now and then.
[[nodiscard]] inline bool is_sampled(Ticket ticket) {
  constexpr std::uint64_t kAllBelow = 65536;
  constexpr std::uint64_t kEvery = 16;
  return ticket.value < kAllBelow || ticket.value % kEvery == 0;
}

}  // namespace tutti::cli
