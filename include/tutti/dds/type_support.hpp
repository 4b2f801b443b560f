/// \file type_support.hpp
/// What a topic needs to know of the type of its samples (fields.hpp says how a type is made one).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tutti/dds/cdr.hpp"
#include "tutti/dds/topic_type.hpp"
#include "tutti/dds/type.hpp"
#include "tutti/error.hpp"

namespace tutti::dds {

/// A type as participants compare it: two topics of a name have the same type if all of it but the
/// description is the same.
struct TopicTypeInfo {
  std::string name{};                    ///< 1 .. 255 bytes
  std::uint64_t hash = 0;                ///< type_hash
  std::vector<std::byte> description{};  ///< encode_type, at most 32 KiB; empty: not known
  std::uint32_t in_place_bytes = 0;      ///< sizeof, if it is sent as it lies in memory; else 0
  std::uint32_t alignment = 8;           ///< a power of two, 1 .. 4096: of the payload
  bool keyed = false;                    ///< samples have a key: History is kept for each key
  bool operator==(const TopicTypeInfo&) const = default;
};

/// The longest of these.
inline constexpr std::size_t kTypeDescriptionMax = 32 * 1024;

/// By which a topic's history tells keys apart: FNV-1a, 64 bits, of what key_of gives.
[[nodiscard]] constexpr std::uint64_t hash_of_key(std::span<const std::byte> key) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte byte : key) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

/// How samples of T are sent: as they lie in memory (kInPlace), or encoded by XCDR2.
template <class T>
struct TypeSupport {
  static_assert(TopicType<T>,
                "a topic's type is trivially copyable, or its fields are named: TUTTI_FIELDS "
                "(tutti/dds/fields.hpp); a pointer cannot be sent");
  static constexpr bool kInPlace = dds::kInPlace<T>;
  static constexpr bool kKeyed = kHasKey<T>;

  [[nodiscard]] static TopicTypeInfo info() {
    TopicTypeInfo info{.name = std::string(type_name<T>()), .hash = type_hash<T>()};
    if (Result<std::vector<std::byte>> description = encode_type(type_of<T>())) {
      info.description = std::move(*description);
    }
    if constexpr (kInPlace) {
      info.in_place_bytes = sizeof(T);
      info.alignment = alignof(T);
    }
    info.keyed = kKeyed;
    return info;
  }

  /// A hash of the key, 0 if there is none. Allocates once for each thread.
  [[nodiscard]] static std::uint64_t key_hash(const T& sample) {
    if constexpr (!kKeyed) {
      return 0;
    } else {
      thread_local std::vector<std::byte> key;
      static_cast<void>(key_of(sample, key));  // what fails here encode() refuses
      return hash_of_key(key);
    }
  }

  // Of a type that is encoded.
  [[nodiscard]] static std::uint32_t encoded_size(const T& sample) {
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(dds::encoded_size(sample), kMost));
  }
  [[nodiscard]] static Result<std::size_t> encode(const T& sample, std::span<std::byte> into) {
    return dds::encode(sample, into);
  }
  [[nodiscard]] static Result<void> decode(std::span<const std::byte> bytes, T& into) {
    return dds::decode(bytes, into);
  }
};

}  // namespace tutti::dds
