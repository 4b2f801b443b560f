/// \file refusal.cpp
/// Handshakes that do not end with a hand-over: what each end is told, what that means for our
/// start, and how we ask a member at its own address whether a caller spoke for it. That address is
/// the one thing that a stranger cannot take.
#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "node/bootstrap/frames.hpp"
#include "node/bootstrap/handshakes.hpp"
#include "node/bootstrap/status.hpp"

namespace tutti {

asio::awaitable<void> Handshakes::unreadable(LinkPtr link, Error error, Dialed dialed) {
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
  arrivals_.note(*dialed, (lost ? "no answer from " : "wrong peer: no member answers at ") +
                              link->where() + ": " + error.message);
}

// HS2. The caller ends its start, for it called the right address. The node that was called
// cannot know who calls: it asks at the address of that name.
asio::awaitable<void> Handshakes::contradict(LinkPtr link, const Hello& theirs, Error error,
                                             Dialed dialed) {
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  Dialed named;
  if (at != base_.members.end())
    named = Slot{static_cast<std::uint32_t>(at - base_.members.begin())};
  bool real = dialed.has_value();
  if (!real && named && *named > self_ && !arrivals_.running()) {
    real = co_await confirm(*named, error, theirs.incarnation);
    if (over_) co_return;
  }
  std::string verdict = encode_verdict(error);
  if (!real || arrivals_.running()) {
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
void Handshakes::end_with(Error error, const LinkPtr& link, Dialed dialed) {
  if (dialed && !arrivals_.running()) {
    give_up(std::move(error));
  } else {
    refused(std::nullopt, link->where(), error);
  }
}

// By a name that is in the list it may be a member, whose trouble this is then.
void Handshakes::refused(Dialed named, const std::string& where, const Error& error) {
  const std::string name = named ? member(*named).name : std::string();
  warn("refused " + name, "refused " + where + ": " + error.message);
  if (arrivals_.running()) return;
  if (named && *named > self_ && !peers_[*named].attached) {
    arrivals_.note(*named, "refused: " + error.message);
  } else {
    arrivals_.note_refused(error.message);
  }
}

// The caller asked for our status in the place of its hello: it is no member, and takes no slot.
asio::awaitable<void> Handshakes::tell(LinkPtr link) {
  Status status = arrivals_.status();
  if (request_.lags) status.lags = request_.lags();
  link->send(encode_status(status).value_or(""));
  link->finish_sending();
  link->close_watched();
  link->limit_silence(request_.silence_limit);
  co_await link->drain();
}

// Closing earlier than the other end could destroy what we sent. Returns what it said.
asio::awaitable<Verdict> Handshakes::send_away(LinkPtr link, std::string verdict) {
  link->send(std::move(verdict));
  link->finish_sending();
  link->close_watched();
  link->limit_silence(request_.silence_limit);
  Verdict theirs = co_await read_verdict(*link);
  co_await link->drain();
  co_return theirs;
}

// The peer may come again, or be started again. It has perhaps done the first already. What is left
// to say on that connection is said to a stranger, and strangers are bounded.
void Handshakes::unclaim(const LinkPtr& link, Slot slot, std::string trouble) {
  if (peers_[slot].link != link) return;
  if (slot > self_) unclaimed_.push_back(link);  // it called
  peers_[slot].link.reset();
  arrivals_.note(slot, std::move(trouble));
}

void Handshakes::disagreed(const LinkPtr& link, Slot slot, bool dialed, Verdict verdict) {
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
      } else if (!arrivals_.running()) {  // whoever it is that called: the start goes on
        warn("refused us: " + name,
             name + " (" + link->where() + ") called and refused us: " + verdict.error.message);
      }
      break;
  }
}

// What is missing is ours, and may come: the pair meets again.
asio::awaitable<void> Handshakes::try_later(LinkPtr link, Slot slot, std::string why) {
  warn("later " + member(slot).name, why);
  std::string verdict = encode_not_now(why);
  unclaim(link, slot, std::move(why));
  co_await send_away(link, std::move(verdict));
}

// They agree, but nothing can carry their writes.
asio::awaitable<void> Handshakes::cannot_be_joined(LinkPtr link, Slot slot, bool dialed,
                                                   Error error) {
  unclaim(link, slot, error.message);
  std::string verdict = encode_verdict(error);
  end_with(std::move(error), link, dialed ? Dialed(slot) : std::nullopt);
  co_await send_away(link, std::move(verdict));
}

// What the member says at its own address: to a question, or to our hello if `as_member`. Empty if
// nobody answers there: connect() has noted why.
asio::awaitable<std::optional<Handshakes::Answer>> Handshakes::ask(Slot slot, bool as_member) {
  std::optional<Answer> answer;
  LinkPtr link;
  try {
    link = co_await connect(slot);
    if (link != nullptr) answer.emplace();
    if (link != nullptr && !over_) {
      links_.push_back(link);
      link->limit_silence(request_.silence_limit);
      const Hello mine = hello_for(slot).value_or(base_);
      link->send(as_member ? encode_hello(mine).value_or("") : encode_question());
      answer->hello = co_await read_hello(*link);
      if (as_member && answer->hello && compatible(mine, *answer->hello)) {
        answer->removed = (co_await read_verdict(*link)).kind == Verdict::Kind::removed;
      }
    }
  } catch (const std::exception&) {
    answer.reset();  // no memory: the caller that is asked about will call again
  }
  if (link != nullptr) drop(link);
  co_return answer;
}

// True if the member there contradicts us, too. `error` is what the caller, which said that it is
// that incarnation, was refused for. If another incarnation answers, `error` becomes what that one
// differs in.
asio::awaitable<bool> Handshakes::confirm(Slot slot, Error& error, std::uint64_t incarnation) {
  if (std::exchange(peers_[slot].asked, true)) co_return false;
  // It says hello to all that call, also to those that only look at it.
  const std::optional<Answer> answer = co_await ask(slot, false);
  peers_[slot].asked = false;
  if (over_ || !answer || !answer->hello) co_return false;
  const Hello& theirs = *answer->hello;
  Result<void> agreed = compatible(hello_for(slot).value_or(base_), theirs);
  if (agreed) co_return false;
  if (theirs.incarnation != incarnation) error = std::move(agreed.error());
  co_return true;
}

// A member that has removed us says so, whether it has called or we have. One of a lower slot never
// calls us.
void Handshakes::told_removed(const std::string& name, Dialed dialed) {
  if (over_ || arrivals_.ended()) return;  // it has ended by itself, and said why
  if (dialed) return removed_by(name);
  const auto at = std::ranges::find(base_.members, name, &MemberAddress::name);
  const Slot slot{static_cast<std::uint32_t>(at - base_.members.begin())};
  if (at != base_.members.end() && slot > self_) spawn(confirm_removal(slot));
}

asio::awaitable<void> Handshakes::confirm_removal(Slot slot) {
  if (std::exchange(peers_[slot].asked_removal, true)) co_return;
  const std::optional<Answer> answer = co_await ask(slot, true);
  peers_[slot].asked_removal = false;
  const bool removed = answer && answer->removed;
  if (removed) removed_by(member(slot).name);
  if (removed || over_ || !answer || peers_[slot].link || peers_[slot].attached) co_return;
  arrivals_.note(slot,
                 "a caller in its name says that it has removed us; it does not at its address");
}

}  // namespace tutti
