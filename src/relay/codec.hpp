/// \file codec.hpp
/// Frames as bytes, and bytes that come in pieces as frames. Each length is checked against what is
/// there and against a limit before it is used; a length that was only announced takes no memory.
/// Threads: one for each object.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "relay/frame.hpp"
#include "tutti/error.hpp"

namespace tutti::relay {

/// The largest text in a frame, in bytes: the description of a type is the longest.
inline constexpr std::size_t kTextBytesMax = 65536;
/// The largest frame before the handshake is over, without its length.
inline constexpr std::uint32_t kHelloBytesMax = 4096;
/// What a publish or a sample needs beside its bytes, at most.
inline constexpr std::uint32_t kFrameOverhead = 64;

/// Puts the frame, with its length, at the end of `into`. A text that is too long is cut.
void encode(const Frame& frame, std::vector<std::byte>& into);
/// The same bytes: of this kind there is one for each sample and each client.
void encode(const Sample& sample, std::vector<std::byte>& into);

/// Of a frame without its length. Empty: it is none. Bytes in it are those of `bytes`.
[[nodiscard]] std::optional<Frame> decode(std::span<const std::byte> bytes);

class FrameReader {
 public:
  explicit FrameReader(std::uint32_t frame_bytes_max) : max_(frame_bytes_max) {}

  void set_max(std::uint32_t frame_bytes_max) { max_ = frame_bytes_max; }
  /// What was received. Frames that next() returned before are invalid.
  void append(std::span<const std::byte> received);
  /// The next frame, valid until the next call of append(); empty: more must be received.
  /// ErrorCode::damaged: what was received is no frame, and nothing after it can be read.
  [[nodiscard]] Result<std::optional<Frame>> next();
  /// How much memory it holds.
  [[nodiscard]] std::size_t held() const { return buffer_.capacity(); }

 private:
  std::uint32_t max_;
  std::vector<std::byte> buffer_{};
  std::size_t used_ = 0;
};

}  // namespace tutti::relay
