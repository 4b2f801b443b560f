/// \file wire_kind.hpp
/// What a kind is on the wire: how many bytes, and whether it can be a union's discriminator.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tutti/dds/kind.hpp"
#include "tutti/dds/type.hpp"

namespace tutti::dds {

/// 0 if a value of that kind is no single number or character.
[[nodiscard]] constexpr std::uint32_t primitive_bytes(Kind kind) {
  switch (kind) {
    case Kind::boolean:
    case Kind::byte:
    case Kind::int8:
    case Kind::uint8:
    case Kind::char8:
      return 1;
    case Kind::int16:
    case Kind::uint16:
    case Kind::char16:
      return 2;
    case Kind::int32:
    case Kind::uint32:
    case Kind::float32:
      return 4;
    case Kind::int64:
    case Kind::uint64:
    case Kind::float64:
      return 8;
    default:
      return 0;
  }
}

[[nodiscard]] constexpr bool is_primitive(Kind kind) { return primitive_bytes(kind) != 0; }

[[nodiscard]] constexpr bool is_label(const TypeNode& node) {
  return node.kind == Kind::enumeration ||
         (is_primitive(node.kind) && node.kind != Kind::float32 && node.kind != Kind::float64);
}

[[nodiscard]] constexpr std::uint32_t label_bytes(const TypeNode& node) {
  return node.kind == Kind::enumeration ? node.size : primitive_bytes(node.kind);
}

}  // namespace tutti::dds
