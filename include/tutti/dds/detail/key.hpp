/// \file key.hpp
/// Writes the key fields of a sample, and the encapsulation header.
#pragma once
#include <cstddef>

#include "tutti/dds/detail/encode.hpp"
#include "tutti/dds/detail/name.hpp"

namespace tutti::dds::detail {

inline constexpr std::size_t kEncapsulationBytes = 4;

constexpr std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

/// What the encapsulation header of a sample says: a type that is no structure counts as final.
template <class T>
consteval Extensibility sample_extensibility() {
  if constexpr (kKind<T> == Kind::structure)
    return kExtensibility<T>;
  else if constexpr (kKind<T> == Kind::union_)
    return union_extensibility<T>();
  else
    return Extensibility::final;
}
template <class T>
inline constexpr Extensibility kSampleExtensibility = sample_extensibility<T>();

inline void write_encapsulation(std::byte* into, Extensibility extensibility, std::size_t padding) {
  constexpr std::byte kForm[] = {std::byte{0x07}, std::byte{0x09}, std::byte{0x0b}};
  into[0] = std::byte{0};
  into[1] = kForm[static_cast<std::size_t>(extensibility)];
  into[2] = std::byte{0};
  into[3] = static_cast<std::byte>(padding);
}

template <class T>
std::unexpected<Error> no_space(std::size_t bytes) {
  Trouble trouble;
  trouble.no_room(bytes);
  return std::unexpected(trouble.error(name_of<T>(), "encode"));
}

template <class T>
consteval bool has_key() {
  if constexpr (kKind<T> == Kind::structure) {
    for (const FieldOptions& options : kFieldOptions<T>) {
      if (options.key) return true;
    }
  }
  return false;
}

template <class Sink, class T>
bool write_key(Sink& sink, const T& value, unsigned depth) {
  if constexpr (kKind<T> != Kind::structure) {
    static_assert(kKind<T> != Kind::optional, "a key field is a std::optional: it must be there");
    return write_value(sink, value, 0, depth);
  } else {
    return each_field<T>([&](auto field) {
      constexpr FieldOptions kOptions = kFieldOptions<T>[decltype(field)::index];
      using Value = typename decltype(field)::Value;
      if constexpr (has_key<T>() && !kOptions.key)
        return true;
      else if constexpr (kKind<Value> == Kind::structure) {
        return write_key(sink, value.*field.member, depth + 1) || sink.trouble.at_field(field.name);
      } else {
        static_assert(kKind<Value> != Kind::optional,
                      "a key field is a std::optional: a key must be there");
        return write_value(sink, value.*field.member, kOptions.bound, depth + 1) ||
               sink.trouble.at_field(field.name);
      }
    });
  }
}

}  // namespace tutti::dds::detail
