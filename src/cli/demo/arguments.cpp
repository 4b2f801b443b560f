#include "cli/demo/arguments.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "cli/member_list.hpp"

namespace tutti::cli {

std::vector<MemberAddress> loopback_addresses(const std::vector<std::string>& members,
                                              const std::vector<int>& ports) {
  std::vector<MemberAddress> addresses;
  for (std::size_t i = 0; i < members.size(); ++i) {
    addresses.push_back({members[i], "127.0.0.1:" + std::to_string(ports[i])});
  }
  return addresses;
}

std::vector<std::string> shared_arguments(const std::vector<std::string>& members,
                                          std::uint64_t longest_line, const FabricAndLevel& words,
                                          const std::vector<int>& ports) {
  // The others miss a killed member at once, for its connections end; a member that only waits for
  // a processor must not be removed.
  std::vector<std::string> arguments = {
      "run",        "--members", to_text(loopback_addresses(members, ports)),
      "--group",    kDemoGroup,  "--fabric",
      words.fabric, "--level",   words.level,
      "--order",    words.order, "--suspect-after",
      "20"};
  const RingWindows& windows = words.windows;
  for (const auto& [option, value] :
       {std::pair{"--personal-window", windows.personal},
        std::pair{"--accelerated-window", windows.accelerated},
        std::pair{"--global-window", windows.global}, std::pair{"--maximum-gap", windows.gap}}) {
    arguments.insert(arguments.end(), {option, std::to_string(value)});
  }
  if (words.durable_quorum) arguments.emplace_back("--durable-quorum");
  if (words.litmus_rounds != 0) {
    arguments.insert(arguments.end(), {"--litmus", std::to_string(words.litmus_rounds)});
  }
  if (!words.rdma_device.empty()) {
    arguments.insert(arguments.end(), {"--rdma-device", words.rdma_device});
  }
  const GroupOptions defaults;
  if (longest_line > defaults.message_max_bytes) {
    const std::uint64_t window = std::bit_ceil(4 * longest_line);
    arguments.insert(arguments.end(), {"--message-max", std::to_string(longest_line), "--window",
                                       std::to_string(std::max(window, defaults.window_bytes))});
  }
  return arguments;
}

}  // namespace tutti::cli
