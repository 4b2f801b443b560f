/// \file bootstrap.cpp
#include "node/bootstrap/bootstrap.hpp"

#include <exception>
#include <new>
#include <utility>

#include "base/start_thread.hpp"
#include "node/bootstrap/handshakes.hpp"

namespace tutti {

Bootstrap::Bootstrap(const BootstrapRequest& request)
    : arrivals_(request.node, request.wake),
      handshakes_(std::make_unique<Handshakes>(request, arrivals_)) {}

Result<std::unique_ptr<Bootstrap>> Bootstrap::open(const BootstrapRequest& request) {
  try {
    std::unique_ptr<Bootstrap> bootstrap(new Bootstrap(request));
    if (Result<void> ready = bootstrap->handshakes_->prepare(); !ready) {
      return std::unexpected(ready.error());
    }
    Result<std::thread> thread =
        start_thread("the thread that meets the other members",
                     [handshakes = bootstrap->handshakes_.get()] { handshakes->run(); });
    if (!thread) return std::unexpected(thread.error());
    bootstrap->thread_ = std::move(*thread);
    return bootstrap;
  } catch (const std::bad_alloc&) {
    throw;                                   // NodeCore says what to do
  } catch (const std::exception& problem) {  // no descriptor
    return fail(ErrorCode::system, std::string("cannot meet the other members: ") + problem.what());
  }
}

Bootstrap::~Bootstrap() {
  handshakes_->stop();
  if (thread_.joinable()) thread_.join();
  handshakes_->say_the_rest();
}

void Bootstrap::release(Slot slot) {
  if (arrivals_.depart(slot)) handshakes_->release(slot);
}

void Bootstrap::refuse(std::uint64_t incarnation) { handshakes_->refuse(incarnation); }

void Bootstrap::set_ended(std::string why) {
  arrivals_.set_ended(std::move(why));
  handshakes_->turn_away();
}

void Bootstrap::show_stopped(std::string why) {
  set_ended("it has failed, so it admits nobody; stop it and start it again. Its error: " + why);
  arrivals_.show_stopped(std::move(why));
}

void Bootstrap::set_running() {
  arrivals_.set_running();
  handshakes_->run_on();
}

}  // namespace tutti
