/// \file statistics.hpp
/// The counters of a node and of a group: the figures of [Spindle, 4], always on.
///
/// One thread writes each counter, and any may read it: each value of a snapshot is exact, but the
/// moments at which they were read may differ by a pass of the loop.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace tutti {

/// How many batches had a size in [2^i, 2^(i+1)), in bucket i.
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

/// Ticks (GroupOptions::tick_every) count as messages.
struct GroupStatistics {
  std::uint64_t sent_messages = 0;       ///< own messages published
  std::uint64_t sent_bytes = 0;          ///< their record bytes, with headers and padding
  std::uint64_t received_messages = 0;   ///< received from all senders, own included
  std::uint64_t delivered_messages = 0;  ///< handed to the callback
  std::uint64_t delivered_bytes = 0;     ///< payload of those
  std::uint64_t nulls_sent = 0;          ///< rounds without a message [Spindle, 3.3]
  std::uint64_t null_pushes = 0;         ///< pushes that carried nulls and no message
  std::uint64_t pushes = 0;              ///< pushes of control words asked for, all peers
  std::uint64_t sender_waits = 0;        ///< times a claim found no space
  std::uint64_t token_visits = 0;        ///< with Order::token_ring: of the token, here
  std::uint64_t token_rests = 0;         ///< likewise: times that it was parked here
  std::uint64_t token_parked_ns = 0;     ///< likewise: how long, up to now; see below
  std::uint64_t token_held_ns = 0;       ///< likewise: from when it was taken until it was let go
  std::uint64_t frames_handed_on = 0;    ///< with Order::lcr: of others, to the member behind
  std::uint64_t bytes_handed_on = 0;     ///< likewise: their record bytes
  /// Of a group that is logged: everything before that number, from where this member joined on, is
  /// in its log, on disk. 0 where it keeps no log.
  std::uint64_t persisted = 0;
  std::uint64_t logged_bytes = 0;  ///< likewise: record bytes on disk, with headers and padding
  BatchHistogram send;             ///< messages per send predicate that fired
  BatchHistogram receive;          ///< per receive predicate that fired
  BatchHistogram delivery;         ///< per delivery predicate that fired
  /// With Order::lcr: messages and nulls that are here and not yet delivered, looked at each time
  /// that something came along the chain; a look that found none counts in the first bucket.
  BatchHistogram pending;
  BatchHistogram persist;  ///< of a group that is logged: messages per sync of the log
  /// Likewise: messages handed to the application from the log when the node started. They count in
  /// no other field.
  std::uint64_t replayed = 0;
  /// Likewise: snapshots that this member has written since it started.
  std::uint64_t snapshots = 0;
  /// Likewise: the number of the first message that its newest snapshot does not have; 0: none.
  std::uint64_t snapshot_before = 0;
  /// Likewise: the number of the first message that its log still has.
  std::uint64_t log_from = 0;
  // token_parked_ns also counts the first rest of each view, which is no `token_rests`. It goes on
  // where a member stopped with the token at rest there. A reading made just as the token leaves
  // may be larger than the next one, by the time that the member was held up then.
};

/// How far a member is behind in a group, as another one sees it. These are estimates, exact to
/// what is delivered in 50 ms; for a member that stands still exact to the message, except in the
/// first 50 ms after a pause of the group.
struct MemberLag {
  std::string member{};
  /// Messages that the asked node has delivered (at Level::unordered: sent) and the member has not
  /// delivered yet. For the asked node itself: messages received and not yet delivered, nulls
  /// included.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< their payload; at Level::unordered with headers
  /// Time since the asked node delivered (sent) the first of them. Of each pause of the asked node,
  /// as when its process is stopped, at most an eighth of suspect_after counts.
  std::chrono::nanoseconds behind{0};
  /// The asked node has no space for another message until this member has delivered more.
  bool holds_window = false;
};

struct NodeStatistics {
  std::uint64_t passes = 0;            ///< turns of the predicate loop
  std::uint64_t working_passes = 0;    ///< passes that found something to do
  std::uint64_t sleeps = 0;            ///< times it went to sleep
  std::uint64_t writes_posted = 0;     ///< one-sided writes posted to remote peers
  std::uint64_t bytes_posted = 0;      ///< their bytes
  std::uint64_t doorbells = 0;         ///< sleeping peers woken
  std::uint64_t posting_ns = 0;        ///< time spent handing writes to the fabric
  std::uint64_t signalled_writes = 0;  ///< writes with a completion asked for
};

}  // namespace tutti
