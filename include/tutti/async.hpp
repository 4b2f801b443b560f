/// \file async.hpp
/// Futures and coroutines over Group::on_delivered, Group::on_space and Node::send_to.
///
///     Task append(tutti::Group group) {  // Task: a coroutine type of yours
///       tutti::Result<tutti::Claim> claim = co_await tutti::space(group, 64);
///       if (!claim) co_return;
///       const tutti::Ticket ticket = group.commit(std::move(*claim));
///       tutti::Result<void> done = co_await tutti::delivery(group, ticket);
///     }
///
/// The library has no coroutine type of its own: co_await these in yours, or in those of a library
/// that take any awaitable. A coroutine goes on on the group's thread for handlers, so what
/// Group::on_delivered says of handlers holds until it waits again: post to an executor to leave
/// that thread. Each co_await returns once, with an error at the latest when the node ends: do not
/// destroy a coroutine that waits here.
#pragma once
#include <coroutine>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tutti/group.hpp"
#include "tutti/node.hpp"

namespace tutti {

/// Ready when Group::delivered(ticket), or with the error why not. Does not block in its
/// destructor.
[[nodiscard]] inline std::future<Result<void>> delivery_future(Group group, Ticket ticket) {
  std::promise<Result<void>> promise;
  std::future<Result<void>> future = promise.get_future();
  const auto at_once = [](Result<void> outcome) {
    std::promise<Result<void>> ready;
    ready.set_value(std::move(outcome));
    return ready.get_future();
  };
  Result<void> asked =
      group.on_delivered(ticket, [promise = std::move(promise)](Result<void> outcome) mutable {
        promise.set_value(std::move(outcome));
      });
  if (asked) return future;
  if (group.delivered(ticket)) return at_once({});
  return at_once(std::unexpected(std::move(asked.error())));
}

/// Ready with the outcome of Node::send_to, which is called at once. Does not block in its
/// destructor.
[[nodiscard]] inline std::future<Result<Reply>> reply_future(Node& node, std::string_view member,
                                                             std::span<const std::byte> bytes,
                                                             Node::Timeout timeout) {
  auto promise = std::make_shared<std::promise<Result<Reply>>>();
  std::future<Result<Reply>> future = promise->get_future();
  Result<void> asked = node.send_to(member, bytes, timeout, [promise](Result<Reply> outcome) {
    promise->set_value(std::move(outcome));
  });
  if (!asked) promise->set_value(std::unexpected(std::move(asked.error())));
  return future;
}

/// What `co_await delivery(group, ticket)`, `co_await space(group, size)` and `co_await reply(...)`
/// wait with. Await it once, where it was made.
template <class Value>
class Awaitable {
 public:
  using Handler = std::move_only_function<void(Result<Value>)>;

  Awaitable(const Awaitable&) = delete;
  Awaitable& operator=(const Awaitable&) = delete;
  ~Awaitable() = default;

  [[nodiscard]] bool await_ready() {
    outcome_ = at_once_();
    return outcome_.has_value();
  }

  // Once the handler was accepted, another thread may have resumed the coroutine, and this may be
  // gone.
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) {
    auto ask = std::move(ask_);
    Result<void> asked = ask([this, waiting](Result<Value> outcome) {
      outcome_ = std::move(outcome);
      waiting.resume();
    });
    if (asked) return true;
    outcome_ = at_once_();  // it may have come in between
    if (!outcome_) outcome_ = std::unexpected(std::move(asked.error()));
    return false;
  }

  [[nodiscard]] Result<Value> await_resume() { return std::move(*outcome_); }

 private:
  friend Awaitable<void> delivery(Group group, Ticket ticket);
  friend Awaitable<Claim> space(Group group, std::uint32_t size);
  friend Awaitable<Reply> reply(Node& node, std::string_view member,
                                std::span<const std::byte> bytes, Node::Timeout timeout);

  using AtOnce = std::move_only_function<std::optional<Result<Value>>()>;
  using Ask = std::move_only_function<Result<void>(Handler)>;
  Awaitable(AtOnce at_once, Ask ask) : at_once_(std::move(at_once)), ask_(std::move(ask)) {}

  AtOnce at_once_;
  Ask ask_;
  std::optional<Result<Value>> outcome_;
};

/// co_await it for Result<void>: as Group::wait, without a thread that waits.
[[nodiscard]] inline Awaitable<void> delivery(Group group, Ticket ticket) {
  return Awaitable<void>(
      [group, ticket]() -> std::optional<Result<void>> {
        if (!group.delivered(ticket)) return std::nullopt;
        return Result<void>();
      },
      [group, ticket](DeliveredHandler handler) mutable {
        return group.on_delivered(ticket, std::move(handler));
      });
}

/// co_await it for Result<Claim>: as Group::claim, without a thread that waits.
[[nodiscard]] inline Awaitable<Claim> space(Group group, std::uint32_t size) {
  return Awaitable<Claim>(
      [group, size]() mutable -> std::optional<Result<Claim>> {
        Claim claim = group.try_claim(size);
        if (!claim) return std::nullopt;
        return Result<Claim>(std::move(claim));
      },
      [group, size](SpaceHandler handler) mutable {
        return group.on_space(size, std::move(handler));
      });
}

/// co_await it for Result<Reply>: as Node::send_to, without a thread that waits. Node and bytes
/// must live until it is awaited; the coroutine goes on on the node's thread for reply handlers.
[[nodiscard]] inline Awaitable<Reply> reply(Node& node, std::string_view member,
                                            std::span<const std::byte> bytes,
                                            Node::Timeout timeout) {
  return Awaitable<Reply>([]() -> std::optional<Result<Reply>> { return std::nullopt; },
                          [&node, member, bytes, timeout](ReplyHandler handler) {
                            return node.send_to(member, bytes, timeout, std::move(handler));
                          });
}

}  // namespace tutti
