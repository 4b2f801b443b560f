#include "node/requests_core.hpp"

#include <algorithm>

#include "base/start_thread.hpp"
#include "base/text.hpp"
#include "node/clock.hpp"
#include "node/node_core.hpp"

namespace tutti {

RequestsCore::RequestsCore(NodeCore& node, const NodeOptions& options)
    : node_(node), options_(options), sessions_(options.members.size()) {}

Result<Slot> RequestsCore::check(std::string_view member, std::size_t size) const {
  const auto refuse = [](std::string why) {
    return fail(ErrorCode::invalid_argument, "Node::send_to: " + std::move(why));
  };
  if (options_.request_max_bytes == 0) {
    return refuse(
        "this node takes part in no requests: request_max_bytes is 0; set it at all members");
  }
  const auto at = std::ranges::find(options_.members, member, &MemberAddress::name);
  if (at == options_.members.end()) {
    return refuse("'" + printable(member) + "' is not among the members; see NodeOptions::members");
  }
  if (at->name == options_.name) {
    return refuse("'" + at->name +
                  "' is this node itself; call the function that answers requests");
  }
  if (size > options_.request_max_bytes) {
    return refuse("the request has " + std::to_string(size) + " bytes; legal: 0 .. " +
                  std::to_string(options_.request_max_bytes) + " (request_max_bytes)");
  }
  return Slot{static_cast<std::uint32_t>(at - options_.members.begin())};
}

Error RequestsCore::not_in_view(Slot slot) const {
  return {ErrorCode::unreachable, "member '" + name_of(slot) + "' is in no view with node '" +
                                      options_.name +
                                      "', so nothing was sent; send again once Node::view has it"};
}

Error RequestsCore::late(Slot to, std::chrono::nanoseconds timeout, bool written) const {
  const std::string within = "within " + in_seconds(timeout) + " s; ";
  if (!written) {
    return {ErrorCode::timed_out, "there was no space for a request to member '" + name_of(to) +
                                      "' " + within +
                                      "nothing was sent. See whether its request callback is slow"};
  }
  return {ErrorCode::timed_out, "member '" + name_of(to) + "' has not replied " + within +
                                    "it may have handled the request, or may yet. See whether its "
                                    "request callback is slow"};
}

Error RequestsCore::own_end() const {
  if (std::optional<Error> over = node_.why_over()) return *over;
  return {ErrorCode::stopped, "node '" + options_.name +
                                  "' is in no view any more, so no reply comes; a request that was "
                                  "sent may have been handled"};
}

// RC4.
std::size_t RequestsCore::most_due() const {
  return std::max<std::size_t>(std::size_t{4} << 20, std::size_t{8} * options_.request_max_bytes);
}

// The call's number; 0 if there is no space. Then, and after an error, the call is as it was: what
// its handler refers to must not be destroyed with the lock (RC3).
Result<std::uint64_t> RequestsCore::write(Slot to, std::span<const std::byte> bytes,
                                          std::chrono::nanoseconds patience, Call& call) {
  if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
  if (ended_) return std::unexpected(own_end());
  call.to = to;
  call.session = sessions_[to];
  // Sessions begin before the application is told of the view: not before that may it ask.
  if (call.session == 0 || !node_.in_view()) return std::unexpected(not_in_view(to));
  const std::uint64_t id = next_id_;
  // First, for it may find no memory; the reply waits for the lock.
  const auto at = calls_.emplace_hint(calls_.end(), id, std::move(call));
  const auto left = static_cast<std::uint64_t>(patience.count());
  switch (lanes_->write(to, at->second.session, FrameKind::request, id, bytes,
                        RequestFrame::patience_ms(left))) {
    case Lanes::Written::ok:
      ++next_id_;
      return id;
    case Lanes::Written::full:
      call = std::move(at->second);
      calls_.erase(at);
      return 0;
    case Lanes::Written::gone:
      break;
  }
  call = std::move(at->second);
  calls_.erase(at);
  return std::unexpected(not_in_view(to));
}

Result<Reply> RequestsCore::ask(std::string_view member, std::span<const std::byte> bytes,
                                std::chrono::nanoseconds timeout) {
  if (std::optional<Error> refusal = node_.refusal_here("Node::send_to")) {
    return std::unexpected(std::move(*refusal));
  }
  const Result<Slot> to = check(member, bytes.size());
  if (!to) return std::unexpected(to.error());
  const Deadline deadline(timeout);
  std::uint64_t id = 0;  // not written yet
  std::optional<Result<Reply>> outcome;
  Call call;
  const auto look = [&] {
    const auto at = calls_.find(id);
    if (at == calls_.end() || !at->second.outcome) return;
    outcome = std::move(at->second.outcome);
    calls_.erase(at);
  };
  const auto is_over = [&] {
    bool wrote = false;
    {
      const std::lock_guard lock(mutex_);
      if (id != 0) {
        look();
      } else if (const auto written = write(*to, bytes, deadline.left(now_ns()), call); written) {
        id = *written;
        wrote = id != 0;
      } else {
        outcome = std::unexpected(written.error());
      }
    }
    if (wrote) node_.notify_work();
    return outcome.has_value();
  };
  if (node_.wait_until(moved_, is_over, deadline)) return std::move(*outcome);
  const std::lock_guard lock(mutex_);
  look();  // it may have come since
  if (outcome) return std::move(*outcome);
  calls_.erase(id);  // RC1: a reply that comes now is dropped
  if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
  return std::unexpected(late(*to, timeout, id != 0));
}

Result<void> RequestsCore::ask(std::string_view member, std::span<const std::byte> bytes,
                               std::chrono::nanoseconds timeout, ReplyHandler handler) {
  if (!handler) {
    return fail(ErrorCode::invalid_argument,
                "Node::send_to: the handler is empty; give one, or call send_to without it, which "
                "waits");
  }
  const Result<Slot> to = check(member, bytes.size());
  if (!to) return std::unexpected(to.error());
  Call call{.handler = std::move(handler)};
  {
    const std::lock_guard lock(mutex_);
    if (!node_.in_view() && !node_.why_over()) return std::unexpected(not_in_view(*to));
    if (Result<void> started = start_telling(); !started) return started;
    if (due_bytes_ >= most_due()) {
      return fail(ErrorCode::no_space,
                  "no space for another reply right now: the reply handlers of node '" +
                      options_.name + "' have yet to take " + std::to_string(due_.size()) +
                      "; see whether one is slow");
    }
    const std::uint64_t now = now_ns();
    const std::chrono::nanoseconds patience = Deadline(timeout).left(now);
    call.until_ns = now + static_cast<std::uint64_t>(patience.count());
    const auto limit = limits_.emplace(call.until_ns, next_id_).first;
    Result<std::uint64_t> written = 0;
    try {
      written = write(*to, bytes, patience, call);
    } catch (...) {  // no memory: a limit has a call
      limits_.erase(limit);
      throw;
    }
    if (!written || *written == 0) limits_.erase(limit);
    if (!written) return std::unexpected(written.error());
    if (*written == 0) {
      return fail(ErrorCode::no_space,
                  "no space for a request to member '" + name_of(*to) +
                      "' right now: it has yet to answer earlier ones; send again once a reply "
                      "has come");
    }
  }
  node_.notify_work();
  to_tell_.notify();
  return {};
}

// Once the node is over nothing is accepted any more, and the thread ends.
Result<void> RequestsCore::start_telling() {
  if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
  if (closed_) return std::unexpected(own_end());
  if (telling_thread_.joinable()) return {};
  telling_ended_.store(false, std::memory_order_relaxed);
  Result<std::thread> thread = start_thread("the thread of reply handlers", [this] { tell_all(); });
  if (!thread) {
    telling_ended_.store(true, std::memory_order_release);
    return std::unexpected(std::move(thread.error()));
  }
  telling_thread_ = std::move(*thread);
  return {};
}

void RequestsCore::use(Lanes* lanes) {
  const std::lock_guard lock(mutex_);
  lanes_ = lanes;
  ended_ = false;
  for (std::uint64_t& session : sessions_) session = 0;
}

Result<void> RequestsCore::start() {
  if (options_.request_max_bytes == 0) return {};
  serving_ended_.store(false, std::memory_order_relaxed);
  Result<std::thread> thread = start_thread("the thread of requests", [this] { serve_all(); });
  if (!thread) {
    serving_ended_.store(true, std::memory_order_release);
    return std::unexpected(std::move(thread.error()));
  }
  serving_thread_ = std::move(*thread);
  return {};
}

void RequestsCore::wake() {
  moved_.notify();
  to_serve_.notify();
  to_tell_.notify();
}

void RequestsCore::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void RequestsCore::join() {
  if (serving_thread_.joinable()) serving_thread_.join();
  if (telling_thread_.joinable()) telling_thread_.join();
}

void RequestsCore::opened(Slot peer, std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  sessions_[peer] = session;
}

void RequestsCore::ended() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

void RequestsCore::request(Slot from, std::uint64_t session, std::uint64_t id,
                           std::uint32_t patience_ms, std::span<const std::byte> bytes) {
  const std::uint64_t until_ns = patience_ms == 0 ? 0 : now_ns() + patience_ms * 1'000'000ULL;
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back({from, session, id, until_ns, {bytes.begin(), bytes.end()}});
  }
  to_serve_.notify();
}

// What a peer says of a call that is not its own, or has ended, is nothing to us.
void RequestsCore::reply(Slot from, std::uint64_t session, std::uint64_t id, bool failed,
                         std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto at = calls_.find(id);
  if (at == calls_.end() || at->second.outcome) return;
  if (at->second.to != from || at->second.session != session) return;
  if (failed) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return finish(at, fail(ErrorCode::refused,
                           is_plain_text(text) ? std::string(text) : printable(text, text.size())));
  }
  finish(at, Reply({bytes.begin(), bytes.end()}));
}

void RequestsCore::gone(Slot peer, std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  if (sessions_[peer] == session) sessions_[peer] = 0;
  std::erase_if(arrived_,
                [&](const Arrived& one) { return one.from == peer && one.session == session; });
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto call = at++;
    if (call->second.to != peer || call->second.session != session || call->second.outcome) {
      continue;
    }
    if (ended_) {
      finish(call, std::unexpected(own_end()));
      continue;
    }
    finish(call, fail(ErrorCode::peer_lost,
                      "member '" + name_of(peer) +
                          "' was lost, or left, before it replied; it may have handled the "
                          "request. Send it to another member, or again once it is back"));
  }
  moved_.notify();  // answers to it are not written any more
}

void RequestsCore::space(Slot /*peer*/) { moved_.notify(); }

void RequestsCore::finish(Calls::iterator call, Result<Reply> outcome) {
  if (!call->second.handler) {
    call->second.outcome = std::move(outcome);
    return moved_.notify();
  }
  due_.emplace_back();  // it may find no memory: then the call stays (RC1)
  due_.back() = {std::move(call->second.handler), std::move(outcome)};
  due_bytes_ += due_.back().bytes();
  limits_.erase({call->second.until_ns, call->first});
  calls_.erase(call);
  to_tell_.notify();
}

void RequestsCore::finish_handled(const Error& why) {
  while (!limits_.empty()) {
    finish(calls_.find(limits_.begin()->second), std::unexpected(why));
  }
}

void RequestsCore::finish_late(std::uint64_t now) {
  while (!limits_.empty() && limits_.begin()->first <= now) {
    const auto call = calls_.find(limits_.begin()->second);
    finish(call,
           fail(ErrorCode::timed_out,
                "member '" + name_of(call->second.to) +
                    "' has not replied before the time-out; it may have handled the request, or "
                    "may yet. See whether its request callback is slow"));
  }
}

}  // namespace tutti
