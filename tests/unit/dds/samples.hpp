/// \file samples.hpp
/// Types that have each kind of field there is, and random values of any type.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/prng.hpp"
#include "tutti/dds/cdr.hpp"

namespace samples {

enum class Color : std::int32_t { red = 0, green = 1, blue = 7 };
TUTTI_ENUM(Color, red, green, blue);
enum class Level : std::uint8_t {};  // any number

struct Point {
  double x = 0, y = 0, z = 0;
  bool operator==(const Point&) const = default;
};
TUTTI_FIELDS(Point, x, y, z);

/// Each kind of number, with padding between in memory.
struct Numbers {
  bool flag = false;
  char letter = 'a';
  std::int8_t i8 = 0;
  std::uint8_t u8 = 0;
  std::int16_t i16 = 0;
  std::uint16_t u16 = 0;
  std::int32_t i32 = 0;
  std::uint32_t u32 = 0;
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  float f32 = 0;
  double f64 = 0;
  char16_t wide = u'a';
  std::byte raw{};
  Color color = Color::red;
  Level level{};
  bool operator==(const Numbers&) const = default;
};
TUTTI_FIELDS(Numbers, flag, letter, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, wide, raw,
             color, level);

using Shape = std::variant<std::monostate, Point, std::string, std::int16_t>;

struct Tree {
  std::int16_t value = 0;
  std::vector<Tree> children;
  bool operator==(const Tree&) const = default;
};
TUTTI_FIELDS(Tree, value, children);

/// Appendable, with keys and bounds.
struct Reading {
  std::int32_t sensor = 0;
  std::string unit = "K";
  std::vector<double> values;
  std::optional<std::int64_t> time;
  bool operator==(const Reading&) const = default;
};
TUTTI_FIELDS(Reading, sensor, unit, values, time);
TUTTI_OPTIONS(Reading, .extensibility = tutti::dds::Extensibility::appendable, .keys = {"sensor"},
              .bounds = {{"unit", 8}, {"values", 100}});

/// Mutable: a length of each kind.
struct Settings {
  std::int8_t one = 0;
  std::uint16_t two = 0;
  float four = 0;
  std::int64_t eight = 0;
  std::string text;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int16_t> shorts;
  std::vector<std::int32_t> words;
  std::vector<double> doubles;
  std::vector<std::string> names;
  Point point;
  std::array<std::int32_t, 3> triple{};
  std::array<std::string, 2> pair;
  std::optional<Reading> reading;
  std::optional<Color> color;
  bool operator==(const Settings&) const = default;
};
TUTTI_FIELDS(Settings, one, two, four, eight, text, bytes, shorts, words, doubles, names, point,
             triple, pair, reading, color);
TUTTI_OPTIONS(Settings, .extensibility = tutti::dds::Extensibility::mutable_,
              .keys = {"text", "point"}, .ids = {{"two", 100}, {"names", 0x0ffffff0}});

struct Everything {
  Numbers numbers;
  std::string text;
  tutti::dds::bounded_string<12> name;
  std::vector<Point> points;
  std::vector<bool> flags;
  std::vector<Color> colors;
  std::vector<std::string> words;
  std::vector<std::vector<std::uint16_t>> rows;
  tutti::dds::bounded_vector<std::int32_t, 5> few;
  std::array<std::array<std::int16_t, 2>, 3> matrix{};
  std::array<std::array<std::string, 2>, 2> texts;
  float fixed[3] = {};
  std::array<bool, 3> bits{};
  std::optional<double> maybe;
  std::optional<std::string> perhaps;
  Shape shape;
  std::vector<Shape> shapes;
  Tree tree;
  Reading reading;
  Settings settings;
  std::vector<Reading> readings;
  std::uint8_t last = 0;
  bool operator==(const Everything&) const = default;
};
TUTTI_FIELDS(Everything, numbers, text, name, points, flags, colors, words, rows, few, matrix,
             texts, fixed, bits, maybe, perhaps, shape, shapes, tree, reading, settings, readings,
             last);

}  // namespace samples

template <>
struct tutti::dds::Union<samples::Shape> {
  using Discriminator = std::int32_t;
  static constexpr UnionCase<Discriminator> cases[] = {
      {0, "none"}, {1, "point"}, {2, "text"}, {-3, "number"}};
  static constexpr std::string_view name = "samples::Shape";
  static constexpr Extensibility extensibility = Extensibility::appendable;
};

namespace samples {

/// Random values; no NaN, which is not equal to itself.
class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}

  template <class T>
  T make() {
    T value{};
    fill(value, 0);
    return value;
  }

 private:
  std::size_t below(std::size_t count) { return random_.next() % count; }

  template <class T>
  void fill(T& value, unsigned depth) {
    using namespace tutti::dds;
    using namespace tutti::dds::detail;
    if constexpr (std::is_same_v<T, bool>) {
      value = below(2) == 1;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<std::int32_t>(random_.next())) / 8;
    } else if constexpr (HasEnumerators<T>) {
      constexpr T kAll[] = {T::red, T::green, T::blue};
      value = kAll[below(std::size(kAll))];
    } else if constexpr (kPrimitive<T> || std::is_enum_v<T>) {
      value = static_cast<T>(random_.next());
    } else if constexpr (kKind<T> == Kind::string) {
      std::string text(below(9), ' ');
      for (char& c : text) c = static_cast<char>('a' + below(26));
      value.assign(text);
    } else if constexpr (kKind<T> == Kind::array) {
      for (auto& element : value) fill(element, depth);
    } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
      value.resize(below(5));
      for (std::size_t i = 0; i < value.size(); ++i) value[i] = below(2) == 1;
    } else if constexpr (kKind<T> == Kind::sequence) {
      value.resize(depth > 4 ? 0 : below(depth > 2 ? 3 : 6));
      for (auto& element : value) fill(element, depth + 1);
    } else if constexpr (kKind<T> == Kind::optional) {
      if (below(2) == 1) fill(value.emplace(), depth + 1);
    } else if constexpr (kKind<T> == Kind::union_) {
      fill_alternative<0>(value, below(std::variant_size_v<T>), depth);
    } else if constexpr (kKind<T> == Kind::structure) {
      each_field<T>([&](auto field) { return fill(value.*field.member, depth + 1), true; });
    }
  }

  template <std::size_t kIndex, class T>
  void fill_alternative(T& value, std::size_t index, unsigned depth) {
    if constexpr (kIndex < std::variant_size_v<T>) {
      if (kIndex == index) return fill(value.template emplace<kIndex>(), depth + 1);
      fill_alternative<kIndex + 1>(value, index, depth);
    }
  }

  tutti::Prng random_;
};

}  // namespace samples
