/// \file settle.cpp
/// With a peer that we agree with: its verdict, its row, and the connection is handed over.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "node/bootstrap/fd_passing.hpp"
#include "node/bootstrap/reception.hpp"

namespace tutti {

void Reception::claim(const LinkPtr& link, std::uint32_t slot, const Hello& mine,
                      const Hello& theirs) {
  Peer& peer = peers_[slot];
  std::erase(unclaimed_, link);
  peer.link = link;
  peer.incarnation = theirs.incarnation;
  peer.row_bytes = theirs.row_bytes;
  peer.founding = theirs.running ? Founding::founds : theirs.founding;  // who runs has its group
  peer.unix_name = theirs.unix_name;
  peer.rdma_address = theirs.rdma_address;
  peer.call.reset();
  peer.pair.reset();
  peer.tcp_would_do =
      mine.fabric == FabricChoice::automatic && theirs.fabric == FabricChoice::automatic;
  peer.transport = choose_transport(mine, theirs).value_or(Transport::tcp);
  desk_.note(slot, "it has not answered our hello");
}

// The peer may come again, or be started again. It has perhaps done the first already. What is left
// to say on that connection is said to a stranger, and strangers are bounded.
void Reception::unclaim(const LinkPtr& link, std::uint32_t slot, std::string trouble) {
  if (peers_[slot].link != link) return;
  if (slot > self_) unclaimed_.push_back(link);  // it called
  peers_[slot].link.reset();
  desk_.note(slot, std::move(trouble));
}

asio::awaitable<void> Reception::settle(LinkPtr link, std::uint32_t slot, bool dialed) {
  link->send(encode_verdict());
  link->limit_silence(request_.silence_limit);
  Verdict verdict = co_await link->read_verdict();
  if (over_ || peers_[slot].link != link) co_return;
  if (verdict.kind == Verdict::Kind::agreed) {
    const bool all_there = co_await complete(link, slot, dialed);
    if (over_ || peers_[slot].link != link) co_return;
    if (all_there && !giving_up_) {
      hand_over(link, slot);
      co_return;
    }
    unclaim(link, slot, "its connection ended in the handshake");
    co_return;
  }
  disagreed(link, slot, dialed, std::move(verdict));
}

void Reception::disagreed(const LinkPtr& link, std::uint32_t slot, bool dialed, Verdict verdict) {
  const std::string& name = member(slot).name;
  switch (verdict.kind) {
    case Verdict::Kind::agreed:
      break;
    case Verdict::Kind::broken:
      unclaim(link, slot, "its connection ended in the handshake: " + verdict.error.message);
      break;
    case Verdict::Kind::not_now:
      unclaim(link, slot, "it says that " + verdict.error.message);
      break;
    case Verdict::Kind::removed:
      unclaim(link, slot, "it has removed us");
      told_removed(name, dialed ? Dialed(slot) : std::nullopt);
      break;
    case Verdict::Kind::refused:
      unclaim(link, slot, "it refused us: " + verdict.error.message);
      peers_[slot].pause = kRetrySlowly;
      if (dialed) {
        give_up(std::move(verdict.error));
      } else if (!desk_.running()) {  // whoever it is that called: the start goes on
        warn("refused us: " + name,
             name + " (" + link->where() + ") called and refused us: " + verdict.error.message);
      }
      break;
  }
}

// True if the pair has all that it needs. Else the peer's slot is free again, but for a connection
// that ended.
asio::awaitable<bool> Reception::complete(LinkPtr link, std::uint32_t slot, bool dialed) {
  if (peers_[slot].transport == Transport::verbs) {
    link->close_unix();
    co_return co_await complete_rdma(link, slot, dialed);
  }
  if (peers_[slot].transport != Transport::shm) {
    link->close_unix();
    co_await link->flush();
    co_return link->is_open();
  }
  desk_.note(slot, "its row has not come");
  const Result<void> swapped = co_await swap_rows(link, slot, dialed);
  if (swapped) co_return true;
  if (over_ || peers_[slot].link != link) co_return false;
  link->close_unix();
  std::string apart = base_.name + " and " + member(slot).name + " cannot share memory";
  if (swapped.error().code == kNoDescriptor) {
    apart += " yet: at " + base_.name + ", " + swapped.error().message;
    co_await try_later(link, slot, std::move(apart));
    co_return false;
  }
  apart += ": " + swapped.error().message;
  if (swapped.error().code != ErrorCode::peer_lost) {
    Error error{swapped.error().code, std::move(apart)};
    co_await cannot_be_joined(link, slot, dialed, std::move(error));
    co_return false;
  }
  // A peer that failed closes the unix socket and says here why.
  Verdict verdict = co_await link->read_verdict();
  if (over_ || peers_[slot].link != link) co_return false;
  const bool told = verdict.kind != Verdict::Kind::agreed && verdict.kind != Verdict::Kind::broken;
  if (told) {
    disagreed(link, slot, dialed, std::move(verdict));
  } else {
    unclaim(link, slot, std::move(apart));
  }
  co_return false;
}

// What is missing is ours, and may come: the pair meets again.
asio::awaitable<void> Reception::try_later(LinkPtr link, std::uint32_t slot, std::string why) {
  warn("later " + member(slot).name, why);
  std::string verdict = encode_not_now(why);
  unclaim(link, slot, std::move(why));
  co_await send_away(link, std::move(verdict));
}

// They agree, but nothing can carry their writes.
asio::awaitable<void> Reception::cannot_be_joined(LinkPtr link, std::uint32_t slot, bool dialed,
                                                  Error error) {
  unclaim(link, slot, error.message);
  std::string verdict = encode_verdict(error);
  end_with(std::move(error), link, dialed ? Dialed(slot) : std::nullopt);
  co_await send_away(link, std::move(verdict));
}

void Reception::hand_over(const LinkPtr& link, std::uint32_t slot) {
  Peer& peer = peers_[slot];
  peer.link.reset();
  peer.pause = kRetryAtFirst;
  desk_.note(slot, peer.founding);
  desk_.arrive({slot, peer.incarnation, connection_of(link, slot)});
  peer.attached = true;  // last: there may be no memory, then the connection ends
}

// What carries the pair's writes, as it was chosen.
Arrival::Connection Reception::connection_of(const LinkPtr& link, std::uint32_t slot) {
  Peer& peer = peers_[slot];
  const Slot there{slot};
  if (peer.transport == Transport::shm) {
    return ShmConnection{there, link->release_unix(), std::move(peer.row), std::move(peer.doorbell),
                         peer.row_bytes};
  }
  if (peer.transport == Transport::verbs) {
    link->close();
    return VerbsConnection{there, std::move(peer.pair), peer.row_bytes};
  }
  UniqueFd socket = link->release();
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  std::array<std::uint64_t, 2> incarnations{base_.incarnation, peer.incarnation};
  if (slot < self_) std::swap(incarnations[0], incarnations[1]);
  const std::uint64_t epoch = mix_epoch(incarnations);
  if (peer.transport == Transport::ofi) {
    return OfiConnection{there, std::move(socket), peer.row_bytes, epoch};
  }
  return TcpConnection{there, std::move(socket), peer.row_bytes, epoch};
}

}  // namespace tutti
