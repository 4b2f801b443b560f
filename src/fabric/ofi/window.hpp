/// \file window.hpp
/// The memory of one attachment that its peer writes: the replica of the peer's row, two words, and
/// a ring in which the peer's control words come.
///
///     0            row, zeros at first; data lands here by itself
///     control      words: `consumed` by the peer of what we put into its ring, `asleep`: a
///                  number for each time that it asks to be rung once,
///                  `open` once the connection has carried a write, `alive`: a number that
///                  changes while much data of the peer arrives
///     + 64         ring of parts (control_ring.hpp)
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::ofi {

inline constexpr std::size_t kRingBytes = 64 * 1024;

/// At the offset that window_control() gives; the peer writes them, we read them.
struct WindowWords {
  std::atomic<std::uint64_t> consumed;
  std::atomic<std::uint64_t> asleep;
  std::atomic<std::uint64_t> open;
  std::atomic<std::uint64_t> alive;
};
inline constexpr std::size_t kWindowWordsBytes = 64;
static_assert(sizeof(WindowWords) <= kWindowWordsBytes);

/// Where the words are, behind a row of so many bytes.
[[nodiscard]] constexpr std::uint64_t window_control(std::size_t row_bytes) {
  return (row_bytes + 63) / 64 * 64;
}
[[nodiscard]] constexpr std::uint64_t window_ring(std::size_t row_bytes) {
  return window_control(row_bytes) + kWindowWordsBytes;
}
[[nodiscard]] constexpr std::size_t window_bytes(std::size_t row_bytes) {
  return window_ring(row_bytes) + kRingBytes;
}

}  // namespace tutti::ofi
