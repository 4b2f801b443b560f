/// \file frame.hpp
/// What clients that are no members and relays say to each other (docs/client-protocol.md).
///
/// A frame is its length (u32: of what follows), its kind (u8), and its fields in the order below:
/// numbers little-endian, a text or bytes behind their length (u32), a list behind its count (u32).
/// C to R: what a client says; R to C: what a relay says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace tutti::relay {

inline constexpr std::uint32_t kMagic = 0x43545554;  // "TUTC"
inline constexpr std::uint16_t kVersion = 1;
/// No position, no session.
inline constexpr std::uint64_t kNone = ~std::uint64_t{0};

enum class Code : std::uint8_t {
  malformed,      ///< these bytes are no frame, or not one that may come now
  version,        ///< the relay speaks no such version
  token,          ///< the token is not the relay's
  busy,           ///< a limit of the relay: clients, rate, sessions; try again later
  unknown_topic,  ///< no topic of that name or number
  expired,        ///< no such session (any more)
  not_offered,    ///< the topic's service has no such thing
  too_large,      ///< more bytes than the topic's bundle or the relay takes
  stopped,        ///< the relay or the topic ended
  idle,           ///< nothing was heard of the client for too long
  not_yet,        ///< the relay's member cannot know it yet: ask again later
};

enum class Service : std::uint8_t { unordered, atomic, stored, logged };
enum class From : std::uint8_t { now, stored, position };
enum class Status : std::uint8_t {
  delivered,  ///< in the topic's order, at the position
  duplicate,  ///< delivered before, at the position if it is still known
  expired,    ///< the session ended: whether this request was delivered is not known any more
  sent,       ///< a topic without order: the relay sent it, no position
  unfit,      ///< no sample of the topic, by its size, or the topic was deleted: no reader gets it
};

// Both: none of the other's fields is looked at before these were exchanged.
struct Hello {  // C to R
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint64_t client_high = 0, client_low = 0;
  std::string name{}, token{};
  static auto fields(auto& f) {
    return std::tie(f.magic, f.version, f.client_high, f.client_low, f.name, f.token);
  }
};
struct Welcome {  // R to C
  std::uint16_t version = kVersion;
  std::string relay{};
  std::uint32_t frame_bytes_max = 0;
  std::uint32_t unanswered_max = 0;  ///< publishes of a session
  std::uint32_t idle_ms = 0;         ///< the client says something at least every third of it
  static auto fields(auto& f) {
    return std::tie(f.version, f.relay, f.frame_bytes_max, f.unanswered_max, f.idle_ms);
  }
};
struct Refused {  // R to C: one request; the conversation goes on
  Code code{};
  std::uint8_t about = 0;  ///< kind of the frame that is refused
  std::uint64_t id = 0;    ///< its first number
  std::string text{};
  static auto fields(auto& f) { return std::tie(f.code, f.about, f.id, f.text); }
};
struct Bye {  // both: the last frame
  Code code{};
  std::string text{};
  static auto fields(auto& f) { return std::tie(f.code, f.text); }
};
struct Ping {  // both
  std::uint64_t number = 0;
  static auto fields(auto& f) { return std::tie(f.number); }
};
struct Pong {  // both
  std::uint64_t number = 0;
  static auto fields(auto& f) { return std::tie(f.number); }
};

/// In the place of a topic's number on a connection: it has none.
inline constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

struct TopicInfo {
  std::uint32_t topic = 0;  ///< its number on this connection; in Topics also kNoNumber
  std::string name{}, bundle{};
  Service service{};
  std::uint64_t epoch = 0;  ///< of the bundle's sequence: positions are those of one epoch
  std::uint32_t sample_bytes_max = 0;  ///< that a client may publish; 0: it may not
  std::string type{};
  std::uint64_t type_hash = 0;
  std::string description{};
  static auto fields(auto& f) {
    return std::tie(f.topic, f.name, f.bundle, f.service, f.epoch, f.sample_bytes_max, f.type,
                    f.type_hash, f.description);
  }
  friend bool operator==(const TopicInfo&, const TopicInfo&) = default;
};
struct List {  // C to R
  std::uint32_t request = 0;
  static auto fields(auto& f) { return std::tie(f.request); }
};
struct Topics {  // R to C: some of them; `last`: these were the last ones
  std::uint32_t request = 0;
  bool last = false;
  std::vector<TopicInfo> topics{};
  static auto fields(auto& f) { return std::tie(f.request, f.last, f.topics); }
};
struct Find {  // C to R
  std::uint32_t request = 0;
  std::string name{};
  static auto fields(auto& f) { return std::tie(f.request, f.name); }
};
struct Found {  // R to C
  std::uint32_t request = 0;
  TopicInfo topic{};
  static auto fields(auto& f) { return std::tie(f.request, f.topic); }
};

struct Open {  // C to R: in the topic's bundle; with a session: goes on with it
  std::uint32_t topic = 0;
  std::uint64_t session = kNone;
  std::uint64_t nonce = 0;
  static auto fields(auto& f) { return std::tie(f.topic, f.session, f.nonce); }
};
struct Opened {  // R to C
  std::uint32_t topic = 0;
  std::uint64_t session = 0, nonce = 0, last = 0;
  static auto fields(auto& f) { return std::tie(f.topic, f.session, f.nonce, f.last); }
};
// From here on a session goes by its nonce, which is one session's alone on a connection.
struct Publish {  // C to R
  std::uint32_t topic = 0;
  std::uint64_t nonce = kNone;  ///< none: a topic without order
  std::uint64_t request = 0;
  std::uint64_t timestamp_ns = 0;
  std::span<const std::byte> bytes{};
  static auto fields(auto& f) {
    return std::tie(f.topic, f.nonce, f.request, f.timestamp_ns, f.bytes);
  }
};
struct Published {  // R to C
  std::uint64_t nonce = 0, request = 0;
  Status status{};
  std::uint64_t position = kNone;
  static auto fields(auto& f) { return std::tie(f.nonce, f.request, f.status, f.position); }
};
struct GoBack {  // R to C: `request` was not delivered, as requests behind `last` are missing
  std::uint64_t nonce = 0, request = 0, last = 0;
  static auto fields(auto& f) { return std::tie(f.nonce, f.request, f.last); }
};
struct Close {  // C to R
  std::uint64_t nonce = 0;
  static auto fields(auto& f) { return std::tie(f.nonce); }
};
struct Closed {  // R to C
  std::uint64_t nonce = 0;
  static auto fields(auto& f) { return std::tie(f.nonce); }
};

struct Subscribe {  // C to R
  std::uint32_t subscription = 0, topic = 0;
  From from{};
  std::uint64_t epoch = 0, position = 0;  ///< From::position: of the first sample that is wanted
  std::uint32_t credit = 0;               ///< samples
  static auto fields(auto& f) {
    return std::tie(f.subscription, f.topic, f.from, f.epoch, f.position, f.credit);
  }
};
struct Subscribed {  // R to C: begins at the position, in this epoch
  std::uint32_t subscription = 0;
  std::uint64_t epoch = 0, position = 0;
  static auto fields(auto& f) { return std::tie(f.subscription, f.epoch, f.position); }
};
struct Sample {  // R to C
  std::uint32_t subscription = 0;
  std::uint64_t position = 0;
  std::uint32_t sender = 0;  ///< member index of the member that sent it
  std::uint64_t timestamp_ns = 0;
  std::span<const std::byte> bytes{};
  static auto fields(auto& f) {
    return std::tie(f.subscription, f.position, f.sender, f.timestamp_ns, f.bytes);
  }
};
struct Gap {  // R to C: samples at from <= position < to are gone
  std::uint32_t subscription = 0;
  std::uint64_t from = 0, to = 0;
  static auto fields(auto& f) { return std::tie(f.subscription, f.from, f.to); }
};
struct Credit {  // C to R: so many samples more
  std::uint32_t subscription = 0, samples = 0;
  static auto fields(auto& f) { return std::tie(f.subscription, f.samples); }
};
struct Unsubscribe {  // C to R
  std::uint32_t subscription = 0;
  static auto fields(auto& f) { return std::tie(f.subscription); }
};
struct Ended {  // R to C: the last frame of a subscription
  std::uint32_t subscription = 0;
  std::string text{};  ///< empty: it was unsubscribed
  static auto fields(auto& f) { return std::tie(f.subscription, f.text); }
};

/// A frame's kind is its place here, from 1.
using Frame = std::variant<Hello, Welcome, Refused, Bye, Ping, Pong, List, Topics, Find, Found,
                           Open, Opened, Publish, Published, GoBack, Close, Closed, Subscribe,
                           Subscribed, Sample, Gap, Credit, Unsubscribe, Ended>;

template <class Kind, std::size_t kIndex = 0>
[[nodiscard]] constexpr std::uint8_t kind_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<kIndex, Frame>, Kind>) {
    return kIndex + 1;
  } else {
    return kind_of<Kind, kIndex + 1>();
  }
}

}  // namespace tutti::relay
