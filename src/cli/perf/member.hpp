/// \file member.hpp
/// One member of a measurement: a node with its groups, driven by requests of the parent.
/// Threads: the main thread; see Sender, Receiver and Worker for theirs.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "cli/perf/log_folder.hpp"
#include "cli/perf/plan.hpp"
#include "cli/perf/receiver.hpp"
#include "cli/perf/sender.hpp"
#include "cli/perf/takers.hpp"
#include "cli/perf/topics.hpp"
#include "cli/perf/worker.hpp"
#include "tutti/node.hpp"

namespace tutti::cli {

class PerfMember {
 public:
  /// `setup` has "options", "rank", and of all members "addresses" and "clocks". Blocks until all
  /// members are there.
  [[nodiscard]] static Result<std::unique_ptr<PerfMember>> start(const nlohmann::json& setup);

  /// Carries out one request and returns the reply.
  [[nodiscard]] Result<nlohmann::json> handle(const nlohmann::json& request);

  [[nodiscard]] std::optional<Error> failure() const { return node_->failure(); }

 private:
  /// All counters at one moment.
  struct Mark {
    std::int64_t ns = 0;
    std::int64_t cpu_ns = 0;
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t bytes = 0;
    GroupStatistics groups;
    NodeStatistics node;
  };

  PerfMember() = default;
  [[nodiscard]] Result<void> found(const NodeOptions& node_options) const;
  [[nodiscard]] Result<void> join(const NodeOptions& node_options);
  [[nodiscard]] Result<void> join_groups();
  [[nodiscard]] Result<void> add_senders();
  [[nodiscard]] Mark mark() const;
  [[nodiscard]] std::uint64_t delivered() const;
  void allow(std::uint64_t more);
  [[nodiscard]] nlohmann::json sent_by_group() const;
  [[nodiscard]] Result<nlohmann::json> stop();
  [[nodiscard]] nlohmann::json result() const;
  void add_latencies(nlohmann::json& result) const;
  void add_verification(nlohmann::json& result) const;

  PerfOptions options_;
  PerfPlan plan_;
  MemberIndex self_;
  std::optional<LogFolder> log_folder_;          // outlives the node, which logs there
  std::vector<bool> same_clock_;                 // by rank: whose times can be compared with ours
  std::vector<std::unique_ptr<Stamps>> stamps_;  // of small messages, per group; else null
  std::deque<Receiver> receivers_;               // outlive the node, whose threads call them
  std::optional<Takers> takers_;                 // likewise: they end once the node has
  std::optional<Node> node_;
  std::optional<PerfTopics> topics_;  // goes before the node, as what has its groups does
  std::vector<Group> groups_;
  std::deque<Sender> senders_;  // to the active groups, if this member sends
  std::int64_t send_ns_ = 0;    // when the last request to send came
  Mark begin_;
  Mark end_;
  std::unique_ptr<Worker> worker_;  // last: it uses the senders and the node
};

}  // namespace tutti::cli
