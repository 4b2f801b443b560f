/// \file description.hpp
/// A type as data: its parts as nodes that name each other by their indexes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/dds/fields.hpp"
#include "tutti/dds/kind.hpp"

namespace tutti::dds {

/// A field of a structure, a case of a union or an enumerator.
struct TypeMember {
  std::string name{};
  std::uint32_t type = 0;    ///< index of its node; 0 for an enumerator
  std::uint32_t id = 0;      ///< of a field
  std::uint32_t offset = 0;  ///< of a field in memory, if the type is sent in place
  std::int64_t label = 0;    ///< of a case or an enumerator
  bool key = false;
};

struct TypeNode {
  Kind kind = Kind::opaque;
  Extensibility extensibility = Extensibility::final;
  std::string name{};         ///< of a structure, a union, an enum or an opaque type
  std::uint32_t size = 0;     ///< in memory, if the type is sent in place; of an enum always
  std::uint32_t align = 0;    ///< in memory, if the type is sent in place
  std::uint32_t element = 0;  ///< node of the elements, of an optional's value, of a discriminator
  std::uint32_t bound = 0;    ///< of a string or a sequence, 0 is none; of an array its count
  std::uint32_t data_offset = 0;  ///< of a bounded string's or sequence's data in memory
  std::vector<TypeMember> members{};
};

struct Type {
  bool in_place = false;          ///< samples are sent as they lie in memory (kInPlace)
  std::vector<TypeNode> nodes{};  ///< the first is the type itself; others are its parts
};

/// Nodes, members of a node, characters of a name, bytes of the smallest sample: more is refused.
inline constexpr std::uint32_t kTypeNodesMax = 4096;
inline constexpr std::uint32_t kTypeMembersMax = 4096;
inline constexpr std::uint32_t kTypeNameMax = 255;
inline constexpr std::uint32_t kSampleBytesMax = 1U << 26;

}  // namespace tutti::dds
