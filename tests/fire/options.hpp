/// \file options.hpp
/// The command line of the member that the fire tests kill, stop and restart.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "tutti/options.hpp"

namespace tutti::fire {

struct Options {
  std::string name;
  std::string members;
  std::string fabric = "auto";
  std::string levels = "atomic";      ///< one group for each
  std::string order = "round_robin";  ///< of all groups that are not unordered
  std::string history;                ///< file; empty: none
  double rate = 200;             ///< messages per second, over all groups; 0: as fast as it goes
  std::uint32_t size_max = 256;  ///< of a message, in bytes
  std::uint64_t seed = 1;        ///< of the messages' sizes
  bool join_only = false;
  std::uint32_t founders = 0;
  double suspect_after_s = 1;
  double start_timeout_s = 60;
};

void add_options(CLI::App& app, Options& options);

/// The options for the library; the callbacks are still empty.
struct Setup {
  NodeOptions node;
  std::vector<GroupOptions> groups;
};
[[nodiscard]] Result<Setup> set_up(const Options& options);

}  // namespace tutti::fire
