// Bytes that other encoders made (golden/make_golden.py) are decoded, and what is encoded here is
// the same.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tutti/dds/cdr.hpp"
#include "tutti/dds/json.hpp"

namespace golden {

enum class Color : std::int32_t { red = 0, green = 1, blue = 7 };
TUTTI_ENUM(Color, red, green, blue);

struct Point {
  double x = 0, y = 0, z = 0;
  bool operator==(const Point&) const = default;
};
TUTTI_FIELDS(Point, x, y, z);

struct Numbers {
  bool flag = false;
  char letter = 0;
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
  Color color = Color::red;
  bool operator==(const Numbers&) const = default;
};
TUTTI_FIELDS(Numbers, flag, letter, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, color);

struct Lists {
  std::uint8_t one = 0;
  std::string text;
  std::vector<double> doubles;
  std::vector<Point> points;
  std::vector<std::string> words;
  std::vector<Color> colors;
  std::vector<bool> flags;
  std::vector<std::vector<std::uint16_t>> rows;
  std::array<std::int16_t, 3> triple{};
  std::array<std::array<std::int16_t, 2>, 3> matrix{};
  std::array<std::string, 2> texts;
  std::vector<std::int64_t> empty;
  std::uint8_t last = 0;
  bool operator==(const Lists&) const = default;
};
TUTTI_FIELDS(Lists, one, text, doubles, points, words, colors, flags, rows, triple, matrix, texts,
             empty, last);

struct RosLists {
  std::uint8_t one = 0;
  std::string text;
  std::vector<double> doubles;
  std::vector<Point> points;
  std::vector<std::string> words;
  std::vector<Color> colors;
  std::vector<bool> flags;
  std::array<std::int16_t, 3> triple{};
  std::array<std::string, 2> texts;
  std::vector<std::int64_t> empty;
  std::uint8_t last = 0;
  bool operator==(const RosLists&) const = default;
};
TUTTI_FIELDS(RosLists, one, text, doubles, points, words, colors, flags, triple, texts, empty,
             last);

struct Reading {
  std::int32_t sensor = 0;
  std::string unit;
  std::vector<double> values;
  std::optional<std::int64_t> time;
  bool operator==(const Reading&) const = default;
};
TUTTI_FIELDS(Reading, sensor, unit, values, time);
TUTTI_OPTIONS(Reading, .extensibility = tutti::dds::Extensibility::appendable, .keys = {"sensor"});

struct Holder {
  std::uint8_t first = 0;
  std::optional<double> maybe;
  std::optional<std::string> perhaps;
  Reading inner;
  std::vector<Reading> inners;
  std::uint8_t last = 0;
  bool operator==(const Holder&) const = default;
};
TUTTI_FIELDS(Holder, first, maybe, perhaps, inner, inners, last);

using Shape = std::variant<Point, std::string, std::int16_t>;
struct Shapes {
  std::vector<Shape> shapes;
  bool operator==(const Shapes&) const = default;
};
TUTTI_FIELDS(Shapes, shapes);

struct Settings {
  std::int8_t one = 0;
  std::uint16_t two = 0;
  float four = 0;
  std::int64_t eight = 0;
  std::string text;
  std::vector<std::uint8_t> octets;
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
TUTTI_FIELDS(Settings, one, two, four, eight, text, octets, shorts, words, doubles, names, point,
             triple, pair, reading, color);
TUTTI_OPTIONS(Settings, .extensibility = tutti::dds::Extensibility::mutable_,
              .ids = {{"two", 100}, {"names", 0x0ffffff0}});

}  // namespace golden

template <>
struct tutti::dds::Union<golden::Shape> {
  using Discriminator = std::int32_t;
  static constexpr UnionCase<Discriminator> cases[] = {{1, "point"}, {2, "text"}, {-3, "number"}};
};

namespace tutti::dds {
namespace {

struct Line {
  std::string name, encoder;
  int version = 0;
  std::string order;
  std::vector<std::byte> bytes;
};

std::vector<Line> lines_of_file() {
  std::vector<Line> lines;
  std::ifstream file(TUTTI_GOLDEN);
  Line line;
  for (std::string hex; file >> line.name >> line.encoder >> line.version >> line.order >> hex;) {
    line.bytes.clear();
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      line.bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    lines.push_back(line);
  }
  return lines;
}

/// Decodes all lines of that name; returns how many there were.
template <class T>
std::size_t expect_golden(const std::string& name, const T& value) {
  std::size_t count = 0;
  std::vector<std::byte> encoded;
  const Result<void> done = encode(value, encoded);
  EXPECT_TRUE(done) << done.error().message;
  const Result<std::string> json = print_json(type_of<T>(), encoded);
  for (const Line& line : lines_of_file()) {
    if (line.name != name) continue;
    SCOPED_TRACE(::testing::Message() << line.name << " by " << line.encoder << ", version "
                                      << line.version << ", " << line.order << " endian");
    ++count;
    const Result<T> decoded = decode<T>(line.bytes);
    EXPECT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(decoded && *decoded == value);
    if constexpr (!kInPlace<T>) {
      EXPECT_EQ(print_json(type_of<T>(), line.bytes).value_or("none"), json.value_or(""));
    }
    // One of them always writes the length of a member twice.
    const bool other_lengths = line.encoder == "pycdr2" && name == "settings";
    if (line.version != 2 || line.order != "little" || other_lengths) continue;
    // They leave out the padding at the end, and do not say how much it would be.
    std::vector<std::byte> padded = line.bytes;
    padded[3] = static_cast<std::byte>((0 - padded.size()) & 3);
    padded.resize((padded.size() + 3) / 4 * 4);
    EXPECT_EQ(encoded, padded);
  }
  return count;
}

TEST(Golden, NumbersAreAsOthersEncodeThem) {
  const golden::Numbers numbers{true,
                                'z',
                                -1,
                                200,
                                -300,
                                60000,
                                -70000,
                                4000000000U,
                                -(1LL << 40),
                                1ULL << 63,
                                1.5F,
                                -2.25,
                                golden::Color::blue};
  EXPECT_EQ(expect_golden("numbers", numbers), 8U);
}

TEST(Golden, ListsAreAsOthersEncodeThem) {
  using enum golden::Color;
  const golden::Lists lists{1,
                            "hello",
                            {1, 2},
                            {{1, 2, 3}, {4, 5, 6}},
                            {"a", "", "ccc"},
                            {green, blue},
                            {true, false, true},
                            {{1, 2}, {}, {3}},
                            {7, 8, 9},
                            {{{1, 2}, {3, 4}, {5, 6}}},
                            {"x", "yy"},
                            {},
                            255};
  EXPECT_EQ(expect_golden("lists", lists), 6U);
  const golden::RosLists ros{1,
                             "hello",
                             {1, 2},
                             {{1, 2, 3}, {4, 5, 6}},
                             {"a", "", "ccc"},
                             {green, blue},
                             {true, false, true},
                             {7, 8, 9},
                             {"x", "yy"},
                             {},
                             255};
  EXPECT_EQ(expect_golden("roslists", ros), 2U);
}

const golden::Reading kReading{5, "mm", {0.5}, 1LL << 33};
const golden::Reading kWithout{-5, "", {}, {}};

TEST(Golden, AppendableTypesAreAsOthersEncodeThem) {
  EXPECT_EQ(expect_golden("reading", kReading), 6U);
  EXPECT_EQ(expect_golden("without", kWithout), 6U);
}

TEST(Golden, OptionalFieldsAreAsOthersEncodeThem) {
  const golden::Holder holder{3, 2.5, {}, kReading, {kWithout, kReading}, 4};
  EXPECT_EQ(expect_golden("holder", holder), 6U);
}

TEST(Golden, UnionsAreAsOthersEncodeThem) {
  const golden::Shapes shapes{{golden::Point{1, 2, 3}, "t", std::int16_t{-4}}};
  EXPECT_EQ(expect_golden("shapes", shapes), 6U);
}

TEST(Golden, MutableTypesAreAsOthersEncodeThem) {
  const golden::Settings settings{1,         2,         4.5F,       8,          "text",
                                  {1, 2, 3}, {4, 5},    {6},        {7.5, 8.5}, {"n", "mm"},
                                  {1, 2, 3}, {1, 2, 3}, {"p", "q"}, kReading,   {}};
  EXPECT_EQ(expect_golden("settings", settings), 6U);
}

}  // namespace
}  // namespace tutti::dds
