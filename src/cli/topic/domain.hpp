/// \file domain.hpp
/// What `tutti topic` needs of a domain, whether the command is a participant of it or a client of
/// a relay. Threads: each feed and each sink one at a time; the domain one.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/dds/participant.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct TopicRow {
  std::string name{};
  std::string bundle{};
  std::string service{};  ///< as TopicOptions::to_text has it
  dds::TopicTypeInfo type{};
  // A relay does not say:
  std::optional<dds::TopicOptions> options{};
  std::optional<std::vector<dds::TopicEndpoints>> endpoints{};
};

struct TopicSample {
  std::uint64_t position = 0;
  std::string sender{};            ///< a participant's name; through a relay "#INDEX"
  std::uint64_t timestamp_ns = 0;  ///< since 1970; 0: its writer gives none
  std::uint64_t lost_before = 0;
  std::span<const std::byte> bytes{};  ///< valid until the next call of the feed
};

class TopicFeed {
 public:
  using Timeout = std::chrono::nanoseconds;
  virtual ~TopicFeed() = default;
  /// The next sample; nothing if there is none in that time.
  [[nodiscard]] virtual Result<std::optional<TopicSample>> next(Timeout timeout) = 0;
};

class TopicSink {
 public:
  virtual ~TopicSink() = default;
  /// Waits for space.
  [[nodiscard]] virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  /// Waits until all that was written is delivered; an error says how much was not.
  [[nodiscard]] virtual Result<void> finish() = 0;
};

class TopicDomain {
 public:
  virtual ~TopicDomain() = default;
  /// By name.
  [[nodiscard]] virtual Result<std::vector<TopicRow>> topics() = 0;
  /// refused: there is none.
  [[nodiscard]] virtual Result<TopicRow> topic(std::string_view name) = 0;
  /// The topic is there afterwards, as `row` says; an error if a relay would have to make it.
  [[nodiscard]] virtual Result<TopicRow> create(const TopicRow& row) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<TopicFeed>> read(const TopicRow& row,
                                                                dds::From from) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<TopicSink>> write(const TopicRow& row) = 0;
  /// Ends in order.
  [[nodiscard]] virtual Result<void> leave() = 0;
};

}  // namespace tutti::cli
