/// \file fd_watch.hpp
/// Makes a sleeping node wake up when somebody else's descriptor can be read; the descriptor stays
/// its owner's.
///
/// Threads: the predicate thread only.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <utility>

#include "fabric/sleeper.hpp"

namespace tutti::verbs {

class FdWatch {
 public:
  FdWatch(Sleeper& sleeper, int fd) : descriptor_(sleeper.context()) {
    boost::system::error_code error;
    descriptor_.assign(fd, error);
    watching_ = !error;
  }
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;
  ~FdWatch() {
    if (descriptor_.is_open()) descriptor_.release();
  }

  [[nodiscard]] bool works() const { return watching_; }

  /// From now on, once: a readable descriptor wakes the Sleeper.
  void arm() {
    state_->ready = false;
    if (std::exchange(state_->waiting, true)) return;
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [state = state_](const boost::system::error_code& error) {
                             state->waiting = false;
                             state->ready = state->ready || !error;
                           });
  }

  /// Whether it was readable since it was armed; asked once.
  [[nodiscard]] bool take_ready() { return std::exchange(state_->ready, false); }

 private:
  // Shared with the handler, which may be queued when this is gone.
  struct State {
    bool waiting = false;
    bool ready = false;
  };

  boost::asio::posix::stream_descriptor descriptor_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool watching_ = false;
};

}  // namespace tutti::verbs
