#include "cli/perf/sender.hpp"

namespace tutti::cli {
namespace {

/// So many messages that looking elsewhere between two bursts costs nothing, but no more bytes
/// than fit beside others in a core's cache.
std::uint64_t burst_for(std::uint64_t size_bytes) {
  constexpr std::uint64_t kBurstBytes = 256 * 1024;
  return std::clamp<std::uint64_t>(kBurstBytes / std::max<std::uint64_t>(size_bytes, 1), 1, 256);
}

}  // namespace

Sender::Sender(const Group& group, dds::UntypedWriter* writer, const PerfPlan& plan,
               const PerfOptions& options, MemberIndex self, Stamps* stamps)
    : group_(group),
      writer_(writer),
      self_(self),
      size_(static_cast<std::uint32_t>(options.size_bytes)),
      burst_(burst_for(options.size_bytes)),
      sample_every_(plan.sample_every),
      in_flight_max_(options.in_flight),
      gap_ns_(options.rate > 0 ? 1e9 / options.rate : 0),
      pause_ns_(self.value >= plan.first_pausing && self.value < plan.active
                    ? static_cast<std::int64_t>(options.pause_us * 1000)
                    : 0),
      verify_(options.verify),
      scheduled_(in_flight_max_ > 0 || gap_ns_ > 0 || pause_ns_ > 0),
      sent_tickets_(in_flight_max_),
      stamps_(stamps) {}

void Sender::allow(std::uint64_t more) {
  limit_ = more == kNoLimit ? kNoLimit : next_ + more;
  allowed_ns_ = now_ns();
  allowed_next_ = next_;
  due_ns_ = allowed_ns_;
  started_ns_ = 0;
  blocked_ = more == 0 ? Blocked::finished : Blocked::no;
}

bool Sender::may_send() {
  if (in_flight_max_ > 0 && next_ >= in_flight_max_ && !group_.delivered(awaited())) {
    blocked_ = Blocked::in_flight;
    return false;
  }
  if ((gap_ns_ == 0 && pause_ns_ == 0) || now_ns() >= due_ns_) return true;
  blocked_ = Blocked::not_due;
  return false;
}

// fill_next() has counted it.
void Sender::note_sent(Ticket ticket) {
  if (in_flight_max_ > 0) sent_tickets_[(next_ - 1) % in_flight_max_] = ticket;
  schedule_next();
}

void Sender::schedule_next() {
  if (pause_ns_ > 0) {
    due_ns_ = now_ns() + pause_ns_;
  } else if (gap_ns_ > 0) {  // from the start of the schedule: what came late is caught up
    due_ns_ = allowed_ns_ +
              static_cast<std::int64_t>(gap_ns_ * static_cast<double>(next_ - allowed_next_));
  }
}

void Sender::send_when_space(std::chrono::nanoseconds timeout) {
  if (writer_ != nullptr) {  // which waits as long as it was created for
    Result<dds::UntypedWriter::Space> space = writer_->claim(size_);
    if (!space) return;
    fill_next(space->payload.data());
    const Ticket ticket = writer_->commit(std::move(*space));
    if (scheduled_) note_sent(ticket);
  } else {
    Result<Claim> claim = group_.claim(size_, timeout);
    if (!claim) return;
    publish(std::move(*claim));
  }
  sent_.store(next_, std::memory_order_relaxed);
}

void Sender::wait_for_delivery(std::chrono::nanoseconds timeout) {
  // The outcome shows in the next step.
  [[maybe_unused]] const Result<void> outcome = group_.wait(awaited(), timeout);
}

}  // namespace tutti::cli
