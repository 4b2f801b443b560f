/// \file hello_frame.cpp
/// The fixed-size parts of the handshake: prefix, lengths, verdicts.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "node/bootstrap/hello.hpp"

namespace tutti {
namespace {

constexpr std::string_view kMagic("TUTTI\0", 6);

void append_u32(std::string& frame, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>((value >> shift) & 0xffU));
  }
}

// Beyond all error codes.
constexpr std::uint8_t kNotNow = 0x40;
constexpr std::uint8_t kRemoved = 0x41;

std::string verdict_frame(std::uint8_t kind, std::string_view text) {
  text = text.substr(0, kVerdictMax - 1);
  std::string frame;
  append_u32(frame, static_cast<std::uint32_t>(text.size()) + 1);
  frame.push_back(static_cast<char>(kind));
  frame += text;
  return frame;
}

}  // namespace

std::string hello_prefix(std::uint16_t protocol, std::uint32_t length) {
  std::string frame(kMagic);
  frame.push_back(static_cast<char>(protocol & 0xffU));
  frame.push_back(static_cast<char>(protocol >> 8U));
  append_u32(frame, length);
  return frame;
}

std::uint32_t load_u32(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;)
    value = (value << 8U) | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

Result<std::uint32_t> decode_prefix(const HelloPrefix& prefix) {
  const bool magic = std::ranges::equal(kMagic, std::span(prefix).first(kMagic.size()), {}, {},
                                        [](std::byte b) { return static_cast<char>(b); });
  if (!magic) return fail(ErrorCode::invalid_argument, "what it sent is not Tutti's protocol");
  const unsigned protocol =
      std::to_integer<unsigned>(prefix[6]) | (std::to_integer<unsigned>(prefix[7]) << 8U);
  if (protocol != kProtocolVersion) {
    return fail(ErrorCode::mismatch, "protocol version is " + std::to_string(protocol) +
                                         " there but " + std::to_string(kProtocolVersion) +
                                         " here; start all members with the same release of Tutti");
  }
  const std::uint32_t length = load_u32(std::span(prefix).subspan<8, 4>());
  if (length == 0 || length > kHelloMax) {
    return fail(ErrorCode::invalid_argument, "its hello would have " + std::to_string(length) +
                                                 " bytes; legal: 1 .. " +
                                                 std::to_string(kHelloMax));
  }
  return length;
}

std::string encode_verdict() { return std::string(4, '\0'); }

std::string encode_verdict(const Error& error) {
  return verdict_frame(std::to_underlying(error.code), error.message);
}

std::string encode_not_now(std::string_view why) { return verdict_frame(kNotNow, why); }

std::string encode_removed() { return verdict_frame(kRemoved, {}); }

Verdict decode_verdict(std::string_view body) {
  const std::uint8_t code = body.empty() ? 0xff : static_cast<std::uint8_t>(body.front());
  const std::string text = printable(body.substr(body.empty() ? 0 : 1), kVerdictMax);
  if (code == kNotNow) return {Verdict::Kind::not_now, {ErrorCode::mismatch, text}};
  if (code == kRemoved) return {Verdict::Kind::removed, {ErrorCode::stopped, text}};
  const bool known = code <= std::to_underlying(ErrorCode::system);
  return {Verdict::Kind::refused,
          {known ? static_cast<ErrorCode>(code) : ErrorCode::mismatch, text}};
}

}  // namespace tutti
