#include "cli/demo_topics/endpoint.hpp"

#include <optional>
#include <string>

namespace tutti::cli {
namespace {

constexpr std::size_t kWaitingMax = 2000;  // samples of one writer

}  // namespace

Result<DemoEndpoint> DemoEndpoint::create(const dds::DomainParticipant& participant,
                                          std::size_t topic, std::size_t self) {
  const DemoTopic& about = kDemoTopics[topic];
  const dds::TopicOptions options{.service = about.service, .history = about.history};
  auto created = dds::Topic<DemoSample>::create(participant, about.name, options);
  if (!created) return std::unexpected(std::move(created.error()));
  const bool is_kept =
      about.service == dds::Service::volatile_storage || about.service == dds::Service::logged;
  auto reader = Reader::create(*created, {.from = is_kept ? dds::kFromStored : dds::kFromNow});
  if (!reader) return std::unexpected(std::move(reader.error()));
  auto writer = dds::DataWriter<DemoSample>::create(*created);
  if (!writer) return std::unexpected(std::move(writer.error()));
  return DemoEndpoint(topic, self, std::move(*writer), std::move(*reader));
}

Result<void> DemoEndpoint::write(bool is_last) {
  if (has_written_last_ || waiting_.size() >= kWaitingMax) return {};
  const Result<Ticket> ticket = writer_.try_write(
      {.writer = static_cast<std::uint32_t>(self_), .number = next_, .is_last = is_last ? 1U : 0U});
  if (!ticket && ticket.error().code == ErrorCode::no_space) return {};  // at the next turn
  if (!ticket) return std::unexpected(ticket.error());
  if (topic_ != kDemoUnordered) waiting_.emplace_back(*ticket, next_);
  ++next_;
  has_written_last_ = is_last;
  return {};
}

void DemoEndpoint::note_acknowledged(Output& output) {
  std::optional<std::uint32_t> last;
  while (!waiting_.empty() && writer_.delivered(waiting_.front().first)) {
    last = waiting_.front().second;
    waiting_.pop_front();
  }
  if (last) append_acknowledged(output, topic_, *last);
}

Result<void> DemoEndpoint::take(Output& output) {
  while (true) {
    const auto taken = reader_.take();
    if (!taken) return std::unexpected(taken.error());
    if (taken->empty()) return {};
    for (const auto& each : *taken) {
      const DemoSample& sample = each.data();
      if (sample.writer >= kDemoWriters.size()) {
        return fail(ErrorCode::mismatch,
                    "writer " + std::to_string(sample.writer) + " is none of the demo");
      }
      append_sample(output, topic_, {each.info().position.value, sample});
      if (sample.is_last != 0) ended_[sample.writer] = true;
      ++seen_;
    }
  }
}

}  // namespace tutti::cli
