/// \file decode_structure.hpp
/// How a structure is decoded: final and appendable ones field by field, with runs of plain fields
/// copied at once; mutable ones by the ids of the members that are there.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "tutti/dds/detail/decode.hpp"

namespace tutti::dds::detail {

/// A field that the sender lacks has the value that a new object has; an optional one is not there.
template <class T, class Field>
void set_initial(T& value, [[maybe_unused]] const T& initial, Field field) {
  if constexpr (kKind<typename Field::Value> == Kind::optional) {
    (value.*field.member).reset();
  } else if constexpr (std::is_array_v<typename Field::Value>) {
    std::copy(std::begin(initial.*field.member), std::end(initial.*field.member),
              std::begin(value.*field.member));
  } else {
    value.*field.member = initial.*field.member;
  }
}

/// The fields of a final or appendable structure, in order.
template <class T>
bool read_fields(Reader& reader, T& value, unsigned depth) {
  constexpr bool kMayEnd = kExtensibility<T> == Extensibility::appendable;
  [[maybe_unused]] bool copied = false;  // the fields inside of the last run
  return each_field<T>([&](auto field) {
    using Field = decltype(field);
    using Value = typename Field::Value;
    constexpr FieldOptions kOptions = kFieldOptions<T>[Field::index];
    constexpr Run kRun = kRuns<T, true>[Field::index];
    if constexpr (kRun.bytes > sizeof(Value)) {
      copied = reader.native() && reader.holds(kRun.align, kRun.bytes);
      if (copied) {
        return reader.align(kRun.align) &&
               reader.bytes(reinterpret_cast<std::byte*>(&value) + Field::offset, kRun.bytes);
      }
    } else if constexpr (kRun.inside) {
      if (copied) return true;
    }
    if constexpr (kMayEnd) {
      // Version 1 says nothing of the end of a structure that lies in another.
      const bool may_end = depth == 0 || !reader.version_1();
      if (may_end && reader.left() == 0) return set_initial(value, T{}, field), true;
    }
    if constexpr (kKind<Value> == Kind::optional) {
      return read_optional(reader, value.*field.member, kOptions, depth + 1) ||
             reader.trouble.at_field(field.name);
    } else {
      return read_value(reader, value.*field.member, kOptions.bound, depth + 1) ||
             reader.trouble.at_field(field.name);
    }
  });
}

/// The value of one member, whose header was read.
template <class T>
bool read_member(Reader& reader, T& value, std::size_t bound, unsigned depth) {
  if constexpr (kKind<T> == Kind::optional) {
    if (!value) value.emplace();
    return read_value(reader, *value, bound, depth);
  } else {
    return read_value(reader, value, bound, depth);
  }
}

/// The members of a mutable structure, in any order.
template <class T>
bool read_members(Reader& reader, T& value, unsigned depth) {
  bool seen[kFields<T>] = {};
  for (;;) {
    MemberHeader member;
    Extent outer{};
    if (!reader.open_member(member, outer)) return false;
    if (member.end) break;
    bool known = false;
    const bool good = each_field<T>([&](auto field) {
      using Field = decltype(field);
      constexpr FieldOptions kOptions = kFieldOptions<T>[Field::index];
      if (member.id != kOptions.id) return true;
      known = seen[Field::index] = true;
      return (read_member(reader, value.*field.member, kOptions.bound, depth + 1) &&
              reader.close(outer, false)) ||
             reader.trouble.at_field(field.name);
    });
    if (!good) return false;
    if (known) continue;
    if (member.must_understand) [[unlikely]]
      return reader.unknown_member(member.id);
    reader.close(outer, true);
  }
  const T initial{};
  return each_field<T>([&](auto field) {
    if (!seen[field.index]) set_initial(value, initial, field);
    return true;
  });
}

template <class T>
bool read_structure(Reader& reader, T& value, unsigned depth) {
  refuse_bad_structure<T>();
  Extent outer{};
  const bool header = kExtensibility<T> != Extensibility::final && !reader.version_1();
  if (header && !reader.open(outer)) return false;
  if constexpr (kExtensibility<T> == Extensibility::mutable_) {
    if (!read_members(reader, value, depth)) return false;
  } else {
    if (!read_fields(reader, value, depth)) return false;
  }
  return !header || reader.close(outer, true);
}

}  // namespace tutti::dds::detail
