/// \file link_calls.cpp
/// How links begin: this node calls nodes of lower slots, and is called by those of higher ones.
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "fabric/as_tuple.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/frames.hpp"
#include "node/restart/links.hpp"

namespace tutti {
namespace {

// The other end may be busy with its disk before it looks at a call.
constexpr std::chrono::seconds kAnswerLimit{10};

// Names in order, that is: both must mean the same node by a slot.
Result<void> check_names(const NodeOptions& node, const MemberAddress& called, const Hello& hello) {
  const std::string at = " at " + called.address;
  if (hello.name != called.name) {
    return fail(ErrorCode::mismatch, "wrong peer: '" + printable(hello.name) + "' answers" + at +
                                         ", the address of '" + called.name +
                                         "'; check the members' addresses");
  }
  if (!std::ranges::equal(node.members, hello.members, {}, &MemberAddress::name,
                          &MemberAddress::name)) {
    return fail(ErrorCode::mismatch, "'" + called.name + "'" + at +
                                         " has another member list; it must be the same at all "
                                         "nodes");
  }
  return {};
}

// Whether the kernel has taken it: an answer is short, and nothing waits before it.
bool answer(const UniqueFd& socket, const std::string& verdict) {
  const ssize_t sent =
      ::send(socket.get(), verdict.data(), verdict.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(verdict.size());
}

}  // namespace

asio::awaitable<void> RestartLinks::dial(Slot slot) {
  Peer& peer = peers_[slot];
  while (!over_) {
    Result<UniqueFd> socket = fail(ErrorCode::system, {});
    try {
      socket = co_await call(slot);
    } catch (const std::exception& problem) {  // no memory, no thread for the resolver
      socket = fail(ErrorCode::system, problem.what());
    }
    if (peer.calling != nullptr) peer.calling->close();
    peer.calling.reset();
    if (over_) co_return;
    if (socket) {
      link(slot, std::move(*socket), 0);
    } else {
      note(slot, std::move(socket.error().message));
    }
    while (peer.socket != nullptr) {  // close() resets it, too
      peer.again.expires_at(asio::steady_timer::time_point::max());
      co_await peer.again.async_wait(kAsTuple);
    }
    if (over_) co_return;
    peer.again.expires_after(peer.pause);
    peer.pause = longer(peer.pause);
    co_await peer.again.async_wait(kAsTuple);
  }
}

asio::awaitable<Result<UniqueFd>> RestartLinks::call(Slot slot) {
  if (life_ == 0) {
    const Result<std::uint64_t> life = random_u64();
    if (!life) co_return std::unexpected(life.error());
    life_ = *life;
  }
  const std::string& address = member(slot).address;
  const Result<Endpoints> endpoints = co_await resolve(context_, address);
  if (!endpoints) {
    peers_[slot].pause = kRetrySlowly;
    co_return std::unexpected(endpoints.error());
  }
  Error why{};
  for (const asio::ip::tcp::endpoint& endpoint : *endpoints) {
    if (over_) break;
    Result<std::shared_ptr<Link>> link = co_await connect_to(context_, endpoint, address);
    if (link && !over_) co_return co_await ask(std::move(*link), slot);
    if (!link) why = std::move(link.error());
  }
  co_return std::unexpected(std::move(why));
}

asio::awaitable<Result<UniqueFd>> RestartLinks::ask(std::shared_ptr<Link> link, Slot slot) {
  Peer& peer = peers_[slot];
  peer.calling = link;
  link->limit_silence(kAnswerLimit);
  const Result<Hello> hello = co_await read_hello(*link);
  const std::string& address = member(slot).address;
  if (!hello) {
    const bool lost = hello.error().code == ErrorCode::peer_lost;
    if (!lost) peer.pause = kRetrySlowly;
    co_return fail(hello.error().code,
                   (lost ? "no answer from " : "wrong peer: no member answers at ") + address +
                       ": " + hello.error().message);
  }
  if (Result<void> agreed = check_names(node_, member(slot), *hello); !agreed) {
    peer.pause = kRetrySlowly;
    co_return std::unexpected(std::move(agreed.error()));
  }
  link->limit_silence(kAnswerLimit);
  link->send(encode_link_request({.from = node_.name, .to = hello->name, .life = life_}));
  Verdict verdict = co_await read_verdict(*link);
  switch (verdict.kind) {
    case Verdict::Kind::agreed:
      break;
    case Verdict::Kind::broken:
      co_return fail(ErrorCode::peer_lost,
                     "it said hello, but does not answer: " + verdict.error.message);
    case Verdict::Kind::refused:
      peer.pause = kRetrySlowly;
      [[fallthrough]];
    case Verdict::Kind::not_now:
    case Verdict::Kind::removed:
      co_return fail(ErrorCode::mismatch, "it says that " + verdict.error.message);
  }
  co_await link->flush();
  UniqueFd socket = link->release();
  if (!socket) co_return link_gone();
  co_return socket;
}

void RestartLinks::take(LinkCall call) {
  const Slot from = call.from;
  TUTTI_ASSERT(from > self_ && from.value < node_.members.size());
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    std::optional<LinkCall>& waits = calls_[from];
    first = !waits;
    waits = std::move(call);  // RL4: an older one goes
  }
  if (first) asio::post(context_, [this, from] { look_at_call(from); });
}

void RestartLinks::look_at_call(Slot slot) {
  LinkCall call;
  {
    const std::lock_guard lock(mutex_);
    call = std::move(*std::exchange(calls_[slot], std::nullopt));
  }
  if (over_) return;
  const Peer& peer = peers_[slot];
  if (peer.socket != nullptr && peer.life != call.life) {  // RL3
    answer(call.socket, encode_not_now("another '" + member(slot).name +
                                       "' is linked with it; each name may run once"));
    return;
  }
  if (answer(call.socket, encode_verdict())) link(slot, std::move(call.socket), call.life);
}

}  // namespace tutti
