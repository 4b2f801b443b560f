/// \file confirm.cpp
/// Somebody that called us in a member's name contradicts us, or says that we were removed. Is it
/// that member? Its own address is the one thing that a stranger cannot take.
#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "node/bootstrap/reception.hpp"
#include "node/bootstrap/standing.hpp"
#include "node/text.hpp"

namespace tutti {

// True if the member there contradicts us, too. `error` is what the caller, which said that it is
// that incarnation, was refused for. If another incarnation answers, `error` becomes what that one
// differs in.
asio::awaitable<bool> Reception::confirm(std::uint32_t slot, Error& error,
                                         std::uint64_t incarnation) {
  if (std::exchange(peers_[slot].asked, true)) co_return false;
  const Result<Hello> theirs = co_await ask(slot);
  peers_[slot].asked = false;
  if (over_ || !theirs) co_return false;
  Result<void> agreed = compatible(hello_to(slot, {}), *theirs);
  if (agreed) co_return false;
  if (theirs->incarnation != incarnation) error = std::move(agreed.error());
  co_return true;
}

// It says hello to all that call, also to those that only look at it.
asio::awaitable<Result<Hello>> Reception::ask(std::uint32_t slot) {
  Result<Hello> hello = fail(ErrorCode::unreachable, {});
  LinkPtr link;
  try {
    link = co_await connect(slot);
    if (link != nullptr && !over_) {
      links_.push_back(link);
      link->limit_silence(request_.silence_limit);
      link->send(encode_question());
      hello = co_await link->read_hello();
    }
  } catch (const std::exception& problem) {  // no memory
    hello = fail(ErrorCode::system, problem.what());
  }
  if (link != nullptr) drop(link);
  co_return hello;
}

// Who has removed us says so whoever of the two calls. A member of a lower slot never calls us.
void Reception::told_removed(const std::string& name, Dialed dialed) {
  if (over_) return;
  if (dialed) return removed_by(name);
  const auto at = std::ranges::find(base_.members, name, &MemberAddress::name);
  const auto slot = static_cast<std::uint32_t>(at - base_.members.begin());
  if (at != base_.members.end() && slot > self_) spawn(confirm_removal(slot));
}

asio::awaitable<void> Reception::confirm_removal(std::uint32_t slot) {
  if (std::exchange(peers_[slot].asked_removal, true)) co_return;
  LinkPtr link;
  bool removed = false;
  try {
    link = co_await connect(slot);
    if (link != nullptr && !over_) {
      links_.push_back(link);
      link->limit_silence(request_.silence_limit);
      link->send(encode_hello(hello_to(slot, {})).value_or(""));
      const Result<Hello> theirs = co_await link->read_hello();
      if (theirs && compatible(hello_to(slot, {}), *theirs)) {
        removed = (co_await link->read_verdict()).kind == Verdict::Kind::removed;
      }
    }
  } catch (const std::exception&) {  // no memory: it will call again
  }
  const bool answers = link != nullptr;
  if (answers) drop(link);
  peers_[slot].asked_removal = false;
  if (removed) removed_by(member(slot).name);
  // If its address does not answer, connect() has noted why.
  if (removed || over_ || !answers || peers_[slot].link || peers_[slot].attached) co_return;
  desk_.note(slot, "a caller in its name says that it has removed us; it does not at its address");
}

}  // namespace tutti
