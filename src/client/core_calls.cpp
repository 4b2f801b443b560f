// What the application asks for, and what it is told.
#include <utility>

#include "client/core.hpp"

namespace tutti::client {
namespace {

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::unexpected<Error> unknown_topic(const std::string& topic) {
  return fail(ErrorCode::invalid_argument,
              "the topic \"" + topic + "\" is not known here: ask for it with topic() first");
}

std::unexpected<Error> client_ended() { return fail(ErrorCode::stopped, "the client ended"); }

}  // namespace

Result<std::uint64_t> Core::find(std::string name, OnTopic told) {
  const std::uint64_t waiter = ++waiters_;
  const bool asks = post([this, waiter, name = std::move(name), told = std::move(told)]() mutable {
    finding_[name].emplace(waiter, std::move(told));
    machine_->find(name);
    flush();
  });
  if (!asks) return client_ended();
  return waiter;
}

void Core::forget(std::string name, std::uint64_t waiter) {
  static_cast<void>(post([this, waiter, name = std::move(name)] {
    const auto found = finding_.find(name);
    if (found == finding_.end()) return;
    found->second.erase(waiter);
    if (found->second.empty()) finding_.erase(found);
  }));
}

void Core::on_topic(const std::string& name, const Result<relay::TopicInfo>& topic) {
  finds_again_ = {};
  if (topic) {
    const std::scoped_lock lock(mutex_);
    sample_bytes_max_[name] = topic->sample_bytes_max;
  }
  const auto found = finding_.extract(name);
  if (found.empty()) return;
  for (const auto& [waiter, told] : found.mapped()) told(topic);
}

// A relay that takes nothing of the topic says nothing of the others: what is published there makes
// the client go to the next one.
void Core::on_found(const std::string& name, const relay::TopicInfo& topic) {
  if (topic.sample_bytes_max == 0) return;
  const std::scoped_lock lock(mutex_);
  sample_bytes_max_[name] = topic.sample_bytes_max;
}

Result<std::uint32_t> Core::list(OnTopics told) {
  const std::uint32_t request = ++lists_;
  const bool asks = post([this, request, told = std::move(told)]() mutable {
    listing_[request].first = std::move(told);
    machine_->list(request);
    flush();
  });
  if (!asks) return client_ended();
  return request;
}

void Core::forget_list(std::uint32_t request) {
  static_cast<void>(post([this, request] {
    listing_.erase(request);
    machine_->forget_list(request);
  }));
}

void Core::on_topics(std::uint32_t request, const std::vector<relay::TopicInfo>& topics,
                     bool last) {
  const auto found = listing_.find(request);
  if (found == listing_.end()) return;
  auto& all = found->second.second;
  all.insert(all.end(), topics.begin(), topics.end());
  if (!last) return;
  const auto told = std::move(found->second);
  listing_.erase(found);
  told.first(told.second);
}

Result<void> Core::may_publish(const std::string& topic, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = sample_bytes_max_.find(topic);
  if (found == sample_bytes_max_.end()) return unknown_topic(topic);
  if (found->second == 0) {
    return fail(ErrorCode::refused,
                "clients cannot publish to the topic \"" + topic +
                    "\": its samples have keys, or the relay's member is no sender of its bundle");
  }
  if (bytes <= found->second) return {};
  return fail(ErrorCode::invalid_argument, "a sample of " + std::to_string(bytes) +
                                               " bytes; the topic \"" + topic +
                                               "\" takes at most " + std::to_string(found->second));
}

bool Core::is_known(const std::string& topic) {
  const std::scoped_lock lock(mutex_);
  return sample_bytes_max_.contains(topic);
}

Result<void> Core::publish(std::string topic, std::span<const std::byte> bytes,
                           Client::Answered answered) {
  if (over_) return client_ended();
  if (Result<void> may = may_publish(topic, bytes.size()); !may) return may;
  if (waiting_.fetch_add(1) >= options_.waiting_max) {
    waiting_.fetch_sub(1);
    return fail(ErrorCode::no_space, std::to_string(options_.waiting_max) +
                                         " publications have no outcome yet; wait for some, or "
                                         "raise Options::waiting_max");
  }
  const bool publishes =
      post([this, topic = std::move(topic), answered = std::move(answered), at = now_ns(),
            copy = std::vector<std::byte>(bytes.begin(), bytes.end())]() mutable {
        const std::uint64_t publication = ++publications_;
        answers_.emplace(publication, std::move(answered));
        machine_->publish(topic, publication, at, copy);
        flush();
      });
  if (publishes) return {};
  waiting_.fetch_sub(1);
  return client_ended();
}

void Core::on_answer(std::uint64_t publication, const Answer& answer) {
  using Outcome = Published::Outcome;
  const auto found = answers_.extract(publication);
  if (found.empty()) return;
  waiting_.fetch_sub(1);
  const bool was_taken = answer.refused.empty() && answer.status != relay::Status::expired;
  if (was_taken && !leaves_) stays_ = {};
  Published published{.position = answer.position, .text = answer.refused};
  if (!answer.refused.empty()) {
    published.outcome = Outcome::refused;
    published.position = relay::kNone;
  } else {
    switch (answer.status) {
      case relay::Status::delivered:
      case relay::Status::duplicate:
        published.outcome = Outcome::delivered;
        break;
      case relay::Status::sent:
        published.outcome = Outcome::sent;
        break;
      case relay::Status::unfit:
        published.outcome = Outcome::refused;
        published.text = "it is no sample of the topic, by its size, or the topic was deleted";
        break;
      case relay::Status::expired:
        published.outcome = Outcome::unknown;
        published.text = "its session expired, or its connection broke, before it was answered";
    }
  }
  if (found.mapped()) call(found.mapped(), published);
}

Result<std::uint32_t> Core::subscribe(std::string topic, SubscribeOptions options) {
  if (over_) return client_ended();
  if (!is_known(topic)) return unknown_topic(topic);
  if (options.window == 0 || options.window > 1'000'000) {
    return fail(ErrorCode::invalid_argument,
                "SubscribeOptions::window is out of its range, 1 .. 1,000,000");
  }
  auto inbox = std::make_shared<Inbox>();
  inbox->on_received = std::move(options.on_received);
  std::uint32_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = ++subscriptions_;
    inboxes_.emplace(number, inbox);
  }
  const bool asks =
      post([this, number, topic = std::move(topic), from = static_cast<relay::From>(options.from),
            position = options.position, epoch = options.epoch, window = options.window] {
        machine_->subscribe(number, topic, from, position, epoch, window);
        flush();
      });
  if (asks) return number;
  const std::scoped_lock lock(mutex_);
  inboxes_.erase(number);
  return client_ended();
}

void Core::unsubscribe(std::uint32_t number) {
  {
    const std::scoped_lock lock(mutex_);
    inboxes_.erase(number);
  }
  static_cast<void>(post([this, number] {
    machine_->unsubscribe(number);
    flush();
  }));
}

std::shared_ptr<Inbox> Core::inbox(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = inboxes_.find(number);
  return found == inboxes_.end() ? nullptr : found->second;
}

void Core::deliver(std::uint32_t subscription, Received received) {
  const std::shared_ptr<Inbox> to = inbox(subscription);
  if (to == nullptr) return;
  const bool is_sample = std::holds_alternative<Sample>(received);
  if (to->on_received) {
    call(to->on_received, received);
    if (is_sample) machine_->consumed(subscription, 1);
    return;
  }
  const std::scoped_lock lock(to->mutex);
  to->received.push_back(std::move(received));
  to->changed.notify_one();
}

Result<Received> Core::take(std::uint32_t number, Timeout timeout) {
  const std::shared_ptr<Inbox> from = inbox(number);
  std::unique_lock lock(from->mutex);
  if (from->on_received) {
    return fail(ErrorCode::invalid_argument, "this subscription has on_received: it is called");
  }
  // Far away rather than beyond what the clock can count.
  const auto until =
      std::chrono::steady_clock::now() + std::min<Timeout>(timeout, std::chrono::hours(24 * 365));
  if (!from->changed.wait_until(lock, until,
                                [&] { return !from->received.empty() || from->ended; })) {
    return fail(ErrorCode::timed_out, "nothing came in time");
  }
  if (from->received.empty()) return fail(ErrorCode::stopped, "the subscription has ended");
  Received received = std::move(from->received.front());
  from->received.pop_front();
  if (std::holds_alternative<Ended>(received)) from->ended = true;
  const bool is_sample = std::holds_alternative<Sample>(received);
  lock.unlock();
  if (is_sample) {
    static_cast<void>(post([this, number] {
      machine_->consumed(number, 1);
      flush();
    }));
  }
  return received;
}

void Core::on_sample(std::uint32_t subscription, const relay::Sample& sample) {
  deliver(subscription, Sample{.position = sample.position,
                               .epoch = machine_->epoch_of(subscription),
                               .sender = sample.sender,
                               .timestamp_ns = sample.timestamp_ns,
                               .bytes = {sample.bytes.begin(), sample.bytes.end()}});
}

void Core::on_gap(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) {
  deliver(subscription, Gap{from, to});
}

void Core::on_ended(std::uint32_t subscription, const std::string& why) {
  deliver(subscription, Ended{why});
}

}  // namespace tutti::client
