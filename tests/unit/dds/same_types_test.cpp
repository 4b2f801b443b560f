// Types that programs in Python describe, too: topics have the same hash from both. The same
// numbers stand in bindings/python/tests/topic_types_test.py.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/dds/type.hpp"
#include "tutti/dds/type_support.hpp"

namespace same {

enum class Color : std::uint8_t { red, green = 7 };
TUTTI_ENUM(Color, red, green);

struct Point {
  double x = 0;
  float y = 0;
};
TUTTI_FIELDS(Point, x, y);

struct Robot {
  std::uint16_t id = 0;
  Point at;
  Color color = Color::red;
  std::array<std::array<std::int16_t, 3>, 2> grid{};
  bool on = false;
  std::int64_t seen = 0;
};
TUTTI_FIELDS(Robot, id, at, color, grid, on, seen);
TUTTI_OPTIONS(Robot, .keys = {"id"});

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
TUTTI_FIELDS(Tree, name, children);

struct Report {
  std::uint32_t station = 0;
  std::string unit = "K";
  std::vector<float> values;
  std::optional<std::int64_t> calibrated_ns;
  std::optional<Point> at;
  std::vector<std::string> notes;
  Color color = Color::red;
  Tree tree;
};
TUTTI_FIELDS(Report, station, unit, values, calibrated_ns, at, notes, color, tree);
TUTTI_OPTIONS(Report, .extensibility = tutti::dds::Extensibility::appendable, .keys = {"station"},
              .ids = {{"notes", 40}}, .bounds = {{"unit", 16}, {"values", 1024}});

}  // namespace same

namespace tutti::dds {
namespace {

TEST(SameTypes, HaveTheHashThatPythonGivesThem) {
  EXPECT_EQ(type_hash<same::Point>(), 14241724955535722901U);
  EXPECT_EQ(type_hash<same::Robot>(), 8218533641680962556U);
  EXPECT_EQ(type_hash<same::Tree>(), 17719779072982144465U);
  EXPECT_EQ(type_hash<same::Report>(), 5286114778071267524U);
  EXPECT_EQ(TypeSupport<same::Robot>::info().in_place_bytes, sizeof(same::Robot));
}

}  // namespace
}  // namespace tutti::dds
