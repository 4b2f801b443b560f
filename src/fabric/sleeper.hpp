/// \file sleeper.hpp
/// Where a node's thread blocks when there is nothing to do, and what wakes it.
///
/// One per node. Fabrics arm their descriptors on it; wake() is the doorbell: an eventfd that
/// members on this host and the application's own threads write. Threads: sleep() the predicate
/// thread; wake() any.
#pragma once
#include <chrono>
#include <memory>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace boost::asio {
class io_context;
}

namespace tutti {

class Sleeper {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Sleeper>> create();
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Blocks until wake(), an armed descriptor, or the time-out. Spurious returns are allowed;
  /// a wake() since the last return is never missed.
  void sleep(std::chrono::nanoseconds timeout);

  /// Makes the current or the next sleep() return. One system call; async-signal-safe.
  void wake() noexcept;

  /// The doorbell's descriptor, to be sent to members on this host, who write 8 bytes to it.
  [[nodiscard]] int doorbell_fd() const;

  /// For fabrics: sockets live here; sleep() runs it.
  [[nodiscard]] boost::asio::io_context& context();

 private:
  Sleeper();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti
