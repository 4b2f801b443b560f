/// \file text.cpp
#include "base/text.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace tutti {

bool is_plain_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = lead < 0x80 ? 1 : std::countl_one(lead);
    if (lead < 0x20 || lead == 0x7f || (lead >= 0x80 && (length < 2 || length > 4))) return false;
    if (i + static_cast<std::size_t>(length) > text.size()) return false;
    std::uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xc0U) != 0x80) return false;
      point = (point << 6U) | (next & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    const bool control = point >= 0x80 && point <= 0x9f;  // a terminal heeds some of these as well
    if (point < kLeast[static_cast<std::size_t>(length)] || surrogate || control ||
        point > 0x10ffff) {
      return false;
    }
    i += static_cast<std::size_t>(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t max) {
  std::string shown(text.substr(0, max));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > max) shown += "...";
  return shown;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string in_seconds(std::chrono::nanoseconds time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.resize(text.find('.') + 4);
  return text;
}

}  // namespace tutti
