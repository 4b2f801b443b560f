/// \file backend.hpp
/// What a relay needs of the member that it is in: the seam between clients and topics.
///
/// No call waits. A record that finds no space is sent in its turn, and the member says so. Members
/// never wait for a client: a relay pulls samples when its client has
/// room for them, and hears of a gap where what it wants is gone.
/// Threads: a Backend and its Cursors are used by the relay's thread alone; MemberEvents are called
/// on threads of the member, and return at once.
#pragma once
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dds/sessions.hpp"
#include "relay/frame.hpp"
#include "relay/posting.hpp"
#include "tutti/error.hpp"

namespace tutti::relay {

/// Where a topic is defined.
struct TopicPlace {
  std::uint32_t bundle = 0;  ///< index of the bundle at this member
  std::uint32_t id = 0;      ///< of the topic in its bundle
  friend auto operator<=>(const TopicPlace&, const TopicPlace&) = default;
};

/// A topic, as this member knows it.
struct MemberTopic {
  TopicPlace place{};
  std::uint32_t exact_bytes = 0;  ///< of a sample; 0: any size
  std::uint32_t alignment = 8;
  std::uint16_t payload_at = dds::kSessionHeaderBytes;  ///< as its type's alignment needs it
  TopicInfo info{};                                     ///< its number is not set
  /// Clients may have sessions in its bundle. They learn there what became of what they published
  /// before, so it need not be a topic to which they may publish.
  bool may_open = true;
};

/// Whether a member has come to what others had delivered when it was asked.
enum class CaughtUp : std::uint8_t {
  not_yet,
  done,
  stopped,  ///< the member or a bundle ended: it never will
};

/// What one who asked is told, once; released behind what was delivered by then.
using CatchingUp = std::shared_ptr<const std::atomic<CaughtUp>>;

/// Whose a name is, by what the member knows.
struct Named {
  std::optional<MemberTopic> topic{};
  // Without a topic:
  /// The name is that of a topic there, which the member has not heard of yet.
  std::optional<TopicPlace> place{};
  /// unknown_topic: nobody has the name. not_yet: the member will hear of the topic, or of that
  /// there is none, once a sender of its bundle defines it. not_offered: it never will.
  Code code = Code::unknown_topic;
  std::string why{};  ///< but for unknown_topic
};

class Cursor {
 public:
  struct Taken {
    std::uint64_t position = 0;
    std::uint32_t sender = 0;
    std::uint64_t timestamp_ns = 0;
    std::span<const std::byte> bytes{};  ///< valid until the next call
  };
  struct Missing {  ///< samples at from <= position < to are gone
    std::uint64_t from = 0, to = 0;
  };
  struct Nothing {};  ///< `on_data` of the cursor follows once there is something
  struct Again {};    ///< it has looked for long enough: call next() later, others first
  struct End {        ///< of the topic: no relay has more of it
    std::string why{};
  };
  struct Stopped {  ///< here: other relays go on
    std::string why{};
  };
  using Next = std::variant<Taken, Missing, Nothing, Again, End, Stopped>;

  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;
  /// Work and memory are bounded; it may hold up to `wanted` samples more than it gives, which is
  /// at least 1.
  [[nodiscard]] virtual Next next(std::uint64_t wanted) = 0;
  /// Where it begins, and in which epoch.
  [[nodiscard]] virtual std::uint64_t epoch() const = 0;
  [[nodiscard]] virtual std::uint64_t start() const = 0;
};

/// From threads of the member.
class MemberEvents {
 public:
  MemberEvents() = default;
  MemberEvents(const MemberEvents&) = delete;
  MemberEvents& operator=(const MemberEvents&) = delete;
  virtual ~MemberEvents() = default;
  /// A record of a session was delivered here, from whichever relay.
  virtual void on_outcome(std::uint32_t bundle, const dds::SessionOutcome& outcome) = 0;
  virtual void on_space() = 0;  ///< what became of records that waited
  /// Of any cursor, or what catch_up() tells. It may be called no more until Backend::look().
  virtual void on_data() = 0;
};

/// In the place of a bundle's index: the sequence that gives names to topics.
inline constexpr std::uint32_t kNames = ~std::uint32_t{0};

class Backend {
 public:
  struct Idle {  ///< a session, for the decision to expire it
    std::uint32_t bundle = 0;
    std::uint64_t session = 0, last = 0, touched = 0;
  };

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  /// No call of `events` comes after listen(nullptr) has returned.
  virtual void listen(MemberEvents* events) = 0;
  /// The relay is about to look at cursors: what comes from now on is told again.
  virtual void look() {}
  /// The first one at that place or behind it; so one call after the other gives all topics that
  /// are there meanwhile, and nothing is held between them.
  [[nodiscard]] virtual std::optional<MemberTopic> topic_from(TopicPlace place) = 0;
  /// Of two topics of one name, the one that has the name: the other one's deletion is on its way.
  [[nodiscard]] virtual Named find(std::string_view name) = 0;
  /// Into the bundle, in the order of the calls.
  [[nodiscard]] virtual Posting post(std::uint32_t bundle, const dds::SessionRecord& record) = 0;
  /// Says once this member has delivered what any member had delivered before, of that bundle, or
  /// (kNames) of the sequence that gives names to topics; on_data() follows. Of a bundle without
  /// order, or of which the member is no sender, that cannot be known: it is said at once, and
  /// find() tells whether the member may be behind.
  [[nodiscard]] virtual CatchingUp catch_up(std::uint32_t sequence) = 0;
  /// Nothing but the name of that topic has come, although the member has caught up: it gives the
  /// topic its definition, or asks those that may.
  virtual void define(TopicPlace) {}
  /// To a topic without order.
  [[nodiscard]] virtual Posting send(const MemberTopic& topic, std::uint64_t timestamp_ns,
                                     std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                                  const Subscribe& wanted) = 0;
  [[nodiscard]] virtual std::vector<Idle> sessions() = 0;
};

}  // namespace tutti::relay
