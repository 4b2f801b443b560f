/// \file sender.hpp
/// Sends to one group, or one topic of it, in a measurement: as fast as there is space, or to a
/// schedule. Threads: the worker's, but sent() any.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cli/clock.hpp"
#include "cli/payload.hpp"
#include "cli/perf/plan.hpp"
#include "cli/stamps.hpp"
#include "tutti/dds/writer.hpp"
#include "tutti/group.hpp"

namespace tutti::cli {

/// Why a sender sends nothing right now, the most urgent last.
enum class Blocked : std::uint8_t {
  finished,   ///< it has sent what it may, or the group is stopped
  not_due,    ///< its schedule has it wait until due_ns()
  in_flight,  ///< too many of its messages are under way
  full,       ///< no space in the window
  no,
};

class Sender {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  /// `writer`: of the topic, and outlives this; null: the group itself. `stamps` is given (not
  /// null) if messages are too small to carry a time stamp.
  Sender(const Group& group, dds::UntypedWriter* writer, const PerfPlan& plan,
         const PerfOptions& options, MemberIndex self, Stamps* stamps);

  /// Sends a bounded number of messages, until blocked. Returns how many.
  std::uint64_t step();
  /// What ended the last step, Blocked::no if only the bound did.
  [[nodiscard]] Blocked blocked() const { return blocked_; }

  /// May send so many more from now on (kNoLimit: any number); 0 pauses it.
  void allow(std::uint64_t more);

  [[nodiscard]] std::uint64_t sent() const { return sent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  /// Pausing is done awake, waiting for a schedule may be done asleep.
  [[nodiscard]] bool pauses() const { return pause_ns_ > 0; }

  /// Blocks properly until there is space, sends one message. For Blocked::full.
  void send_when_space(std::chrono::nanoseconds timeout);
  /// Blocks properly until another message may be under way. For Blocked::in_flight.
  void wait_for_delivery(std::chrono::nanoseconds timeout);

 private:
  [[nodiscard]] bool may_send();
  void schedule_next();
  void note_start();
  // Once a message: the compiler does not inline it by itself, which small messages pay for.
  [[gnu::always_inline]] void fill_next(std::byte* payload);
  [[gnu::always_inline]] void publish(Claim&& claim);
  [[nodiscard]] bool write_one();
  void note_sent(Ticket ticket);
  /// Of the oldest message that may be under way: tickets of a topic's group have gaps.
  [[nodiscard]] Ticket awaited() const { return sent_tickets_[next_ % in_flight_max_]; }

  Group group_;
  dds::UntypedWriter* const writer_;
  const MemberIndex self_;
  const std::uint32_t size_;
  const std::uint64_t burst_;
  const std::uint64_t sample_every_;
  const std::uint64_t in_flight_max_;  // 0: no limit
  const double gap_ns_;                // between two messages of the schedule, 0: none
  const std::int64_t pause_ns_;
  const bool verify_;
  const bool scheduled_;              // any of in_flight_max_, gap_ns_, pause_ns_
  std::vector<Ticket> sent_tickets_;  // the last in_flight_max_, by index of the message
  Stamps* const stamps_;

  Blocked blocked_ = Blocked::finished;
  std::uint64_t next_ = 0;          // index of the next message
  std::uint64_t limit_ = 0;         // sends those below
  std::uint64_t until_sample_ = 0;  // 0: the next message is timed
  std::int64_t started_ns_ = 0;     // first attempt to send a timed message, 0: not yet
  std::int64_t due_ns_ = 0;
  std::int64_t allowed_ns_ = 0;     // when the schedule began
  std::uint64_t allowed_next_ = 0;  // and next_ at that time
  alignas(128) std::atomic<std::uint64_t> sent_ = 0;
};

inline std::uint64_t Sender::step() {
  const std::uint64_t first = next_;
  const std::uint64_t end = std::min(limit_, first + burst_);
  blocked_ = next_ == limit_ ? Blocked::finished : Blocked::no;
  while (next_ < end) {
    if (scheduled_ && !may_send()) break;
    note_start();
    if (writer_ != nullptr) {
      if (!write_one()) break;
      continue;
    }
    Claim claim = group_.try_claim(size_);
    if (!claim) {
      blocked_ = claim.outcome() == ClaimOutcome::full ? Blocked::full : Blocked::finished;
      break;
    }
    publish(std::move(claim));
  }
  const std::uint64_t sent = next_ - first;
  if (sent > 0) sent_.store(next_, std::memory_order_relaxed);
  return sent;
}

inline void Sender::note_start() {
  if (until_sample_ == 0 && started_ns_ == 0) started_ns_ = now_ns();
}

inline void Sender::publish(Claim&& claim) {
  fill_next(claim.data());
  const Ticket ticket = group_.commit(std::move(claim));
  if (scheduled_) note_sent(ticket);
}

inline bool Sender::write_one() {
  Result<dds::UntypedWriter::Space> space = writer_->try_claim(size_);
  if (!space) {
    const bool full = space.error().code == ErrorCode::no_space;
    blocked_ = full ? Blocked::full : Blocked::finished;
    return false;
  }
  fill_next(space->payload.data());
  const Ticket ticket = writer_->commit(std::move(*space));
  if (scheduled_) note_sent(ticket);
  return true;
}

inline void Sender::fill_next(std::byte* payload) {
  const bool timed = until_sample_ == 0;
  const bool stamped = timed && stamps_ == nullptr;
  const std::uint64_t seed = seed_of(self_.value, next_, stamped);
  if (verify_) {
    fill_counting(payload, size_, seed);
  } else {
    fill(payload, size_, seed);
  }
  ++next_;
  if (timed) {
    if (stamped) {
      set_stamp(payload, started_ns_);
    } else {
      stamps_->set(Ticket{next_}, started_ns_);
    }
    started_ns_ = 0;
    until_sample_ = sample_every_;
  }
  --until_sample_;
}

}  // namespace tutti::cli
