#include "fabric/ofi/watch.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "fabric/tcp/handler_memory.hpp"

namespace tutti::ofi {

using boost::asio::posix::stream_descriptor;

struct Watch::Descriptor {
  explicit Descriptor(Sleeper& sleeper) : stream(sleeper.context()) {}
  stream_descriptor stream;
};

struct Watch::State {
  bool waiting = false;
  bool fired = false;
  tcp::HandlerMemory memory;
};

Watch::Watch(std::unique_ptr<Descriptor> descriptor)
    : descriptor_(std::move(descriptor)), state_(std::make_shared<State>()) {}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

Result<Watch> Watch::of(Sleeper& sleeper, UniqueFd descriptor) {
  auto owner = std::make_unique<Descriptor>(sleeper);
  boost::system::error_code error;
  owner->stream.assign(descriptor.get(), error);
  if (error) return fail(ErrorCode::system, "cannot watch a descriptor: " + error.message());
  static_cast<void>(descriptor.release());
  return Watch(std::move(owner));
}

void Watch::wait() {
  if (std::exchange(state_->waiting, true)) return;
  descriptor_->stream.async_wait(
      stream_descriptor::wait_read,
      boost::asio::bind_allocator(tcp::HandlerAllocator<std::byte>(state_->memory),
                                  [state = state_](const boost::system::error_code& error) {
                                    state->waiting = false;
                                    state->fired = state->fired || !error;
                                  }));
}

bool Watch::take_fired() { return std::exchange(state_->fired, false); }

}  // namespace tutti::ofi
