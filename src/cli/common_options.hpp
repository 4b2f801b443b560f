/// \file common_options.hpp
/// The options that several subcommands share, from words to the library's structs.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/cli11_fwd.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

/// --personal-window and so on, of Order::token_ring.
struct RingWindows {
  std::uint32_t personal = GroupOptions{}.personal_window;
  std::uint32_t accelerated = GroupOptions{}.accelerated_window;
  std::uint32_t global = GroupOptions{}.global_window;
  std::uint32_t gap = GroupOptions{}.maximum_gap;
};
void add_ring_windows(CLI::App& command, RingWindows& windows);

/// --fabric, --level, --order with its windows, --rdma-device and, where a group is to be trusted,
/// --litmus.
struct FabricAndLevel {
  std::string fabric = "auto";
  std::string level = "atomic";
  std::string order = "round_robin";
  RingWindows windows{};
  std::uint32_t litmus_rounds = 0;
  std::string rdma_device{};
  bool durable_quorum = false;  // not among the options that are added with these
};

/// What the help of --rdma-device says.
inline constexpr const char* kRdmaDeviceHelp =
    "the RDMA device for verbs or auto: NAME[:PORT[:GID]] or one of this host's addresses. "
    "Default: the one that has the address where the member listens, or else the first that is up";

void add_fabric_and_level(CLI::App& command, FabricAndLevel& words);

/// Puts the words into both structs; Level::unordered brings Order::none with it, and
/// Level::durable that the group is logged.
[[nodiscard]] Result<void> apply(const FabricAndLevel& words, NodeOptions& node,
                                 GroupOptions& group);

inline constexpr const char* kDurableQuorumHelp =
    "with level durable: a message is delivered once it is in the logs of a majority of the "
    "members, not of all";

/// --logged, --durable-quorum and --state-dir.
struct LogPlace {
  bool logged = false;
  bool durable_quorum = false;
  std::string state_dir{};
};
void add_log_options(CLI::App& command, LogPlace& log, const char* about_folder);

/// spin: never leaves the core; yield: never sleeps; sleep: the library's default.
[[nodiscard]] Result<Idle> idle_from(std::string_view word);

/// Seconds as typed, where 0 < `seconds` <= a day; `option` is named in the error.
[[nodiscard]] Result<std::chrono::nanoseconds> duration_from(double seconds,
                                                             std::string_view option);

/// --leave-timeout: how long a member that is told to end may take to leave the others in order.
void add_leave_timeout(CLI::App& command, unsigned& seconds);

/// An option in bytes that understands 64K and 4M and refuses what is no number, or a negative one.
/// `legal`, such as "4K to 1G", is for the help and the error; the library checks the range.
CLI::Option* add_bytes(CLI::App& command, const std::string& name, std::uint64_t& value,
                       const std::string& legal, const std::string& help);

/// For counts: refuses what is outside, and negative numbers before they wrap.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least, std::int64_t most);

}  // namespace tutti::cli
