/// \file reach.hpp
/// How `tutti topic` reaches the topics: the options, and the domain that they lead to.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/signals.hpp"
#include "cli/topic/domain.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// How soon an interrupt is noticed, or a topic that comes.
inline constexpr std::chrono::milliseconds kTopicLook{100};
inline constexpr std::int64_t kTopicLookNs = std::chrono::nanoseconds(kTopicLook).count();

struct Reach {
  std::string relay{};  ///< HOST:PORT,HOST:PORT
  std::string token{};
  std::string name{};
  std::string members{};
  std::string state_dir{};
  std::string fabric = "auto";
  std::uint32_t founders = 0;
  bool join_only = false;
  bool bootstrap = false;
  double suspect_after_s = 1;
  double start_timeout_s = 30;
  unsigned leave_timeout_s = kLeaveSeconds;
  double wait_s = 0;  ///< for a topic that is not there yet; 0: not at all
  bool json = false;
};

void add_reach(CLI::App& command, Reach& reach, const std::string& json_help);

/// The topic of that name; waits for it as long as the options say. An error names those there are.
[[nodiscard]] Result<TopicRow> find_topic(TopicDomain& domain, const Reach& reach,
                                          const std::string& name);

/// With which sample a reader begins: --from-start and --from.
struct Beginning {
  bool from_start = false;
  std::optional<std::uint64_t> position{};
  [[nodiscard]] dds::From from() const;
};
void add_beginning(CLI::App& command, Beginning& beginning);

/// Reaches the domain, does that in it and leaves: the exit status. Signals end the command at once
/// until the domain is reached; then they are noted, and no error (signals.hpp).
[[nodiscard]] int in_domain(const Reach& reach,
                            const std::function<Result<void>(TopicDomain&)>& verb);

// The two ways.
[[nodiscard]] Result<std::unique_ptr<TopicDomain>> join_domain(const Reach& reach);
[[nodiscard]] Result<std::unique_ptr<TopicDomain>> call_relay(const Reach& reach);

}  // namespace tutti::cli
