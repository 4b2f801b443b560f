#include "cli/perf/measure.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/clock.hpp"
#include "cli/perf/plan.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;
using Replies = Result<std::vector<json>>;

constexpr double kStopTimeoutS = 90;  // longer than the members' own
constexpr double kLookS = 0.05;
constexpr std::int64_t kMeasureStallNs = 30 * kNsPerSecond;

json request(const char* what) { return {{"do", what}}; }

std::uint64_t sum_of(const std::vector<json>& replies, const char* field) {
  std::uint64_t total = 0;
  for (const json& reply : replies) total += reply.at(field).get<std::uint64_t>();
  return total;
}

class Measurement {
 public:
  Measurement(PerfMembers& members, const PerfOptions& options, const PerfPlan& plan)
      : members_(members), options_(options), plan_(plan) {}

  Result<void> by_time() {
    if (Result<void> ok = send(0); !ok) return ok;
    if (Result<void> ok = members_.watch(options_.warmup_s, [](double) {}); !ok) return ok;
    if (Result<void> ok = ask(request("begin")); !ok) return ok;
    const auto look = [this](double fraction) {
      progress_.show(fraction, short_time(fraction * options_.seconds * 1e9));
    };
    if (Result<void> ok = members_.watch(options_.seconds, look); !ok) return ok;
    progress_.clear();
    return ask(request("end"));
  }

  Result<void> by_count() {
    std::vector<std::uint64_t> totals(options_.groups);
    if (options_.warmup_s > 0) {
      if (Result<void> ok = warm_up(totals); !ok) return ok;
    }
    for (std::uint32_t i = 0; i < plan_.active_groups; ++i) {
      totals[i] += options_.messages * plan_.active;
    }
    if (Result<void> ok = ask({{"do", "expect"}, {"totals", totals}}); !ok) return ok;
    if (Result<void> ok = ask(request("begin")); !ok) return ok;
    if (Result<void> ok = send(options_.messages); !ok) return ok;
    if (Result<void> ok = wait_for(totals); !ok) return ok;
    return ask(request("end"));
  }

 private:
  Result<void> ask(const json& what) {
    const Replies replies = members_.ask(what);
    if (!replies) return std::unexpected(replies.error());
    return {};
  }

  /// 0: until told otherwise.
  Result<void> send(std::uint64_t more) { return ask({{"do", "send"}, {"more", more}}); }

  /// Afterwards `totals` has been sent to each group and delivered everywhere.
  Result<void> warm_up(std::vector<std::uint64_t>& totals) {
    if (Result<void> ok = send(0); !ok) return ok;
    if (Result<void> ok = members_.watch(options_.warmup_s, [](double) {}); !ok) return ok;
    const Replies paused = members_.ask(request("pause"));
    if (!paused) return std::unexpected(paused.error());
    for (const json& reply : *paused) {
      for (std::size_t i = 0; i < totals.size(); ++i) {
        totals[i] += reply.at("sent").at(i).get<std::uint64_t>();
      }
    }
    return wait_for(totals);
  }

  /// Waits until every member has delivered that much; while there is progress, there is hope.
  Result<void> wait_for(const std::vector<std::uint64_t>& totals) {
    std::uint64_t wanted = 0;
    for (const std::uint64_t total : totals) wanted += total * options_.members;
    const std::uint64_t before = delivered_before_;
    std::uint64_t seen = 0;
    std::int64_t deadline_ns = now_ns() + kMeasureStallNs;
    while (true) {
      const Replies counts = members_.ask(request("count"));
      if (!counts) return std::unexpected(counts.error());
      const std::uint64_t delivered = sum_of(*counts, "delivered");
      if (delivered == wanted) break;
      if (std::exchange(seen, delivered) != delivered) deadline_ns = now_ns() + kMeasureStallNs;
      if (now_ns() > deadline_ns) {
        return fail(ErrorCode::timed_out, "nothing was delivered for 30 s");
      }
      const auto done = static_cast<double>(delivered - before);
      progress_.show(done / static_cast<double>(wanted - before),
                     short_number(done) + " deliveries");
      if (Result<void> ok = members_.watch(kLookS, [](double) {}); !ok) return ok;
    }
    delivered_before_ = wanted;
    progress_.clear();
    return {};
  }

  PerfMembers& members_;
  const PerfOptions& options_;
  const PerfPlan& plan_;
  Progress progress_;
  std::uint64_t delivered_before_ = 0;  // by all members, when the last wait_for ended
};

}  // namespace

Replies measure(PerfMembers& members, const PerfOptions& options) {
  const Result<PerfPlan> plan = plan_for(options);
  if (!plan) return std::unexpected(plan.error());
  Measurement measurement(members, options, *plan);
  const Result<void> measured =
      options.messages > 0 ? measurement.by_count() : measurement.by_time();
  if (!measured) return std::unexpected(measured.error());
  Replies results = members.ask(request("stop"), kStopTimeoutS);
  if (!results) return results;
  for (std::size_t rank = 0; rank < results->size(); ++rank) {
    json& result = (*results)[rank];
    result["host"] = members.host(rank);
    for (const char* time : {"begin_ns", "end_ns", "first_send_ns", "reached_ns"}) {
      result[time] = result.at(time).get<std::int64_t>() - members.clock_ahead_ns(rank);
    }
  }
  return results;
}

Result<void> verify(const std::vector<json>& results, bool ordered) {
  const auto wrong = [](std::size_t member, std::size_t group, const std::string& what) {
    return fail(ErrorCode::mismatch,
                "m" + std::to_string(member) + ", group g" + std::to_string(group) + ": " + what);
  };
  const json& reference = results.front().at("verification");
  for (std::size_t i = 0; i < reference.size(); ++i) {
    std::uint64_t sent = 0;
    for (const json& result : results) {
      sent += result.at("verification").at(i).at("sent").get<std::uint64_t>();
    }
    for (std::size_t member = 0; member < results.size(); ++member) {
      const json& group = results[member].at("verification").at(i);
      if (const auto problem = group.at("problem").get<std::string>(); !problem.empty()) {
        return wrong(member, i, problem);
      }
      if (const auto delivered = group.at("delivered").get<std::uint64_t>(); delivered != sent) {
        return wrong(member, i, std::to_string(delivered) + " messages of " + std::to_string(sent));
      }
      if (group.at("senders") != reference[i].at("senders") ||
          (ordered && group.at("order") != reference[i].at("order"))) {
        return wrong(member, i, "delivered another sequence than m0");
      }
    }
  }
  return {};
}

}  // namespace tutti::cli
