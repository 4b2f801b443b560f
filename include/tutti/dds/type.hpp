/// \file type.hpp
/// A type as data: what a program needs to show samples of a type that it was not compiled with,
/// and a hash by which members notice that they were compiled with different ones.
///
/// A description can be sent (encode_type). One that was received is checked before it is used
/// (decode_type): its parts exist, none contains itself without a sequence, an optional or a union
/// between, and they lie inside what contains them. Threads: any; type_of's object is never
/// changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/dds/description.hpp"
#include "tutti/dds/detail/describe.hpp"
#include "tutti/dds/topic_type.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

/// FNV-1a, 64 bits, over what encode_type gives. Two types that differ by mistake have the same
/// hash in one of 2^64 cases; who looks for two such types finds them.
[[nodiscard]] TUTTI_API std::uint64_t type_hash(const Type& type);

/// Encodes a description by XCDR2, some 40 bytes a field. Errors: as decode_type's, of `type`.
[[nodiscard]] TUTTI_API Result<std::vector<std::byte>> encode_type(const Type& type);

/// Decodes and checks. Errors: mismatch, which says what is wrong with the description.
[[nodiscard]] TUTTI_API Result<Type> decode_type(std::span<const std::byte> bytes);

/// The description of T, made when it is first asked for.
template <TopicType T>
[[nodiscard]] const Type& type_of() {
  static const Type kType = detail::describe<T>();
  return kType;
}

/// The hash of T's structure: kinds, names, ids, bounds, and where the type is sent in place the
/// offsets and sizes of all fields. A type without TUTTI_FIELDS has only its name, its size and its
/// alignment in the hash: that two fields changed places, or one its type, goes unnoticed if the
/// size stays.
template <TopicType T>
[[nodiscard]] std::uint64_t type_hash() {
  static const std::uint64_t kHash = type_hash(type_of<T>());
  return kHash;
}

}  // namespace tutti::dds
