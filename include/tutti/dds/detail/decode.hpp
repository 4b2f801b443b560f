/// \file decode.hpp
/// How each kind of value comes from a Reader, into an object that is there: its strings and
/// vectors keep their memory.
///
/// X2: a vector grows as its elements are read, so that what is allocated for it is bounded by the
/// bytes that were sent. Each function returns false after it has said why in reader.trouble.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "tutti/dds/detail/encode.hpp"
#include "tutti/dds/detail/reader.hpp"

namespace tutti::dds::detail {

template <class T>
bool read_value(Reader& reader, T& value, std::size_t bound, unsigned depth);
template <class T>
bool read_structure(Reader& reader, T& value, unsigned depth);

template <class T>
bool read_enum(Reader& reader, T& value) {
  std::underlying_type_t<T> number{};
  if (!reader.get(number)) return false;
  if constexpr (HasEnumerators<T>) {
    const bool unknown = each_enumerator<T>([&](const char*, T known) {
      return static_cast<std::underlying_type_t<T>>(known) != number;
    });
    if (unknown) [[unlikely]]
      return reader.unknown_value(static_cast<std::int64_t>(number));
  }
  value = static_cast<T>(number);
  return true;
}

/// X3: what is read never exceeds what the object holds, whatever bound its field was given.
template <class T>
constexpr std::size_t bound_of(std::size_t bound) {
  constexpr std::size_t kHeld = Container<T>::bound;
  return kHeld != 0 && (bound == 0 || bound > kHeld) ? kHeld : bound;
}

template <class Text>
bool read_string(Reader& reader, Text& text, std::size_t bound) {
  std::string_view read;
  if (!reader.get_text(read, bound_of<Text>(bound))) return false;
  text.assign(read);
  return true;
}

template <class Element>
bool read_elements(Reader& reader, Element* into, std::size_t count, unsigned depth) {
  if constexpr (kPlain<Element, true>.yes) {
    // A number is one in any order and version, but for its alignment and its bytes' order.
    if (reader.native() || (sizeof(Element) == 1 && kPrimitive<Element>)) {
      return count == 0 || (reader.align(kPlain<Element, true>.align) &&
                            reader.bytes(static_cast<void*>(into), count * sizeof(Element)));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!read_value(reader, into[i], 0, depth + 1)) [[unlikely]]
      return reader.trouble.at_index(i);
  }
  return true;
}

template <class T>
bool read_array(Reader& reader, T& array, unsigned depth) {
  using Element = typename Container<T>::Element;
  if constexpr (Container<Element>::kArray) {
    for (std::size_t i = 0; i < Container<T>::count; ++i) {
      if (!read_array(reader, array[i], depth)) [[unlikely]]
        return reader.trouble.at_index(i);
    }
    return true;
  } else {
    return read_elements(reader, &array[0], Container<T>::count, depth);
  }
}

/// The count is known to fit into what is left, if each element has its least bytes.
template <class T>
bool read_sequence_elements(Reader& reader, T& sequence, std::size_t count, unsigned depth) {
  using Element = typename Container<T>::Element;
  if constexpr (Container<T>::kBounded) {
    sequence.resize(count);
    return read_elements(reader, sequence.data(), count, depth);
  } else if constexpr (std::is_same_v<Element, bool>) {
    sequence.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      bool value = false;
      if (!reader.get(value)) [[unlikely]]
        return reader.trouble.at_index(i);
      sequence[i] = value;
    }
    return true;
  } else if constexpr (kPlain<Element, true>.yes) {
    sequence.resize(count);
    return read_elements(reader, sequence.data(), count, depth);
  } else {
    if (sequence.size() > count) sequence.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i == sequence.size()) sequence.emplace_back();
      if (!read_value(reader, sequence[i], 0, depth + 1)) [[unlikely]] {
        return reader.trouble.at_index(i);
      }
    }
    return true;
  }
}

template <class T>
bool read_sequence(Reader& reader, T& sequence, std::size_t bound, unsigned depth) {
  using Element = typename Container<T>::Element;
  const bool header = kElementsHaveHeader<Element> && !reader.version_1();
  Extent outer{};
  std::uint32_t count = 0;
  return (!header || reader.open(outer)) &&
         reader.get_count(count, bound_of<T>(bound), wire_bytes_min<Element>()) &&
         read_sequence_elements(reader, sequence, count, depth) &&
         (!header || reader.close(outer, false));
}

template <class T>
bool read_optional(Reader& reader, std::optional<T>& value, FieldOptions options, unsigned depth) {
  if (reader.version_1()) {
    MemberHeader member;
    Extent outer{};
    if (!reader.open_member(member, outer)) return false;
    if (member.end || member.id != options.id) [[unlikely]] {
      return reader.wrong_member(member.id, options.id);
    }
    if (member.bytes == 0) return value.reset(), reader.close(outer, false);
    if (!value) value.emplace();
    return read_value(reader, *value, options.bound, depth) && reader.close(outer, false);
  }
  bool there = false;
  if (!reader.get(there)) return false;
  if (!there) return value.reset(), true;
  if (!value) value.emplace();
  return read_value(reader, *value, options.bound, depth);
}

/// Makes the alternative with that index the one that the variant has, and reads it.
template <class... Alternatives>
bool read_alternative(Reader& reader, std::variant<Alternatives...>& value, std::size_t chosen,
                      unsigned depth) {
  using Variant = std::variant<Alternatives...>;
  const auto read = [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex>) {
    if (value.index() != kIndex) value.template emplace<kIndex>();
    if constexpr (kKind<std::variant_alternative_t<kIndex, Variant>> == Kind::no_member) {
      return true;
    } else {
      return read_value(reader, std::get<kIndex>(value), 0, depth + 1) ||
             reader.trouble.at_field(Union<Variant>::cases[kIndex].name);
    }
  };
  bool good = false;
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    static_cast<void>(
        ((kIndex == chosen && (good = read(std::integral_constant<std::size_t, kIndex>{}), true)) ||
         ...));
  }(std::index_sequence_for<Alternatives...>{});
  return good;
}

template <class... Alternatives>
bool read_union(Reader& reader, std::variant<Alternatives...>& value, unsigned depth) {
  using Traits = Union<std::variant<Alternatives...>>;
  constexpr bool kNoMember[] = {kKind<Alternatives> == Kind::no_member...};
  typename Traits::Discriminator label{};
  if (!read_value(reader, label, 0, depth + 1)) return false;
  std::size_t chosen = sizeof...(Alternatives);
  for (std::size_t i = 0; i < sizeof...(Alternatives); ++i) {
    if (Traits::cases[i].label == label) chosen = i;
  }
  for (std::size_t i = 0; i < sizeof...(Alternatives) && chosen == sizeof...(Alternatives); ++i) {
    if (kNoMember[i]) chosen = i;
  }
  if (chosen == sizeof...(Alternatives)) [[unlikely]] {
    return reader.unknown_label(static_cast<std::int64_t>(label));
  }
  return read_alternative(reader, value, chosen, depth);
}

template <class T>
bool read_value(Reader& reader, T& value, std::size_t bound, unsigned depth) {
  refuse_unsupported<T>();
  if (depth > kDepthMax) [[unlikely]]
    return reader.trouble.too_deep();
  Extent outer{};
  if constexpr (kPrimitive<T>) {
    return reader.get(value);
  } else if constexpr (kKind<T> == Kind::enumeration) {
    return read_enum(reader, value);
  } else if constexpr (kKind<T> == Kind::string) {
    return read_string(reader, value, bound);
  } else if constexpr (kKind<T> == Kind::optional) {
    return read_optional(reader, value, {.bound = static_cast<std::uint32_t>(bound)}, depth);
  } else if constexpr (kKind<T> == Kind::sequence) {
    return read_sequence(reader, value, bound, depth);
  } else if constexpr (kKind<T> == Kind::array) {
    const bool header = kElementsHaveHeader<typename Innermost<T>::type> && !reader.version_1();
    return (!header || reader.open(outer)) && read_array(reader, value, depth) &&
           (!header || reader.close(outer, false));
  } else if constexpr (kKind<T> == Kind::union_) {
    const bool header =
        union_extensibility<T>() == Extensibility::appendable && !reader.version_1();
    return (!header || reader.open(outer)) && read_union(reader, value, depth) &&
           (!header || reader.close(outer, true));
  } else if constexpr (kKind<T> == Kind::structure) {
    return read_structure(reader, value, depth);
  } else {
    static_assert(kKind<T> != Kind::opaque,
                  "a type that has to be decoded has a trivially copyable type in it whose fields "
                  "are not known: name them by TUTTI_FIELDS");
    return false;
  }
}

}  // namespace tutti::dds::detail

#include "tutti/dds/detail/decode_structure.hpp"
