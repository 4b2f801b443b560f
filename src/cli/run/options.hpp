/// \file options.hpp
/// The options of `tutti run`, and their conversion to the library's options.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/common_options.hpp"
#include "cli/signals.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

struct RunOptions {
  std::string name;
  std::string members;
  std::string group;
  FabricAndLevel words;
  LogPlace log;
  bool bootstrap = false;
  std::uint64_t deliver_from = 0;
  std::string senders;
  std::uint64_t window_bytes = GroupOptions{}.window_bytes;
  std::uint64_t message_max_bytes = GroupOptions{}.message_max_bytes;
  std::string idle = "sleep";
  double start_timeout_s = 30;
  std::uint32_t founders = 0;
  bool join_only = false;
  double suspect_after_s = 1;
  unsigned leave_timeout_s = kLeaveSeconds;
  std::string report;  ///< file for the JSON report, empty: none
  bool quiet = false;
  bool verbose = false;
};

void add_options(CLI::App& command, RunOptions& options);

struct RunSetup {
  NodeOptions node;
  GroupOptions group;  ///< on_delivery is still empty
};

[[nodiscard]] Result<RunSetup> set_up(const RunOptions& options);

/// Whether the member of that name may send.
[[nodiscard]] bool is_sender(const GroupOptions& group, const std::string& name);

}  // namespace tutti::cli
