/// \file fields.hpp
/// Names the fields of a type once, so that samples of it can be sent, printed and compared.
///
///   struct Reading { std::int32_t sensor; std::string unit; std::vector<double> values; };
///   TUTTI_FIELDS(Reading, sensor, unit, values);
///   TUTTI_OPTIONS(Reading, .extensibility = tutti::dds::Extensibility::appendable,
///                 .keys = {"sensor"}, .bounds = {{"unit", 16}});
///
/// The macros stand in the namespace of the type, right after it and before its first use, or in
/// the class, in a public part; fields may be private then. A type whose name has a comma needs an
/// alias. A field is a bool, a number, a character, an enum, std::string, bounded_string, another
/// such type, std::optional, std::variant (Union), or std::array, std::vector, bounded_vector or a
/// C array of these. Anything else, a pointer above all, is refused when it is compiled.
/// Source: OMG DDS-XTypes 1.3, 7.2 (the types), 7.3.1.2 (the options, there annotations).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "tutti/dds/detail/each.hpp"

namespace tutti::dds {

/// What later versions of a type may change. Both sides must say the same.
enum class Extensibility : std::uint8_t {
  final,       ///< nothing: smallest and fastest
  appendable,  ///< fields may be added at the end; those a sender lacks keep their initial values
  mutable_,    ///< fields may be added, removed and moved: each is sent with its id
};

struct FieldId {
  std::string_view field;
  std::uint32_t id;  ///< up to 0x0fffffff
};

struct FieldBound {
  std::string_view field;  ///< a std::string or a std::vector, or a std::optional of one
  std::uint32_t max;       ///< characters, elements; 0 is no bound
};

/// What TUTTI_OPTIONS says. A name that no field has is refused when it is compiled.
struct TypeOptions {
  /// As DDS spells it ("sensors::Reading"). Empty: the name that the compiler gives the type. GCC
  /// and clang agree on it, except for templates and for types in unnamed namespaces.
  std::string_view name{};
  Extensibility extensibility = Extensibility::final;
  /// False: encoded, even if the type could be sent as it lies in memory (kInPlace).
  bool in_place = true;
  std::string_view keys[16]{};  ///< fields that together name the instance (@key)
  FieldId ids[256]{};           ///< others have the id of the field before, plus 1; the first has 0
  FieldBound bounds[64]{};      ///< longer values are refused when encoded and when decoded
};

/// One alternative of a union: which value of the discriminator selects it.
template <class Discriminator>
struct UnionCase {
  Discriminator label;
  std::string_view name;
};

/// To be specialised for a std::variant that is a field, in the alternatives' order:
///
///   template <>
///   struct tutti::dds::Union<Shape> {  // using Shape = std::variant<Circle, Square>;
///     using Discriminator = std::int32_t;
///     static constexpr UnionCase<Discriminator> cases[] = {{1, "circle"}, {2, "square"}};
///   };
///
/// The discriminator is an integer of up to 4 bytes, a bool, a char or an enum. A std::monostate is
/// "no member": it is also what an unknown label gives; without one, such a sample is refused. May
/// have `static constexpr std::string_view name` and `static constexpr Extensibility extensibility`
/// (final or appendable), too.
template <class Variant>
struct Union;

namespace detail {

/// Selects the functions of a type by argument-dependent look-up; nothing converts to it.
template <class T>
struct Tag {};

template <class OwnerType, class ValueType, std::size_t kIndex, std::size_t kByteOffset>
struct Field {
  using Owner = OwnerType;
  using Value = ValueType;
  static constexpr std::size_t index = kIndex;
  static constexpr std::size_t offset = kByteOffset;
  const char* name;
  Value Owner::* member;
};

}  // namespace detail
}  // namespace tutti::dds

/// Names the fields of a type, up to 256, in the order in which they are sent.
#define TUTTI_FIELDS(Type, ...)                                                              \
  [[maybe_unused]] inline constexpr auto tutti_fields(::tutti::dds::detail::Tag<Type>) {     \
    return [](auto&& tutti_visit) constexpr -> bool {                                        \
      enum TuttiIndex : ::std::size_t {                                                      \
        TUTTI_DETAIL_EACH(TUTTI_DETAIL_INDEX, Type, __VA_ARGS__)                             \
      };                                                                                     \
      _Pragma("GCC diagnostic push")                                                         \
          _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") return TUTTI_DETAIL_EACH( \
              TUTTI_DETAIL_VISIT, Type, __VA_ARGS__) true;                                   \
      _Pragma("GCC diagnostic pop")                                                          \
    };                                                                                       \
  }                                                                                          \
  static_assert(true, "")

/// Says more of a type: a list of designated initialisers of TypeOptions.
#define TUTTI_OPTIONS(Type, ...)                                                          \
  [[maybe_unused]] inline constexpr auto tutti_options(::tutti::dds::detail::Tag<Type>) { \
    return [] { return ::tutti::dds::TypeOptions{__VA_ARGS__}; };                         \
  }                                                                                       \
  static_assert(true, "")

/// Names the enumerators of an enum, at namespace scope. Without it any value is taken, and JSON
/// shows numbers; with it a value that has no name is refused when it is decoded. Its width on the
/// wire is that of its underlying type: 1, 2 or 4 bytes (@bit_bound 8, 16, 32).
#define TUTTI_ENUM(Type, ...)                                                                 \
  [[maybe_unused]] inline constexpr auto tutti_enumerators(::tutti::dds::detail::Tag<Type>) { \
    return [](auto&& tutti_visit) constexpr -> bool {                                         \
      return TUTTI_DETAIL_EACH(TUTTI_DETAIL_ENUMERATOR, Type, __VA_ARGS__) true;              \
    };                                                                                        \
  }                                                                                           \
  static_assert(true, "")
