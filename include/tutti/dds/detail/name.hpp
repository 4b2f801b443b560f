/// \file name.hpp
/// The name of a type when it is compiled.
#pragma once
#include <string_view>
#include <type_traits>

#include "tutti/dds/detail/traits.hpp"

namespace tutti::dds::detail {

/// The compiler writes this function's name with "T = the type" in it, followed by ';' or ']'.
template <class T>
consteval std::string_view compiler_name() {
  const std::string_view whole = __PRETTY_FUNCTION__;
  const std::size_t begin = whole.find("T = ") + 4;
  const std::size_t semicolon = whole.find(';', begin);
  return whole.substr(begin, (semicolon < whole.size() ? semicolon : whole.rfind(']')) - begin);
}

/// Of each Kind, by its number.
inline constexpr std::string_view kKindNames[] = {
    "none",   "boolean",  "byte",   "int8",      "uint8",   "int16",    "uint16", "int32",
    "uint32", "int64",    "uint64", "float32",   "float64", "char8",    "char16", "string",
    "enum",   "sequence", "array",  "structure", "union",   "optional", "none",   "opaque"};

template <class T>
consteval std::string_view name_of() {
  if constexpr (kKind<T> == Kind::union_) {
    if constexpr (requires { Union<T>::name; }) return Union<T>::name;
    return "union";
  } else if constexpr (kKind<T> == Kind::structure || kKind<T> == Kind::opaque ||
                       kKind<T> == Kind::enumeration) {
    constexpr TypeOptions options = options_of<T>();
    constexpr std::string_view name = options.name.empty() ? compiler_name<T>() : options.name;
    static_assert(name.size() <= 255,
                  "the compiler's name of a topic's type has more than 255 characters: give it one "
                  "by TUTTI_OPTIONS(Type, .name = ...)");
    return name;
  } else {
    return kKindNames[static_cast<std::size_t>(kKind<T>)];
  }
}

}  // namespace tutti::dds::detail
