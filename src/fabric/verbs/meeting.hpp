/// \file meeting.hpp
/// How two nodes connect their queue pairs: one calls the other's address, the other answers; each
/// tells the other in rdma_cm's private data where its row is to be written.
///
/// A state machine that never waits: step() goes on as far as the events that came allow.
/// Threads: one at a time; not the predicate thread, for registering memory takes its time.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fabric/verbs/device.hpp"
#include "fabric/verbs/pair.hpp"
#include "tutti/error.hpp"

namespace tutti::verbs {

/// Who meets whom.
struct Acquaintance {
  std::uint32_t slot = 0;         ///< our own
  std::uint64_t incarnation = 0;  ///< our own
  std::uint64_t peer_incarnation = 0;
  std::size_t peer_row_bytes = 0;  ///< what we make room for
  /// A peer that does not answer is given up after that: half a second to 7.5 s, the next longer
  /// time that the hardware knows. What the caller says counts for both.
  std::chrono::nanoseconds give_up_after{0};
};

class Meeting {
 public:
  /// Starts to call who listens at `address`, HOST:PORT or [IPv6]:PORT.
  [[nodiscard]] static Result<std::unique_ptr<Meeting>> call(std::shared_ptr<Device> device,
                                                             const Acquaintance& who,
                                                             const std::string& address);
  /// Answers a call; refuses one of somebody else.
  [[nodiscard]] static Result<std::unique_ptr<Meeting>> answer(std::shared_ptr<Device> device,
                                                               const Acquaintance& who, Call call);

  /// Readable when step() may go on. Not once the pair was handed over.
  [[nodiscard]] int fd() const { return events_ != nullptr ? events_->fd : pair_->events->fd; }

  /// The pair once it is connected, then no more; null as long as it is not. ErrorCode::peer_lost:
  /// the other end is gone, or cannot be reached; others: it will not work next time either.
  [[nodiscard]] Result<std::shared_ptr<Pair>> step();

 private:
  Meeting(std::shared_ptr<Device> device, const Acquaintance& who)
      : device_(std::move(device)), who_(who) {}
  [[nodiscard]] Result<void> make_pair();
  [[nodiscard]] Result<void> happened(rdma_cm_event_type event, int status);
  [[nodiscard]] Result<void> connect();
  [[nodiscard]] Result<void> meet(const Greeting& greeting);
  [[nodiscard]] Greeting own_greeting() const;

  std::shared_ptr<Device> device_;
  Acquaintance who_;
  std::string address_;  // of who is called
  EventChannel events_;  // these two belong to the pair once there is one
  CmId id_;
  std::shared_ptr<Pair> pair_;
  bool connected_ = false;
};

}  // namespace tutti::verbs
