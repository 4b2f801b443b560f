/// \file handshake.cpp
/// The dialogue with one peer, from hello to the last verdict.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "node/bootstrap/meeting.hpp"
#include "node/text.hpp"

namespace tutti {

Hello Meeting::hello_to(const std::string& name, const std::string& unix_name) const {
  Hello hello = base_;
  hello.to = name;
  hello.unix_name = unix_name;
  return hello;
}

asio::awaitable<bool> Meeting::ended(LinkPtr link) {
  if (!over()) co_return false;
  co_await link->drain();
  co_return true;
}

asio::awaitable<void> Meeting::greet(LinkPtr link, std::uint32_t rank) {
  Hello mine = hello_to(member(rank).name, "");
  link->limit_silence(request_.silence_limit);
  link->send(encode_hello(mine).value_or(""));  // prepare() has seen that it fits
  Result<Hello> theirs = co_await link->read_hello();
  const bool stop = co_await ended(link);
  if (stop) co_return;
  if (theirs) {
    co_await settle(link, std::move(mine), std::move(*theirs), true);
    co_return;
  }
  const Error& error = theirs.error();
  if (error.code == ErrorCode::mismatch) {
    fail({error.code, member(rank).name + " (" + link->where() + "): " + error.message});
    co_await link->drain();
    co_return;
  }
  const bool lost = error.code == ErrorCode::peer_lost;
  peers_[rank].trouble = (lost ? "no answer from " : "wrong peer: no member answers at ") +
                         link->where() + ": " + error.message;
}

asio::awaitable<void> Meeting::welcome(LinkPtr link, std::string unix_name) {
  Hello mine = hello_to("", unix_name);
  link->limit_silence(request_.silence_limit);
  link->send(encode_hello(mine).value_or(""));
  Result<Hello> theirs = co_await link->read_hello();
  std::erase(half_open_, link);
  const bool stop = co_await ended(link);
  if (stop) co_return;
  if (theirs) {
    co_await settle(link, std::move(mine), std::move(*theirs), false);
    co_return;
  }
  const Error& error = theirs.error();
  if (error.code == ErrorCode::mismatch) {
    fail({error.code, "a member that called from " + link->where() + ": " + error.message});
    co_await link->drain();
    co_return;
  }
  warn_of_stranger("closed a stranger's connection from " + link->where() + ": " + error.message);
}

asio::awaitable<void> Meeting::settle(LinkPtr link, Hello mine, Hello theirs, bool dialed) {
  Judged judged = judge(mine, theirs, dialed);
  if (judged.judgement == Judgement::refuse) {
    co_await refuse(link, std::move(judged.error));
    co_return;
  }
  if (judged.judgement == Judgement::fail) {
    fail(std::move(judged.error));
    co_await link->drain();
    co_return;
  }
  Peer& peer = peers_[judged.rank];
  peer.link = link;
  peer.transport = choose_transport(mine, theirs).value_or(Transport::tcp);
  peer.hello = std::move(theirs);
  peer.trouble = "it has not answered our hello";
  link->send(encode_verdict());
  link->limit_silence(request_.silence_limit);
  Verdict verdict = co_await link->read_verdict();
  const bool stop = co_await ended(link);
  if (stop) co_return;
  if (verdict.kind == Verdict::Kind::agreed) {
    co_await complete(link, judged.rank, dialed);
  } else if (verdict.kind == Verdict::Kind::refused) {
    const std::string told = verdict.error.message;
    fail(std::move(verdict.error), told);
    co_await link->drain();
  } else if (peer.link == link) {
    // Nothing was agreed yet: the peer may come again, or be started again.
    peer.trouble = "its connection ended in the handshake: " + verdict.error.message;
    peer.link.reset();
  }
}

asio::awaitable<void> Meeting::complete(LinkPtr link, std::uint32_t rank, bool dialed) {
  Peer& peer = peers_[rank];
  Result<void> swapped;
  peer.trouble = "its row has not come";
  if (peer.transport == Transport::shm) swapped = co_await swap_rows(link, rank, dialed);
  bool stop = co_await ended(link);
  if (stop) co_return;
  if (!swapped || peer.transport == Transport::tcp) link->close_unix();
  if (swapped) {
    link->lift_limit();
    peer.agreed = true;
    announce_if_all_agreed();
  }
  // A peer that failed closes the unix socket and says here why.
  Verdict verdict = co_await link->read_verdict();
  stop = co_await ended(link);
  if (stop) co_return;
  const bool lost =
      swapped || (swapped.error().code == ErrorCode::peer_lost && !link->was_silent());
  if (verdict.kind == Verdict::Kind::refused) {
    const std::string told = verdict.error.message;
    fail(std::move(verdict.error), told);
  } else if (verdict.kind == Verdict::Kind::broken && lost) {
    fail_left(rank, verdict.error.message);
  } else if (!swapped) {
    fail({swapped.error().code, base_.name + " and " + member(rank).name +
                                    " cannot share memory: " + swapped.error().message});
  } else {
    peer.ready = true;
    finish_if_all_ready();
    if (!over()) asio::co_spawn(context_, watch_ready(link, rank), asio::detached);
    co_return;
  }
  co_await link->drain();
}

// A peer that is done before us has our last verdict and keeps the socket, for the fabric. So if it
// closes, it has given up or died, perhaps over a peer that we shall never meet.
asio::awaitable<void> Meeting::watch_ready(LinkPtr link, std::uint32_t rank) {
  const std::string how = co_await link->left();
  if (over() || how.empty()) co_return;
  if (peers_[rank].transport == Transport::shm) {
    link->limit_silence(request_.silence_limit);
    Verdict verdict = co_await link->read_verdict();
    if (over()) co_return;
    if (verdict.kind == Verdict::Kind::refused) {
      const std::string told = verdict.error.message;
      fail(std::move(verdict.error), told);
      co_return;
    }
  }
  fail_left(rank, how);
}

void Meeting::fail_left(std::uint32_t rank, const std::string& how) {
  fail({ErrorCode::peer_lost,
        "member '" + member(rank).name + "' left while the members met: " + how});
}

asio::awaitable<void> Meeting::refuse(LinkPtr link, Error error) {
  warn_of_stranger("refused " + link->where() + ": " + error.message);
  link->send(encode_verdict(error));
  link->finish_sending();
  link->close_unix();
  link->limit_silence(request_.silence_limit);
  co_await link->drain();
}

}  // namespace tutti
