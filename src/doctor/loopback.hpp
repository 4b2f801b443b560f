/// \file loopback.hpp
/// Two members in this process, over one fabric: checks that messages arrive unchanged, and
/// measures how long they take.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "tutti/error.hpp"
#include "tutti/types.hpp"

namespace tutti::doctor {

struct LoopbackOptions {
  std::string fabric = "shm";              ///< as set_fabric() takes it
  std::array<std::string, 2> addresses{};  ///< HOST:PORT, used by nobody
  Order order = Order::round_robin;        ///< of the group, at Level::atomic
  std::uint32_t litmus_rounds = 2000;      ///< before that, see NodeOptions
  std::uint32_t rounds = 2000;             ///< messages of 8 bytes to 10 KB, one after the other
};

struct LoopbackResult {
  std::uint64_t wrong = 0;  ///< messages delivered with wrong bytes
  double median_ns = 0;     ///< of the 8-byte messages, from the call that sends to the callback
  double p99_ns = 0;        ///< at the other member
};

/// A path that shows a guard before its data is an error. The test also checks all bytes of each
/// message at its delivery. Blocks for a second or so, a minute at most.
[[nodiscard]] Result<LoopbackResult> loopback(const LoopbackOptions& options);

}  // namespace tutti::doctor
