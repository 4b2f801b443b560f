/// \file lobby.cpp
#include "node/bootstrap/lobby.hpp"

#include <exception>
#include <new>
#include <utility>

#include "base/start_thread.hpp"
#include "node/bootstrap/reception.hpp"

namespace tutti {

Lobby::Lobby(const LobbyRequest& request)
    : desk_(request.node, request.wake), reception_(std::make_unique<Reception>(request, desk_)) {}

Result<std::unique_ptr<Lobby>> Lobby::open(const LobbyRequest& request) {
  try {
    std::unique_ptr<Lobby> lobby(new Lobby(request));
    if (Result<void> ready = lobby->reception_->prepare(); !ready) {
      return std::unexpected(ready.error());
    }
    Result<std::thread> thread =
        start_thread("the thread that meets the other members",
                     [reception = lobby->reception_.get()] { reception->run(); });
    if (!thread) return std::unexpected(thread.error());
    lobby->thread_ = std::move(*thread);
    return lobby;
  } catch (const std::bad_alloc&) {
    throw;                                   // NodeCore says what to do
  } catch (const std::exception& problem) {  // no descriptor
    return fail(ErrorCode::system, std::string("cannot meet the other members: ") + problem.what());
  }
}

Lobby::~Lobby() {
  reception_->stop();
  if (thread_.joinable()) thread_.join();
  reception_->say_the_rest();
}

void Lobby::release(std::uint32_t slot) {
  if (desk_.depart(slot)) reception_->release(slot);
}

void Lobby::refuse(std::uint64_t incarnation) { reception_->refuse(incarnation); }

void Lobby::set_ended(std::string why) {
  desk_.set_ended(std::move(why));
  reception_->turn_away();
}

void Lobby::show_stopped(std::string why) {
  set_ended("it has failed, so it admits nobody; stop it and start it again. Its error: " + why);
  desk_.show_stopped(std::move(why));
}

void Lobby::set_running() {
  desk_.set_running();
  reception_->run_on();
}

}  // namespace tutti
