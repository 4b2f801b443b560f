/// \file frame.hpp
/// What goes over a TCP connection: one-sided writes as frames, little-endian, no alignment.
///
///     data     header with an offset | bytes of the sender's row, for there in its replica
///     control  header with a check of the rest | records (control_record.hpp)
///
/// All records of a control frame are applied together, once the whole frame is there: between two
/// polls a reader sees all of them or none. So words published again may replace older ones of the
/// same frame, whatever was published in between, and F-order still holds.
/// The checks find broken software and strangers; bit errors on the way are TCP's own business.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/control_record.hpp"

namespace tutti::tcp {

static_assert(std::endian::native == std::endian::little, "frames are copied as they are");

inline constexpr std::uint32_t kDataMagic = 0x44747554;     // "TutD"
inline constexpr std::uint32_t kControlMagic = 0x43747554;  // "TutC"

struct FrameHeader {
  std::uint32_t magic = 0;
  std::uint32_t bytes = 0;            ///< of the payload, which follows
  std::uint64_t epoch = 0;            ///< of the connection; frames of another are dropped
  std::uint64_t offset_or_check = 0;  ///< data: offset in the row; control: check of the payload
  std::uint64_t check = 0;            ///< of the fields above
};
inline constexpr std::size_t kFrameHeaderBytes = 32;
static_assert(sizeof(FrameHeader) == kFrameHeaderBytes);

/// One round of a multiplicative mix: every bit of the input reaches the upper half.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  const std::uint64_t product = (state ^ word) * 0x9E3779B97F4A7C15U;
  return product ^ (product >> 29);
}

[[nodiscard]] constexpr std::uint64_t header_check(const FrameHeader& header) {
  const std::uint64_t kind = header.magic | (std::uint64_t{header.bytes} << 32);
  return mix(mix(mix(0x7475747469, kind), header.epoch), header.offset_or_check);
}

/// `payload` is a multiple of 8 bytes long.
[[nodiscard]] inline std::uint64_t payload_check(std::span<const std::byte> payload) {
  std::uint64_t state = payload.size();
  for (std::size_t at = 0; at + 8 <= payload.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, payload.data() + at, sizeof(word));
    state = mix(state, word);
  }
  return state;
}

[[nodiscard]] constexpr FrameHeader make_header(std::uint32_t magic, std::uint32_t bytes,
                                                std::uint64_t epoch,
                                                std::uint64_t offset_or_check) {
  FrameHeader header{
      .magic = magic, .bytes = bytes, .epoch = epoch, .offset_or_check = offset_or_check};
  header.check = header_check(header);
  return header;
}

}  // namespace tutti::tcp
