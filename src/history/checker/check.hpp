/// \file check.hpp
/// Checks the histories of a run: did the members do what the library promises?
///
/// Time is linear in the number of events, memory about 20 bytes per message sent and 16 per
/// message of a group's sequence. The order of events of different members comes from the messages,
/// never from clocks. Threads: any; concurrent calls share nothing.
#pragma once
#include <span>

#include "history/checker/options.hpp"
#include "history/checker/report.hpp"
#include "history/history.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

/// An error if two histories are of the same incarnation: then they cannot belong to one run.
/// Anything else that is wrong with them is a violation in the report.
[[nodiscard]] Result<Report> check(std::span<const History> histories,
                                   const CheckOptions& options = {});

}  // namespace tutti::history
