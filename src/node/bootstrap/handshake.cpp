/// \file handshake.cpp
/// One handshake from its first word to the hand-over: hellos, the judgement of them, verdicts, and
/// the step of the carrier that was chosen. What goes another way is in refusal.cpp.
#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "node/bootstrap/frames.hpp"
#include "node/bootstrap/handshakes.hpp"
#include "node/bootstrap/status.hpp"

namespace tutti {
namespace {

constexpr const char* kEnded = "its connection ended in the handshake";

}  // namespace

asio::awaitable<void> Handshakes::serve(LinkPtr link, Dialed dialed) {
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

asio::awaitable<void> Handshakes::converse(LinkPtr link, Dialed dialed) {
  const Result<Hello> said = hello_for(dialed, dialed ? nullptr : link);
  if (!said) {
    warn("closing", "closing " + link->where() + ": " + said.error().message);
    co_return;
  }
  const Hello& mine = *said;
  link->limit_silence(request_.silence_limit);
  link->send(encode_hello(mine).value_or(""));  // prepare() has seen that it fits
  const Result<std::string> body = co_await read_frame(*link);
  if (over_) co_return;
  if (!dialed && body && is_question(*body)) {
    co_await tell(link);
    co_return;
  }
  if (!dialed && body) {
    if (std::optional<LinkRequest> wants = decode_link_request(*body)) {
      co_await hand_on(link, std::move(*wants));
      co_return;
    }
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
      if (theirs->running && !arrivals_.running()) {
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
      if (dialed) arrivals_.note(*dialed, judged.error.message);
      verdict = encode_removed();
      break;
  }
  const bool credible = compatible(mine, *theirs).has_value();
  const Verdict answer = co_await send_away(link, std::move(verdict));
  if (answer.kind == Verdict::Kind::removed && credible) told_removed(theirs->name, dialed);
}

// What we say to a peer that we dialed, or on a link on which somebody called.
Result<Hello> Handshakes::hello_for(Dialed dialed, const LinkPtr& called) {
  Hello hello = base_;
  if (dialed) hello.to = member(*dialed).name;
  hello.running = arrivals_.running();
  const MakeRoom others = [&](const std::string& why) { return make_room(why, called); };
  for (const auto& carrier : request_.carriers) {
    if (dialed && peers_[*dialed].has_failed(carrier->kind())) continue;
    const Result<std::optional<std::string>> offer =
        take_descriptors(others, [&] { return carrier->offer(called.get()); });
    if (!offer) return std::unexpected(offer.error());
    if (*offer) hello.carriers.emplace(carrier->kind().name, **offer);
  }
  return hello;
}

Carrier* Handshakes::carrier_of(const CarrierKind& kind) const {
  const auto at = std::ranges::find(request_.carriers, &kind,
                                    [](const auto& carrier) { return &carrier->kind(); });
  TUTTI_ASSERT(at != request_.carriers.end());  // our hello named it
  return at->get();
}

PairRequest Handshakes::pair_request(const LinkPtr& link, Slot slot, bool dialed) {
  return {.link = link,
          .dialed = dialed,
          .self = self_,
          .peer = slot,
          .incarnation = base_.incarnation,
          .peer_incarnation = peers_[slot].incarnation,
          .peer_row_bytes = peers_[slot].row_bytes,
          .peer_offer = peers_[slot].offer,
          .make_room = [this](const std::string& why) { return make_room(why); }};
}

// Is this a member that we wait for, one that comes too early, or a contradiction?
Handshakes::Judged Handshakes::judge(const Hello& mine, const Hello& theirs, Dialed dialed) {
  // A member that called itself, or its namesake: it fails at its calling end, where the address is
  // known.
  if (!dialed && (theirs.incarnation == mine.incarnation || theirs.name == mine.name)) {
    return {Judgement::refuse, {}, compatible(mine, theirs).error()};  // such a pair never is
  }
  if (std::ranges::find(refused_, theirs.incarnation) != refused_.end()) {
    return {Judgement::removed,
            {},
            {ErrorCode::stopped, "it was removed from the group and has to be started again"}};
  }
  const std::optional<std::string> ended = arrivals_.ended();
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  const Slot slot{static_cast<std::uint32_t>(at - base_.members.begin())};
  if (!ended && !dialed && at != base_.members.end() && slot > self_) {
    if (std::optional<std::string> why = taken(peers_[slot], theirs)) {
      return {Judgement::not_now, slot, {ErrorCode::mismatch, std::move(*why)}};
    }
  }
  if (Result<void> agreed = compatible(mine, theirs); !agreed) {
    return {Judgement::contradiction, {}, std::move(agreed.error())};
  }
  if (!request_.row_bytes.empty() && theirs.row_bytes < request_.row_bytes[slot]) {
    return {Judgement::contradiction,
            slot,
            {ErrorCode::mismatch,
             "row_bytes is " + std::to_string(theirs.row_bytes) + " at " + theirs.name + " but " +
                 std::to_string(request_.row_bytes[slot]) + " for it at " + base_.name +
                 ", with the same groups; run the same version at all members"}};
  }
  if (!dialed && slot < self_) {
    return {Judgement::refuse,
            slot,
            {ErrorCode::mismatch, "'" + theirs.name + "' stands before '" + base_.name +
                                      "' in the member list and waits to be called"}};
  }
  if (ended) return {Judgement::not_now, slot, {ErrorCode::stopped, *ended}};
  return {Judgement::agree, slot, {}};
}

// Why a caller has to come later (HS1); nothing if it need not.
std::optional<std::string> Handshakes::taken(Peer& peer, const Hello& theirs) const {
  const bool same = peer.incarnation == theirs.incarnation;
  const std::string name = "'" + printable(theirs.name) + "'";
  if (peer.attached && same) return name + " is still connected";
  if (peer.attached && std::ranges::find(refused_, peer.incarnation) != refused_.end()) {
    return "the last " + name + " was removed, and its messages are still being delivered here";
  }
  if (peer.attached) return "another " + name + " is connected; each name may run once";
  if (peer.link == nullptr) return std::nullopt;
  if (!same) return "another " + name + " is about to be connected; each name may run once";
  // It lost the first connection and calls again.
  peer.link->close();
  peer.link.reset();
  return std::nullopt;
}

// From here on all that comes in the name of this peer has to wait (HS1).
void Handshakes::claim(const LinkPtr& link, Slot slot, const Hello& mine, const Hello& theirs) {
  Peer& peer = peers_[slot];
  std::erase(unclaimed_, link);
  peer.link = link;
  peer.incarnation = theirs.incarnation;
  peer.row_bytes = theirs.row_bytes;
  peer.founding = theirs.running ? Founding::founds : theirs.founding;  // who runs has its group
  const CarrierKind* kind = choose_carrier(mine, theirs).value();       // they are compatible
  peer.carrier = carrier_of(*kind);
  peer.offer = theirs.carriers.at(std::string(kind->name));
  const Result<const CarrierKind*> instead = choose_carrier(mine, theirs, kind);
  peer.instead = kind->falls_back && instead ? *instead : nullptr;
  arrivals_.note(slot, "it has not answered our hello");
}

asio::awaitable<void> Handshakes::settle(LinkPtr link, Slot slot, bool dialed) {
  Carrier& carrier = *peers_[slot].carrier;
  std::unique_ptr<Pairing> pairing = carrier.pair(pair_request(link, slot, dialed));
  link->send(encode_verdict());
  link->limit_silence(request_.silence_limit);
  Verdict verdict = co_await read_verdict(*link);
  if (has_ended(link, slot)) co_return;
  if (verdict.kind != Verdict::Kind::agreed) {
    disagreed(link, slot, dialed, std::move(verdict));
    co_return;
  }
  if (!carrier.kind().missing.empty()) arrivals_.note(slot, std::string(carrier.kind().missing));
  link->limit_silence(request_.silence_limit);
  Result<std::unique_ptr<Connection>> connection = co_await pairing->connect();
  pairing.reset();
  if (has_ended(link, slot)) co_return;
  if (!connection) {
    co_await not_connected(link, slot, dialed, std::move(connection.error()));
  } else if (giving_up_) {
    unclaim(link, slot, kEnded);
  } else {
    hand_over(slot, std::move(*connection));
  }
}

void Handshakes::hand_over(Slot slot, std::unique_ptr<Connection> connection) {
  Peer& peer = peers_[slot];
  peer.link.reset();
  peer.pause = kRetryAtFirst;
  arrivals_.note(slot, peer.founding);
  arrivals_.arrive({slot, peer.incarnation, peer.row_bytes, peer.carrier, std::move(connection)});
  peer.attached = true;  // last: there may be no memory, then the connection ends
}

// The two agreed, and their carrier could not connect them. The end that failed tells the other
// why.
asio::awaitable<void> Handshakes::not_connected(LinkPtr link, Slot slot, bool dialed, Error error) {
  Peer& peer = peers_[slot];
  const CarrierKind& kind = peer.carrier->kind();
  link->close_watched();
  if (kind.cannot.empty()) {
    unclaim(link, slot, kEnded);
    co_return;
  }
  std::string apart = base_.name + " and " + member(slot).name + " " + std::string(kind.cannot);
  if (error.code == kNoDescriptor && peer.instead == nullptr) {
    apart += " yet: at " + base_.name + ", " + error.message;
    co_await try_later(link, slot, std::move(apart));
    co_return;
  }
  error.message = std::move(apart) + ": " + error.message;
  if (error.code != ErrorCode::peer_lost && peer.instead == nullptr) {
    co_await cannot_be_joined(link, slot, dialed, std::move(error));
    co_return;
  }
  link->send(encode_not_now(error.message));
  link->finish_sending();
  Verdict verdict = co_await read_verdict(*link);
  if (has_ended(link, slot)) co_return;
  const bool told = verdict.kind != Verdict::Kind::agreed && verdict.kind != Verdict::Kind::broken;
  if (peer.instead != nullptr && (told || error.code != ErrorCode::peer_lost)) {
    if (!peer.has_failed(kind)) {
      peer.failed.push_back(&kind);
      warn("no " + std::string(kind.name),
           error.message + "; they take " + std::string(peer.instead->label));
    }
  }
  if (told) {
    disagreed(link, slot, dialed, std::move(verdict));
  } else {
    unclaim(link, slot, std::move(error.message));
  }
}

}  // namespace tutti
