#include "fabric/sleeper.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "base/system_error.hpp"

namespace tutti {

struct Sleeper::Impl {
  /// Waits for the doorbell. Started again from its own handler, so that Asio gives it the memory
  /// that the wait before it had: no allocation per sleep.
  void listen() {
    doorbell.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [this](const boost::system::error_code& error) {
                          if (error) return;  // closed: the Sleeper is going away
                          std::uint64_t rings = 0;
                          if (::read(doorbell_fd, &rings, sizeof rings) == sizeof rings) {
                            rung = true;
                          }
                          listen();
                        });
  }

  boost::asio::io_context context{1};  // run by one thread
  boost::asio::posix::stream_descriptor doorbell{context};
  int doorbell_fd = -1;  // the same descriptor, owned by `doorbell`
  bool rung = false;     // a ring was drained and no sleep() has returned for it yet
};

Sleeper::Sleeper() : impl_(std::make_unique<Impl>()) {}
Sleeper::~Sleeper() = default;

Result<std::unique_ptr<Sleeper>> Sleeper::create() {
  try {  // Asio throws when it cannot make its epoll descriptor
    std::unique_ptr<Sleeper> sleeper(new Sleeper());
    UniqueFd doorbell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!doorbell) return fail_system("cannot create a doorbell");
    boost::system::error_code error;
    sleeper->impl_->doorbell.assign(doorbell.get(), error);
    if (error) return fail(ErrorCode::system, "cannot watch the doorbell: " + error.message());
    sleeper->impl_->doorbell_fd = doorbell.release();
    sleeper->impl_->listen();
    return sleeper;
  } catch (const std::exception& exception) {
    return fail(ErrorCode::system, std::string("cannot create a sleeper: ") + exception.what());
  }
}

void Sleeper::sleep(std::chrono::nanoseconds timeout) {
  // `rung` may be set already: a fabric that polls the context drains the doorbell as well.
  if (!impl_->rung) {
    if (timeout.count() > 0) {
      impl_->context.run_one_for(timeout);
    } else {
      impl_->context.poll_one();
    }
  }
  impl_->rung = false;
}

void Sleeper::wake() noexcept {
  // A full counter (EAGAIN) wakes as well, and there is nothing else to fail.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->doorbell_fd, &one, sizeof one);
}

int Sleeper::doorbell_fd() const { return impl_->doorbell_fd; }

boost::asio::io_context& Sleeper::context() { return impl_->context; }

}  // namespace tutti
