/// \file json_parse.cpp
/// Makes samples of JSON: encoded by version 2 of XCDR, or as they lie in memory.
///
/// A sample has at most kSampleBytesMax bytes: an array that is left out may be large.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tutti/dds/detail/trouble.hpp"
#include "tutti/dds/json.hpp"
#include "xcdr/check_type.hpp"
#include "xcdr/json_scalar.hpp"
#include "xcdr/wire_kind.hpp"

namespace tutti::dds {
namespace {

using Json = nlohmann::json;

/// What both ways of making samples have in common. Where JSON says nothing of a value, that is
/// null here; each function returns false after it has said why in `trouble`.
class Maker {
 public:
  explicit Maker(const Type& type) : type_(type) {}

  detail::Trouble trouble;

 protected:
  bool expected(std::string_view what, const Json& found) {
    // What has parts is only named: a stranger's may lie so deep that printing it takes all stack.
    std::string text = found.is_structured()
                           ? std::string(found.is_array() ? "an array" : "an object")
                           : found.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 40) text.replace(40, std::string::npos, "...");
    return trouble.because(ErrorCode::invalid_argument,
                           std::string(what).append(" is expected here, not ").append(text));
  }

  bool scalar_bits(const TypeNode& node, const Json* from, std::uint64_t& bits) {
    bits = initial_bits(node);
    if (from == nullptr) return true;
    const std::string wanted = parse_scalar(*from, node, bits);
    return wanted.empty() || expected(wanted, *from);
  }

  bool text_of(const TypeNode& node, const Json* from, std::string_view& text) {
    if (from == nullptr) return true;
    const auto* found = from->get_ptr<const std::string*>();
    if (found == nullptr) return expected("a text", *from);
    text = *found;
    return node.bound == 0 || text.size() <= node.bound ||
           trouble.too_long(text.size(), node.bound);
  }

  /// The JSON of a structure's or a union's members: each of its names must be one of the node's.
  bool object_of(const TypeNode& node, const Json* from) {
    if (from == nullptr) return true;
    if (!from->is_object()) return expected("an object", *from);
    for (const auto& item : from->items()) {
      bool known = false;
      for (const TypeMember& member : node.members) known = known || member.name == item.key();
      if (known) continue;
      std::string names;
      for (const TypeMember& member : node.members) names.append(" ").append(member.name);
      return trouble.because(ErrorCode::invalid_argument,
                             "\"" + item.key() + "\" is none of its names; these are:" + names);
    }
    return true;
  }
  static const Json* member_of(const Json* object, const TypeMember& member) {
    if (object == nullptr) return nullptr;
    const auto found = object->find(member.name);
    return found == object->end() ? nullptr : &*found;
  }

  bool array_of(const TypeNode& node, const Json* from) {
    if (from == nullptr) return true;
    if (!from->is_array()) return expected("an array", *from);
    if (node.kind == Kind::array && from->size() != node.bound) {
      return expected("an array of " + std::to_string(node.bound) + " values", *from);
    }
    return node.bound == 0 || from->size() <= node.bound ||
           trouble.too_long(from->size(), node.bound);
  }
  static const Json* element_of(const Json* array, std::size_t index) {
    return array == nullptr ? nullptr : &(*array)[index];
  }

  const Type& type_;
};

bool has_key(const TypeNode& node) { return std::ranges::any_of(node.members, &TypeMember::key); }

class MemoryMaker : public Maker {
 public:
  using Maker::Maker;

  /// The memory is zeroed, as are values that are left out.
  bool value(std::uint32_t index, const Json* from, std::byte* at) {
    const TypeNode& node = type_.nodes[index];
    switch (node.kind) {
      case Kind::structure:
        if (!object_of(node, from)) return false;
        for (const TypeMember& member : node.members) {
          if (!value(member.type, member_of(from, member), at + member.offset)) {
            return trouble.at_field(member.name);
          }
        }
        return true;
      case Kind::array:
        return array_of(node, from) && elements(node, from, node.bound, at);
      case Kind::sequence: {
        if (!array_of(node, from)) return false;
        const auto count = static_cast<std::uint32_t>(from == nullptr ? 0 : from->size());
        std::memcpy(at, &count, sizeof(count));
        return elements(node, from, count, at + node.data_offset);
      }
      case Kind::string: {
        std::string_view text;
        if (!text_of(node, from, text)) return false;
        const auto count = static_cast<std::uint32_t>(text.size());
        std::memcpy(at, &count, sizeof(count));
        std::memcpy(at + node.data_offset, text.data(), text.size());
        return true;
      }
      case Kind::opaque:
        return from == nullptr ||
               (from->is_string() &&
                parse_hex(from->get_ref<const std::string&>(), at, node.size)) ||
               expected(std::to_string(2 * node.size) + " hexadecimal digits", *from);
      default: {
        std::uint64_t bits = 0;
        if (!scalar_bits(node, from, bits)) return false;
        std::memcpy(at, &bits, scalar_bytes(node));
        return true;
      }
    }
  }

 private:
  bool elements(const TypeNode& node, const Json* from, std::size_t count, std::byte* at) {
    const std::size_t size = type_.nodes[node.element].size;
    for (std::size_t i = 0; i < count; ++i) {
      if (!value(node.element, element_of(from, i), at + i * size)) return trouble.at_index(i);
    }
    return true;
  }
};

class CdrMaker : public Maker {
 public:
  using Maker::Maker;

  bool value(std::uint32_t index, const Json* from, unsigned depth) {
    if (depth > detail::kDepthMax) return trouble.too_deep();
    const TypeNode& node = type_.nodes[index];
    switch (node.kind) {
      case Kind::structure:
        return sized(node.extensibility != Extensibility::final,
                     [&] { return object_of(node, from) && fields(node, from, depth); });
      case Kind::union_:
        return sized(node.extensibility != Extensibility::final,
                     [&] { return union_of(node, from, depth); });
      case Kind::array:
      case Kind::sequence:
        return sized(!is_primitive(type_.nodes[node.element].kind),
                     [&] { return array_of(node, from) && elements(node, from, depth); });
      case Kind::string:
        return text(node, from);
      case Kind::optional:
        return value(node.element, from, depth);  // it is there, or nobody would ask
      case Kind::no_member:
        return true;
      case Kind::opaque:  // of what is sent in place alone: check_type
        return trouble.because(ErrorCode::invalid_argument, "an opaque value is not encoded");
      default: {
        std::uint64_t bits = 0;
        return scalar_bits(node, from, bits) && put(bits, scalar_bytes(node));
      }
    }
  }

  /// As detail::write_key.
  bool key(std::uint32_t index, const Json* from, unsigned depth) {
    const TypeNode& node = type_.nodes[index];
    if (node.kind != Kind::structure) return value(index, from, depth);
    if (depth > detail::kDepthMax) return trouble.too_deep();
    if (!object_of(node, from)) return false;
    const bool some = has_key(node);
    for (const TypeMember& member : node.members) {
      if (some && !member.key) continue;
      if (!key(member.type, member_of(from, member), depth + 1)) {
        return trouble.at_field(member.name);
      }
    }
    return true;
  }

  /// The payload, to be moved from.
  std::vector<std::byte> bytes;

 private:
  bool put(std::uint64_t bits, std::size_t count) {
    const std::size_t align = count < 4 ? count : 4;
    const std::size_t at = (bytes.size() + align - 1) / align * align;
    if (at + count > kSampleBytesMax) return trouble.too_long(at + count, kSampleBytesMax);
    bytes.resize(at + count);
    std::memcpy(bytes.data() + at, &bits, count);
    return true;
  }

  template <class Body>
  bool sized(bool has_size, const Body& body) {
    if (!has_size) return body();
    if (!put(0, sizeof(std::uint32_t))) return false;
    const std::size_t begin = bytes.size();
    if (!body()) return false;
    const auto size = static_cast<std::uint32_t>(bytes.size() - begin);
    std::memcpy(bytes.data() + begin - sizeof(size), &size, sizeof(size));
    return true;
  }

  bool text(const TypeNode& node, const Json* from) {
    std::string_view text;
    if (!text_of(node, from, text)) return false;
    if (text.size() > kSampleBytesMax) return trouble.too_long(text.size(), kSampleBytesMax);
    if (!put(text.size() + 1, sizeof(std::uint32_t))) return false;
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), begin, begin + text.size());
    bytes.push_back(std::byte{0});
    return true;
  }

  bool elements(const TypeNode& node, const Json* from, unsigned depth) {
    std::size_t count = node.bound;
    if (node.kind == Kind::sequence) {
      count = from == nullptr ? 0 : from->size();
      if (!put(count, sizeof(std::uint32_t))) return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!value(node.element, element_of(from, i), depth + 1)) return trouble.at_index(i);
    }
    return true;
  }

  bool fields(const TypeNode& node, const Json* from, unsigned depth) {
    for (const TypeMember& member : node.members) {
      const Json* given = member_of(from, member);
      const bool optional = type_.nodes[member.type].kind == Kind::optional;
      const bool there = !optional || (given != nullptr && !given->is_null());
      bool good = true;
      if (node.extensibility == Extensibility::mutable_) {
        // The header says that the size of the value comes next (length code 4).
        good = !there || (put(member.id | 4U << 28, sizeof(std::uint32_t)) &&
                          sized(true, [&] { return value(member.type, given, depth + 1); }));
      } else {
        good = (!optional || put(there ? 1 : 0, 1)) &&
               (!there || value(member.type, given, depth + 1));
      }
      if (!good) return trouble.at_field(member.name);
    }
    return true;
  }

  bool union_of(const TypeNode& node, const Json* from, unsigned depth) {
    if (!object_of(node, from)) return false;
    if (from != nullptr && from->size() != 1) return expected("one case of the union", *from);
    for (const TypeMember& member : node.members) {
      const Json* given = member_of(from, member);
      if (from != nullptr && given == nullptr) continue;
      if (!put(std::bit_cast<std::uint64_t>(member.label),
               scalar_bytes(type_.nodes[node.element]))) {
        return false;
      }
      return value(member.type, given, depth + 1) || trouble.at_field(member.name);
    }
    return true;
  }
};

/// Encapsulation header, payload, padding.
std::vector<std::byte> sample_of(const std::vector<std::byte>& payload, Extensibility form) {
  constexpr std::byte kForm[] = {std::byte{0x07}, std::byte{0x09}, std::byte{0x0b}};
  const std::size_t padding = (0 - payload.size()) & 3;
  std::vector<std::byte> sample = {std::byte{0}, kForm[static_cast<std::size_t>(form)],
                                   std::byte{0}, static_cast<std::byte>(padding)};
  sample.insert(sample.end(), payload.begin(), payload.end());
  sample.resize(sample.size() + padding);
  return sample;
}

Result<Json> parsed(const Type& type, std::string_view text) {
  const Result<LeastBytes> least = check_type(type);
  if (!least) return std::unexpected(least.error());
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  return fail(ErrorCode::invalid_argument, "cannot make a " + type.nodes[0].name +
                                               ": this is no JSON; write one object, such as "
                                               "{\"name\": 1}");
}

}  // namespace

Result<std::vector<std::byte>> parse_json(const Type& type, std::string_view text) {
  const Result<Json> json = parsed(type, text);
  if (!json) return std::unexpected(json.error());
  const Json& value = *json;
  const TypeNode& root = type.nodes[0];
  if (type.in_place) {
    MemoryMaker maker(type);
    std::vector<std::byte> sample(root.size);
    if (maker.value(0, &value, sample.data())) return sample;
    return std::unexpected(maker.trouble.error(root.name, "make"));
  }
  CdrMaker maker(type);
  if (maker.value(0, &value, 0)) return sample_of(maker.bytes, root.extensibility);
  return std::unexpected(maker.trouble.error(root.name, "make"));
}

Result<std::vector<std::byte>> parse_json_key(const Type& type, std::string_view text) {
  const Result<Json> json = parsed(type, text);
  if (!json) return std::unexpected(json.error());
  const TypeNode& root = type.nodes[0];
  if (!has_key(root)) return std::vector<std::byte>{};
  CdrMaker maker(type);
  if (maker.key(0, &*json, 0)) return std::move(maker.bytes);
  return std::unexpected(maker.trouble.error(root.name, "make the key of"));
}

}  // namespace tutti::dds
