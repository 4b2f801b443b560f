/// \file links.cpp
/// Links from the moment that both ends are linked, and their ends.
#include "node/restart/links.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "node/bootstrap/tcp_socket.hpp"
#include "node/restart/framed_socket.hpp"

namespace tutti {
namespace {

Slot slot_of(const NodeOptions& node) {
  const auto self = std::ranges::find(node.members, node.name, &MemberAddress::name);
  return Slot{static_cast<std::uint32_t>(self - node.members.begin())};
}

}  // namespace

RestartLinks::RestartLinks(asio::io_context& context, const NodeOptions& node,
                           RestartLinkEvents& events)
    : context_(context),
      node_(node),
      events_(events),
      self_(slot_of(node)),
      trouble_(node.members.size()),
      calls_(std::vector<std::optional<LinkCall>>(node.members.size())) {
  TUTTI_ASSERT(self_.value < node.members.size());
  while (peers_.size() < node.members.size()) peers_.push_back(Peer(context_));
  for (const Slot slot : trouble_.indices()) {
    if (slot != self_) trouble_[slot] = slot < self_ ? "it is not called yet" : "it has not called";
  }
}

RestartLinks::~RestartLinks() { close(); }

void RestartLinks::start() {
  for (Slot slot{}; slot < self_; ++slot.value) spawn(dial(slot));
}

void RestartLinks::send(std::uint32_t slot, std::vector<std::byte> bytes) {
  if (const Socket& socket = peers_[Slot{slot}].socket) socket->send(std::move(bytes));
}

void RestartLinks::close() {
  over_ = true;
  for (Peer& peer : peers_) {
    if (peer.socket != nullptr) peer.socket->close({ErrorCode::stopped, "this node closed it"});
    peer.socket.reset();
    if (peer.calling != nullptr) peer.calling->close();
    peer.again.cancel();  // only to see that all is over
  }
}

std::string RestartLinks::trouble(std::uint32_t slot) const {
  const std::lock_guard lock(mutex_);
  return trouble_[Slot{slot}];
}

void RestartLinks::link(Slot slot, UniqueFd fd, std::uint64_t life) {
  boost::system::error_code error;
  asio::ip::tcp::socket adopted = adopt_socket(context_, std::move(fd), error);
  if (error) return note(slot, error.message());
  Peer& peer = peers_[slot];
  if (peer.socket != nullptr) ended(slot, "it called again");
  if (over_) return;  // down() has closed all
  const auto socket = std::make_shared<FramedSocket>(std::move(adopted));
  peer.socket = socket;
  peer.life = life;
  peer.pause = kRetryAtFirst;
  note(slot, {});
  events_.up(slot.value);
  spawn(read(slot, socket));
}

asio::awaitable<void> RestartLinks::read(Slot slot, Socket socket) {
  while (true) {
    const Result<std::vector<std::byte>> message = co_await socket->read();
    if (peers_[slot].socket != socket) co_return;  // its end was told already: RL1, RL2
    if (!message) {
      ended(slot, message.error().message);
      co_return;
    }
    events_.received(slot.value, *message);
  }
}

void RestartLinks::ended(Slot slot, const std::string& why) {
  Peer& peer = peers_[slot];
  peer.socket->close({ErrorCode::peer_lost, why});
  peer.socket.reset();
  note(slot, "the last link ended: " + why);
  peer.again.cancel();
  events_.down(slot.value);
}

void RestartLinks::note(Slot slot, std::string why) {
  const std::lock_guard lock(mutex_);
  trouble_[slot] = std::move(why);
}

void RestartLinks::spawn(asio::awaitable<void> work) {
  asio::co_spawn(context_, std::move(work), [](const std::exception_ptr& problem) {
    if (problem) std::rethrow_exception(problem);
  });
}

}  // namespace tutti
