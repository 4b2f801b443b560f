#include "cli/common_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace tutti::cli {
namespace {

constexpr std::string_view kUnits = "kmgt";  // each is 1024 of the one before

/// 65536, 64K, 64KB and 64KiB are the same. CLI::AsSizeValue would take -1 for 2^64 - 1.
std::optional<std::uint64_t> bytes_from(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  const char* const end = text.data() + text.size();
  std::uint64_t count = 0;
  const auto number = std::from_chars(text.data(), end, count);
  if (number.ec != std::errc()) return std::nullopt;
  std::string_view unit(number.ptr, end);
  if (unit.empty()) return count;
  const std::size_t power = kUnits.find(unit.front());
  unit.remove_prefix(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "b" || unit == "ib")) {
    return std::nullopt;
  }
  const std::size_t shift = 10 * (power + 1);
  if (count > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return count << shift;
}

}  // namespace

void add_ring_windows(CLI::App& command, RingWindows& windows) {
  const auto add = [&command](const char* name, std::uint32_t& value, const char* help) {
    command.add_option(name, value, help)->check(whole_number(0, 1 << 30))->capture_default_str();
  };
  add("--personal-window", windows.personal,
      "with order token_ring: messages that a member sends at most while it has the token");
  add("--accelerated-window", windows.accelerated,
      "of these, how many leave after the token: 0 is Totem's ring");
  add("--global-window", windows.global, "messages of all members in one rotation at most");
  add("--maximum-gap", windows.gap, "messages that are numbered and not known to be with all");
}

void add_log_options(CLI::App& command, LogPlace& log, const char* about_folder) {
  command.add_flag("--logged", log.logged,
                   "each member logs what is delivered, on its disk; at level durable it always "
                   "does. tutti log reads it");
  command.add_flag("--durable-quorum", log.durable_quorum, kDurableQuorumHelp);
  command.add_option("--state-dir", log.state_dir, about_folder);
}

void add_fabric_and_level(CLI::App& command, FabricAndLevel& words) {
  command
      .add_option("--fabric", words.fabric,
                  "what carries the messages: shm (shared memory, all members on this host), tcp, "
                  "verbs (RDMA), auto (shm to members on this host; to the others verbs if both "
                  "have a working device, else tcp), or ofi:PROVIDER (libfabric with that "
                  "provider, such as ofi:tcp)")
      ->capture_default_str();
  command.add_option("--rdma-device", words.rdma_device, kRdmaDeviceHelp);
  command
      .add_option("--litmus", words.litmus_rounds,
                  "test each path in so many rounds before it is used, 0 to 1000000: data must "
                  "always become visible before the guard that announces it")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--level", words.level,
                  "when a member delivers a message: unordered (on receipt), agreed (once all "
                  "earlier messages have arrived), atomic (once every member has it), durable "
                  "(once it is in every member's log, on disk)")
      ->capture_default_str();
  command
      .add_option(
          "--order", words.order,
          "who decides the sequence, but at level unordered: round_robin (the senders in "
          "turn), token_ring (who holds the token), lcr (in turn, and each message goes from "
          "member to member)")
      ->capture_default_str();
  add_ring_windows(command, words.windows);
}

Result<void> apply(const FabricAndLevel& words, NodeOptions& node, GroupOptions& group) {
  node.litmus_rounds = words.litmus_rounds;
  if (Result<void> fabric = set_fabric(node, words.fabric); !fabric) return fabric;
  node.rdma_device = words.rdma_device;
  const Result<Level> level = level_from(words.level);
  if (!level) return std::unexpected(level.error());
  group.level = *level;
  const Result<Order> order = order_from(words.order);
  if (!order) return std::unexpected(order.error());
  group.order = *level == Level::unordered ? Order::none : *order;
  group.logged = *level == Level::durable;
  group.durable_quorum = words.durable_quorum;
  group.personal_window = words.windows.personal;
  group.accelerated_window = words.windows.accelerated;
  group.global_window = words.windows.global;
  group.maximum_gap = words.windows.gap;
  return {};
}

Result<Idle> idle_from(std::string_view word) {
  using std::chrono::nanoseconds;
  if (word == "spin") return Idle{.spin = nanoseconds(0), .yield = nanoseconds(0), .sleep = false};
  if (word == "yield") {
    Idle idle;
    idle.sleep = false;
    return idle;
  }
  if (word == "sleep") return Idle{};
  return fail(ErrorCode::invalid_argument,
              "--idle: '" + std::string(word) + "' is not one of spin, yield, sleep");
}

Result<std::chrono::nanoseconds> duration_from(double seconds, std::string_view option) {
  constexpr double kDay = 86'400;
  if (!(seconds > 0) || seconds > kDay) {
    return fail(ErrorCode::invalid_argument,
                std::string(option) + ": must be more than 0 and at most 86400 seconds");
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

void add_leave_timeout(CLI::App& command, unsigned& seconds) {
  command
      .add_option("--leave-timeout", seconds,
                  "seconds in which a member that is told to end leaves the others in order; it "
                  "ends 2 seconds later in any case")
      ->check(whole_number(1, 86'400))
      ->capture_default_str();
}

CLI::Option* add_bytes(CLI::App& command, const std::string& name, std::uint64_t& value,
                       const std::string& legal, const std::string& help) {
  const auto with_unit = [legal](std::string& text) -> std::string {
    const std::optional<std::uint64_t> bytes = bytes_from(text);
    if (!bytes) {
      return "'" + text + "' is not a number of bytes; legal: " + legal + ", such as 65536 or 64K";
    }
    text = std::to_string(*bytes);
    return {};
  };
  return command.add_option(name, value, help + ", " + legal + "; 64K and 4M are understood")
      ->transform(CLI::Validator(with_unit, ""))  // the type's name says what it is
      ->type_name("BYTES")
      ->capture_default_str();
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  CLI::Validator range = CLI::Range(least, most);
  range.description("");  // the option's help says it
  return range;
}

}  // namespace tutti::cli
