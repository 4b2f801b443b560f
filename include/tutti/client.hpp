/// \file client.hpp
/// Publishes and subscribes from outside: a process that is no member talks to a relay of one
/// (tutti/dds/relay.hpp) over TCP. Link tutti::client; nothing else of Tutti is needed.
///
/// The client has a thread of its own, which connects to one of the relays, and to the next one
/// when that is gone. Each publication has one outcome. It is delivered once, however often the
/// client had to repeat it at however many relays; a subscription goes on where it was, and says
/// what it missed (docs/client-protocol.md). Threads: any. Calls that wait say so; inside a
/// callback of the client they are refused.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::client {

using Timeout = std::chrono::nanoseconds;

struct Options {
  std::vector<std::string> relays{};  ///< "host:port"; tried in turn
  std::string name{};                 ///< for people, at most 64 bytes
  std::string token{};                ///< RelayOptions::token
  /// For a connection with its handshake, 1 ms .. 1 hour.
  Timeout connect_timeout = std::chrono::seconds(3);
  /// Publications without an outcome, at most; 1 .. 1,000,000.
  std::uint32_t waiting_max = 4096;
  /// Called on the client's thread with one line: connected, disconnected and why.
  std::function<void(std::string_view)> log{};

  [[nodiscard]] Result<void> validate() const;
};

enum class Service : std::uint8_t { unordered, atomic, stored, logged };

struct TopicDescription {
  std::string name{};
  std::string bundle{};  ///< the group that carries it: one session, one sequence of positions
  Service service{};
  std::uint64_t epoch = 0;  ///< of that sequence: positions of different epochs say nothing
  std::uint32_t sample_bytes_max = 0;  ///< that a client may publish; 0: it may not
  std::string type{};
  std::uint64_t type_hash = 0;
  std::string type_description{};
};

/// What became of a publication.
struct Published {
  enum class Outcome : std::uint8_t {
    delivered,  ///< in the topic's order; at Service::logged it is on the members' disks
    sent,       ///< Service::unordered: the relay's member has sent it on
    unknown,    ///< its session expired, or, if unordered, the connection broke: nobody can tell
    refused,    ///< it was not delivered, and will not be: `text` says why
  };
  Outcome outcome{};
  std::uint64_t position = ~std::uint64_t{0};  ///< of delivered; all ones if it is not known
  std::string text{};
};

struct Sample {
  std::uint64_t position = 0;
  std::uint64_t epoch = 0;
  std::uint32_t sender = 0;        ///< index of the member that sent it
  std::uint64_t timestamp_ns = 0;  ///< since 1970, by the clock of its writer
  std::vector<std::byte> bytes{};
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};
/// Samples at from <= position < to are gone. `to` all ones: another epoch begins, and how much is
/// missing is not known.
struct Gap {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};
/// The subscription is over: the topic or its relay does not go on with it.
struct Ended {
  std::string text{};
};
using Received = std::variant<Sample, Gap, Ended>;

struct SubscribeOptions {
  enum class From : std::uint8_t {
    now,
    stored,    ///< with all that the topic has kept
    position,  ///< with the first sample at `position` of `epoch`, or behind it
  };
  From from = From::now;
  std::uint64_t position = 0;
  std::uint64_t epoch = 0;
  /// Samples that may lie here unread, 1 .. 1,000,000.
  std::uint32_t window = 256;
  /// Called on the client's thread for each; then take() is refused.
  std::function<void(const Received&)> on_received{};
};

class Core;

class Subscription {
 public:
  /// The next sample or gap. Waits until there is one; timed_out; stopped once it has ended, or
  /// the client is gone.
  [[nodiscard]] Result<Received> take(Timeout timeout);

  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  /// Unsubscribes. A callback that runs may still end, unless this is called within it.
  ~Subscription();

 private:
  friend class Client;
  Subscription(std::shared_ptr<Core> core, std::uint32_t number);
  std::shared_ptr<Core> core_;
  std::uint32_t number_ = 0;
};

class Client {
 public:
  using Answered = std::function<void(const Published&)>;

  /// Returns at once, and connects in the background.
  [[nodiscard]] static Result<Client> create(Options options);

  /// The topic of that name. Waits for a relay that says so; refused if it says that there is none.
  [[nodiscard]] Result<TopicDescription> topic(std::string_view name, Timeout timeout);
  /// All topics. Waits as topic().
  [[nodiscard]] Result<std::vector<TopicDescription>> topics(Timeout timeout);

  /// Waits for the outcome. After timed_out it may still be delivered: later publications of the
  /// same bundle are delivered behind it. The topic must have been found by topic().
  [[nodiscard]] Result<Published> publish(std::string_view topic, std::span<const std::byte> bytes,
                                          Timeout timeout);
  [[nodiscard]] Result<Published> publish(std::string_view topic, std::string_view text,
                                          Timeout timeout);
  /// Does not wait: `answered` is called on the client's thread. no_space: waiting_max
  /// publications have no outcome yet.
  [[nodiscard]] Result<void> publish(std::string_view topic, std::span<const std::byte> bytes,
                                     Answered answered);

  /// Does not wait. The topic must have been found by topic().
  [[nodiscard]] Result<Subscription> subscribe(std::string_view topic,
                                               SubscribeOptions options = {});

  [[nodiscard]] bool is_connected() const;

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// Disconnects. Publications without an outcome are answered: unknown. In a callback of this
  /// client it returns at once, and the client's thread ends behind that callback.
  ~Client();

 private:
  explicit Client(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace tutti::client
