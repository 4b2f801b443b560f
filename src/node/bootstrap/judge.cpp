/// \file judge.cpp
/// After a hello: is this a member we wait for, one that comes too early, or a contradiction?
#include <algorithm>

#include "node/bootstrap/reception.hpp"
#include "node/text.hpp"

namespace tutti {

Reception::Judged Reception::judge(const Hello& mine, const Hello& theirs, Dialed dialed) {
  // A member that called itself, or its namesake: it fails at its calling end, where the address is
  // known.
  if (!dialed && (theirs.incarnation == mine.incarnation || theirs.name == mine.name)) {
    return {Judgement::refuse, 0, compatible(mine, theirs).error()};  // such a pair never is
  }
  if (std::ranges::find(refused_, theirs.incarnation) != refused_.end()) {
    return {Judgement::removed,
            0,
            {ErrorCode::stopped, "it was removed from the group and has to be started again"}};
  }
  const std::optional<std::string> ended = desk_.ended();
  const auto at = std::ranges::find(base_.members, theirs.name, &MemberAddress::name);
  const auto slot = static_cast<std::uint32_t>(at - base_.members.begin());
  if (!ended && !dialed && at != base_.members.end() && slot > self_) {
    if (std::optional<std::string> why = taken(peers_[slot], theirs)) {
      return {Judgement::not_now, slot, {ErrorCode::mismatch, std::move(*why)}};
    }
  }
  if (Result<void> agreed = compatible(mine, theirs); !agreed) {
    return {Judgement::contradiction, 0, std::move(agreed.error())};
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

// Why a caller has to come later (LB1); nothing if it need not.
std::optional<std::string> Reception::taken(Peer& peer, const Hello& theirs) const {
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

}  // namespace tutti
