/// \file receiver.hpp
/// Takes the deliveries of one group, or one topic, in a measurement: reads the bytes, counts,
/// times, verifies. Threads: deliver() the group's delivery thread; counters and switches any; the
/// rest after the node has stopped.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/histogram.hpp"
#include "cli/perf/plan.hpp"
#include "cli/stamps.hpp"
#include "tutti/dds/sample_batch.hpp"
#include "tutti/message.hpp"

namespace tutti::cli {

class Receiver {
 public:
  /// `stamps` has the times of own messages that are too small to carry one; else it is null. Only
  /// messages of members on the `same_clock`, by rank, are timed.
  Receiver(const PerfPlan& plan, const PerfOptions& options, MemberIndex self, const Stamps* stamps,
           std::vector<bool> same_clock);

  void deliver(std::span<const Message> batch);
  void deliver(const dds::ByteBatch& batch);

  [[nodiscard]] std::uint64_t delivered() const {
    return delivered_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// Whether latencies are recorded.
  void measure(bool on) { measuring_.store(on, std::memory_order_relaxed); }

  /// Notes the time at which delivered() reaches `total`. Call while nothing is under way.
  void expect(std::uint64_t total);
  /// That time, 0 before. Relaxed: asked for after the node has stopped.
  [[nodiscard]] std::int64_t reached_ns() const {
    return reached_ns_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] const Histogram& own_latency() const { return own_latency_; }
  [[nodiscard]] const Histogram& others_latency() const { return others_latency_; }

  /// --verify: empty, or the first thing that was wrong.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// --verify: over the whole sequence, and over each sender's messages.
  [[nodiscard]] std::uint64_t order_digest() const { return order_digest_; }
  [[nodiscard]] const std::vector<std::uint64_t>& sender_digests() const { return sender_digests_; }

 private:
  // A message, or a sample as if it were one.
  struct Received {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    MemberIndex sender{};
    SeqNo seq{};
  };
  class Messages;
  class Samples;
  template <class Batch>
  void deliver_batch(const Batch& batch);
  template <class Batch>
  void touch(const Batch& batch, bool measuring);
  template <class Batch>
  void time_small(const Batch& batch, bool measuring);
  void time_stamped(const Received& message);
  void verify(const Received& message);

  const bool touch_all_;
  const bool carry_stamps_;  // messages have room for one
  const bool verify_;
  const bool ordered_;
  const bool is_topic_;  // its sequence has gaps, or if unordered is counted over all senders
  const std::uint64_t sample_every_;
  const MemberIndex self_;
  const Stamps* const stamps_;
  const std::vector<bool> same_clock_;

  // Written by the delivery thread only.
  std::uint64_t sum_ = 0;
  std::uint64_t own_ = 0;
  std::uint64_t verified_ = 0;
  std::uint64_t next_seq_ = 0;
  std::uint64_t order_digest_ = 0;
  std::vector<std::uint64_t> sender_digests_;
  std::vector<std::uint64_t> sender_counts_;
  std::string problem_;
  Histogram own_latency_;
  Histogram others_latency_;

  alignas(128) std::atomic<std::uint64_t> delivered_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> sink_ = 0;  // keeps the sum alive: the reading must happen
  std::atomic<std::int64_t> reached_ns_ = 0;

  // Written by the control thread only.
  alignas(128) std::atomic<bool> measuring_ = false;
  std::atomic<std::uint64_t> expected_ = 0;
};

}  // namespace tutti::cli
