/// \file families.hpp
/// The checks that look at a whole run, one function per family. Each adds what it finds to
/// Run::findings. The checks along one member's history are in walk.hpp.
#pragma once
#include "history/checker/run.hpp"
#include "history/checker/timing.hpp"
#include "history/checker/trace.hpp"

namespace tutti::history {

void check_views(Run& run);                                               ///< M1 M2 M3 M4 M5
void check_removals(Run& run);                                            ///< M6
void check_suspicions(Run& run, const Timing& timing);                    ///< M6 M10
void check_proposals(Run& run);                                           ///< M7
void check_cuts(Run& run);                                                ///< M7 D11
void check_snapshots(Run& run, const Trace& trace);                       ///< M9
void check_ahead(Run& run, Trace& trace);                                 ///< D6
void check_agreement(Run& run, Trace& trace, const Timing& timing);       ///< D4 D5 D7 D11 F2
void check_barriers(Run& run);                                            ///< D15
void check_validity(Run& run, const Trace& trace, const Timing& timing);  ///< D10 V1 V5
void check_view_times(Run& run, const Timing& timing);                    ///< M10 V6
void check_quiet(Run& run);                                               ///< V2
void check_stops(Run& run);                                               ///< V4
void check_resources(Run& run);                                           ///< B1

}  // namespace tutti::history
