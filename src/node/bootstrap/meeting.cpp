/// \file meeting.cpp
#include "node/bootstrap/meeting.hpp"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "node/bootstrap/host.hpp"
#include "node/group_rules.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;

// How long a failing member stays to tell the others why.
constexpr auto kFarewell = 500ms;

}  // namespace

Meeting::Meeting(const BootstrapRequest& request) : request_(request) {}

Result<void> Meeting::prepare() {
  const NodeOptions& node = request_.node;
  const auto self = std::ranges::find(node.members, node.name, &MemberAddress::name);
  if (self == node.members.end()) {
    return tutti::fail(ErrorCode::invalid_argument, "name '" + node.name + "' is not a member");
  }
  rank_ = static_cast<std::uint32_t>(self - node.members.begin());
  peers_.resize(node.members.size());
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    peers_[rank].trouble = rank < rank_ ? "no answer yet" : "it never connected to us";
  }
  const Result<std::uint64_t> incarnation = random_u64();
  if (!incarnation) return std::unexpected(incarnation.error());
  base_.library_version = version();
  base_.name = node.name;
  base_.members = node.members;
  base_.incarnation = *incarnation;
  base_.fabric = node.fabric;
  base_.host = this_host();
  base_.row_bytes = request_.own_row.size();
  for (const GroupOptions& group : request_.groups) {
    base_.groups.push_back(resolve_group(node, group));
    base_.groups.back().on_delivery = nullptr;
  }
  // The largest hello we may have to send must fit.
  Hello largest = base_;
  largest.to.assign(255, 'x');
  largest.unix_name.assign(100, 'x');
  if (Result<std::string> frame = encode_hello(largest); !frame) {
    return std::unexpected(frame.error());
  }
  return {};
}

Result<Cluster> Meeting::run() {
  if (Result<void> prepared = prepare(); !prepared) return std::unexpected(prepared.error());
  if (peers_.size() > 1) {
    watch_deadline();
    asio::co_spawn(context_, listen(), asio::detached);
    asio::co_spawn(context_, tell_progress(), asio::detached);
    context_.run();
    if (failure_) return std::unexpected(*failure_);
  }
  return take_cluster();
}

void Meeting::watch_deadline() {
  deadline_.expires_after(request_.node.start_timeout);
  deadline_.async_wait([this](const error_code& error) {
    if (error || over()) return;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::duration<double>>(request_.node.start_timeout);
    std::string limit = std::to_string(seconds.count());
    limit.resize(limit.find('.') + 4);
    fail({ErrorCode::unreachable, "start_timeout of " + limit + " s is over; still waiting for " +
                                      awaited() + "; start the missing members, or check " +
                                      "their addresses"});
  });
}

asio::awaitable<void> Meeting::tell_progress() {
  asio::steady_timer timer(context_);
  while (!over()) {
    timer.expires_after(1s);
    const auto [error] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!error && !over()) log(LogLevel::info, "waiting for " + progress());
  }
}

std::string Meeting::progress() const {
  std::string missing;
  std::string unready;
  bool several = false;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    if (rank == rank_ || peer.ready) continue;
    const std::string& name = member(rank).name;
    several = !unready.empty();
    unready += (unready.empty() ? "" : ", ") + name;
    if (peer.agreed) continue;
    missing += (missing.empty() ? "" : ", ") + name + " (" + member(rank).address + ")";
  }
  if (!missing.empty()) return missing;
  return unready + (several ? ", which wait for others" : ", which waits for others");
}

std::string Meeting::awaited() const {
  std::string text;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    if (rank == rank_ || peer.ready) continue;
    text += (text.empty() ? "" : ", ") + member(rank).name + " (" + member(rank).address;
    const bool met = peer.agreed && announced_;
    text += peer.agreed ? (met ? ": it still waits for others)" : ": it is there)")
                        : ": " + peer.trouble + ")";
  }
  return text;
}

void Meeting::announce_if_all_agreed() {
  if (over() || announced_) return;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != rank_ && !peers_[rank].agreed) return;
  }
  announced_ = true;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != rank_) peers_[rank].link->send(encode_verdict());
  }
}

void Meeting::finish_if_all_ready() {
  if (over() || !announced_) return;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank != rank_ && !peers_[rank].ready) return;
  }
  done_ = true;
  context_.stop();
}

void Meeting::fail(Error error) {
  const std::string told = base_.name + " gave up the start: " + error.message;
  fail(std::move(error), told);
}

void Meeting::fail(Error error, const std::string& told) {
  if (over()) return;
  const std::string frame = encode_verdict({error.code, told});
  failure_ = std::move(error);
  error_code ignored;
  if (listener_.is_open()) listener_.close(ignored);
  if (links_.empty()) {
    context_.stop();
    return;
  }
  for (const LinkPtr& link : links_) {
    // After our last verdict a tcp pair's connection belongs to the fabric: only closing is
    // understood. That of an shm pair still serves, and its unix socket says when to look.
    const auto handed_on = [&link](const Peer& peer) {
      return peer.link == link && peer.transport == Transport::tcp;
    };
    if (!announced_ || std::ranges::none_of(peers_, handed_on)) link->send(frame);
    link->finish_sending();
    link->close_unix();
  }
  for (Peer& peer : peers_) {
    if (std::exchange(peer.ready, false)) {  // its own coroutine has ended
      asio::co_spawn(context_, part(peer.link), asio::detached);
    }
  }
  deadline_.expires_after(kFarewell);
  deadline_.async_wait([this](const error_code& cancelled) {
    if (!cancelled) context_.stop();
  });
}

void Meeting::drop(const LinkPtr& link) {
  const auto keeps = [&link](const Peer& peer) { return peer.ready && peer.link == link; };
  if (std::ranges::any_of(peers_, keeps)) return;
  link->close();
  std::erase(links_, link);
  std::erase(half_open_, link);
  if (failure_ && links_.empty()) context_.stop();
}

asio::awaitable<void> Meeting::part(LinkPtr link) {
  co_await link->drain();
  drop(link);
}

Cluster Meeting::take_cluster() {
  Cluster cluster;
  std::vector<std::uint64_t> incarnations;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    Hello& hello = rank == rank_ ? base_ : peer.hello;
    incarnations.push_back(hello.incarnation);
    cluster.groups.push_back(std::move(hello.groups));
    if (rank == rank_) continue;
    if (peer.transport == Transport::shm) {
      cluster.shm.push_back({Rank{rank}, peer.link->release_unix(), std::move(peer.row),
                             std::move(peer.doorbell), hello.row_bytes});
      continue;
    }
    UniqueFd socket = peer.link->release();
    const int flags = ::fcntl(socket.get(), F_GETFL);
    ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
    cluster.tcp.push_back({Rank{rank}, std::move(socket), hello.row_bytes});
  }
  cluster.epoch = mix_epoch(incarnations);
  return cluster;
}

const MemberAddress& Meeting::member(std::uint32_t rank) const {
  return request_.node.members[rank];
}

void Meeting::log(LogLevel level, const std::string& text) const {
  if (request_.node.log) request_.node.log(level, text);
}

void Meeting::warn_of_stranger(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (last_warning_ && now - *last_warning_ < 1s) {
    ++strangers_unreported_;
    return;
  }
  last_warning_ = now;
  std::string more;
  if (const std::uint64_t count = std::exchange(strangers_unreported_, 0); count > 0) {
    more = " (and " + std::to_string(count) + " more like it before)";
  }
  log(LogLevel::warning, text + more);
}

Result<Cluster> meet(const BootstrapRequest& request) {
  try {
    return Meeting(request).run();
  } catch (const std::exception& problem) {  // no memory, no thread for the resolver
    return fail(ErrorCode::system, std::string("cannot meet the other members: ") + problem.what());
  }
}

}  // namespace tutti
