// The protocol's templates for the simulator's Memory. Their definitions are in .cpp files, where
// the library instantiates them for NativeMemory; this one file does it for the simulator.
#define TUTTI_DEFINITIONS_ONLY
#include "engine/engine.cpp"                  // NOLINT(bugprone-suspicious-include)
#include "engine/engine_end.cpp"              // NOLINT(bugprone-suspicious-include)
#include "engine/engine_peers.cpp"            // NOLINT(bugprone-suspicious-include)
#include "engine/engine_views.cpp"            // NOLINT(bugprone-suspicious-include)
#include "engine/litmus.cpp"                  // NOLINT(bugprone-suspicious-include)
#include "membership/agreement.cpp"           // NOLINT(bugprone-suspicious-include)
#include "membership/membership.cpp"          // NOLINT(bugprone-suspicious-include)
#include "membership/membership_begin.cpp"    // NOLINT(bugprone-suspicious-include)
#include "membership/membership_install.cpp"  // NOLINT(bugprone-suspicious-include)
#include "membership/membership_propose.cpp"  // NOLINT(bugprone-suspicious-include)
#include "membership/state_giver.cpp"         // NOLINT(bugprone-suspicious-include)
#include "membership/state_taker.cpp"         // NOLINT(bugprone-suspicious-include)
#include "membership/state_transfer.cpp"      // NOLINT(bugprone-suspicious-include)
#include "membership/suspicion.cpp"           // NOLINT(bugprone-suspicious-include)
#include "membership/view_rows.cpp"           // NOLINT(bugprone-suspicious-include)
#include "multicast/delivery.cpp"             // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast.cpp"            // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast_cut.cpp"        // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast_pass.cpp"       // NOLINT(bugprone-suspicious-include)
#include "multicast/multicast_space.cpp"      // NOLINT(bugprone-suspicious-include)
#include "multicast/pass_on.cpp"              // NOLINT(bugprone-suspicious-include)
#include "multicast/subgroup.cpp"             // NOLINT(bugprone-suspicious-include)
#include "sim/memory.hpp"

namespace tutti {

template class PassOn<sim::Memory>;
template class Multicast<sim::Memory>;
template class Delivery<sim::Memory>;
template class Subgroup<sim::Memory>;
template class ViewRows<sim::Memory>;
template class Suspicion<sim::Memory>;
template class Agreement<sim::Memory>;
template class Membership<sim::Memory>;
template class StateGiver<sim::Memory>;
template class StateTaker<sim::Memory>;
template class StateTransfer<sim::Memory>;
template class Litmus<sim::Memory>;
template class Engine<sim::Memory>;

}  // namespace tutti
