// The protocol's templates for the tests' Memory. Their definitions are in .cpp files, where the
// library instantiates them for NativeMemory; this one file does it for LandingMemory.
#define TUTTI_DEFINITIONS_ONLY
#include "engine/engine.cpp"                  // NOLINT(bugprone-suspicious-include)
#include "engine/engine_end.cpp"              // NOLINT(bugprone-suspicious-include)
#include "engine/engine_peers.cpp"            // NOLINT(bugprone-suspicious-include)
#include "engine/engine_views.cpp"            // NOLINT(bugprone-suspicious-include)
#include "engine/litmus.cpp"                  // NOLINT(bugprone-suspicious-include)
#include "flow/own_space.cpp"                 // NOLINT(bugprone-suspicious-include)
#include "membership/agreement.cpp"           // NOLINT(bugprone-suspicious-include)
#include "membership/group_wishes.cpp"        // NOLINT(bugprone-suspicious-include)
#include "membership/membership.cpp"          // NOLINT(bugprone-suspicious-include)
#include "membership/membership_begin.cpp"    // NOLINT(bugprone-suspicious-include)
#include "membership/membership_groups.cpp"   // NOLINT(bugprone-suspicious-include)
#include "membership/membership_install.cpp"  // NOLINT(bugprone-suspicious-include)
#include "membership/membership_propose.cpp"  // NOLINT(bugprone-suspicious-include)
#include "membership/state_giver.cpp"         // NOLINT(bugprone-suspicious-include)
#include "membership/state_taker.cpp"         // NOLINT(bugprone-suspicious-include)
#include "membership/state_transfer.cpp"      // NOLINT(bugprone-suspicious-include)
#include "membership/suspicion.cpp"           // NOLINT(bugprone-suspicious-include)
#include "membership/view_rows.cpp"           // NOLINT(bugprone-suspicious-include)
#include "multicast/direct.cpp"               // NOLINT(bugprone-suspicious-include)
#include "multicast/follower.cpp"             // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast.cpp"            // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast_end.cpp"        // NOLINT(bugprone-suspicious-include)
#include "multicast/pass_on.cpp"              // NOLINT(bugprone-suspicious-include)
#include "multicast/passed_pieces.cpp"        // NOLINT(bugprone-suspicious-include)
#include "multicast/round_follower.cpp"       // NOLINT(bugprone-suspicious-include)
#include "multicast/round_robin.cpp"          // NOLINT(bugprone-suspicious-include)
#include "multicast/round_robin_cut.cpp"      // NOLINT(bugprone-suspicious-include)
#include "multicast/sender_follower.cpp"      // NOLINT(bugprone-suspicious-include)
#include "multicast/stability.cpp"            // NOLINT(bugprone-suspicious-include)
#include "multicast/subgroup.cpp"             // NOLINT(bugprone-suspicious-include)
#include "multicast/subgroup_figures.cpp"     // NOLINT(bugprone-suspicious-include)
#include "multicast/total_order.cpp"          // NOLINT(bugprone-suspicious-include)
#include "multicast/unordered.cpp"            // NOLINT(bugprone-suspicious-include)
#include "requests/requests.cpp"              // NOLINT(bugprone-suspicious-include)
#include "requests/requests_take.cpp"         // NOLINT(bugprone-suspicious-include)
#include "requests/requests_write.cpp"        // NOLINT(bugprone-suspicious-include)
#include "ring/lcr/chain.cpp"                 // NOLINT(bugprone-suspicious-include)
#include "ring/lcr/chain_post.cpp"            // NOLINT(bugprone-suspicious-include)
#include "ring/lcr/lcr.cpp"                   // NOLINT(bugprone-suspicious-include)
#include "ring/orders.cpp"                    // NOLINT(bugprone-suspicious-include)
#include "ring/token/local_aru.cpp"           // NOLINT(bugprone-suspicious-include)
#include "ring/token/number_follower.cpp"     // NOLINT(bugprone-suspicious-include)
#include "ring/token/token_cut.cpp"           // NOLINT(bugprone-suspicious-include)
#include "ring/token/token_ring.cpp"          // NOLINT(bugprone-suspicious-include)
#include "ring/token/token_visit.cpp"         // NOLINT(bugprone-suspicious-include)
#include "support/landing_memory.hpp"

namespace tutti {

template class OwnSpace<testing::LandingMemory>;
template class PassedPieces<testing::LandingMemory>;
template class PassOn<testing::LandingMemory>;
template class TotalOrder<testing::LandingMemory>;
template class RoundRobin<testing::LandingMemory>;
template class Unordered<testing::LandingMemory>;
template class LocalAru<testing::LandingMemory>;
template class TokenRing<testing::LandingMemory>;
template class NumberFollower<testing::LandingMemory>;
template class Follower<testing::LandingMemory>;
template class RoundFollower<testing::LandingMemory>;
template class SenderFollower<testing::LandingMemory>;
template class Multicast<testing::LandingMemory>;
template class Subgroup<testing::LandingMemory>;
template class ViewRows<testing::LandingMemory>;
template class Suspicion<testing::LandingMemory>;
template class Agreement<testing::LandingMemory>;
template class GroupWishes<testing::LandingMemory>;
template class Membership<testing::LandingMemory>;
template class StateGiver<testing::LandingMemory>;
template class StateTaker<testing::LandingMemory>;
template class StateTransfer<testing::LandingMemory>;
template class Litmus<testing::LandingMemory>;
template class Requests<testing::LandingMemory>;
template class Engine<testing::LandingMemory>;

}  // namespace tutti
