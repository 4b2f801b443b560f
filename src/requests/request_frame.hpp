/// \file request_frame.hpp
/// What a lane of requests or replies holds: frames, each a header of two words and the bytes,
/// padded to whole granules of 8. A frame never wraps: a pad fills the lane's end, which is a word
/// at least, and a frame follows it.
///
///     kind << 32 | length in bytes    of a pad: the granules that it fills
///     id                              not of a pad
#pragma once
#include <cstddef>
#include <cstdint>

namespace tutti {

enum class FrameKind : std::uint8_t {
  request = 1,
  reply = 2,
  failed = 3,  ///< a reply that says as text why there is none
};

struct RequestFrame {
  static constexpr std::uint64_t kHeaderGranules = 2;
  static constexpr std::uint64_t kPad = 4;  ///< in place of a kind

  [[nodiscard]] static constexpr std::uint64_t granules(std::uint64_t bytes) {
    return kHeaderGranules + (bytes + 7) / 8;
  }
  [[nodiscard]] static constexpr std::uint64_t header(std::uint64_t kind, std::uint64_t length) {
    return kind << 32 | length;
  }
  [[nodiscard]] static constexpr std::uint64_t kind_in(std::uint64_t word) { return word >> 32; }
  [[nodiscard]] static constexpr std::uint64_t length_in(std::uint64_t word) {
    return word & 0xffff'ffff;
  }
};

}  // namespace tutti
