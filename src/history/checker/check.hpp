/// \file check.hpp
/// Checks the histories of a run: is what the members did what the library promises?
///
/// Time is linear in the number of events, memory about 20 bytes per message sent and 16 per
/// message of a group's sequence. Orders between members are taken from the messages, never from
/// clocks. Threads: any, one call each.
#pragma once
#include <span>

#include "history/checker/options.hpp"
#include "history/checker/report.hpp"
#include "history/history.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

/// An error if the histories cannot belong to one run: two of the same incarnation. Anything else
/// that is wrong with them is a violation in the report.
[[nodiscard]] Result<Report> check(std::span<const History> histories,
                                   const CheckOptions& options = {});

}  // namespace tutti::history
