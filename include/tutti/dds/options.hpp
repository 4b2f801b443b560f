/// \file options.hpp
/// The options of topics, of the groups that carry them (bundles), and of who reads and writes
/// them: plain structs, each field with its unit and legal range.
///
/// All that DDS calls QoS is on the topic, never on one reader or writer: so a reader and a writer
/// of one topic cannot contradict each other. Bundles and `topics_max` must be the same at all
/// participants [same].
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti::dds {

/// What a topic promises. In DDS's words all are RELIABLE, and differ in DURABILITY.
enum class Service : std::uint8_t {
  /// Each writer's samples in its order, on receipt; nothing is kept (VOLATILE).
  unordered,
  /// One order at all participants; a sample is delivered once every participant of the bundle has
  /// received it; nothing is kept (VOLATILE).
  atomic,
  /// As atomic, and the participants keep the topic's History in memory, for late readers and for
  /// participants that join. It outlives its writers (TRANSIENT). Text calls it `stored`.
  volatile_storage,
  /// As atomic, and a sample is delivered once it is on the disks of all participants of the bundle
  /// (PERSISTENT). A reader may begin at any sample that is in the log.
  logged,
};

/// Which samples are kept for readers that take.
struct History {
  enum class Kind : std::uint8_t {
    of_service,  ///< unordered, atomic: keep_last(1024). volatile_storage: keep_last(1). logged:
                 ///< all
    keep_last,   ///< the newest `depth` of each key; a slow reader loses the oldest, and is told
    /// All, up to the limits; then deliveries of the bundle wait for the slowest reader, and soon
    /// its senders. Needs a bundle with DeliveryThread::own.
    keep_all,
  };
  Kind kind = Kind::of_service;
  std::uint32_t depth = 0;  ///< of keep_last: 1 .. 1,000,000; else 0
  bool operator==(const History&) const = default;
};
[[nodiscard]] constexpr History keep_last(std::uint32_t depth) {
  return {History::Kind::keep_last, depth};
}
[[nodiscard]] constexpr History keep_all() { return {History::Kind::keep_all, 0}; }

/// Whoever creates a topic that is there already must name the same options.
struct TopicOptions {
  Service service = Service::atomic;
  std::string bundle{};  ///< which bundle carries it; empty: the first one of its service
  History history{};     ///< Service::logged: of_service alone, for the log keeps everything
  /// These limits hold at each participant, whatever `history` says. Of a logged topic they limit
  /// what is in memory: an older sample is read from the log.
  std::uint32_t max_samples = 100'000;    ///< 1 .. 10,000,000
  std::uint64_t max_bytes = 64ULL << 20;  ///< of samples, 1 KiB .. 1 TiB
  std::chrono::nanoseconds max_age{0};    ///< 0: no limit; else 1 ms .. 1000 days
  bool operator==(const TopicOptions&) const = default;

  [[nodiscard]] TUTTI_API Result<void> validate() const;
  /// "service=stored,history=keep_last(10),max_bytes=1048576": the fields that are not to be the
  /// default. A QoS policy of DDS that has no meaning here, such as deadline, is an error that says
  /// what to use instead.
  [[nodiscard]] static TUTTI_API Result<TopicOptions> from_text(std::string_view text);
  /// All fields, in the same form.
  [[nodiscard]] TUTTI_API std::string to_text() const;
};

/// A group that carries any number of topics. They share its window, its members and its thread: a
/// topic that needs its own of these has its own bundle. An idle topic costs a table entry.
struct BundleOptions {
  std::string name{};                  ///< as GroupOptions::name, without "tutti.dds" before it
  Service service = Service::atomic;   ///< of its topics
  std::vector<std::string> members{};  ///< participants that may read; empty: all. Those of the
                                       ///< services volatile_storage and logged: all
  std::vector<std::string> senders{};  ///< participants that may write; empty: all members
  Order order = Order::round_robin;    ///< unless it is unordered
  std::uint32_t message_max_bytes = 64 * 1024;  ///< a sample and its header of at most 64 bytes
  std::uint64_t window_bytes = 1024 * 1024;     ///< see GroupOptions
  std::uint32_t window_messages = 65536;        ///< see GroupOptions
  /// Types that need more cannot be sent in place: see GroupOptions::alignment.
  std::uint32_t alignment = 8;
  /// predicate or own. The thread that calls `on_sample` (or `on_samples`) of topics' readers.
  DeliveryThread delivery = DeliveryThread::predicate;
};

struct ParticipantOptions {
  /// Empty: default_bundles().
  std::vector<BundleOptions> bundles{};
  std::uint32_t topics_max = 1000;  ///< of all bundles together, 1 .. 1,000,000
  /// How long calls that create or delete something wait for the others, 1 ms .. 1 day.
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);

  [[nodiscard]] TUTTI_API Result<void> validate() const;
};

/// "unordered", "atomic" (both delivered on the predicate thread), "stored", and with a log also
/// "logged" (these on a thread of their own).
[[nodiscard]] TUTTI_API std::vector<BundleOptions> default_bundles(bool with_log);

/// With which sample a reader begins.
struct From {
  enum class Kind : std::uint8_t { now, stored, position };
  Kind kind = Kind::now;
  SeqNo first{};  ///< of Kind::position
};
/// What is delivered from now on.
inline constexpr From kFromNow{};
/// All that is there: the history of a stored topic, the whole log of a logged one. Needs one of
/// these services.
inline constexpr From kFromStored{From::Kind::stored, {}};
/// The first sample of the topic with that SampleInfo::position or a higher one: a reader that
/// comes again goes on behind the last position it has seen. Needs the same services; samples that
/// a stored topic has no more are counted as lost.
[[nodiscard]] constexpr From from_position(SeqNo first) { return {From::Kind::position, first}; }

struct ReaderOptions {
  /// Of a reader with `on_sample` or `on_samples`: kFromNow.
  From from{};
};

struct WriterOptions {
  /// How long write() and loan() wait for space, 0 .. 1 day; 0: not at all.
  std::chrono::nanoseconds max_blocking_time = std::chrono::milliseconds(100);
  /// False: SampleInfo::source_timestamp is 0, so that a sample does not cost a look at the clock,
  /// some 20 ns. Not for topics with max_age.
  bool source_timestamps = true;
};

/// The words of the command line: "unordered", "atomic", "stored", "logged". `volatile` is an error
/// that explains which of two things is meant.
[[nodiscard]] TUTTI_API std::string_view to_string(Service service);
[[nodiscard]] TUTTI_API Result<Service> service_from(std::string_view word);

}  // namespace tutti::dds
