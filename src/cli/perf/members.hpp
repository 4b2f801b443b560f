/// \file members.hpp
/// The members of a measurement, seen from the parent: asks all of them, and notices at once if one
/// fails. Threads: the main thread.
#pragma once
#include <poll.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/perf/options.hpp"
#include "cli/perf/participants.hpp"
#include "cli/perf/places.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class PerfMembers {
 public:
  /// Starts the members, or waits for them, until all have met.
  [[nodiscard]] static Result<PerfMembers> start(const PerfOptions& options,
                                                 const PerfPlaces& places, bool verbose);

  /// Sends the request to all, then waits for all replies, in rank order.
  [[nodiscard]] Result<std::vector<nlohmann::json>> ask(const nlohmann::json& request,
                                                        double timeout_s = 30);

  /// Where each member runs, and how far its clock is ahead of this process's: 0 on this host; to
  /// others, by the shortest of some requests.
  [[nodiscard]] std::string host(std::size_t rank) const { return members_[rank].hello->host; }
  [[nodiscard]] std::int64_t clock_ahead_ns(std::size_t rank) const {
    return clocks_ahead_ns_[rank];
  }

  /// Waits so long, calling `look` now and then with the fraction of the time that has passed.
  [[nodiscard]] Result<void> watch(double seconds, const std::function<void(double)>& look);

 private:
  using Member = Participant;

  [[nodiscard]] Result<void> hear_hellos(std::int64_t deadline_ns);
  [[nodiscard]] nlohmann::json setup_for(std::size_t rank, const PerfOptions& options,
                                         bool verbose) const;
  [[nodiscard]] Result<void> compare_clocks();
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

  Participants members_;
  std::vector<std::int64_t> clocks_ahead_ns_;  // of this process's, by rank
};

}  // namespace tutti::cli
