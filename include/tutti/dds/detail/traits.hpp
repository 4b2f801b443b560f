/// \file traits.hpp
/// What a C++ type is on the wire: its kind, its fields, and what was said of it in macros.
///
/// Whatever a topic cannot have is refused here, by a message that says why (`refuse_unsupported`).
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/dds/bounded.hpp"
#include "tutti/dds/fields.hpp"
#include "tutti/dds/kind.hpp"

namespace tutti::dds::detail {

static_assert(std::endian::native == std::endian::little,
              "tutti/dds is for little-endian processors");

template <class T>
concept HasMemberFields = requires(T& object) { object.tutti_fields(Tag<T>{}); };
template <class T>
concept HasFields = HasMemberFields<T> || requires { tutti_fields(Tag<T>{}); };
template <class T>
concept HasMemberOptions = requires(T& object) { object.tutti_options(Tag<T>{}); };
template <class T>
concept HasOptions = HasMemberOptions<T> || requires { tutti_options(Tag<T>{}); };
template <class T>
concept HasEnumerators = std::is_enum_v<T> && requires { tutti_enumerators(Tag<T>{}); };

/// The closures that the macros make have no state: their types are all that is needed.
template <class T>
consteval auto fields_closure() {
  if constexpr (HasMemberFields<T>) {
    return std::type_identity<decltype(std::declval<T&>().tutti_fields(Tag<T>{}))>{};
  } else {
    return std::type_identity<decltype(tutti_fields(Tag<T>{}))>{};
  }
}

/// Calls `visit` for the fields in order, until it returns false; then that is the result.
template <class T, class Visit>
constexpr bool each_field(Visit&& visit) {
  return typename decltype(fields_closure<T>())::type{}(visit);
}

template <class T>
consteval TypeOptions options_of() {
  if constexpr (HasMemberOptions<T>) {
    return decltype(std::declval<T&>().tutti_options(Tag<T>{})){}();
  } else if constexpr (HasOptions<T>) {
    return decltype(tutti_options(Tag<T>{})){}();
  } else {
    return {};
  }
}

template <class T, class Visit>
constexpr bool each_enumerator(Visit&& visit) {
  return decltype(tutti_enumerators(Tag<T>{})){}(visit);
}

/// Element, count and kind of what contains other values.
template <class T>
struct Container {
  static constexpr bool kArray = false, kSequence = false, kString = false, kBounded = false;
};
template <class T, std::size_t kCount>
struct Container<std::array<T, kCount>> {
  using Element = T;
  static constexpr bool kArray = true, kSequence = false, kString = false, kBounded = false;
  static constexpr std::size_t count = kCount;
};
template <class T, std::size_t kCount>
struct Container<T[kCount]> : Container<std::array<T, kCount>> {};
template <class T, class Allocator>
struct Container<std::vector<T, Allocator>> {
  using Element = T;
  static constexpr bool kArray = false, kSequence = true, kString = false, kBounded = false;
  static constexpr std::size_t bound = 0;
};
template <class T, std::uint32_t kMax>
struct Container<bounded_vector<T, kMax>> {
  using Element = T;
  static constexpr bool kArray = false, kSequence = true, kString = false, kBounded = true;
  static constexpr std::size_t bound = kMax;
};
template <class Traits, class Allocator>
struct Container<std::basic_string<char, Traits, Allocator>> {
  static constexpr bool kArray = false, kSequence = false, kString = true, kBounded = false;
  static constexpr std::size_t bound = 0;
};
template <std::uint32_t kMax>
struct Container<bounded_string<kMax>> {
  static constexpr bool kArray = false, kSequence = false, kString = true, kBounded = true;
  static constexpr std::size_t bound = kMax;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};

template <class T>
consteval Kind integer_kind() {
  constexpr Kind kSigned[] = {Kind::int8, Kind::int16, Kind::int32, Kind::int64};
  constexpr Kind kUnsigned[] = {Kind::uint8, Kind::uint16, Kind::uint32, Kind::uint64};
  constexpr int kIndex = std::countr_zero(sizeof(T));
  return std::is_signed_v<T> ? kSigned[kIndex] : kUnsigned[kIndex];
}

/// The kind of a type; 0 if it can be no topic's.
template <class T>
consteval Kind kind_of() {
  constexpr Kind kNone{};
  if constexpr (std::is_same_v<T, bool>)
    return Kind::boolean;
  else if constexpr (std::is_same_v<T, std::byte>)
    return Kind::byte;
  else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, char8_t>)
    return Kind::char8;
  else if constexpr (std::is_same_v<T, char16_t>)
    return Kind::char16;
  else if constexpr (std::is_same_v<T, float>)
    return Kind::float32;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::float64;
  else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char32_t>)
    return kNone;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) <= 8 ? integer_kind<T>() : kNone;
  else if constexpr (std::is_enum_v<T>)
    return sizeof(T) <= 4 ? Kind::enumeration : kNone;
  else if constexpr (Container<T>::kString)
    return Kind::string;
  else if constexpr (Container<T>::kSequence)
    return Kind::sequence;
  else if constexpr (Container<T>::kArray)
    return Kind::array;
  else if constexpr (std::is_same_v<T, std::monostate>)
    return Kind::no_member;
  else if constexpr (IsOptional<T>::value)
    return Kind::optional;
  else if constexpr (IsVariant<T>::value)
    return Kind::union_;
  else if constexpr (!std::is_class_v<T>)
    return kNone;
  else if constexpr (HasFields<T>)
    return Kind::structure;
  else if constexpr (std::is_trivially_copyable_v<T>)
    return Kind::opaque;
  else
    return kNone;
}

template <class T>
inline constexpr Kind kKind = kind_of<T>();

template <class T>
inline constexpr std::size_t kElements = 0;
template <class T>
  requires Container<T>::kArray
inline constexpr std::size_t kElements<T> = Container<T>::count;

/// Compiles only if T can be (part of) a topic's type.
template <class T>
consteval void refuse_unsupported() {
  static_assert(!std::is_reference_v<T>,
                "a topic's type has a reference in it: another process has not what it refers to");
  static_assert(!std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T>,
                "a topic's type has a pointer in it: another process has not what it points to. "
                "Put the value itself there, or a std::optional, std::string or std::vector");
  static_assert(!std::is_same_v<T, long double>,
                "a topic's type has a long double in it: its bytes differ between processors. Use "
                "double");
  static_assert(!std::is_same_v<T, wchar_t> && !std::is_same_v<T, char32_t>,
                "a topic's type has a wchar_t or char32_t in it: use char (UTF-8) or char16_t");
  static_assert(!std::is_enum_v<T> || sizeof(T) <= 4,
                "a topic's type has an enum of 8 bytes in it: give it an underlying type of at "
                "most 4 bytes");
  static_assert(!std::is_union_v<T>,
                "a topic's type has a union in it: use a std::variant and "
                "specialise tutti::dds::Union for it");
  static_assert(!Container<T>::kArray || kElements<T> > 0,
                "a topic's type has an array of no elements in it: leave it out");
  static_assert(kKind<T> != Kind{},
                "this cannot be (part of) a topic's type: name its fields by TUTTI_FIELDS, right "
                "after the type, or use std::string, std::vector, std::array, std::optional or "
                "std::variant");
}

/// What a specialisation of Union says, or leaves out.
template <class T>
consteval Extensibility union_extensibility() {
  if constexpr (requires { Union<T>::extensibility; }) {
    static_assert(Union<T>::extensibility != Extensibility::mutable_,
                  "tutti::dds::Union: a union is final or appendable");
    return Union<T>::extensibility;
  } else {
    return Extensibility::final;
  }
}

template <class T>
inline constexpr bool kPrimitive = kKind<T> >= Kind::boolean && kKind<T> <= Kind::char16;

}  // namespace tutti::dds::detail
