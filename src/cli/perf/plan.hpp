/// \file plan.hpp
/// PerfOptions, checked and turned from words into what the library and the loops take.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/perf/options.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

/// How the messages of DeliveryThread::application are taken (takers.hpp).
enum class Taking : std::uint8_t {
  none,      ///< callbacks are handed them
  in_calls,  ///< a thread for each group waits in Group::take
  with_epoll,
  with_asio,
};

struct PerfPlan {
  std::uint32_t senders = 0;        ///< ranks below this may send
  std::uint32_t active = 0;         ///< ranks below this do
  std::uint32_t first_pausing = 0;  ///< active ranks from here on pause after each send
  std::uint32_t active_groups = 0;
  std::uint64_t sample_every = 1;
  Idle idle;
  Drive drive = Drive::own_thread;
  DeliveryThread delivery = DeliveryThread::predicate;
  Taking taking = Taking::none;
  bool touch_all = true;
  std::optional<dds::Service> service{};  ///< of topics; empty: plain groups
  NodeOptions node;                       ///< name, members and log are still empty
  GroupOptions group;  ///< name and on_delivery are still empty, members and senders too
};

/// Checks all that can be checked without starting anything.
[[nodiscard]] Result<PerfPlan> plan_for(const PerfOptions& options);

/// g0, g1, ...
[[nodiscard]] std::string perf_group_name(std::uint32_t number);

/// m0, m1, ...
[[nodiscard]] std::vector<std::string> perf_member_names(std::uint32_t count);

}  // namespace tutti::cli
