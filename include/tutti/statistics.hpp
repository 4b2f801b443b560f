/// \file statistics.hpp
/// What a node and a group count: the figures of [Spindle, 4], always on.
///
/// Each counter is written by one thread and read by any: a snapshot is made of single values that
/// are each exact, at moments that may differ by a pass of the loop.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace tutti {

/// How many batches had a size in [2^i, 2^(i+1)).
struct BatchHistogram {
  static constexpr std::size_t kBuckets = 24;
  std::array<std::uint64_t, kBuckets> buckets{};
  std::uint64_t batches = 0;
  std::uint64_t items = 0;

  /// Mean batch size, 0 if there was none.
  [[nodiscard]] double mean() const {
    return batches == 0 ? 0.0 : static_cast<double>(items) / static_cast<double>(batches);
  }
};

struct GroupStatistics {
  std::uint64_t sent_messages = 0;       ///< own messages published
  std::uint64_t sent_bytes = 0;          ///< their record bytes, with headers and padding
  std::uint64_t received_messages = 0;   ///< seen from all senders, own included
  std::uint64_t delivered_messages = 0;  ///< handed to the callback
  std::uint64_t delivered_bytes = 0;     ///< payload of those
  std::uint64_t nulls_sent = 0;          ///< rounds given up [Spindle, 3.3]
  std::uint64_t null_pushes = 0;         ///< pushes that carried nulls and no message
  std::uint64_t pushes = 0;              ///< pushes of control words asked for, all peers
  std::uint64_t sender_waits = 0;        ///< times a claim found no space
  BatchHistogram send;                   ///< messages per send predicate that fired
  BatchHistogram receive;                ///< per receive predicate that fired
  BatchHistogram delivery;               ///< per delivery predicate that fired
};

/// How far a member is behind in a group, as another one sees it. Estimates, good to what passes in
/// 50 ms; of a member that stands still, good to the message where it stands but for the first 50
/// ms after a pause of the group.
struct MemberLag {
  std::string member{};
  /// Delivered here, and not yet there. At Level::unordered: sent from here. Of the node that is
  /// asked: received, and not yet delivered, rounds given up counted as messages.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< their payload; at Level::unordered with headers
  /// Since the first of them was delivered (sent) here. Of each pause of the node that is asked,
  /// as when its process is stopped, no more than an eighth of suspect_after counts.
  std::chrono::nanoseconds behind{0};
  /// The node that is asked has no space for another message until this member has delivered more.
  bool holds_window = false;
};

struct NodeStatistics {
  std::uint64_t passes = 0;            ///< turns of the predicate loop
  std::uint64_t working_passes = 0;    ///< those that found something to do
  std::uint64_t sleeps = 0;            ///< times it went to sleep
  std::uint64_t writes_posted = 0;     ///< one-sided writes posted to remote peers
  std::uint64_t bytes_posted = 0;      ///< their bytes
  std::uint64_t doorbells = 0;         ///< sleeping peers woken
  std::uint64_t posting_ns = 0;        ///< time spent handing writes to the fabric
  std::uint64_t signalled_writes = 0;  ///< of the writes, those whose completion was asked for
};

}  // namespace tutti
