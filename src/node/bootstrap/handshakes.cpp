/// \file handshakes.cpp
#include "node/bootstrap/handshakes.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "fabric/host.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;

constexpr std::size_t kRefusedMax = 1024;

}  // namespace

Handshakes::Handshakes(const BootstrapRequest& request, Arrivals& arrivals)
    : request_(request), arrivals_(arrivals) {
  while (peers_.size() < request.node.members.size()) peers_.push_back(Peer(context_));
}

Result<void> Handshakes::prepare() {
  const NodeOptions& node = request_.node;
  const auto self = std::ranges::find(node.members, node.name, &MemberAddress::name);
  if (self == node.members.end()) {
    return fail(ErrorCode::invalid_argument, "name '" + node.name + "' is not a member");
  }
  self_.value = static_cast<std::uint32_t>(self - node.members.begin());
  base_.library_version = version();
  base_.name = node.name;
  base_.members = node.members;
  base_.incarnation = request_.incarnation;
  base_.founding = request_.founding;
  base_.fabric = fabric_text(node);
  base_.litmus_rounds = node.litmus_rounds;
  base_.request_max_bytes = node.request_max_bytes;
  base_.host = this_host();
  base_.row_bytes = request_.own_row_bytes;
  base_.groups = request_.groups;
  for (GroupOptions& group : base_.groups) {
    group.on_delivery = nullptr;
    group.snapshot = nullptr;
    group.save_state = nullptr;
    group.load_state = nullptr;
  }
  // The largest hello we may have to send must fit.
  Hello largest = base_;
  largest.to.assign(255, 'x');
  for (const auto& carrier : request_.carriers) {
    largest.carriers.emplace(carrier->kind().name, std::string(Carrier::kOfferMax, 'x'));
  }
  if (Result<std::string> frame = encode_hello(largest); !frame) {
    return std::unexpected(frame.error());
  }
  spawn(tell_progress());
  if (peers_.size() == 1) return {};  // nobody will come
  if (Result<void> listening = listen(); !listening) return listening;
  for (const auto& carrier : request_.carriers) {
    if (Result<void> watched = watch_calls(*carrier); !watched) return watched;
  }
  spawn(accept_all());
  for (Slot slot{}; slot < self_; ++slot.value) spawn(dial(slot));
  return {};
}

void Handshakes::run() {
  while (!context_.stopped()) {
    try {
      context_.run();
    } catch (const std::exception& problem) {
      broke(problem.what());
    }
  }
}

void Handshakes::stop() { context_.stop(); }

void Handshakes::release(Slot slot) {
  asio::post(context_, [this, slot] {
    peers_[slot].attached = false;
    peers_[slot].failed.clear();
    peers_[slot].pause = kRetryAtFirst;
    peers_[slot].again.cancel();
  });
}

void Handshakes::refuse(std::uint64_t incarnation) {
  asio::post(context_, [this, incarnation] {
    if (std::ranges::find(refused_, incarnation) != refused_.end()) return;
    if (refused_.size() == kRefusedMax) refused_.pop_front();
    refused_.push_back(incarnation);
    for (Peer& peer : peers_) {
      if (peer.link != nullptr && peer.incarnation == incarnation) peer.link->close();
    }
  });
}

void Handshakes::run_on() {
  asio::post(context_, [this] {
    progress_.cancel();
    if (giving_up_) end_start();
  });
}

void Handshakes::turn_away() {
  asio::post(context_, [this] { call_again(); });
}

void Handshakes::spawn(asio::awaitable<void> work) {
  asio::co_spawn(context_, std::move(work), [this](const std::exception_ptr& problem) {
    if (!problem) return;
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& what) {
      broke(what.what());
    }
  });
}

// No memory, or no thread for the resolver.
void Handshakes::broke(const std::string& what) {
  give_up({ErrorCode::system, "cannot meet the other members: " + what});
}

void Handshakes::give_up(Error error) {
  if (over_ || giving_up_) return;
  if (arrivals_.running()) {
    warn("start", error.message);
    return;
  }
  giving_up_ = std::move(error);
  farewell_over_ = false;
  farewell_.expires_after(request_.farewell);
  farewell_.async_wait([this](const error_code& cancelled) {
    if (cancelled) return;
    farewell_over_ = true;
    end_start_if_told();
  });
}

void Handshakes::end_start_if_told() {
  if (giving_up_ && farewell_over_ && telling_ == 0) end_start();
}

void Handshakes::end_start() {
  const Error error = *std::exchange(giving_up_, std::nullopt);
  farewell_.cancel();
  if (over_) return;
  if (arrivals_.fail_start(error)) {
    close_all();
    return;
  }
  warn("start", error.message);  // we are in a group meanwhile
  call_again();
}

void Handshakes::removed_by(const std::string& name) {
  if (over_) return;
  close_all();
  arrivals_.fail({ErrorCode::stopped, "'" + name + "' says that this start of '" + base_.name +
                                          "' was removed from the group, which went on without it; "
                                          "start it again to join anew"});
}

void Handshakes::close_all() {
  over_ = true;
  error_code ignored;
  if (listener_.is_open()) listener_.close(ignored);
  progress_.cancel();
  for (const LinkPtr& link : links_) link->close();
  call_again();  // only to see that all is over
}

void Handshakes::call_again() {
  for (Peer& peer : peers_) peer.again.cancel();
}

void Handshakes::drop(const LinkPtr& link) {
  link->close();
  std::erase(links_, link);
  std::erase(unclaimed_, link);
}

// What we wait for although nobody is missing.
std::string Handshakes::awaited_of_all(bool group) const {
  if (group) return "the group to admit this node";
  if (request_.founding == Founding::logged) return "its groups to come back from their logs";
  if (request_.founding != Founding::join_only) return "the members to form a group";
  return peers_.size() == 1 ? "a group to join, but the member list names no other node"
                            : "a group to join: no member is in one";
}

asio::awaitable<void> Handshakes::tell_progress() {
  while (!over_ && !arrivals_.running()) {
    progress_.expires_after(1s);
    const auto [error] = co_await progress_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error || over_ || arrivals_.running()) continue;
    const bool group = request_.sees_group && request_.sees_group();
    std::string awaited = arrivals_.awaited();
    if (awaited.empty()) awaited = awaited_of_all(group);
    std::string text = "waiting for " + awaited;
    if (request_.founding == Founding::founds && !group) {  // else nobody need found one
      if (const std::string others = arrivals_.only_join(); !others.empty()) text += "; " + others;
    }
    log(LogLevel::info, text);
  }
}

const MemberAddress& Handshakes::member(Slot slot) const {
  return request_.node.members[slot.value];
}

void Handshakes::log(LogLevel level, const std::string& text) const {
  if (request_.node.log) request_.node.log(level, text);
}

void Handshakes::warn(const std::string& kind, std::string text) {
  warnings_.warn(kind, std::move(text), std::chrono::steady_clock::now());
  warn_later();
}

void Handshakes::warn_later() {
  const std::optional<Warnings::Time> due = warnings_.due();
  if (!due || flush_is_due_) return;
  flush_is_due_ = true;
  held_back_.expires_at(*due);
  held_back_.async_wait([this](const error_code& cancelled) {
    flush_is_due_ = false;
    if (cancelled) return;
    warnings_.flush(std::chrono::steady_clock::now());
    warn_later();
  });
}

}  // namespace tutti
