/// \file judge.cpp
/// After a hello: is this the member we wait for, a newcomer too many, or a contradiction?
#include <algorithm>

#include "node/bootstrap/meeting.hpp"
#include "node/text.hpp"

namespace tutti {

Meeting::Judged Meeting::judge(const Hello& mine, const Hello& theirs, bool dialed) {
  if (!dialed) {
    if (std::optional<Error> error = newcomer(mine, theirs)) {
      return {Judgement::refuse, 0, std::move(*error)};
    }
  }
  if (Result<void> agreed = compatible(mine, theirs); !agreed) {
    return {Judgement::fail, 0, std::move(agreed.error())};
  }
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  const auto rank = static_cast<std::uint32_t>(at - base_.members.begin());
  if (!dialed && rank < rank_) {
    return {Judgement::refuse,
            rank,
            {ErrorCode::mismatch, "'" + theirs.name + "' has a lower rank than '" + base_.name +
                                      "' and waits to be called"}};
  }
  return {Judgement::accept, rank, {}};
}

// A caller that cannot be meant for us is sent away without ending our own start.
std::optional<Error> Meeting::newcomer(const Hello& mine, const Hello& theirs) {
  // A member that called itself: it fails at its calling end, where the address is known.
  if (theirs.incarnation == mine.incarnation || theirs.name == mine.name) {
    return compatible(mine, theirs).error();  // such a pair never is
  }
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  if (at == base_.members.end()) return std::nullopt;
  Peer& peer = peers_[static_cast<std::size_t>(at - base_.members.begin())];
  if (peer.link == nullptr) return std::nullopt;
  if (peer.hello.incarnation == theirs.incarnation && !peer.agreed) {
    // It lost the first connection and calls again.
    peer.link->close();
    peer.link.reset();
    return std::nullopt;
  }
  return Error{ErrorCode::mismatch, "the name '" + printable(theirs.name) +
                                        "' is taken: another process was here first as " +
                                        printable(theirs.name) + "; each name may run once"};
}

}  // namespace tutti
