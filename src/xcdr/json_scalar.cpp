/// \file json_scalar.cpp
#include "xcdr/json_scalar.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "xcdr/wire_kind.hpp"

namespace tutti::dds {
namespace {

template <class T>
void append_number(std::string& json, T value) {
  char digits[40];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value);
  json.append(digits, end.ptr);
}

template <class T>
void append_float(std::string& json, T value) {
  if (std::isfinite(value)) return append_number(json, value);
  json.append(std::isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"");
}

/// The label or number that the lowest bytes are, with their sign if there are negative ones.
std::int64_t extended(std::uint64_t bits, std::uint32_t bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return std::bit_cast<std::int64_t>(bits << unused) >> unused;
}

std::uint64_t lowest(std::uint64_t bits, std::uint32_t bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

/// How many bytes of UTF-8 begin there; 0 if none do.
std::size_t utf8_bytes(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text[0]);
  const std::size_t count = first < 0x80   ? 1
                            : first < 0xc2 ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf5 ? 4
                                           : 0;
  if (count > text.size()) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((static_cast<std::uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  }
  // Longer than needed, half of a surrogate pair, or beyond the last character.
  const auto second = count > 1 ? static_cast<std::uint8_t>(text[1]) : std::uint8_t{0};
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return count;
}

void append_escaped(std::string& json, char character) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto code = static_cast<std::uint8_t>(character);
  if (character == '"' || character == '\\') {
    json.append({'\\', character});
  } else if (character == '\n') {
    json.append("\\n");
  } else if (code < 0x20 || code == 0x7f) {
    json.append("\\u00").append({kDigits[code >> 4], kDigits[code & 15]});
  } else {
    json.push_back(character);
  }
}

template <class T>
std::string parse_integer(const nlohmann::json& json, std::uint64_t& bits) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    bits = value;
    if (std::in_range<T>(value)) return {};
  } else if (json.is_number_integer()) {
    const auto value = json.get<std::int64_t>();
    bits = std::bit_cast<std::uint64_t>(value);
    if (std::in_range<T>(value)) return {};
  }
  return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
         std::to_string(std::numeric_limits<T>::max());
}

std::string parse_float(const nlohmann::json& json, bool is_double, std::uint64_t& bits) {
  double value = 0;
  if (json.is_number()) {
    value = json.get<double>();
  } else {
    const auto* text = json.get_ptr<const std::string*>();
    if (text != nullptr && *text == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (text != nullptr && (*text == "inf" || *text == "-inf")) {
      value = text->front() == '-' ? -HUGE_VAL : HUGE_VAL;
    } else {
      return R"(a number, or one of "nan", "inf", "-inf")";
    }
  }
  bits = is_double ? std::bit_cast<std::uint64_t>(value)
                   : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return {};
}

std::string parse_enumerator(const nlohmann::json& json, const TypeNode& node,
                             std::uint64_t& bits) {
  const auto* text = json.get_ptr<const std::string*>();
  for (const TypeMember& member : node.members) {
    const bool same =
        text != nullptr ? member.name == *text : json.is_number_integer() && json == member.label;
    if (!same) continue;
    bits = std::bit_cast<std::uint64_t>(member.label);
    return {};
  }
  if (node.members.empty()) {
    // Whether its underlying type is signed is not known, nor does it matter.
    std::uint64_t wide = 0;
    const unsigned width = 8 * node.size;
    const auto number = parse_integer<std::int64_t>(json, wide).empty()
                            ? std::bit_cast<std::int64_t>(wide)
                            : std::numeric_limits<std::int64_t>::max();
    bits = wide;
    if (number < std::int64_t{1} << width && number >= -(std::int64_t{1} << (width - 1))) return {};
    return "a whole number of " + std::to_string(node.size) + " bytes";
  }
  std::string names = "one of";
  for (const TypeMember& member : node.members) names.append(" ").append(member.name);
  return names;
}

}  // namespace

std::uint32_t scalar_bytes(const TypeNode& node) { return label_bytes(node); }

void append_scalar(std::string& json, const TypeNode& node, std::uint64_t bits) {
  const std::uint32_t bytes = scalar_bytes(node);
  switch (node.kind) {
    case Kind::boolean:
      json.append((bits & 0xff) != 0 ? "true" : "false");
      break;
    case Kind::float32:
      append_float(json, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      break;
    case Kind::float64:
      append_float(json, std::bit_cast<double>(bits));
      break;
    case Kind::char8:
      if ((bits & 0xff) >= 0x80) return append_number(json, bits & 0xff);
      json.push_back('"');
      append_escaped(json, static_cast<char>(bits & 0xff));
      json.push_back('"');
      break;
    case Kind::enumeration:
      for (const TypeMember& member : node.members) {
        if (lowest(std::bit_cast<std::uint64_t>(member.label), bytes) == lowest(bits, bytes)) {
          return append_text(json, member.name);
        }
      }
      append_number(json, extended(bits, bytes));
      break;
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
      append_number(json, extended(bits, bytes));
      break;
    default:
      append_number(json, lowest(bits, bytes));
  }
}

void append_text(std::string& json, std::string_view text) {
  json.push_back('"');
  while (!text.empty()) {
    const std::size_t count = utf8_bytes(text);
    if (count == 1) {
      append_escaped(json, text[0]);
    } else {
      json.append(count == 0 ? "\xef\xbf\xbd" : text.substr(0, count));
    }
    text.remove_prefix(count == 0 ? 1 : count);
  }
  json.push_back('"');
}

void append_hex(std::string& json, const std::byte* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  json.push_back('"');
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    json.append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
  json.push_back('"');
}

std::uint64_t initial_bits(const TypeNode& node) {
  if (node.kind != Kind::enumeration || node.members.empty()) return 0;
  for (const TypeMember& member : node.members) {
    if (member.label == 0) return 0;
  }
  return std::bit_cast<std::uint64_t>(node.members.front().label);
}

std::string parse_scalar(const nlohmann::json& json, const TypeNode& node, std::uint64_t& bits) {
  switch (node.kind) {
    case Kind::boolean:
      if (!json.is_boolean()) return "true or false";
      bits = json.get<bool>() ? 1 : 0;
      return {};
    case Kind::int8:
      return parse_integer<std::int8_t>(json, bits);
    case Kind::int16:
      return parse_integer<std::int16_t>(json, bits);
    case Kind::int32:
      return parse_integer<std::int32_t>(json, bits);
    case Kind::int64:
      return parse_integer<std::int64_t>(json, bits);
    case Kind::byte:
    case Kind::uint8:
      return parse_integer<std::uint8_t>(json, bits);
    case Kind::uint16:
    case Kind::char16:
      return parse_integer<std::uint16_t>(json, bits);
    case Kind::uint32:
      return parse_integer<std::uint32_t>(json, bits);
    case Kind::uint64:
      return parse_integer<std::uint64_t>(json, bits);
    case Kind::float32:
    case Kind::float64:
      return parse_float(json, node.kind == Kind::float64, bits);
    case Kind::char8:
      if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        bits = text.empty() ? 0 : static_cast<std::uint8_t>(text[0]);
        return text.size() == 1 ? "" : "a text of one character, or a number from 0 to 255";
      }
      return parse_integer<std::uint8_t>(json, bits);
    default:
      return parse_enumerator(json, node, bits);
  }
}

bool parse_hex(std::string_view digits, std::byte* bytes, std::size_t count) {
  if (digits.size() != 2 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t byte = 0;
    const char* begin = digits.data() + 2 * i;
    const auto read = std::from_chars(begin, begin + 2, byte, 16);
    if (read.ec != std::errc{} || read.ptr != begin + 2) return false;
    bytes[i] = std::byte{byte};
  }
  return true;
}

}  // namespace tutti::dds
