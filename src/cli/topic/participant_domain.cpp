// `tutti topic --members`: the command is a participant of its own.
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/common_options.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/signals.hpp"
#include "cli/topic/reach.hpp"
#include "cli/view_text.hpp"
#include "tutti/dds.hpp"
#include "tutti/dds/json.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t kTakeMax = 256;
constexpr std::chrono::seconds kLeaveTimeout{30};

TopicRow row_of(dds::TopicDescription topic) {
  return {.name = std::move(topic.name),
          .bundle = topic.options.bundle,
          .service = std::string(dds::to_string(topic.options.service)),
          .type = std::move(topic.type),
          .options = std::move(topic.options),
          .endpoints = std::move(topic.endpoints)};
}

class ReaderFeed : public TopicFeed {
 public:
  ReaderFeed(dds::UntypedTopic topic, dds::UntypedReader reader)
      : topic_(std::move(topic)), reader_(std::move(reader)) {}

  Result<std::optional<TopicSample>> next(Timeout timeout) override {
    if (at_ == taken_.size()) {
      if (Result<void> more = take(timeout); !more) return std::unexpected(more.error());
      if (taken_.empty()) return std::nullopt;
    }
    const dds::LoanedBytes::Sample& sample = taken_[at_++];
    return TopicSample{.position = sample.info.position.value,
                       .sender = std::string(topic_.name_of(sample.info.sender)),
                       .timestamp_ns = sample.info.source_timestamp,
                       .lost_before = sample.info.lost_before,
                       .bytes = sample.bytes()};
  }

 private:
  /// Nothing may be there after it.
  Result<void> take(Timeout timeout) {
    taken_.clear();
    at_ = 0;
    if (timeout.count() > 0) {
      if (Result<void> ready = reader_.wait(timeout); !ready) {
        if (ready.error().code == ErrorCode::timed_out) return {};
        return ready;
      }
    }
    Result<dds::LoanedBytes> taken = reader_.take(kTakeMax);
    if (!taken) return std::unexpected(std::move(taken.error()));
    taken_ = std::move(*taken);
    return {};
  }

  dds::UntypedTopic topic_;
  dds::UntypedReader reader_;
  dds::LoanedBytes taken_;
  std::size_t at_ = 0;
};

class WriterSink : public TopicSink {
 public:
  WriterSink(dds::UntypedWriter writer, std::optional<dds::Type> keyed)
      : writer_(std::move(writer)), keyed_(std::move(keyed)) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    const Result<std::uint64_t> key = key_hash(bytes);
    if (!key) return std::unexpected(key.error());
    while (true) {
      const Result<Ticket> ticket = writer_.write(bytes, *key);
      if (ticket) return {};
      if (ticket.error().code != ErrorCode::timed_out) return std::unexpected(ticket.error());
      if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    }
  }

  Result<void> finish() override {
    while (true) {
      Result<void> done = writer_.wait_for_acknowledgments(kTopicLook);
      if (done || done.error().code != ErrorCode::timed_out) return done;
      if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    }
  }

 private:
  [[nodiscard]] Result<std::uint64_t> key_hash(std::span<const std::byte> bytes) const {
    if (!keyed_) return 0;
    const Result<std::string> shown = dds::print_json(*keyed_, bytes);
    if (!shown) return std::unexpected(shown.error());
    const Result<std::vector<std::byte>> key = dds::parse_json_key(*keyed_, *shown);
    if (!key) return std::unexpected(key.error());
    return dds::hash_of_key(*key);
  }

  dds::UntypedWriter writer_;
  const std::optional<dds::Type> keyed_;  // the type, if samples have a key
};

class ParticipantDomain : public TopicDomain {
 public:
  static Result<std::unique_ptr<TopicDomain>> start(NodeOptions options,
                                                    std::chrono::seconds leave_early) {
    std::unique_ptr<ParticipantDomain> domain(new ParticipantDomain(leave_early));
    Result<Node> node = Node::create(std::move(options));
    if (!node) return std::unexpected(std::move(node.error()));
    domain->node_.emplace(std::move(*node));
    auto participant = dds::DomainParticipant::create(*domain->node_);
    if (!participant) return std::unexpected(std::move(participant.error()));
    domain->participant_.emplace(std::move(*participant));
    if (Result<void> started = domain->node_->start(); !started) {
      return std::unexpected(std::move(started.error()));
    }
    return domain;
  }

  Result<std::vector<TopicRow>> topics() override {
    std::vector<TopicRow> rows;
    for (dds::TopicDescription& topic : participant_->topics()) {
      rows.push_back(row_of(std::move(topic)));
    }
    return rows;
  }

  Result<TopicRow> topic(std::string_view name) override {
    for (dds::TopicDescription& topic : participant_->topics()) {
      if (topic.name == name) return row_of(std::move(topic));
    }
    return fail(ErrorCode::refused, "there is no topic '" + std::string(name) + "'");
  }

  Result<TopicRow> create(const TopicRow& row) override {
    auto created = dds::UntypedTopic::create(*participant_, row.name, row.type,
                                             row.options.value_or(dds::TopicOptions{}));
    if (!created) return std::unexpected(std::move(created.error()));
    return topic(row.name);
  }

  Result<std::unique_ptr<TopicFeed>> read(const TopicRow& row, dds::From from) override {
    auto topic = dds::UntypedTopic::find(*participant_, row.name);
    if (!topic) return std::unexpected(std::move(topic.error()));
    auto reader = dds::UntypedReader::create(*topic, {.from = from});
    if (!reader) return std::unexpected(std::move(reader.error()));
    return std::make_unique<ReaderFeed>(std::move(*topic), std::move(*reader));
  }

  Result<std::unique_ptr<TopicSink>> write(const TopicRow& row) override {
    std::optional<dds::Type> keyed;
    if (row.type.keyed) {
      Result<dds::Type> type = dds::decode_type(row.type.description);
      if (!type) {
        return fail(type.error().code, "topic '" + row.name +
                                           "' has keys, and its type is not known: only a program "
                                           "that was compiled with it writes it; " +
                                           type.error().message);
      }
      keyed = std::move(*type);
    }
    auto topic = dds::UntypedTopic::find(*participant_, row.name);
    if (!topic) return std::unexpected(std::move(topic.error()));
    auto writer = dds::UntypedWriter::create(*topic, {.max_blocking_time = kTopicLook});
    if (!writer) return std::unexpected(std::move(writer.error()));
    return std::make_unique<WriterSink>(std::move(*writer), std::move(keyed));
  }

  Result<void> leave() override {
    return node_->leave(interrupted() != 0 ? leave_early_ : kLeaveTimeout);
  }

 private:
  explicit ParticipantDomain(std::chrono::seconds leave_early) : leave_early_(leave_early) {}

  const std::chrono::seconds leave_early_;  // when it is told to end
  std::optional<Node> node_;
  std::optional<dds::DomainParticipant> participant_;
};

}  // namespace

Result<std::unique_ptr<TopicDomain>> join_domain(const Reach& reach) {
  NodeOptions node{.name = reach.name};
  Result<std::vector<MemberAddress>> members = members_from(reach.members);
  if (!members) return std::unexpected(std::move(members.error()));
  const auto timeout = duration_from(reach.start_timeout_s, "--start-timeout");
  if (!timeout) return std::unexpected(timeout.error());
  const auto suspect_after = duration_from(reach.suspect_after_s, "--suspect-after");
  if (!suspect_after) return std::unexpected(suspect_after.error());
  if (Result<void> set = set_fabric(node, reach.fabric); !set) {
    return std::unexpected(std::move(set.error()));
  }
  node.members = std::move(*members);
  node.start_timeout = *timeout;
  node.founders = reach.founders;
  node.join_only = reach.join_only;
  node.bootstrap = reach.bootstrap;
  node.suspect_after = *suspect_after;
  node.state_dir = reach.state_dir;
  node.log = library_log();
  return ParticipantDomain::start(std::move(node), std::chrono::seconds(reach.leave_timeout_s));
}

}  // namespace tutti::cli
