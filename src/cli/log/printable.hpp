/// \file printable.hpp
/// Bytes of strangers as text for a terminal: what is printed never controls it, whatever the bytes
/// are.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti::cli {

/// The bytes of the UTF-8 character at the start of `text`, 1 .. 4, if it is a whole one that a
/// terminal shows as a sign: no control character, no mark that turns the direction of writing.
[[nodiscard]] inline std::optional<std::size_t> printable_character(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  if (byte(0) < 0x80) {
    if (byte(0) < 0x20 || byte(0) == 0x7f) return {};
    return 1;
  }
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return {};
  std::uint32_t code = byte(0) & (0x7fU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff) return {};  // longer than it need be, or none
  if (code >= 0xd800 && code < 0xe000) return {};         // a half of a pair
  if (code < 0xa0) return {};                             // C1 controls
  if (code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069)) {
    return {};
  }
  return size;
}

/// Whether all of it is text: printable characters, tabs and ends of lines.
[[nodiscard]] inline bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool space = bytes[0] == '\n' || bytes[0] == '\t' || bytes[0] == '\r';
    const std::optional<std::size_t> size = space ? 1 : printable_character(bytes);
    if (!size) return false;
    bytes.remove_prefix(*size);
  }
  return true;
}

/// On one line: \n, \t, \r, \\, \" and, for other bytes that are not printable, \xHH.
[[nodiscard]] inline std::string escaped(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  while (!bytes.empty()) {
    const std::size_t special = std::string_view("\n\t\r\\\"").find(bytes[0]);
    std::size_t taken = 1;
    if (special != std::string_view::npos) {
      text += {'\\', "ntr\\\""[special]};
    } else if (const auto size = printable_character(bytes)) {
      taken = *size;
      text += bytes.substr(0, taken);
    } else {
      const auto byte = static_cast<std::uint8_t>(bytes[0]);
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    bytes.remove_prefix(taken);
  }
  return text;
}

/// Two digits for each byte.
[[nodiscard]] inline std::string hex_of(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

}  // namespace tutti::cli
