/// \file some_views.hpp
/// Views and logs for tests.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "restart/plan.hpp"

namespace tutti::restart::testing {

/// Of one group, `log`.
inline ViewRecord view_of(std::uint64_t id, std::vector<std::uint32_t> members,
                          std::uint64_t first = 0) {
  return {.id = id, .members = std::move(members), .first = {{"log", first}}};
}

/// A log whose record number from + i was delivered in view views[i]; `sender` makes its contents
/// others.
inline LogSummary log_of(const std::vector<std::uint64_t>& views, std::uint64_t from = 0,
                         std::uint32_t sender = 0) {
  LogSummary log{.group = "log"};
  for (std::size_t i = 0; i < views.size(); ++i) {
    add(log, {.seq = from + i, .view = views[i], .sender = sender});
  }
  return log;
}

inline Views views_of(std::vector<ViewRecord> chain) {
  return {.node = "n", .origin = 7, .since = 1, .chain = std::move(chain)};
}

inline Told told_of(std::vector<ViewRecord> chain, LogSummary log = {.group = "log"}) {
  return {.views = views_of(std::move(chain)), .logs = {std::move(log)}};
}

}  // namespace tutti::restart::testing
