/// \file handshake.cpp
/// The first words with whoever is at the other end of a connection, and the last with those that
/// are not to stay.
#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "node/bootstrap/reception.hpp"
#include "node/bootstrap/standing.hpp"
#include "node/text.hpp"

namespace tutti {

asio::awaitable<void> Reception::serve(LinkPtr link, Dialed dialed) {
  try {
    co_await converse(link, dialed);
  } catch (const std::exception& problem) {  // no memory: this connection has to go
    warn("closing", "closing " + link->where() + ": " + problem.what());
    for (Peer& peer : peers_) {
      if (peer.link == link) peer.link.reset();
    }
  }
  drop(link);
}

asio::awaitable<void> Reception::converse(LinkPtr link, Dialed dialed) {
  Result<std::string> unix_name = std::string();
  if (!dialed) unix_name = take_descriptors([&] { return open_row_listener(*link); }, link);
  if (!unix_name) {
    warn("closing", "closing " + link->where() + ": " + unix_name.error().message);
    co_return;
  }
  const Hello mine = hello_to(dialed, *unix_name);
  link->limit_silence(request_.silence_limit);
  link->send(encode_hello(mine).value_or(""));  // prepare() has seen that it fits
  const Result<std::string> body = co_await link->read_frame();
  if (over_) co_return;
  if (!dialed && body && is_question(*body)) {
    co_await tell(link);
    co_return;
  }
  const Result<Hello> theirs = body ? decode_hello(*body) : std::unexpected(body.error());
  if (!theirs) {
    co_await unreadable(link, theirs.error(), dialed);
    co_return;
  }
  Judged judged = judge(mine, *theirs, dialed);
  std::string verdict;
  switch (judged.judgement) {
    case Judgement::agree:
      // Whoever gives up its start is gone in a moment: the other need not bother.
      if (giving_up_) co_return;
      claim(link, judged.slot, mine, *theirs);
      co_await settle(link, judged.slot, dialed.has_value());
      co_return;
    case Judgement::contradiction:
      if (theirs->running && !desk_.running()) {
        judged.error.message +=
            "; " + printable(theirs->name) + " runs already and goes on without " + base_.name;
      }
      co_await contradict(link, *theirs, std::move(judged.error), dialed);
      co_return;
    case Judgement::refuse:
      warn("refused", "refused " + link->where() + ": " + judged.error.message);
      verdict = encode_verdict(judged.error);
      break;
    case Judgement::not_now:
      verdict = encode_not_now(judged.error.message);
      break;
    case Judgement::removed:
      if (dialed) desk_.note(*dialed, judged.error.message);
      verdict = encode_removed();
      break;
  }
  const bool credible = compatible(mine, *theirs).has_value();
  const Verdict said = co_await send_away(link, std::move(verdict));
  if (said.kind == Verdict::Kind::removed && credible) told_removed(theirs->name, dialed);
}

asio::awaitable<void> Reception::unreadable(LinkPtr link, Error error, Dialed dialed) {
  if (error.code == ErrorCode::mismatch) {
    const std::string who = dialed ? member(*dialed).name + " (" + link->where() + ")"
                                   : "a member that called from " + link->where();
    error.message = who + ": " + error.message;
    std::string verdict = encode_verdict(error);
    end_with(std::move(error), link, dialed);
    co_await send_away(link, std::move(verdict));
    co_return;
  }
  if (!dialed) {
    warn("stranger", "closed a stranger's connection from " + link->where() + ": " + error.message);
    co_return;
  }
  const bool lost = error.code == ErrorCode::peer_lost;
  if (!lost) peers_[*dialed].pause = kRetrySlowly;
  desk_.note(*dialed, (lost ? "no answer from " : "wrong peer: no member answers at ") +
                          link->where() + ": " + error.message);
}

// LB2. The caller ends its start, for it called the right address. The node that was called
// cannot know who calls: it asks at the address of that name.
asio::awaitable<void> Reception::contradict(LinkPtr link, const Hello& theirs, Error error,
                                            Dialed dialed) {
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  Dialed named;
  if (at != base_.members.end()) named = static_cast<std::uint32_t>(at - base_.members.begin());
  bool real = dialed.has_value();
  if (!real && named && *named > self_ && !desk_.running()) {
    real = co_await confirm(*named, error, theirs.incarnation);
    if (over_) co_return;
  }
  std::string verdict = encode_verdict(error);
  if (!real || desk_.running()) {
    refused(named, link->where(), error);
  } else {
    verdict = encode_verdict({error.code, base_.name + " gave up the start: " + error.message});
    give_up(std::move(error));
  }
  ++telling_;
  try {
    co_await send_away(link, std::move(verdict));
  } catch (const std::exception&) {  // no memory: this connection has to go
    link->close();
  }
  --telling_;
  end_start_if_told();
}

// What we called contradicts us, or what called us; this cannot be asked for.
void Reception::end_with(Error error, const LinkPtr& link, Dialed dialed) {
  if (dialed && !desk_.running()) {
    give_up(std::move(error));
  } else {
    refused(std::nullopt, link->where(), error);
  }
}

// By a name that is in the list it may be a member, whose trouble this is then.
void Reception::refused(Dialed named, const std::string& where, const Error& error) {
  const std::string name = named ? member(*named).name : std::string();
  warn("refused " + name, "refused " + where + ": " + error.message);
  if (desk_.running()) return;
  if (named && *named > self_ && !peers_[*named].attached) {
    desk_.note(*named, "refused: " + error.message);
  } else {
    desk_.note_refused(error.message);
  }
}

// Somebody looks at us, who is no member and needs no place of one.
asio::awaitable<void> Reception::tell(LinkPtr link) {
  Standing standing = desk_.standing();
  if (request_.lags) standing.lags = request_.lags();
  link->send(encode_standing(standing).value_or(""));
  link->finish_sending();
  link->close_unix();
  link->limit_silence(request_.silence_limit);
  co_await link->drain();
}

// Closing earlier than the other end could destroy what we sent. Returns what it said.
asio::awaitable<Verdict> Reception::send_away(LinkPtr link, std::string verdict) {
  link->send(std::move(verdict));
  link->finish_sending();
  link->close_unix();
  link->limit_silence(request_.silence_limit);
  Verdict theirs = co_await link->read_verdict();
  co_await link->drain();
  co_return theirs;
}

Hello Reception::hello_to(Dialed dialed, const std::string& unix_name) const {
  Hello hello = base_;
  if (dialed) hello.to = member(*dialed).name;
  if (dialed && peers_[*dialed].without_rdma) hello.rdma_address.clear();
  hello.unix_name = unix_name;
  hello.running = desk_.running();
  return hello;
}

}  // namespace tutti
