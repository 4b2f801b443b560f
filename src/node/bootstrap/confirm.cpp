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

// What the member says at its own address: to a question, or to our hello if `as_member`. Empty if
// nobody answers there: connect() has noted why.
asio::awaitable<std::optional<Reception::Answer>> Reception::ask(std::uint32_t slot,
                                                                 bool as_member) {
  std::optional<Answer> answer;
  LinkPtr link;
  try {
    link = co_await connect(slot);
    if (link != nullptr) answer.emplace();
    if (link != nullptr && !over_) {
      links_.push_back(link);
      link->limit_silence(request_.silence_limit);
      const Hello mine = hello_to(slot, {});
      link->send(as_member ? encode_hello(mine).value_or("") : encode_question());
      answer->hello = co_await link->read_hello();
      if (as_member && answer->hello && compatible(mine, *answer->hello)) {
        answer->removed = (co_await link->read_verdict()).kind == Verdict::Kind::removed;
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
asio::awaitable<bool> Reception::confirm(std::uint32_t slot, Error& error,
                                         std::uint64_t incarnation) {
  if (std::exchange(peers_[slot].asked, true)) co_return false;
  // It says hello to all that call, also to those that only look at it.
  const std::optional<Answer> answer = co_await ask(slot, false);
  peers_[slot].asked = false;
  if (over_ || !answer || !answer->hello) co_return false;
  const Hello& theirs = *answer->hello;
  Result<void> agreed = compatible(hello_to(slot, {}), theirs);
  if (agreed) co_return false;
  if (theirs.incarnation != incarnation) error = std::move(agreed.error());
  co_return true;
}

// A member that has removed us says so, whether it has called or we have. One of a lower slot never
// calls us.
void Reception::told_removed(const std::string& name, Dialed dialed) {
  if (over_ || desk_.ended()) return;  // it has ended by itself, and said why
  if (dialed) return removed_by(name);
  const auto at = std::ranges::find(base_.members, name, &MemberAddress::name);
  const auto slot = static_cast<std::uint32_t>(at - base_.members.begin());
  if (at != base_.members.end() && slot > self_) spawn(confirm_removal(slot));
}

asio::awaitable<void> Reception::confirm_removal(std::uint32_t slot) {
  if (std::exchange(peers_[slot].asked_removal, true)) co_return;
  const std::optional<Answer> answer = co_await ask(slot, true);
  peers_[slot].asked_removal = false;
  const bool removed = answer && answer->removed;
  if (removed) removed_by(member(slot).name);
  if (removed || over_ || !answer || peers_[slot].link || peers_[slot].attached) co_return;
  desk_.note(slot, "a caller in its name says that it has removed us; it does not at its address");
}

}  // namespace tutti
