/// \file machine.hpp
/// What a client remembers and says, whichever relay it is connected to: its sessions, what was not
/// answered, where each subscription is. A pure state machine: no socket, no clock.
///
/// Invariants:
///  CL1  A publication has one outcome. It is repeated until it has one, and with the same number,
///       so that it is delivered at most once as long as its session lives.
///  CL2  Publications of a session are sent in the order of the calls, at most kUnansweredMax
///       unanswered ones. What was sent and given up may still be delivered: it takes its turn
///       before what is published later. Their numbers lie within kUnansweredMax: so the members
///       still know the position of each.
///  CL3  A subscription gives each sample once, in the order of positions; what is missing is told
///       before the sample behind it.
/// Threads: one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "relay/frame.hpp"
#include "tutti/error.hpp"

namespace tutti::client {

inline constexpr std::uint32_t kUnansweredMax = 64;

/// What became of a publication.
struct Answer {
  relay::Status status{};
  std::uint64_t position = relay::kNone;
  /// Refused before it was delivered: the topic is gone. Else empty.
  std::string refused{};
};

/// What the machine tells; calls come from within its own calls.
class MachineEvents {
 public:
  MachineEvents() = default;
  MachineEvents(const MachineEvents&) = delete;
  MachineEvents& operator=(const MachineEvents&) = delete;
  virtual ~MachineEvents() = default;
  virtual void on_welcome(const relay::Welcome& welcome) = 0;
  virtual void on_topic(const std::string& name, const Result<relay::TopicInfo>& topic) = 0;
  /// The topic is known on this connection, whether it was asked for or not.
  virtual void on_found(const std::string& name, const relay::TopicInfo& topic) = 0;
  virtual void on_topics(std::uint32_t request, const std::vector<relay::TopicInfo>& topics,
                         bool last) = 0;
  virtual void on_answer(std::uint64_t publication, const Answer& answer) = 0;
  virtual void on_sample(std::uint32_t subscription, const relay::Sample& sample) = 0;
  /// `to` is relay::kNone where another sequence begins: how much is missing is not known.
  virtual void on_gap(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) = 0;
  virtual void on_ended(std::uint32_t subscription, const std::string& why) = 0;
  /// The relay says that it ends the connection, or what it said is no part of the protocol.
  virtual void on_bye(relay::Code code, const std::string& text) = 0;
  /// The relay takes nothing of a topic to which something is to be published: it opens no session
  /// of the bundle. Another one may.
  virtual void on_no_session(const std::string& why) = 0;
};

class Machine {
 public:
  struct Identity {
    std::uint64_t high = 0, low = 0;
    std::string name{}, token{};
  };
  /// Never gives the same number twice: nonces of sessions.
  using Random = std::function<std::uint64_t()>;

  Machine(Identity identity, Random random, MachineEvents& events)
      : identity_(std::move(identity)), random_(std::move(random)), events_(events) {}

  /// A connection stands: what is to be sent on it is in output() from now on.
  void connected();
  void disconnected();
  void receive(const relay::Frame& frame);
  [[nodiscard]] std::vector<std::byte>& output() { return output_; }
  [[nodiscard]] bool is_welcome() const { return welcome_; }

  /// on_topic follows, once connected.
  void find(const std::string& name);
  /// Topics that the relay's member does not know yet: ask again a little later.
  [[nodiscard]] bool has_late() const { return !late_.empty(); }
  void ask_again();
  void list(std::uint32_t request);
  /// Nobody waits for that any more: what comes of it is left.
  void forget_list(std::uint32_t request);
  /// The topic was found. on_answer follows; the bytes are copied.
  void publish(const std::string& topic, std::uint64_t publication, std::uint64_t timestamp_ns,
               std::span<const std::byte> bytes);
  /// The topic was found. `credit`: samples that may come before consumed() is called for some.
  void subscribe(std::uint32_t subscription, const std::string& topic, relay::From from,
                 std::uint64_t position, std::uint64_t epoch, std::uint32_t credit);
  void consumed(std::uint32_t subscription, std::uint32_t samples);
  void unsubscribe(std::uint32_t subscription);
  /// Now and then: also opens again the sessions for which there was no room.
  void ping();
  /// Closes the sessions, where the relay still hears it.
  void close();

  /// Publications without an outcome.
  [[nodiscard]] std::size_t unanswered() const;
  [[nodiscard]] const relay::TopicInfo* topic(const std::string& name) const;
  /// Of the positions that the subscription gives; 0 if there is none.
  [[nodiscard]] std::uint64_t epoch_of(std::uint32_t subscription) const;

 private:
  struct Topic {
    bool asked = false;                     // on_topic is still owed
    bool gone = false;                      // this relay does not know it
    std::optional<std::uint32_t> number{};  // on this connection
    relay::TopicInfo info{};
  };
  struct Publication {
    std::uint64_t publication = 0;
    std::string topic{};
    std::uint64_t timestamp_ns = 0;
    std::vector<std::byte> bytes{};
    std::uint64_t request = 0;  // 0: it has no number yet, so it was never sent
    std::uint64_t sent = 0;     // when it was sent last, by sends_
    bool empty = false;         // sent last without its bytes, see why_empty()
    bool given_up = false;      // answered, it only has to take its turn (CL2)
  };
  struct Session {  // of a bundle
    std::uint64_t number = relay::kNone;
    std::uint64_t nonce = 0;
    std::uint64_t next_request = 1;
    bool opening = false;
    std::uint32_t opens_by = 0;            // the number of a topic, as it was said
    bool open = false;                     // on this connection
    bool busy = false;                     // there was no room for it: opened at the next ping()
    std::uint64_t opened_last = 0;         // what the relay said then
    std::deque<Publication> unanswered{};  // in the order of their numbers, then those without
  };
  struct Subscription {
    std::string topic{};
    relay::From from{};
    std::uint64_t epoch = 0, next = 0;
    std::uint32_t credit = 0;  // in all
    // credit = granted + held + consumed, while the relay was asked.
    std::uint32_t granted = 0;   // samples that may still come
    std::uint32_t held = 0;      // given to the application, which has not consumed them
    std::uint32_t consumed = 0;  // since credit was given last
    bool placed = false;         // next and epoch are known
    bool asked = false;          // on this connection
  };

  void on(const relay::Welcome& frame);
  void on(const relay::Refused& frame);
  void on(const relay::Bye& frame);
  void on(const relay::Ping& frame);
  void on(const relay::Topics& frame);
  void on(const relay::Found& frame);
  void on(const relay::Opened& frame);
  void on(const relay::Published& frame);
  void on(const relay::GoBack& frame);
  void on(const relay::Subscribed& frame);
  void on(const relay::Sample& frame);
  void on(const relay::Gap& frame);
  void on(const relay::Ended& frame);
  /// Frames that need no answer, or that only clients send.
  template <class Other>
  void on(const Other& frame);

  void ask(const std::string& name);
  void topic_known(const std::string& name);
  void open(const std::string& bundle, Session& session);
  void advance(const std::string& bundle, Session& session);
  void send(const std::string& bundle, Session& session, Publication& one);
  [[nodiscard]] bool awaits_number(const Publication& one, const std::string& bundle);
  [[nodiscard]] std::string why_empty(const Publication& one, const std::string& bundle);
  void expire(const std::string& bundle, Session& session);
  void abandon(const std::string& bundle, Session& session);
  void ask_for(std::uint32_t number, Subscription& subscription);
  /// The open one of that nonce.
  [[nodiscard]] std::map<std::string, Session>::iterator session_of(std::uint64_t nonce);
  void say(const relay::Frame& frame);
  void broken(const std::string& what);

  const Identity identity_;
  const Random random_;
  MachineEvents& events_;
  bool connected_ = false;
  bool welcome_ = false;
  std::uint64_t sends_ = 0;
  std::uint64_t pings_ = 0;
  std::uint32_t finds_ = 0;
  std::map<std::uint32_t, std::string> asked_{};  // finds on this connection
  std::set<std::string> late_{};                  // to be asked for again on it
  std::map<std::string, Topic> topics_{};
  std::map<std::string, Session> sessions_{};         // by bundle
  std::map<std::uint64_t, Publication> unordered_{};  // by their request
  std::map<std::uint32_t, Subscription> subscriptions_{};
  std::set<std::uint32_t> lists_{};
  std::vector<std::byte> output_{};
};

}  // namespace tutti::client
