/// \file request_frame.hpp
/// What a lane of requests or replies holds: frames, each a header of two words and the bytes,
/// padded to whole granules of 8. A frame never wraps: a pad fills the lane's end, which is a word
/// at least, and a frame follows it.
///
///     patience << 40 | kind << 32 | length in bytes    of a pad: the granules that it fills
///     id                                               not of a pad
///
/// The patience is for how many milliseconds more the caller waits, counted from the arrival of its
/// request. 0: as long as it takes, as for all that is no request.
#pragma once
#include <algorithm>
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
  /// A caller that waits for longer than this writes 0.
  static constexpr std::uint32_t kPatienceMax = (1U << 24) - 1;
  [[nodiscard]] static constexpr std::uint32_t patience_ms(std::uint64_t ns) {
    const std::uint64_t ms = std::max<std::uint64_t>(ns / 1'000'000 + (ns % 1'000'000 != 0), 1);
    return ms > kPatienceMax ? 0 : static_cast<std::uint32_t>(ms);
  }

  [[nodiscard]] static constexpr std::uint64_t header(std::uint64_t kind, std::uint64_t length,
                                                      std::uint32_t patience = 0) {
    return std::uint64_t{patience} << 40 | kind << 32 | length;
  }
  [[nodiscard]] static constexpr std::uint64_t kind_in(std::uint64_t word) {
    return word >> 32 & 0xff;
  }
  [[nodiscard]] static constexpr std::uint32_t patience_in(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 40);
  }
  [[nodiscard]] static constexpr std::uint64_t length_in(std::uint64_t word) {
    return word & 0xffff'ffff;
  }
};

}  // namespace tutti
