/// \file topics.hpp
/// What a member of a measurement of topics has instead of plain groups: bundles, in each of which
/// one topic carries the load, and quiet topics beside it.
/// Threads: the main thread; writers see Sender.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/perf/plan.hpp"
#include "cli/perf/receiver.hpp"
#include "tutti/dds.hpp"

namespace tutti::cli {

class PerfTopics {
 public:
  /// Before the node starts.
  [[nodiscard]] static Result<PerfTopics> join(Node& node, const PerfPlan& plan,
                                               const PerfOptions& options);
  /// Once it has started: creates the topics, with a reader each. Those of the load hand their
  /// samples to `receivers`, which outlive the node.
  [[nodiscard]] Result<void> open(std::deque<Receiver>& receivers);
  /// One for the topic of that group, as long as this lives.
  [[nodiscard]] Result<dds::UntypedWriter*> write(std::uint32_t group);
  /// The groups that carry the bundles.
  [[nodiscard]] std::vector<Group> groups() const;

 private:
  PerfTopics(dds::DomainParticipant participant, const PerfPlan& plan, const PerfOptions& options);
  [[nodiscard]] Result<void> open_quiet(std::uint32_t number);
  [[nodiscard]] dds::TopicTypeInfo type() const;

  dds::DomainParticipant participant_;
  dds::Service service_;
  std::uint32_t bundles_;
  std::uint32_t quiet_;
  std::uint32_t size_;
  bool stamps_;
  std::vector<dds::UntypedTopic> topics_{};  // of the load, by group; then the quiet ones
  std::vector<dds::UntypedReader> readers_{};
  std::deque<dds::UntypedWriter> writers_{};
};

}  // namespace tutti::cli
