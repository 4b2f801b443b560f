/// \file members.hpp
/// The member processes of a measurement, seen from the parent: asks all of them, and notices at
/// once if one fails. Threads: the main thread.
#pragma once
#include <poll.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/perf/channel.hpp"
#include "cli/perf/options.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class PerfMembers {
 public:
  /// Starts the processes and waits until all have met.
  [[nodiscard]] static Result<PerfMembers> start(const PerfOptions& options, bool verbose);

  /// Sends the request to all, then waits for all replies, in rank order.
  [[nodiscard]] Result<std::vector<nlohmann::json>> ask(const nlohmann::json& request,
                                                        double timeout_s = 30);

  /// Waits so long, calling `look` now and then with the fraction of the time that has passed.
  [[nodiscard]] Result<void> watch(double seconds, const std::function<void(double)>& look);

 private:
  struct Member {
    std::string name;
    Child child;
    Channel channel;
  };

  [[nodiscard]] Result<void> start_one(const std::string& name);
  [[nodiscard]] Result<void> tell(Member& member, const nlohmann::json& request);
  /// One of each, in rank order; an error as soon as one fails.
  [[nodiscard]] Result<std::vector<nlohmann::json>> replies(std::int64_t deadline_ns);
  [[nodiscard]] std::vector<pollfd> all_inputs() const;
  [[nodiscard]] Result<nlohmann::json> reply_of(Member& member, std::int64_t deadline_ns);
  /// `error` goes on where the member's name ends.
  [[nodiscard]] Error explain(const Member& member, const Error& error);
  void hear_the_others(const Member& first);
  [[nodiscard]] static bool has_spoken(Member& member, std::int64_t deadline_ns);
  static void wait_for_end(Member& member, std::int64_t deadline_ns);

  std::vector<Member> members_;
};

}  // namespace tutti::cli
