/// \file encode.hpp
/// How each kind of value goes to a sink, by version 2 of XCDR [DDS-XTypes 1.3, 7.4.3].
///
/// Each function returns false after it has said why in sink.trouble.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "tutti/dds/detail/sink.hpp"
#include "tutti/dds/detail/structure.hpp"

namespace tutti::dds::detail {

/// Whether a size in bytes stands before arrays and sequences of such elements.
template <class T>
inline constexpr bool kElementsHaveHeader = !kPrimitive<T>;

/// The 3 bits in the header of a member that say how long it is. From 5 on the value's own first
/// number says it: so many times 1, 4 or 8 bytes.
template <class T>
consteval std::uint32_t length_code() {
  if constexpr (kPrimitive<T> || kKind<T> == Kind::enumeration) {
    return static_cast<std::uint32_t>(std::countr_zero(sizeof(T)));
  } else if constexpr (kKind<T> == Kind::string) {
    return 5;
  } else if constexpr (kKind<T> == Kind::sequence) {
    using Element = typename Container<T>::Element;
    if (kElementsHaveHeader<Element>) return 5;
    return sizeof(Element) == 1 ? 5 : sizeof(Element) == 4 ? 6 : sizeof(Element) == 8 ? 7 : 4;
  } else if constexpr (kKind<T> == Kind::array) {
    return kElementsHaveHeader<typename Innermost<T>::type> ? 5 : 4;
  } else {
    return 4;
  }
}

template <class Sink, class T>
bool write_value(Sink& sink, const T& value, std::size_t bound, unsigned depth);

template <class Sink>
bool write_count(Sink& sink, std::size_t count, std::size_t bound) {
  const std::size_t max = bound == 0 ? UINT32_MAX - 1 : bound;
  if (count > max) [[unlikely]]
    return sink.trouble.too_long(count, max);
  return sink.put(static_cast<std::uint32_t>(count));
}

template <class Sink>
bool write_string(Sink& sink, std::string_view text, std::size_t bound) {
  constexpr char kEnd = '\0';
  const std::size_t max = bound == 0 ? UINT32_MAX - 1 : bound;
  if (text.size() > max) [[unlikely]]
    return sink.trouble.too_long(text.size(), max);
  return sink.put(static_cast<std::uint32_t>(text.size() + 1)) &&
         sink.bytes(text.data(), text.size()) && sink.bytes(&kEnd, 1);
}

/// The elements of an array or a sequence, without any header.
template <class Sink, class Element, class Values>
bool write_elements(Sink& sink, const Values& values, std::size_t count, unsigned depth) {
  static_assert(kKind<Element> != Kind::optional,
                "a std::optional is an element of an array or a sequence: only a field can be one");
  if constexpr (std::is_same_v<Values, std::vector<bool>>) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!sink.put(static_cast<std::uint8_t>(values[i]))) return false;
    }
    return true;
  } else if constexpr (kPlain<Element, false>.yes) {
    return count == 0 ||
           (sink.align(kPlain<Element, false>.align) &&
            sink.bytes(static_cast<const void*>(&values[0]), count * sizeof(Element)));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      if (!write_value(sink, values[i], 0, depth + 1)) [[unlikely]] {
        return sink.trouble.at_index(i);
      }
    }
    return true;
  }
}

/// An array of several dimensions is a row of its innermost elements.
template <class Sink, class T>
bool write_array(Sink& sink, const T& array, unsigned depth) {
  using Element = typename Container<T>::Element;
  if constexpr (Container<Element>::kArray) {
    for (std::size_t i = 0; i < Container<T>::count; ++i) {
      if (!write_array(sink, array[i], depth)) [[unlikely]]
        return sink.trouble.at_index(i);
    }
    return true;
  } else {
    return write_elements<Sink, Element>(sink, array, Container<T>::count, depth);
  }
}

template <class Sink, class... Alternatives>
bool write_union(Sink& sink, const std::variant<Alternatives...>& value, unsigned depth) {
  using Traits = Union<std::variant<Alternatives...>>;
  static_assert(((kKind<Alternatives> != Kind::optional) && ...),
                "an alternative of a union is a std::optional: use std::monostate for none");
  static_assert(std::size(Traits::cases) == sizeof...(Alternatives),
                "tutti::dds::Union: there are not as many cases as alternatives");
  if (value.valueless_by_exception()) [[unlikely]]
    return sink.trouble.no_alternative();
  const auto& chosen = Traits::cases[value.index()];
  if (!sink.put(chosen.label)) return false;
  return std::visit(
      [&](const auto& alternative) {
        if constexpr (kKind<std::remove_cvref_t<decltype(alternative)>> == Kind::no_member) {
          return true;
        } else {
          return write_value(sink, alternative, 0, depth + 1) || sink.trouble.at_field(chosen.name);
        }
      },
      value);
}

/// A member of a mutable structure, with its id.
template <class Sink, class T>
bool write_member(Sink& sink, const T& value, FieldOptions options, unsigned depth) {
  if constexpr (kKind<T> == Kind::optional) {
    return !value || write_member(sink, *value, options, depth);
  } else {
    constexpr std::uint32_t kCode = length_code<T>();
    if (!sink.put(options.id | kCode << 28)) return false;
    if constexpr (kCode != 4) {
      return write_value(sink, value, options.bound, depth);
    } else {
      std::size_t mark = 0;
      return sink.open(mark) && write_value(sink, value, options.bound, depth) && sink.close(mark);
    }
  }
}

template <class Sink, class T>
bool write_fields(Sink& sink, const T& value, unsigned depth) {
  return each_field<T>([&](auto field) {
    using Field = decltype(field);
    constexpr FieldOptions kOptions = kFieldOptions<T>[Field::index];
    constexpr Run kRun = kRuns<T, false>[Field::index];
    if constexpr (kExtensibility<T> == Extensibility::mutable_) {
      return write_member(sink, value.*field.member, kOptions, depth + 1) ||
             sink.trouble.at_field(field.name);
    } else if constexpr (kRun.inside) {
      return true;
    } else if constexpr (kRun.bytes > 0) {
      return sink.align(kRun.align) &&
             sink.bytes(reinterpret_cast<const std::byte*>(&value) + Field::offset, kRun.bytes);
    } else {
      return write_value(sink, value.*field.member, kOptions.bound, depth + 1) ||
             sink.trouble.at_field(field.name);
    }
  });
}

template <class Sink, class T>
bool write_value(Sink& sink, const T& value, std::size_t bound, unsigned depth) {
  refuse_unsupported<T>();
  if (depth > kDepthMax) [[unlikely]]
    return sink.trouble.too_deep();
  std::size_t mark = 0;
  if constexpr (kPrimitive<T> || kKind<T> == Kind::enumeration) {
    return sink.put(value);
  } else if constexpr (kKind<T> == Kind::string) {
    return write_string(sink, value, bound);
  } else if constexpr (kKind<T> == Kind::optional) {
    return sink.put(static_cast<std::uint8_t>(value.has_value())) &&
           (!value || write_value(sink, *value, bound, depth));
  } else if constexpr (kKind<T> == Kind::sequence) {
    using Element = typename Container<T>::Element;
    constexpr bool kHeader = kElementsHaveHeader<Element>;
    return (!kHeader || sink.open(mark)) && write_count(sink, value.size(), bound) &&
           write_elements<Sink, Element>(sink, value, value.size(), depth) &&
           (!kHeader || sink.close(mark));
  } else if constexpr (kKind<T> == Kind::array) {
    constexpr bool kHeader = kElementsHaveHeader<typename Innermost<T>::type>;
    return (!kHeader || sink.open(mark)) && write_array(sink, value, depth) &&
           (!kHeader || sink.close(mark));
  } else if constexpr (kKind<T> == Kind::union_) {
    constexpr bool kHeader = union_extensibility<T>() == Extensibility::appendable;
    return (!kHeader || sink.open(mark)) && write_union(sink, value, depth) &&
           (!kHeader || sink.close(mark));
  } else if constexpr (kKind<T> == Kind::structure) {
    refuse_bad_structure<T>();
    constexpr bool kHeader = kExtensibility<T> != Extensibility::final;
    return (!kHeader || sink.open(mark)) && write_fields(sink, value, depth) &&
           (!kHeader || sink.close(mark));
  } else {
    static_assert(kKind<T> != Kind::opaque,
                  "a type that has to be encoded has a trivially copyable type in it whose fields "
                  "are not known: name them by TUTTI_FIELDS");
    return false;
  }
}

}  // namespace tutti::dds::detail
