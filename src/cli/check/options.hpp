/// \file options.hpp
/// The options of `tutti check`, and their conversion to the checker's options.
#pragma once
#include <string>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "history/checker/options.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct CheckCommand {
  std::vector<std::string> files;
  std::vector<std::string> levels;  ///< GROUP=LEVEL
  bool incomplete = false;
  bool round_robin = false;
  bool one_service = false;
  bool json = false;
  std::uint32_t shown = history::CheckOptions{}.shown_max;
  double deliver_bound_s = 0;
  double view_bound_s = 0;
  double stop_bound_s = 0;
  double leave_bound_s = 0;
  double wake_bound_s = 0;
};

void add_options(CLI::App& app, CheckCommand& command);

[[nodiscard]] Result<history::CheckOptions> check_options(const CheckCommand& command);

}  // namespace tutti::cli
