/// \file type_support.hpp
/// What a topic needs to know of the type of its samples.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/message.hpp"

namespace tutti::dds {

/// A type as participants compare it: two topics of a name have the same type if all of it but the
/// description is the same.
struct TopicTypeInfo {
  std::string name{};                    ///< 1 .. 255 bytes
  std::uint64_t hash = 0;                ///< over the structure
  std::vector<std::byte> description{};  ///< for tools, at most 32 KiB; may be empty
  std::uint32_t in_place_bytes = 0;      ///< sizeof, if it is sent as it lies in memory; else 0
  std::uint32_t alignment = 8;           ///< a power of two, 1 .. 4096: of the payload
  bool keyed = false;                    ///< samples have a key: History is kept for each key
  bool operator==(const TopicTypeInfo&) const = default;
};

/// The longest of these.
inline constexpr std::size_t kTypeDescriptionMax = 32 * 1024;

/// How samples of T are sent. This is for trivially copyable types, which are sent as they lie in
/// memory: the hash is over name, size and alignment, so it does not notice fields that have
/// changed places.
template <class T>
struct TypeSupport {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignmentMax,
                "a type that is not trivially copyable needs its fields named: TUTTI_FIELDS");
  static constexpr bool kInPlace = true;
  static constexpr bool kKeyed = false;

  [[nodiscard]] static TopicTypeInfo info() {
    return {.name = std::string(name()),
            .hash = hash(),
            .in_place_bytes = sizeof(T),
            .alignment = alignof(T)};
  }
  [[nodiscard]] static std::uint64_t key_hash(const T&) { return 0; }

 private:
  // "static std::string_view tutti::dds::TypeSupport<T>::name() [with T = Reading; ...]" of GCC,
  // "... [T = Reading]" of clang.
  [[nodiscard]] static constexpr std::string_view name() {
    std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t begin = text.find("T = ") + 4;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
  }
  [[nodiscard]] static constexpr std::uint64_t hash() {  // FNV-1a
    std::uint64_t sum = 0xcbf29ce484222325;
    const auto add = [&](std::uint64_t value) { sum = (sum ^ value) * 0x100000001b3; };
    for (const char letter : name()) add(static_cast<unsigned char>(letter));
    add(sizeof(T));
    add(alignof(T));
    return sum;
  }
};

}  // namespace tutti::dds
