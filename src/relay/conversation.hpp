/// \file conversation.hpp
/// One connected client: frames in, frames out, and what the member says of its sessions. A pure
/// state machine: no socket, no clock. Its owner moves the bytes.
///
/// Invariants:
///  CV1  A publish is answered by what its delivery decided, never before.
///  CV2  Only a session that this connection opened, or whose client id and nonce it showed, is
///       written to; publishes go into a bundle in the order in which they came.
///  CV3  Output, pending input and subscriptions are bounded: samples are pulled only while the
///       output is short, and no frame is taken while one waits for space in the bundle.
///  CV4  What can never be said or taken within the limits does not end the connection, as the
///       client would come back and do the same again: it is refused, left out or a gap.
///  CV5  `find` is answered by what the member knows once it has delivered what others had
///       delivered when the client asked. A member that is behind does not know all topics, and may
///       know one that was deleted and created again; a client gives up what it published to a
///       topic that is gone. So there is "no topic" only if nobody has the name; where the member
///       cannot know the topic that has it, or whether one has it, the answer is `not_yet`.
/// Threads: the relay's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "relay/backend.hpp"
#include "relay/codec.hpp"

namespace tutti::relay {

struct ConversationLimits {
  std::uint32_t frame_bytes_max = 1U << 20;
  std::size_t output_bytes_max = 8U << 20;  ///< of one client
  std::uint32_t subscriptions_max = 256;
  std::uint32_t sessions_max = 64;  ///< on one connection
  std::uint32_t idle_ms = 30'000;
  std::string token{};  ///< empty: clients need none
};

class Conversation {
 public:
  Conversation(Backend& backend, const ConversationLimits& limits)
      : backend_(backend), limits_(limits) {}

  /// The next frame of the client; only while may_receive().
  void receive(const Frame& frame);
  /// No frame waits for the member, and the conversation goes on.
  [[nodiscard]] bool may_receive() const {
    return !ended_ && !waiting_ && !finding_ && !listing_ && has_room();
  }
  /// A frame waits for the member: it is not the client that is silent.
  [[nodiscard]] bool waits_for_member() const {
    return !ended_ && (waiting_.has_value() || is_finding());
  }
  /// A topic that the member does not know: it looks whether it is behind.
  [[nodiscard]] bool is_finding() const { return finding_.has_value(); }
  /// What the member has, samples or space, may change what it says.
  [[nodiscard]] bool awaits_member() const {
    return !ended_ && (!subscriptions_.empty() || waits_for_member());
  }
  /// A subscription has more to look at: pump() again, after others had their turn.
  [[nodiscard]] bool wants_pump() const { return !ended_ && again_; }
  /// It has more to say, perhaps, once output was sent.
  [[nodiscard]] bool is_full() const { return !has_room(); }
  /// So many bytes that were taken from output() are not sent yet: they count as output.
  void set_sending(std::size_t bytes) { sending_ = bytes; }
  /// What the member said of a record of a session; those of others are ignored.
  void outcome(std::uint32_t bundle, const dds::SessionOutcome& outcome);
  /// It has that session, or waits for it to be opened: outcomes of that nonce are for it.
  [[nodiscard]] bool follows(std::uint64_t nonce) const {
    return sessions_.contains(nonce) || opening_.contains(nonce);
  }
  /// There may be space in a bundle, samples for a cursor, or room in the output.
  void pump();
  /// Asks for a sign of life, and gives one.
  void ping() { say(Ping{++pings_}); }
  /// Says why, and ends.
  void end(Code code, const std::string& text);

  /// What is to be sent; the owner takes from the front what it has sent.
  [[nodiscard]] std::vector<std::byte>& output() { return output_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool is_welcome() const { return welcome_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Attached {  // a session that may be written to
    std::uint32_t bundle = 0;
    std::uint64_t number = 0;
  };
  struct Opening {
    std::uint32_t bundle = 0;
    std::uint32_t topic = 0;
    std::uint64_t session = kNone;
  };
  struct Subscription {
    std::unique_ptr<Cursor> cursor{};
    std::uint64_t credit = 0;
  };
  struct Listing {  // an answer that is said in parts, as there is room
    std::uint32_t request = 0;
    TopicPlace next{};  // where it goes on
  };
  struct Finding {  // CV5
    std::uint32_t request = 0;
    std::string name{};
    CatchingUp told{};                  // of the names, then of the bundle of `place`
    std::optional<TopicPlace> place{};  // of the topic that has the name
  };
  struct Waiting {  // one publish, close or open that found no space
    std::shared_ptr<const Queued> record{};
    std::optional<std::uint64_t> unordered{};  // a publish to a topic without order: its request
  };

  void on(const Hello& frame);
  void on(const List& frame);
  void on(const Find& frame);
  void on(const Open& frame);
  void on(const Publish& frame);
  void on(const Close& frame);
  void on(const Subscribe& frame);
  void on(const Credit& frame);
  void on(const Unsubscribe& frame);
  void on(const Ping& frame);
  void on(const Bye& frame);
  /// Frames that only relays send.
  template <class Other>
  void on(const Other& frame);

  void post(std::uint32_t bundle, const dds::SessionRecord& record);
  void posted(Posting posting, std::optional<std::uint64_t> unordered);
  [[nodiscard]] static bool is_fit(const Publish& frame, const MemberTopic& topic);
  void session_opened(const dds::SessionOutcome& outcome);
  void look_at_waiting();
  void pull();
  [[nodiscard]] bool pull(std::uint32_t number, Subscription& subscription);
  [[nodiscard]] const MemberTopic* topic(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t number_of(const MemberTopic& topic, std::size_t bytes_max);
  [[nodiscard]] TopicInfo info_of(const MemberTopic& topic, std::uint32_t number) const;
  void say_found(std::uint32_t request, const MemberTopic& topic);
  void say_topics();
  void find_topic();
  [[nodiscard]] std::size_t room() const {  // for one frame of data
    return limits_.output_bytes_max / 2 - kFrameOverhead;
  }
  [[nodiscard]] bool has_room() const {
    return output_.size() + sending_ < limits_.output_bytes_max / 2;
  }
  template <class Kind>
  void say(const Kind& frame) {
    if (ended_) return;
    encode(frame, output_);
    if (output_.size() + sending_ > limits_.output_bytes_max) overflow();
  }
  void overflow();
  void refuse(Code code, std::uint8_t about, std::uint64_t id, std::string text);

  Backend& backend_;
  const ConversationLimits& limits_;
  bool welcome_ = false;
  bool ended_ = false;
  dds::ClientId client_{};
  std::string name_{};
  std::vector<MemberTopic> topics_{};              // by number, without long texts
  std::map<TopicPlace, std::uint32_t> numbers_{};  // of topics_
  std::size_t topic_bytes_ = 0;                    // of both
  std::map<std::uint64_t, Attached> sessions_{};   // by nonce, as opening_
  std::map<std::uint64_t, Opening> opening_{};
  std::map<std::uint32_t, Subscription> subscriptions_{};
  std::uint32_t pulled_last_ = 0;  // a subscription: the next pull begins behind it
  std::optional<Waiting> waiting_{};
  std::optional<Finding> finding_{};
  std::optional<Listing> listing_{};
  bool again_ = false;
  std::uint64_t pings_ = 0;
  std::size_t sending_ = 0;
  std::vector<std::byte> output_{};
};

}  // namespace tutti::relay
