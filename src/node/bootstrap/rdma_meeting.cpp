/// \file rdma_meeting.cpp
/// Two members that agreed connect their queue pairs: who dialed calls by RDMA, too. Where TCP
/// would do as well, a meeting that fails makes the pair come again without RDMA.
#include <utility>

#include "base/system_error.hpp"
#include "fabric/verbs/meeting.hpp"
#include "node/bootstrap/as_tuple.hpp"
#include "node/bootstrap/reception.hpp"

namespace tutti {
namespace {

constexpr std::size_t kMeetingDescriptors = 2;  // its own, and the one with which we watch it

}  // namespace

Result<void> Reception::listen_for_rdma() {
  if (request_.rdma == nullptr) return {};
  UniqueFd fd = duplicate(request_.rdma->calls_fd());
  boost::system::error_code error;
  if (fd) rdma_calls_.assign(fd.get(), error);
  if (!fd || error) return fail_system("cannot watch for RDMA calls");
  (void)fd.release();
  spawn(accept_rdma_calls());
  return {};
}

asio::awaitable<void> Reception::accept_rdma_calls() {
  while (!over_) {
    const auto [error] =
        co_await rdma_calls_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    if (error) co_return;
    take_rdma_calls();
  }
}

// A member that calls has our verdict, so its slot is claimed. All other calls are refused (LB3).
void Reception::take_rdma_calls() {
  while (true) {
    Result<std::optional<verbs::Call>> came = request_.rdma->next_call();
    if (!came) {
      warn("rdma", "refused a call by RDMA: " + came.error().message);
      continue;
    }
    if (!*came) return;
    const verbs::Greeting& greeting = (*came)->greeting;
    if (greeting.slot >= peers_.size() || greeting.to != base_.incarnation) continue;
    Peer& peer = peers_[greeting.slot];
    const bool expected = peer.link != nullptr && peer.transport == Transport::verbs &&
                          peer.incarnation == greeting.from;
    if (!expected) continue;
    peer.call = std::move(**came);
    if (peer.awaits_call == peer.link) peer.link->poke();
  }
}

asio::awaitable<Result<void>> Reception::meet_by_rdma(LinkPtr link, std::uint32_t slot,
                                                      bool dialed) {
  Peer& peer = peers_[slot];
  const verbs::Acquaintance who{.slot = self_,
                                .incarnation = base_.incarnation,
                                .peer_incarnation = peer.incarnation,
                                .peer_row_bytes = peer.row_bytes,
                                .give_up_after = request_.node.suspect_after};
  link->limit_silence(request_.silence_limit);
  co_await link->flush();
  while (!dialed && !peer.call) {
    // A member that fails says so on the connection, and does not call.
    peer.awaits_call = link;
    const bool said = co_await link->readable();
    if (peer.awaits_call == link) peer.awaits_call.reset();
    if (over_ || peer.link != link || said || !link->is_open()) co_return link_gone();
  }
  auto room = take_descriptors([&] {
    return reserve_descriptors(kMeetingDescriptors, request_.rdma->calls_fd(),
                               "cannot open the RDMA connection");
  });
  if (!room) co_return std::unexpected(room.error());
  room->clear();
  Result<std::unique_ptr<verbs::Meeting>> meeting =
      dialed ? verbs::Meeting::call(request_.rdma, who, peer.rdma_address)
             : verbs::Meeting::answer(request_.rdma, who, std::move(*peer.call));
  peer.call.reset();
  if (!meeting) co_return std::unexpected(meeting.error());
  link->watch(duplicate((*meeting)->fd()));
  if (link->unix_fd() < 0) co_return fail_system("cannot watch the RDMA connection");
  while (true) {
    Result<std::shared_ptr<verbs::Pair>> pair = (*meeting)->step();
    if (!pair) co_return std::unexpected(pair.error());
    if (*pair != nullptr) {
      link->close_unix();
      peer.pair = std::move(*pair);
      co_return Result<void>();
    }
    co_await link->watched_readable();
    if (over_ || peer.link != link || !link->is_open()) co_return link_gone();
  }
}

asio::awaitable<bool> Reception::complete_rdma(LinkPtr link, std::uint32_t slot, bool dialed) {
  Peer& peer = peers_[slot];
  desk_.note(slot, "its RDMA connection is not made");
  const Result<void> met = co_await meet_by_rdma(link, slot, dialed);
  if (over_ || peer.link != link) co_return false;
  if (met) co_return true;
  link->close_unix();
  Error error = met.error();
  std::string apart = base_.name + " and " + member(slot).name + " cannot be connected by RDMA";
  if (error.code == kNoDescriptor && !peer.tcp_would_do) {
    apart += " yet: at " + base_.name + ", " + error.message;
    co_await try_later(link, slot, std::move(apart));
    co_return false;
  }
  error.message = std::move(apart) + ": " + error.message;
  if (error.code != ErrorCode::peer_lost && !peer.tcp_would_do) {
    co_await cannot_be_joined(link, slot, dialed, std::move(error));
    co_return false;
  }
  // Whose end failed says why.
  link->send(encode_not_now(error.message));
  link->finish_sending();
  Verdict verdict = co_await link->read_verdict();
  if (over_ || peer.link != link) co_return false;
  const bool told = verdict.kind != Verdict::Kind::agreed && verdict.kind != Verdict::Kind::broken;
  if (peer.tcp_would_do && (told || error.code != ErrorCode::peer_lost)) {
    if (!std::exchange(peer.without_rdma, true)) {
      warn("no rdma", error.message + "; they take TCP");
    }
  }
  if (told) {
    disagreed(link, slot, dialed, std::move(verdict));
  } else {
    unclaim(link, slot, std::move(error.message));
  }
  co_return false;
}

}  // namespace tutti
