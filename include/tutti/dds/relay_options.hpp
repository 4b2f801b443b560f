/// \file relay_options.hpp
/// What a relay allows to its clients: a plain struct, each field with its unit and legal range.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

struct RelayOptions {
  /// Where clients call, "host:port"; port 0: one that is free. There is no encryption.
  std::string listen{};
  /// Connections; more are told that the relay is busy. 1 .. 1,000,000
  std::uint32_t clients_max = 1024;
  /// Connections that have not said hello yet; beyond that the oldest one is closed. 1 .. 100,000
  std::uint32_t half_open_max = 64;
  /// What a relay holds for one client that does not read; then the client is disconnected.
  /// 64 KiB .. 1 GiB
  std::size_t memory_per_client = 8U << 20;
  /// The largest frame, and so the largest sample, in bytes. 8 KiB .. 16 MiB
  std::uint32_t frame_bytes_max = 1U << 20;
  /// Publishes of one client in a second, on average, and sessions that it opens and closes; it is
  /// read from more slowly. 0: no limit
  std::uint32_t publishes_per_second = 0;
  /// For hello. 10 ms .. 1 hour
  std::chrono::nanoseconds handshake_timeout = std::chrono::seconds(5);
  /// Of a connection on which nothing moves. 100 ms .. 1 day
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(30);
  /// Sessions that were not used for so long are ended. 1 s .. 1000 days; 0: never
  std::chrono::nanoseconds session_idle = std::chrono::hours(1);
  /// How long Relay::create waits until the logs are delivered. 0 .. 1 day
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(30);
  /// What clients must show; empty: nothing. At most 1024 bytes.
  std::string token{};
  /// Called on the relay's thread with one line, now and then, for a person.
  std::function<void(std::string_view)> log{};

  [[nodiscard]] TUTTI_API Result<void> validate() const;
};

struct RelayStatistics {
  std::uint64_t clients = 0;    ///< now
  std::uint64_t accepted = 0;   ///< connections since the start, as all below
  std::uint64_t refused = 0;    ///< for a limit, a token, a version
  std::uint64_t malformed = 0;  ///< for bytes that are no frame, or may not come
  std::uint64_t timed_out = 0;  ///< in the handshake, or idle
  std::uint64_t frames_in = 0;
  std::uint64_t bytes_out = 0;
};

}  // namespace tutti::dds
