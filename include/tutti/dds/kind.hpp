/// \file kind.hpp
/// The kinds of types that a topic can have [DDS-XTypes 1.3, 7.2.2].
#pragma once
#include <cstdint>

namespace tutti::dds {

/// Numbers are part of descriptions that are sent (type.hpp): they never change.
enum class Kind : std::uint8_t {
  boolean = 1,
  byte = 2,
  int8 = 3,
  uint8 = 4,
  int16 = 5,
  uint16 = 6,
  int32 = 7,
  uint32 = 8,
  int64 = 9,
  uint64 = 10,
  float32 = 11,
  float64 = 12,
  char8 = 13,
  char16 = 14,
  string = 15,
  enumeration = 16,
  sequence = 17,
  array = 18,
  structure = 19,
  union_ = 20,
  optional = 21,
  no_member = 22,  ///< std::monostate, an alternative of a union
  opaque = 23,     ///< trivially copyable, without TUTTI_FIELDS: bytes
};

}  // namespace tutti::dds
