#include <string>

#include "tutti/dds/relay_options.hpp"

namespace tutti::dds {
namespace {

using namespace std::chrono_literals;

template <class Value>
Result<void> within(const char* field, Value value, Value least, Value most,
                    const std::string& range) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::invalid_argument,
              std::string("RelayOptions::") + field + " is out of its range, " + range);
}

}  // namespace

Result<void> RelayOptions::validate() const {
  using Time = std::chrono::nanoseconds;
  if (listen.empty()) {
    return fail(ErrorCode::invalid_argument,
                "RelayOptions::listen is empty: name an address for clients, host:port");
  }
  if (token.size() > 1024) {
    return fail(ErrorCode::invalid_argument, "RelayOptions::token has more than 1024 bytes");
  }
  const Result<void> all[] = {
      within<std::uint32_t>("clients_max", clients_max, 1, 1'000'000, "1 .. 1,000,000"),
      within<std::uint32_t>("half_open_max", half_open_max, 1, 100'000, "1 .. 100,000"),
      within<std::size_t>("memory_per_client", memory_per_client, 64U << 10, 1U << 30,
                          "64 KiB .. 1 GiB"),
      within<std::uint32_t>("frame_bytes_max", frame_bytes_max, 8U << 10, 16U << 20,
                            "8 KiB .. 16 MiB"),
      within<Time>("handshake_timeout", handshake_timeout, 10ms, 1h, "10 ms .. 1 hour"),
      within<Time>("idle_timeout", idle_timeout, 100ms, 24h, "100 ms .. 1 day"),
      within<Time>("start_timeout", start_timeout, 0ns, 24h, "0 .. 1 day"),
      session_idle == 0ns ? Result<void>{}
                          : within<Time>("session_idle", session_idle, 1s, 24'000h,
                                         "1 s .. 1000 days, or 0: never"),
  };
  for (const Result<void>& one : all) {
    if (!one) return one;
  }
  if (frame_bytes_max > memory_per_client / 2) {
    return fail(ErrorCode::invalid_argument,
                "RelayOptions::memory_per_client is less than two frames of frame_bytes_max");
  }
  return {};
}

}  // namespace tutti::dds
