// The protocol's templates for the simulator's Memory. Their definitions are in .cpp files, where
// the library instantiates them for NativeMemory; this one file does it for the simulator.
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
#include "sim/memory.hpp"

namespace tutti {

template class OwnSpace<sim::Memory>;
template class PassedPieces<sim::Memory>;
template class PassOn<sim::Memory>;
template class TotalOrder<sim::Memory>;
template class RoundRobin<sim::Memory>;
template class Unordered<sim::Memory>;
template class LocalAru<sim::Memory>;
template class TokenRing<sim::Memory>;
template class NumberFollower<sim::Memory>;
template class Follower<sim::Memory>;
template class RoundFollower<sim::Memory>;
template class SenderFollower<sim::Memory>;
template class Multicast<sim::Memory>;
template class Subgroup<sim::Memory>;
template class ViewRows<sim::Memory>;
template class Suspicion<sim::Memory>;
template class Agreement<sim::Memory>;
template class GroupWishes<sim::Memory>;
template class Membership<sim::Memory>;
template class StateGiver<sim::Memory>;
template class StateTaker<sim::Memory>;
template class StateTransfer<sim::Memory>;
template class Litmus<sim::Memory>;
template class Requests<sim::Memory>;
template class Engine<sim::Memory>;

}  // namespace tutti
