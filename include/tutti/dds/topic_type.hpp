/// \file topic_type.hpp
/// Which types a topic can have, how their samples are sent, and what the types are called.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "tutti/dds/detail/name.hpp"
#include "tutti/dds/detail/structure.hpp"

namespace tutti::dds {

namespace detail {

/// Known by its layout: a number, an enum, an array of such, or a structure of such.
template <class T>
consteval bool has_layout() {
  if constexpr (!std::is_trivially_copyable_v<T>) {
    return false;
  } else if constexpr (kPrimitive<T> || kKind<T> == Kind::enumeration || kKind<T> == Kind::string) {
    return true;
  } else if constexpr (kKind<T> == Kind::array || kKind<T> == Kind::sequence) {
    return has_layout<typename Container<T>::Element>();
  } else if constexpr (kKind<T> == Kind::structure) {
    constexpr TypeOptions options = options_of<T>();
    return options.in_place && options.extensibility == Extensibility::final &&
           each_field<T>([](auto field) { return has_layout<typename decltype(field)::Value>(); });
  } else {
    return false;
  }
}

/// Of vectors only what they are of is looked at, as a type may have a vector of itself.
template <class T>
consteval bool can_be_sent() {
  if constexpr (kKind<T> == Kind{} || kKind<T> == Kind::opaque || kKind<T> == Kind::no_member) {
    return false;
  } else if constexpr (kKind<T> == Kind::array) {
    return can_be_sent<typename Container<T>::Element>();
  } else if constexpr (kKind<T> == Kind::sequence) {
    return kKind<typename Container<T>::Element> != Kind{};
  } else if constexpr (kKind<T> == Kind::structure) {
    return kFields<T> > 0 &&
           each_field<T>([](auto field) { return can_be_sent<typename decltype(field)::Value>(); });
  } else {
    return true;
  }
}

}  // namespace detail

/// Sent as it lies in memory, without marshalling: T is trivially copyable, and either has no
/// TUTTI_FIELDS, or is final and so are its fields. Members compare type_hash<T>(), so both sides
/// have the same layout. Nobody looks at the bytes on the way: a bool or an enum that another
/// process wrote may have any value, and what pads the fields is sent, too.
template <class T>
inline constexpr bool kInPlace =
    std::is_trivially_copyable_v<T> &&
    (detail::kKind<T> == Kind::opaque ? std::is_copy_assignable_v<T> : detail::has_layout<T>());

/// What a topic can have: a type that is sent in place, or one that can be encoded. Of a type that
/// is not, encode() says when it is compiled why.
template <class T>
concept TopicType = std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>> &&
                    (kInPlace<T> || detail::can_be_sent<T>());

/// The name that TUTTI_OPTIONS gives, else the compiler's ("sensors::Reading"); of a type that is
/// no class and no enum its kind ("sequence").
template <class T>
[[nodiscard]] constexpr std::string_view type_name() {
  return detail::name_of<T>();
}

}  // namespace tutti::dds
