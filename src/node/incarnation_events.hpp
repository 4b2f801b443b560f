/// \file incarnation_events.hpp
/// What an incarnation tells its node and asks of it, and the calls of the application that it
/// makes.
///
/// Threads: the predicate thread, but where marked.
#pragma once
#include <cstdint>

#include "membership/membership.hpp"
#include "node/slowness.hpp"
#include "tutti/error.hpp"
#include "tutti/message.hpp"
#include "tutti/view.hpp"

namespace tutti {

/// The calls for one group's state.
struct StateCalls {
  CallMark save;  ///< takes it
  CallMark read;  ///< reads a snapshot
  CallMark end;   ///< destroys one
  CallMark load;
};

/// What the node is told, on the predicate thread.
class IncarnationEvents {
 public:
  virtual ~IncarnationEvents() = default;
  virtual void installed(const ViewChange& change) = 0;
  /// This member is about to be in that group, which is joined at run time, in that view. Returns
  /// what its messages are delivered to.
  [[nodiscard]] virtual DeliveryCallback joins(const OpenGroup& open, std::uint64_t view,
                                               CallMark& call) = 0;
  /// It is in no view any more, or has come into none.
  virtual void ended(StopReason reason) = 0;
  /// It joined, but the state it needs cannot be had.
  virtual void no_state(const Error& why) = 0;
  /// The path from another node does not keep what the fabric promised.
  virtual void distrusted(const Error& why) = 0;
  /// The node has stopped with an error, and is passed until its callbacks have returned.
  [[nodiscard]] virtual bool failed() const = 0;
  /// The node is about to stop: no call of the application begins any more. Any thread.
  [[nodiscard]] virtual bool ends() const = 0;
  /// The thread for states has done something, or ended. On that thread.
  virtual void calls_ended() = 0;
  /// Delivery of the group has a pause to come to, or may go on after one. On that thread.
  virtual void delivery_may_move(std::size_t group) = 0;
  /// Around a call of the application that pass() makes and that may take its time: until
  /// take_back() returns, another thread may pass with Calls::forbidden.
  virtual void lend() = 0;
  virtual void take_back() = 0;
};

/// For as long as it lives, a call of the application goes on and the loop is lent for it.
class LentForCall {
 public:
  LentForCall(IncarnationEvents& events, CallMark& mark) : events_(events), mark_(mark) {
    mark_.begin();
    events_.lend();
  }
  ~LentForCall() {
    events_.take_back();
    mark_.end();
  }
  LentForCall(const LentForCall&) = delete;
  LentForCall& operator=(const LentForCall&) = delete;

 private:
  IncarnationEvents& events_;
  CallMark& mark_;
};

}  // namespace tutti
