// The connection, topics and subscriptions; machine_sessions.cpp has what is published.
#include "client/machine.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "relay/codec.hpp"

namespace tutti::client {

using relay::From;
using relay::kNone;

void Machine::connected() {
  connected_ = true;
  say(relay::Hello{.client_high = identity_.high,
                   .client_low = identity_.low,
                   .name = identity_.name,
                   .token = identity_.token});
}

void Machine::disconnected() {
  connected_ = welcome_ = false;
  output_.clear();
  asked_.clear();
  late_.clear();
  for (auto& [name, topic] : topics_) topic.number.reset();
  for (auto& [bundle, session] : sessions_) session.open = session.opening = session.busy = false;
  for (auto& [number, subscription] : subscriptions_) subscription.asked = false;
  // Nobody knows whether these were sent on: a topic without order promises nothing.
  for (auto& [request, one] : std::exchange(unordered_, {})) {
    events_.on_answer(one.publication, {.status = relay::Status::expired});
  }
}

void Machine::receive(const relay::Frame& frame) {
  if (!welcome_ && !std::holds_alternative<relay::Welcome>(frame) &&
      !std::holds_alternative<relay::Bye>(frame)) {
    return broken("the relay says something before its welcome");
  }
  std::visit([this](const auto& one) { on(one); }, frame);
}

void Machine::on(const relay::Welcome& frame) {
  if (welcome_) return broken("a second welcome");
  welcome_ = true;
  events_.on_welcome(frame);
  for (const auto& [name, topic] : topics_) ask(name);
  for (const std::uint32_t request : lists_) say(relay::List{request});
}

void Machine::on(const relay::Bye& frame) { events_.on_bye(frame.code, frame.text); }

void Machine::on(const relay::Ping& frame) { say(relay::Pong{frame.number}); }

void Machine::ping() {
  if (!welcome_) return;
  say(relay::Ping{++pings_});
  for (auto& [bundle, session] : sessions_) session.busy = false;
  // advance() may change the sessions.
  std::vector<std::string> bundles;
  for (const auto& [bundle, session] : sessions_) bundles.push_back(bundle);
  for (const std::string& bundle : bundles) {
    const auto session = sessions_.find(bundle);
    if (session != sessions_.end()) advance(bundle, session->second);
  }
}

template <class Other>
void Machine::on(const Other&) {
  if constexpr (!std::is_same_v<Other, relay::Pong> && !std::is_same_v<Other, relay::Closed>) {
    broken("the relay says what only clients say");
  }
}

void Machine::broken(const std::string& what) { events_.on_bye(relay::Code::malformed, what); }

void Machine::say(const relay::Frame& frame) {
  if (connected_) relay::encode(frame, output_);
}

void Machine::find(const std::string& name) {
  topics_[name].asked = true;
  if (welcome_) ask(name);
}

void Machine::ask_again() {
  for (const std::string& name : std::exchange(late_, {})) {
    if (topics_.contains(name)) ask(name);
  }
}

void Machine::list(std::uint32_t request) {
  lists_.insert(request);
  if (welcome_) say(relay::List{request});
}

void Machine::forget_list(std::uint32_t request) { lists_.erase(request); }

void Machine::on(const relay::Topics& frame) {
  if (!lists_.contains(frame.request)) return;
  if (frame.last) lists_.erase(frame.request);
  events_.on_topics(frame.request, frame.topics, frame.last);
}

void Machine::ask(const std::string& name) {
  asked_[++finds_] = name;
  say(relay::Find{finds_, name});
}

void Machine::on(const relay::Found& frame) {
  const auto asked = asked_.find(frame.request);
  if (asked == asked_.end()) return broken("an answer to no question");
  const std::string name = asked->second;
  asked_.erase(asked);
  Topic& topic = topics_[name];
  const std::string before = std::exchange(topic.info, frame.topic).bundle;
  topic.number = frame.topic.topic;
  topic.gone = false;
  events_.on_found(name, topic.info);
  if (std::exchange(topic.asked, false)) events_.on_topic(name, topic.info);
  topic_known(name);
  // It was created again in another bundle: what was published to the one before is answered.
  const auto session = sessions_.find(before);
  if (session != sessions_.end() && before != topic.info.bundle) {
    advance(session->first, session->second);
  }
}

void Machine::topic_known(const std::string& name) {
  const Topic& topic = topics_[name];
  for (auto& [number, subscription] : subscriptions_) {
    if (subscription.topic == name) ask_for(number, subscription);
  }
  const auto session = sessions_.find(topic.info.bundle);
  if (session != sessions_.end()) advance(session->first, session->second);
}

void Machine::on(const relay::Refused& frame) {
  using relay::kind_of;
  if (frame.about == kind_of<relay::Find>()) {
    const auto asked = asked_.find(static_cast<std::uint32_t>(frame.id));
    if (asked == asked_.end()) return;
    const std::string name = asked->second;
    asked_.erase(asked);
    // Asked again since then: the topic may have come between the two, and the next answer counts.
    if (std::ranges::any_of(asked_, [&](const auto& one) { return one.second == name; })) return;
    Topic& topic = topics_[name];
    if (frame.code == relay::Code::not_yet) {  // it is not gone, and may be another one
      topic.number.reset();
      topic.gone = false;
      late_.insert(name);
      return;
    }
    const bool owed = std::exchange(topic.asked, false);
    topic.gone = true;
    topic.number.reset();  // another topic of that name may come
    const std::string bundle = topic.info.bundle;
    if (owed) {
      events_.on_topic(name, fail(ErrorCode::refused, frame.text));
      if (bundle.empty()) topics_.erase(name);
    }
    std::erase_if(subscriptions_, [&](const auto& entry) {
      if (entry.second.topic != name) return false;
      events_.on_ended(entry.first, frame.text);
      return true;
    });
    const auto session = sessions_.find(bundle);
    if (session != sessions_.end()) advance(bundle, session->second);
  } else if (frame.about == kind_of<relay::Open>()) {
    for (auto& [bundle, session] : sessions_) {
      if (!session.opening || session.opens_by != frame.id) continue;
      if (frame.code == relay::Code::expired) return expire(bundle, session);
      if (frame.code != relay::Code::busy && frame.code != relay::Code::not_offered) {
        return events_.on_bye(frame.code, frame.text);
      }
      // Busy: the bundle has no room, at all relays; what waits goes on when a session has ended.
      session.opening = false;
      session.busy = true;
      if (frame.code == relay::Code::not_offered) events_.on_no_session(frame.text);
      return;
    }
  } else if (frame.about == kind_of<relay::Publish>()) {
    for (auto& [bundle, session] : sessions_) {
      if (session.open && session.nonce == frame.id) return expire(bundle, session);
    }
  } else if (frame.about == kind_of<relay::Subscribe>()) {
    if (subscriptions_.erase(static_cast<std::uint32_t>(frame.id)) == 0) return;
    events_.on_ended(static_cast<std::uint32_t>(frame.id), frame.text);
  }
}

void Machine::subscribe(std::uint32_t subscription, const std::string& topic, From from,
                        std::uint64_t position, std::uint64_t epoch, std::uint32_t credit) {
  Subscription& one = subscriptions_[subscription];
  one = {.topic = topic,
         .from = from,
         .epoch = epoch,
         .next = position,
         .credit = credit,
         .placed = from == From::position};
  ask_for(subscription, one);
  if (welcome_ && topics_[topic].gone) ask(topic);  // it may have come again
}

void Machine::ask_for(std::uint32_t number, Subscription& subscription) {
  const Topic& topic = topics_[subscription.topic];
  if (!welcome_ || !topic.number || subscription.asked) return;
  subscription.asked = true;
  subscription.granted = subscription.credit - subscription.held;
  subscription.consumed = 0;
  say(relay::Subscribe{.subscription = number,
                       .topic = *topic.number,
                       .from = subscription.placed ? From::position : subscription.from,
                       .epoch = subscription.epoch,
                       .position = subscription.next,
                       .credit = subscription.granted});
}

void Machine::on(const relay::Subscribed& frame) {
  const auto found = subscriptions_.find(frame.subscription);
  if (found == subscriptions_.end()) return;
  Subscription& one = found->second;
  const bool other = one.placed && one.epoch != frame.epoch;
  const std::uint64_t was = one.next;
  one.epoch = frame.epoch;
  if (!one.placed || other) one.next = frame.position;
  one.placed = true;
  if (other) events_.on_gap(frame.subscription, was, kNone);  // CL3
}

void Machine::on(const relay::Sample& frame) {
  const auto found = subscriptions_.find(frame.subscription);
  if (found == subscriptions_.end()) return;
  Subscription& one = found->second;
  if (one.granted == 0) return broken("a sample that nobody gave credit for");
  --one.granted;
  ++one.held;
  if (frame.position < one.next) return consumed(frame.subscription, 1);  // CL3: it was given
  one.next = frame.position + 1;
  events_.on_sample(frame.subscription, frame);
}

void Machine::on(const relay::Gap& frame) {
  const auto found = subscriptions_.find(frame.subscription);
  if (found == subscriptions_.end() || frame.to <= found->second.next) return;
  const std::uint64_t from = std::max(frame.from, found->second.next);
  found->second.next = frame.to;
  events_.on_gap(frame.subscription, from, frame.to);
}

void Machine::on(const relay::Ended& frame) {
  if (subscriptions_.erase(frame.subscription) == 0) return;
  events_.on_ended(frame.subscription, frame.text);
}

void Machine::consumed(std::uint32_t subscription, std::uint32_t samples) {
  const auto found = subscriptions_.find(subscription);
  if (found == subscriptions_.end()) return;
  Subscription& one = found->second;
  samples = std::min(samples, one.held);
  one.held -= samples;
  one.consumed += samples;
  // In halves, so that few frames carry credit.
  if (!one.asked || one.consumed < (one.credit + 1) / 2) return;
  one.granted += one.consumed;
  say(relay::Credit{subscription, std::exchange(one.consumed, 0)});
}

void Machine::unsubscribe(std::uint32_t subscription) {
  if (subscriptions_.erase(subscription) != 0 && welcome_) {
    say(relay::Unsubscribe{subscription});
  }
}

std::uint64_t Machine::epoch_of(std::uint32_t subscription) const {
  const auto found = subscriptions_.find(subscription);
  return found == subscriptions_.end() ? 0 : found->second.epoch;
}

const relay::TopicInfo* Machine::topic(const std::string& name) const {
  const auto found = topics_.find(name);
  if (found == topics_.end() || found->second.info.bundle.empty()) return nullptr;
  return &found->second.info;
}

}  // namespace tutti::client
