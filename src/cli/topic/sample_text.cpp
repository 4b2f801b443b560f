#include "cli/topic/sample_text.hpp"

#include <array>
#include <utility>

#include "tutti/dds/json.hpp"

namespace tutti::cli {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view word_of(dds::Kind kind) {
  constexpr std::array<std::string_view, 24> kWords = {
      "?",      "bool",     "byte",   "int8",    "uint8",   "int16",    "uint16", "int32",
      "uint32", "int64",    "uint64", "float32", "float64", "char8",    "char16", "string",
      "enum",   "sequence", "array",  "struct",  "union",   "optional", "none",   "opaque"};
  const auto at = static_cast<std::size_t>(kind);
  return at < kWords.size() ? kWords[at] : kWords[0];
}

std::string bound_of(std::uint32_t bound) {
  return bound == 0 ? "" : ", at most " + std::to_string(bound);
}

/// A node in one line, such as "sequence of float64, at most 8".
std::string text_of(const dds::Type& type, std::uint32_t at) {
  const dds::TypeNode& node = type.nodes[at];
  switch (node.kind) {
    case dds::Kind::string:
      return "string" + bound_of(node.bound);
    case dds::Kind::sequence:
      return "sequence of " + text_of(type, node.element) + bound_of(node.bound);
    case dds::Kind::array:
      return "array of " + std::to_string(node.bound) + " " + text_of(type, node.element);
    case dds::Kind::optional:
      return "optional " + text_of(type, node.element);
    case dds::Kind::structure:
    case dds::Kind::union_:
    case dds::Kind::enumeration:
    case dds::Kind::opaque:
      return std::string(word_of(node.kind)) + " " + node.name;
    default:
      return std::string(word_of(node.kind));
  }
}

}  // namespace

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<std::size_t>(byte) >> 4U];
    text += kDigits[static_cast<std::size_t>(byte) & 15U];
  }
  return text;
}

std::optional<std::vector<std::byte>> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return {};
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_of(digits[i]);
    const int low = digit_of(digits[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

Result<SampleText> SampleText::of(const dds::TopicTypeInfo& type) {
  SampleText text;
  if (type.description.empty()) return text;
  Result<dds::Type> decoded = dds::decode_type(type.description);
  if (!decoded) {
    return fail(decoded.error().code,
                "the description of type '" + type.name + "': " + decoded.error().message);
  }
  text.type_ = std::move(*decoded);
  return text;
}

Result<std::string> SampleText::print(std::span<const std::byte> sample) const {
  if (type_) return dds::print_json(*type_, sample);
  return "\"" + hex(sample) + "\"";
}

Result<std::vector<std::byte>> SampleText::parse(std::string_view text) const {
  if (type_) return dds::parse_json(*type_, text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if (auto bytes = from_hex(text)) return std::move(*bytes);
  return fail(ErrorCode::invalid_argument,
              "the type has no description, so give its bytes as hexadecimal digits, such as "
              "00ff12");
}

std::string SampleText::fields() const {
  if (!type_) return {};
  std::string text;
  // Parts that are structures, unions and enums have their own lines, below the type's.
  for (std::uint32_t at = 0; at < type_->nodes.size(); ++at) {
    const dds::TypeNode& node = type_->nodes[at];
    const bool is_enum = node.kind == dds::Kind::enumeration;
    if (at != 0 && node.members.empty()) continue;
    text += text_of(*type_, at) + "\n";
    for (const dds::TypeMember& member : node.members) {
      text +=
          "  " + member.name +
          (is_enum ? " = " + std::to_string(member.label) : ": " + text_of(*type_, member.type)) +
          (member.key ? " (key)" : "") + "\n";
    }
  }
  return text;
}

}  // namespace tutti::cli
