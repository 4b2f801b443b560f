/// \file structure.hpp
/// What is known of a structure when it is compiled: ids, keys, bounds, and which of its fields lie
/// in memory as on the wire, so that they are copied at once.
///
/// "Plain" is a type whose encoding by XCDR2 is its bytes in memory. A bool and an enum with names
/// are plain for writing only: a reader has to look at each.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tutti/dds/detail/traits.hpp"

namespace tutti::dds::detail {

template <class T>
consteval std::size_t count_fields() {
  std::size_t count = 0;
  each_field<T>([&](auto) { return ++count, true; });
  return count;
}
template <class T>
inline constexpr std::size_t kFields = count_fields<T>();

template <class T>
consteval std::array<std::string_view, kFields<T>> names_of() {
  std::array<std::string_view, kFields<T>> names{};
  std::size_t at = 0;
  each_field<T>([&](auto field) { return names[at++] = field.name, true; });
  return names;
}

/// What TUTTI_OPTIONS says of each field.
struct FieldOptions {
  std::uint32_t id = 0;
  std::uint32_t bound = 0;
  bool key = false;
};

template <class T>
consteval std::array<FieldOptions, kFields<T>> field_options_of() {
  constexpr TypeOptions options = options_of<T>();
  constexpr auto names = names_of<T>();
  std::array<FieldOptions, kFields<T>> fields{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    fields[i].id = i == 0 ? 0 : fields[i - 1].id + 1;
    for (const FieldId& with : options.ids) {
      if (with.field == names[i]) fields[i].id = with.id;
    }
    for (const FieldBound& with : options.bounds) {
      if (with.field == names[i]) fields[i].bound = with.max;
    }
    for (const std::string_view key : options.keys) fields[i].key |= key == names[i];
  }
  return fields;
}
template <class T>
inline constexpr std::array<FieldOptions, kFields<T>> kFieldOptions = field_options_of<T>();

template <class T>
struct Present {
  using type = T;
};
template <class T>
struct Present<std::optional<T>> {
  using type = T;
};

/// No bound in TUTTI_OPTIONS is above what the bounded_string or bounded_vector can hold.
template <class T>
consteval bool bounds_fit() {
  constexpr auto fields = field_options_of<T>();
  std::size_t at = 0;
  return each_field<T>([&](auto field) {
    using Value = typename Present<typename decltype(field)::Value>::type;
    const std::uint32_t bound = fields[at++].bound;
    if constexpr (Container<Value>::kBounded) {
      return bound <= Container<Value>::bound;
    } else {
      return true;
    }
  });
}

/// Every name in TUTTI_OPTIONS is that of a field, and no two fields have the same id.
template <class T>
consteval bool options_fit() {
  constexpr TypeOptions options = options_of<T>();
  constexpr auto names = names_of<T>();
  constexpr auto fields = field_options_of<T>();
  const auto known = [&](std::string_view name) {
    return name.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string_view key : options.keys) {
    if (!known(key)) return false;
  }
  for (const FieldId& with : options.ids) {
    if (!known(with.field)) return false;
  }
  for (const FieldBound& with : options.bounds) {
    if (!known(with.field)) return false;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].id > kFieldIdMax) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (fields[i].id == fields[j].id) return false;
    }
  }
  return true;
}

template <class T>
inline constexpr Extensibility kExtensibility = options_of<T>().extensibility;

template <class T>
consteval void refuse_bad_structure() {
  static_assert(kFields<T> > 0, "TUTTI_FIELDS names no field: a sample would have no bytes");
  static_assert(options_fit<T>(),
                "TUTTI_OPTIONS names a field that TUTTI_FIELDS does not, or two fields have the "
                "same id, or an id is above 0x0fffffff");
  static_assert(bounds_fit<T>(),
                "TUTTI_OPTIONS gives a bounded_string or bounded_vector a bound that is above its "
                "own: its own is enough");
}

/// The element of an array of arrays of ...: one array of several dimensions on the wire.
template <class T>
struct Innermost {
  using type = T;
};
template <class T>
  requires Container<T>::kArray
struct Innermost<T> : Innermost<typename Container<T>::Element> {};

struct Plain {
  bool yes = false;
  std::size_t align = 1;  ///< on the wire, by XCDR2, of its first number
};

/// Follows fields: are they in memory, one behind the other, as on the wire?
struct Packing {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t align = 0;  ///< 0: nothing yet

  /// Takes one more field if it continues what is there.
  constexpr bool take(Plain plain, std::size_t offset, std::size_t size) {
    if (!plain.yes) return false;
    if (align == 0) *this = {.begin = offset, .end = offset, .align = plain.align};
    if (offset != end || plain.align > align || (offset - begin) % plain.align != 0) return false;
    end += size;
    return true;
  }
};

template <class T, bool kReading>
consteval Plain plain_of() {
  constexpr std::size_t kAlign = sizeof(T) < 4 ? sizeof(T) : 4;
  if constexpr (kKind<T> == Kind::boolean) {
    return {.yes = !kReading};
  } else if constexpr (kPrimitive<T>) {
    return {.yes = true, .align = kAlign};
  } else if constexpr (kKind<T> == Kind::enumeration) {
    return {.yes = !(kReading && HasEnumerators<T>), .align = kAlign};
  } else if constexpr (Container<T>::kArray) {
    // Others have their size in bytes before them.
    using Inner = typename Innermost<T>::type;
    if constexpr (kPrimitive<Inner>) return plain_of<Inner, kReading>();
    return {};
  } else if constexpr (kKind<T> == Kind::structure) {
    if (kExtensibility<T> != Extensibility::final) return {};
    Packing packing;
    const bool packed = each_field<T>([&](auto field) {
      using Value = typename decltype(field)::Value;
      return packing.take(plain_of<Value, kReading>(), field.offset, sizeof(Value));
    });
    return {.yes = packed && packing.begin == 0 && packing.end == sizeof(T),
            .align = packing.align};
  } else {
    return {};
  }
}
template <class T, bool kReading>
inline constexpr Plain kPlain = plain_of<T, kReading>();

/// What to do at a field: copy a run of fields that begins with it, nothing since a run had it, or
/// (bytes 0) encode it alone.
struct Run {
  std::size_t bytes = 0;
  std::size_t align = 1;
  bool inside = false;
};

template <class T, bool kReading>
consteval std::array<Run, kFields<T>> runs_of() {
  std::array<Run, kFields<T>> runs{};
  Packing packing;
  std::size_t first = 0;
  each_field<T>([&](auto field) {
    using Value = typename decltype(field)::Value;
    constexpr Plain plain = plain_of<Value, kReading>();
    const bool continues = packing.align != 0;
    if (packing.take(plain, field.offset, sizeof(Value))) {
      if (!continues) first = field.index;
      runs[field.index].inside = continues;
    } else {
      packing = {};
      first = field.index;
      packing.take(plain, field.offset, sizeof(Value));
    }
    if (packing.align != 0) {
      runs[first].bytes = packing.end - packing.begin;
      runs[first].align = packing.align;
    }
    return true;
  });
  return runs;
}
template <class T, bool kReading>
inline constexpr std::array<Run, kFields<T>> kRuns = runs_of<T, kReading>();

/// No encoding of such a value is shorter: bounds how many there can be in what is left.
template <class T>
consteval std::size_t wire_bytes_min() {
  if constexpr (kPrimitive<T> || kKind<T> == Kind::enumeration) {
    return sizeof(T);
  } else if constexpr (Container<T>::kArray) {
    return Container<T>::count * wire_bytes_min<typename Container<T>::Element>();
  } else if constexpr (kKind<T> == Kind::optional || kKind<T> == Kind::union_) {
    return 1;
  } else if constexpr (kKind<T> == Kind::structure) {
    std::size_t sum = 0;
    each_field<T>(
        [&](auto field) { return sum += wire_bytes_min<typename decltype(field)::Value>(), true; });
    return kExtensibility<T> == Extensibility::final || sum < 4 ? sum : 4;
  } else {
    return 4;  // a string or a sequence: its length
  }
}

}  // namespace tutti::dds::detail
