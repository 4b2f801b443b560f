#include <condition_variable>
#include <future>
#include <utility>

#include "client/core.hpp"
#include "tutti/client.hpp"

namespace tutti::client {
namespace {

TopicDescription described(const relay::TopicInfo& info) {
  return {.name = info.name,
          .bundle = info.bundle,
          .service = static_cast<Service>(info.service),
          .epoch = info.epoch,
          .sample_bytes_max = info.sample_bytes_max,
          .type = info.type,
          .type_hash = info.type_hash,
          .type_description = info.description};
}

// Waits for what `begin` hands to the function that it is given, which may come after the wait.
template <class Value, class Begin>
Result<Value> wait_for(const Core& core, Timeout timeout, const std::string& what,
                       const Begin& begin) {
  if (core.is_own_thread()) {
    return fail(ErrorCode::in_callback, what + ": this call waits, and a callback must not");
  }
  const auto promise = std::make_shared<std::promise<Result<Value>>>();
  std::future<Result<Value>> future = promise->get_future();
  Result<void> begun =
      begin([promise](Result<Value> value) { promise->set_value(std::move(value)); });
  if (!begun) return std::unexpected(begun.error());
  if (future.wait_for(std::min<Timeout>(timeout, std::chrono::hours(24 * 365))) !=
      std::future_status::ready) {
    std::string why = what + ": no answer in time";
    if (!core.is_connected()) {
      const std::string trouble = core.trouble();
      why += "; the client is connected to no relay" +
             (trouble.empty() ? "" : ", and the last try was " + trouble);
    }
    return fail(ErrorCode::timed_out, std::move(why));
  }
  return future.get();
}

}  // namespace

Result<void> Options::validate() const {
  using namespace std::chrono_literals;
  if (relays.empty()) {
    return fail(ErrorCode::invalid_argument, "Options::relays is empty: name at least one relay");
  }
  for (const std::string& relay : relays) {
    const std::size_t colon = relay.rfind(':');
    if (colon != std::string::npos && colon != 0 && colon + 1 != relay.size()) continue;
    return fail(ErrorCode::invalid_argument,
                "Options::relays: \"" + relay + "\" is no address; write host:port");
  }
  if (name.size() > 64 || token.size() > 1024) {
    return fail(ErrorCode::invalid_argument,
                "Options::name has more than 64 bytes, or Options::token more than 1024");
  }
  if (connect_timeout < 1ms || connect_timeout > 1h || waiting_max == 0 ||
      waiting_max > 1'000'000) {
    return fail(ErrorCode::invalid_argument,
                "Options: connect_timeout is 1 ms .. 1 hour, waiting_max 1 .. 1,000,000");
  }
  return {};
}

Result<Client> Client::create(Options options) {
  Result<std::shared_ptr<Core>> core = Core::start(std::move(options));
  if (!core) return std::unexpected(core.error());
  return Client(std::move(*core));
}

Client::Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&& other) noexcept {
  if (core_ != nullptr && core_ != other.core_) core_->stop();
  core_ = std::move(other.core_);
  return *this;
}
Client::~Client() {
  if (core_ != nullptr) core_->stop();
}

bool Client::is_connected() const { return core_->is_connected(); }

Result<TopicDescription> Client::topic(std::string_view name, Timeout timeout) {
  const std::string text(name);
  std::uint64_t waiter = 0;
  auto topic = wait_for<TopicDescription>(*core_, timeout, "topic " + text, [&](const auto& set) {
    const Result<std::uint64_t> asked =
        core_->find(text, [set](const Result<relay::TopicInfo>& info) {
          if (info) {
            set(described(*info));
          } else {
            set(std::unexpected(info.error()));
          }
        });
    if (!asked) return Result<void>(std::unexpected(asked.error()));
    waiter = *asked;
    return Result<void>();
  });
  if (!topic && topic.error().code == ErrorCode::timed_out) core_->forget(text, waiter);
  return topic;
}

Result<std::vector<TopicDescription>> Client::topics(Timeout timeout) {
  using All = std::vector<TopicDescription>;
  std::uint32_t request = 0;
  auto topics = wait_for<All>(*core_, timeout, "topics", [&](const auto& set) {
    const Result<std::uint32_t> asked =
        core_->list([set](const Result<std::vector<relay::TopicInfo>>& all) {
          if (!all) return set(std::unexpected(all.error()));
          All out;
          for (const relay::TopicInfo& one : *all) out.push_back(described(one));
          set(std::move(out));
        });
    if (!asked) return Result<void>(std::unexpected(asked.error()));
    request = *asked;
    return Result<void>();
  });
  if (!topics && topics.error().code == ErrorCode::timed_out) core_->forget_list(request);
  return topics;
}

Result<Published> Client::publish(std::string_view topic, std::span<const std::byte> bytes,
                                  Timeout timeout) {
  const std::string name(topic);
  return wait_for<Published>(*core_, timeout, "publish to " + name, [&](const auto& set) {
    return core_->publish(name, bytes, [set](const Published& published) { set(published); });
  });
}

Result<Published> Client::publish(std::string_view topic, std::string_view text, Timeout timeout) {
  return publish(topic, std::as_bytes(std::span(text)), timeout);
}

Result<void> Client::publish(std::string_view topic, std::span<const std::byte> bytes,
                             Answered answered) {
  return core_->publish(std::string(topic), bytes, std::move(answered));
}

Result<Subscription> Client::subscribe(std::string_view topic, SubscribeOptions options) {
  const Result<std::uint32_t> number = core_->subscribe(std::string(topic), std::move(options));
  if (!number) return std::unexpected(number.error());
  return Subscription(core_, *number);
}

Subscription::Subscription(std::shared_ptr<Core> core, std::uint32_t number)
    : core_(std::move(core)), number_(number) {}
Subscription::Subscription(Subscription&&) noexcept = default;
Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) core_->unsubscribe(number_);
  core_ = std::move(other.core_);
  number_ = other.number_;
  return *this;
}
Subscription::~Subscription() {
  if (core_ != nullptr) core_->unsubscribe(number_);
}

Result<Received> Subscription::take(Timeout timeout) {
  if (core_->is_own_thread()) {
    return fail(ErrorCode::in_callback, "take: this call waits, and a callback must not");
  }
  return core_->take(number_, timeout);
}

}  // namespace tutti::client
