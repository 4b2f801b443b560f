#include "relay/conversation.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.hpp"

namespace tutti::relay {
namespace {

constexpr std::uint32_t kTopicsInAFrame = 32;
constexpr std::size_t kTopicsBytes = 16384;  // of a frame, but for the last topic
// Of the topics that have a number on one connection, in bytes of the relay. Those that are only
// listed get numbers from a half of it.
constexpr std::size_t kTopicsBytesMax = 4U << 20;
constexpr std::size_t kListedBytesMax = kTopicsBytesMax / 2;
// Beside MemberTopic and name: the topic's entry in a map.
constexpr std::size_t kNumberBytes = 64;

}  // namespace

void Conversation::receive(const Frame& frame) {
  if (ended_) return;
  if (!welcome_ && !std::holds_alternative<Hello>(frame)) {
    return end(Code::malformed, "the first frame of a client is hello");
  }
  std::visit([this](const auto& one) { on(one); }, frame);
}

void Conversation::on(const Hello& frame) {
  if (welcome_) return end(Code::malformed, "a second hello");
  if (frame.magic != kMagic) return end(Code::malformed, "this is a relay of Tutti, see its docs");
  if (frame.version != kVersion) {
    return end(Code::version, "this relay speaks version " + std::to_string(kVersion) +
                                  " of the client protocol, and the client version " +
                                  std::to_string(frame.version));
  }
  // Compares all bytes, so that the time does not tell how many are right.
  std::size_t wrong = frame.token.size() ^ limits_.token.size();
  for (std::size_t i = 0; i < std::min(frame.token.size(), limits_.token.size()); ++i) {
    wrong |= static_cast<unsigned char>(frame.token[i] ^ limits_.token[i]);
  }
  if (wrong != 0) return end(Code::token, "the token is not the one that this relay was given");
  if (frame.client_high == 0 && frame.client_low == 0) {
    return end(Code::malformed, "a client id of zeros: choose 128 random bits");
  }
  client_ = {frame.client_high, frame.client_low};
  name_ = printable(frame.name, 64);
  welcome_ = true;
  say(Welcome{.relay = backend_.name(),
              .frame_bytes_max = limits_.frame_bytes_max,
              .unanswered_max = static_cast<std::uint32_t>(dds::kPositionsKept),
              .idle_ms = limits_.idle_ms});
}

void Conversation::on(const List& frame) {
  listing_ = Listing{.request = frame.request};
  say_topics();
}

// CV3: a frame has few topics, so that the output is not much longer than its half; and nothing is
// held for what is still to be said.
void Conversation::say_topics() {
  while (listing_ && has_room() && !ended_) {
    Topics answer{.request = listing_->request};
    const std::size_t most = std::min(kTopicsBytes, room() / 4);
    std::size_t bytes = 0;
    while (!answer.last && bytes < most && answer.topics.size() < kTopicsInAFrame) {
      const std::optional<MemberTopic> topic = backend_.topic_from(listing_->next);
      answer.last = !topic;
      if (!topic) break;
      listing_->next = {topic->place.bundle, topic->place.id + 1};
      const TopicInfo& info =
          answer.topics.emplace_back(info_of(*topic, number_of(*topic, kListedBytesMax)));
      bytes += kFrameOverhead + info.name.size() + info.bundle.size() + info.type.size() +
               info.description.size();
    }
    if (answer.last) listing_.reset();
    say(answer);
  }
}

void Conversation::on(const Find& frame) {
  finding_ =
      Finding{.request = frame.request, .name = frame.name, .told = backend_.catch_up(kNames)};
  find_topic();
}

// CV5: first whose the name is; then, if the member has not heard of that topic, what its bundle
// says. If that is not known, the client asks again.
void Conversation::find_topic() {
  while (finding_) {
    const CaughtUp told = finding_->told->load(std::memory_order_acquire);
    if (told == CaughtUp::not_yet) return;
    if (told == CaughtUp::stopped) {
      return end(Code::stopped, "the member " + backend_.name() + " stops");
    }
    const Named found = backend_.find(finding_->name);
    if (!found.topic && found.place && found.place != finding_->place) {
      finding_->place = found.place;
      finding_->told = backend_.catch_up(found.place->bundle);
      continue;
    }
    const Finding asked = *std::exchange(finding_, std::nullopt);
    if (found.topic) return say_found(asked.request, *found.topic);
    if (found.place) backend_.define(*found.place);
    const std::string topic = "topic \"" + printable(asked.name, 255) + "\" at " + backend_.name();
    refuse(found.code, kind_of<Find>(), asked.request,
           found.code == Code::unknown_topic ? "no " + topic : topic + ": " + found.why);
  }
}

// CV4: the client asks for the same topics on each connection.
void Conversation::say_found(std::uint32_t request, const MemberTopic& topic) {
  const std::uint32_t number = number_of(topic, kTopicsBytesMax);
  if (number != kNoNumber) return say(Found{request, info_of(topic, number)});
  refuse(Code::busy, kind_of<Find>(), request,
         "a connection names topics of at most " + std::to_string(kTopicsBytesMax >> 20U) +
             " MiB of the relay: use another client for the others");
}

// kNoNumber: it has none, and topics_ would become too large.
std::uint32_t Conversation::number_of(const MemberTopic& topic, std::size_t bytes_max) {
  const auto found = numbers_.find(topic.place);
  if (found != numbers_.end()) return found->second;
  const std::size_t bytes = sizeof(MemberTopic) + kNumberBytes + topic.info.name.size();
  if (topic_bytes_ + bytes > bytes_max) return kNoNumber;
  topic_bytes_ += bytes;
  const auto number = static_cast<std::uint32_t>(topics_.size());
  numbers_.emplace(topic.place, number);
  const TopicInfo info = info_of(topic, number);
  topics_.push_back(topic);
  topics_.back().info = {.name = info.name,
                         .service = info.service,
                         .epoch = info.epoch,
                         .sample_bytes_max = info.sample_bytes_max};
  return number;
}

// CV4: what a client may publish fits into a frame, and a description that does not fit is left
// out.
TopicInfo Conversation::info_of(const MemberTopic& topic, std::uint32_t number) const {
  TopicInfo info = topic.info;
  info.topic = number;
  info.sample_bytes_max = std::min(info.sample_bytes_max, limits_.frame_bytes_max - kFrameOverhead);
  if (info.description.size() > room() / 2) info.description.clear();
  return info;
}

const MemberTopic* Conversation::topic(std::uint32_t number) const {
  return number < topics_.size() ? &topics_[number] : nullptr;
}

void Conversation::on(const Open& frame) {
  const MemberTopic* const found = topic(frame.topic);
  if (found == nullptr) {
    return refuse(Code::unknown_topic, kind_of<Open>(), frame.topic, "ask for the topic first");
  }
  if (found->info.service == Service::unordered) {
    return refuse(Code::not_offered, kind_of<Open>(), frame.topic,
                  "a topic without order has no sessions: publish without one");
  }
  if (!found->may_open) {
    return refuse(Code::not_offered, kind_of<Open>(), frame.topic,
                  "clients cannot publish to the topics of this bundle: the relay's member is no "
                  "sender of it, or members that join it learn nothing of sessions");
  }
  if (sessions_.size() + opening_.size() >= limits_.sessions_max) {
    return refuse(Code::busy, kind_of<Open>(), frame.topic,
                  "a connection has at most " + std::to_string(limits_.sessions_max) +
                      " sessions: one for each bundle is enough");
  }
  if (frame.nonce == kNone || opening_.contains(frame.nonce) || sessions_.contains(frame.nonce)) {
    return end(Code::malformed, "two sessions of one nonce on a connection");
  }
  opening_[frame.nonce] = {found->place.bundle, frame.topic, frame.session};
  if (frame.session == kNone) {
    post(found->place.bundle, dds::SessionOpen{client_, frame.nonce});
  } else {
    // It goes through the sequence, so that the answer has all that was sent before it.
    post(found->place.bundle,
         dds::ClientSample{.session = frame.session, .nonce = frame.nonce, .topic = dds::kNoTopic});
  }
}

void Conversation::on(const Publish& frame) {
  const MemberTopic* const found = topic(frame.topic);
  if (frame.nonce == kNone) {
    if (found == nullptr || found->info.service != Service::unordered) {
      return end(Code::malformed, "a publish without a session, to a topic that has an order");
    }
    if (!is_fit(frame, *found)) return say(Published{kNone, frame.request, Status::unfit, kNone});
    return posted(backend_.send(*found, frame.timestamp_ns, frame.bytes), frame.request);
  }
  const auto session = sessions_.find(frame.nonce);
  if (session == sessions_.end()) {
    return refuse(Code::expired, kind_of<Publish>(), frame.nonce, "open the session first");
  }
  const bool is_empty = frame.topic == dds::kNoTopic && frame.bytes.empty();
  const bool is_of_bundle = found != nullptr && found->place.bundle == session->second.bundle;
  if (frame.request == 0 || (!is_empty && !is_of_bundle)) {
    return end(Code::malformed, "a publish of no topic of its session's bundle, or request 0");
  }
  dds::ClientSample sample{.session = session->second.number,
                           .nonce = frame.nonce,
                           .request = frame.request,
                           .topic = dds::kNoTopic,
                           .timestamp_ns = frame.timestamp_ns};
  // What does not fit takes its turn without its bytes, or those behind it could not be delivered.
  if (!is_empty && is_fit(frame, *found)) {
    sample.topic = found->place.id;
    sample.payload = frame.bytes;
    sample.payload_at = found->payload_at;
  }
  post(session->second.bundle, sample);
}

bool Conversation::is_fit(const Publish& frame, const MemberTopic& topic) {
  const std::uint32_t most = topic.info.sample_bytes_max;
  if (most == 0 || frame.bytes.size() > most) return false;
  return topic.exact_bytes == 0 || frame.bytes.size() == topic.exact_bytes;
}

void Conversation::on(const Close& frame) {
  const auto session = sessions_.find(frame.nonce);
  if (session == sessions_.end()) return say(Closed{frame.nonce});
  post(session->second.bundle, dds::SessionClose{session->second.number, frame.nonce});
}

void Conversation::on(const Subscribe& frame) {
  const MemberTopic* const found = topic(frame.topic);
  const auto no = [&](Code code, std::string text) {
    refuse(code, kind_of<Subscribe>(), frame.subscription, std::move(text));
  };
  if (found == nullptr) return no(Code::unknown_topic, "ask for the topic first");
  if (subscriptions_.contains(frame.subscription)) {
    return end(Code::malformed, "two subscriptions of one number");
  }
  if (subscriptions_.size() >= limits_.subscriptions_max) {
    return no(Code::busy,
              "at most " + std::to_string(limits_.subscriptions_max) + " subscriptions");
  }
  Result<std::unique_ptr<Cursor>> cursor = backend_.subscribe(*found, frame);
  if (!cursor) return no(Code::not_offered, cursor.error().message);
  say(Subscribed{frame.subscription, (*cursor)->epoch(), (*cursor)->start()});
  subscriptions_.emplace(frame.subscription, Subscription{std::move(*cursor), frame.credit});
  pull();
}

void Conversation::on(const Credit& frame) {
  const auto found = subscriptions_.find(frame.subscription);
  if (found == subscriptions_.end()) return;  // it has ended meanwhile
  found->second.credit += frame.samples;
  pull();
}

void Conversation::on(const Unsubscribe& frame) {
  if (subscriptions_.erase(frame.subscription) != 0) say(Ended{frame.subscription, {}});
}

void Conversation::on(const Ping& frame) { say(Pong{frame.number}); }

void Conversation::on(const Bye&) { ended_ = true; }

template <class Other>
void Conversation::on(const Other&) {
  if constexpr (std::is_same_v<Other, Pong>) return;
  end(Code::malformed, "a frame that only relays send");
}

void Conversation::end(Code code, const std::string& text) {
  if (ended_) return;
  say(Bye{code, text});
  ended_ = true;
  subscriptions_.clear();
  waiting_.reset();
  finding_.reset();
}

void Conversation::refuse(Code code, std::uint8_t about, std::uint64_t id, std::string text) {
  say(Refused{code, about, id, std::move(text)});
}

// CV3: it never reads.
void Conversation::overflow() {
  output_.clear();
  ended_ = true;
}

}  // namespace tutti::relay
