// `tutti topic --relay`: the command is a client of a relay.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>

#include "cli/common_options.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/signals.hpp"
#include "cli/topic/reach.hpp"
#include "tutti/client.hpp"
#include "tutti/dds/type.hpp"

namespace tutti::cli {
namespace {

constexpr std::chrono::milliseconds kNow{1};  // for what is asked to wait not at all
constexpr std::array<const char*, 4> kServices = {"unordered", "atomic", "stored", "logged"};

TopicRow row_of(const client::TopicDescription& topic) {
  TopicRow row{.name = topic.name, .bundle = topic.bundle};
  const auto service = static_cast<std::size_t>(topic.service);
  row.service = service < kServices.size() ? kServices[service] : "?";
  row.type.name = topic.type;
  row.type.hash = topic.type_hash;
  const auto description = std::as_bytes(std::span(topic.type_description));
  row.type.description.assign(description.begin(), description.end());
  return row;
}

class SubscriptionFeed : public TopicFeed {
 public:
  explicit SubscriptionFeed(client::Subscription subscription)
      : subscription_(std::move(subscription)) {}

  Result<std::optional<TopicSample>> next(Timeout timeout) override {
    Result<client::Received> received =
        subscription_.take(timeout.count() > 0 ? timeout : Timeout(kNow));
    if (!received) {
      if (received.error().code == ErrorCode::timed_out) return std::nullopt;
      return std::unexpected(std::move(received.error()));
    }
    if (const auto* ended = std::get_if<client::Ended>(&*received)) {
      return fail(ErrorCode::stopped, "the subscription has ended: " + ended->text);
    }
    if (const auto* gap = std::get_if<client::Gap>(&*received)) {
      // Positions have gaps of other topics' samples: how many are lost is not known.
      log_warning(gap->to == ~std::uint64_t{0}
                      ? "all participants were started anew: samples may be missing"
                      : "samples at positions " + std::to_string(gap->from) + " to " +
                            std::to_string(gap->to - 1) + " are gone");
      return std::nullopt;
    }
    sample_ = std::move(std::get<client::Sample>(*received));
    return TopicSample{.position = sample_.position,
                       .sender = "#" + std::to_string(sample_.sender),
                       .timestamp_ns = sample_.timestamp_ns,
                       .bytes = sample_.bytes};
  }

 private:
  client::Subscription subscription_;
  client::Sample sample_;
};

class ClientSink : public TopicSink {
 public:
  ClientSink(client::Client& client, std::string topic)
      : client_(client), topic_(std::move(topic)) {}
  ~ClientSink() override {
    const std::lock_guard lock(answers_->mutex);
    answers_->is_over = true;
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    while (true) {
      const Result<void> sent = client_.publish(
          topic_, bytes,
          [answers = answers_](const client::Published& published) { answers->add(published); });
      if (sent) break;
      if (sent.error().code != ErrorCode::no_space) return sent;
      if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
      wait([](const Answers& answers) { return answers.changed; });
    }
    ++sent_;
    return bad();
  }

  Result<void> finish() override {
    while (!wait([this](const Answers& answers) { return answers.count == sent_; })) {
      if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    }
    return bad();
  }

 private:
  // Outlives the sink in answers that come late.
  struct Answers {
    std::mutex mutex;
    std::condition_variable came;
    std::uint64_t count = 0;
    std::optional<std::string> bad;  // why the first that was not delivered was not
    bool changed = false;
    bool is_over = false;

    void add(const client::Published& published) {
      using Outcome = client::Published::Outcome;
      const std::lock_guard lock(mutex);
      if (is_over) return;
      ++count;
      changed = true;
      if (!bad &&
          (published.outcome == Outcome::unknown || published.outcome == Outcome::refused)) {
        bad = published.text.empty() ? "it is not known whether it was delivered" : published.text;
      }
      came.notify_all();
    }
  };

  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(answers_->mutex);
    const bool holds =
        answers_->came.wait_for(lock, kTopicLook, [&] { return condition(*answers_); });
    answers_->changed = false;
    return holds;
  }

  Result<void> bad() {
    const std::lock_guard lock(answers_->mutex);
    if (!answers_->bad) return {};
    return fail(ErrorCode::refused, "topic '" + topic_ + "': " + *answers_->bad);
  }

  client::Client& client_;
  const std::string topic_;
  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::uint64_t sent_ = 0;
};

class RelayDomain : public TopicDomain {
 public:
  RelayDomain(client::Client client, std::chrono::nanoseconds timeout)
      : client_(std::move(client)), timeout_(timeout) {}

  Result<std::vector<TopicRow>> topics() override {
    const auto topics = client_.topics(timeout_);
    if (!topics) return std::unexpected(topics.error());
    std::vector<TopicRow> rows;
    for (const client::TopicDescription& topic : *topics) rows.push_back(row_of(topic));
    std::ranges::sort(rows, {}, &TopicRow::name);
    return rows;
  }

  Result<TopicRow> topic(std::string_view name) override {
    const auto topic = client_.topic(name, timeout_);
    if (!topic) return std::unexpected(topic.error());
    return row_of(*topic);
  }

  Result<TopicRow> create(const TopicRow& row) override {
    Result<TopicRow> found = topic(row.name);
    if (found || found.error().code != ErrorCode::refused) return found;
    return fail(ErrorCode::refused, "there is no topic '" + row.name +
                                        "', and a client cannot create one: let a participant do "
                                        "it, or use --members");
  }

  Result<std::unique_ptr<TopicFeed>> read(const TopicRow& row, dds::From from) override {
    client::SubscribeOptions options;
    options.window = 4096;
    if (from.kind == dds::From::Kind::stored) options.from = client::SubscribeOptions::From::stored;
    if (from.kind == dds::From::Kind::position) {
      const auto topic = client_.topic(row.name, timeout_);
      if (!topic) return std::unexpected(topic.error());
      options.from = client::SubscribeOptions::From::position;
      options.position = from.first.value;
      options.epoch = topic->epoch;
    }
    auto subscription = client_.subscribe(row.name, std::move(options));
    if (!subscription) return std::unexpected(std::move(subscription.error()));
    return std::make_unique<SubscriptionFeed>(std::move(*subscription));
  }

  Result<std::unique_ptr<TopicSink>> write(const TopicRow& row) override {
    return std::make_unique<ClientSink>(client_, row.name);
  }

  Result<void> leave() override { return {}; }

 private:
  client::Client client_;
  const std::chrono::nanoseconds timeout_;
};

}  // namespace

Result<std::unique_ptr<TopicDomain>> call_relay(const Reach& reach) {
  const auto timeout = duration_from(reach.start_timeout_s, "--start-timeout");
  if (!timeout) return std::unexpected(timeout.error());
  client::Options options{.relays = split_list(reach.relay), .token = reach.token};
  options.name = reach.name.empty() ? "tutti topic" : reach.name;
  options.log = [](std::string_view line) { log_debug(line); };
  Result<client::Client> client = client::Client::create(std::move(options));
  if (!client) return std::unexpected(std::move(client.error()));
  auto domain = std::make_unique<RelayDomain>(std::move(*client), *timeout);
  if (const auto topics = domain->topics(); !topics) return std::unexpected(topics.error());
  return domain;
}

}  // namespace tutti::cli
