/// \file ring_shape.hpp
/// A ring of fixed slots as the user describes it: `--size`, `--slots` or `--window-bytes`,
/// `--touch`; and how the ends of it wait: `--idle`, `--pauses`. Shared by ring.cpp and
/// shared_table.cpp.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "arguments.hpp"
#include "idle.hpp"
#include "payload.hpp"

namespace limits {

struct RingShape {
  int64_t size;          // bytes per message
  int64_t stride_bytes;  // from slot to slot
  int64_t slots;
  size_t written_bytes;  // per message, from its first byte on
  size_t read_bytes;     // the same

  [[nodiscard]] int64_t bytes() const { return slots * stride_bytes; }
};

inline RingShape parse_ring(Arguments& arguments) {
  constexpr int64_t kMostBytes = int64_t{1} << 34;
  RingShape ring{};
  ring.size = arguments.integer("size", 1, int64_t{1} << 30);
  // The lines of a message are its own; small messages share lines, but not words.
  const int64_t unit = ring.size < 64 ? 8 : 64;
  ring.stride_bytes = (ring.size + unit - 1) / unit * unit;
  if (!arguments.given("slots")) {
    const int64_t window = arguments.integer("window-bytes", ring.stride_bytes, kMostBytes);
    ring.slots = window / ring.stride_bytes;
  } else {
    if (arguments.given("window-bytes")) arguments.fail("give --slots or --window-bytes, not both");
    ring.slots = arguments.integer("slots", 1, kMostBytes / ring.stride_bytes);
  }
  const std::string touch = arguments.choice("touch", {"all", "write", "header"});
  const auto size = static_cast<size_t>(ring.size);
  ring.written_bytes = touch == "header" ? std::min(size, kWordBytes) : size;
  ring.read_bytes = touch == "all" ? size : std::min(size, kWordBytes);
  return ring;
}

/// For Idle: how many pauses come before the first yield.
inline int64_t parse_pauses(Arguments& arguments) {
  const bool spin = arguments.choice("idle", {"yield", "spin"}) == "spin";
  return spin ? kSpinOnly : arguments.integer("pauses", 0, 1 << 20);
}

}  // namespace limits
