/// \file refs.hpp
/// What the histories of simulated members call an incarnation and a proposal.
#pragma once
#include <cstdint>

#include "history/event.hpp"
#include "membership/proposal.hpp"
#include "membership/view.hpp"

namespace tutti::sim {

[[nodiscard]] inline history::NodeRef ref(const ViewMember& member) {
  return {static_cast<std::uint16_t>(member.slot.value), member.incarnation};
}
[[nodiscard]] inline std::uint64_t digest_of(const Proposal& proposal) {
  return encode(proposal).front();
}

}  // namespace tutti::sim
