#include "cli/perf/topics.hpp"

#include <chrono>
#include <utility>

namespace tutti::cli {
namespace {

// As long as a turn of the worker (PW2).
constexpr std::chrono::milliseconds kWriteWait{10};

dds::BundleOptions bundle_of(const PerfPlan& plan, std::uint32_t number) {
  dds::BundleOptions bundle;
  bundle.name = perf_group_name(number);
  bundle.service = *plan.service;
  bundle.senders = perf_member_names(plan.senders);
  bundle.order = plan.group.order;
  bundle.message_max_bytes = plan.group.message_max_bytes;
  bundle.window_bytes = plan.group.window_bytes;
  bundle.window_messages = plan.group.window_messages;
  bundle.delivery = plan.group.delivery;
  return bundle;
}

}  // namespace

PerfTopics::PerfTopics(dds::DomainParticipant participant, const PerfPlan& plan,
                       const PerfOptions& options)
    : participant_(std::move(participant)),
      service_(*plan.service),
      bundles_(options.groups),
      quiet_(options.quiet_topics),
      size_(static_cast<std::uint32_t>(options.size_bytes)),
      stamps_(options.source_timestamps) {}

Result<PerfTopics> PerfTopics::join(Node& node, const PerfPlan& plan, const PerfOptions& options) {
  dds::ParticipantOptions wanted;
  for (std::uint32_t i = 0; i < options.groups; ++i) wanted.bundles.push_back(bundle_of(plan, i));
  wanted.topics_max = options.groups + options.quiet_topics;
  wanted.timeout = plan.node.start_timeout;
  Result<dds::DomainParticipant> participant =
      dds::DomainParticipant::create(node, std::move(wanted));
  if (!participant) return std::unexpected(std::move(participant.error()));
  return PerfTopics(std::move(*participant), plan, options);
}

dds::TopicTypeInfo PerfTopics::type() const {
  dds::TopicTypeInfo type;
  type.name = "tutti.perf";
  type.hash = size_;
  type.in_place_bytes = size_;
  return type;
}

Result<void> PerfTopics::open(std::deque<Receiver>& receivers) {
  for (std::uint32_t i = 0; i < bundles_; ++i) {
    const std::string name = perf_group_name(i);
    Result<dds::UntypedTopic> topic = dds::UntypedTopic::create(
        participant_, name, type(), {.service = service_, .bundle = name});
    if (!topic) return std::unexpected(std::move(topic.error()));
    Receiver* const receiver = &receivers[i];
    Result<dds::UntypedReader> reader = dds::UntypedReader::create(
        *topic, {},
        {.on_samples = [receiver](const dds::ByteBatch& batch) { receiver->deliver(batch); }});
    if (!reader) return std::unexpected(std::move(reader.error()));
    topics_.push_back(std::move(*topic));
    readers_.push_back(std::move(*reader));
  }
  for (std::uint32_t i = 0; i < quiet_; ++i) {
    if (Result<void> opened = open_quiet(i); !opened) return opened;
  }
  return {};
}

Result<void> PerfTopics::open_quiet(std::uint32_t number) {
  Result<dds::UntypedTopic> topic =
      dds::UntypedTopic::create(participant_, "quiet" + std::to_string(number), type(),
                                {.service = service_, .bundle = perf_group_name(0)});
  if (!topic) return std::unexpected(std::move(topic.error()));
  Result<dds::UntypedReader> reader =
      dds::UntypedReader::create(*topic, {}, {.on_samples = [](const dds::ByteBatch&) {}});
  if (!reader) return std::unexpected(std::move(reader.error()));
  topics_.push_back(std::move(*topic));
  readers_.push_back(std::move(*reader));
  return {};
}

Result<dds::UntypedWriter*> PerfTopics::write(std::uint32_t group) {
  Result<dds::UntypedWriter> writer = dds::UntypedWriter::create(
      topics_[group], {.max_blocking_time = kWriteWait, .source_timestamps = stamps_});
  if (!writer) return std::unexpected(std::move(writer.error()));
  return &writers_.emplace_back(std::move(*writer));
}

std::vector<Group> PerfTopics::groups() const {
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < bundles_; ++i) groups.push_back(topics_[i].group());
  return groups;
}

}  // namespace tutti::cli
