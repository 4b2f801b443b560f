// What `tutti idl` makes of idl/weather.idl (idl/weather.hpp, which system.idl compares) is what a
// topic can have.
#include <gtest/gtest.h>

#include "tutti/dds/cdr.hpp"
#include "tutti/dds/type.hpp"
#include "unit/dds/idl/weather.hpp"

namespace tutti::dds {
namespace {

template <class T>
T passed(const T& value) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(encode(value, bytes));
  Result<T> read = decode<T>(bytes);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(T{});
}

TEST(Idl, MakesTypesThatAreEncoded) {
  weather::Reading reading;
  EXPECT_EQ(reading.sky, weather::Sky::CLOUDS);
  EXPECT_EQ(reading.scale, 1.5F);
  reading.station = weather::STATIONS_MAX;
  reading.scale_unit = "metres";
  reading.others = {"a", "b"};
  reading.values = {1, 2, 3};
  reading.matrix[1][2] = 5;
  reading.source = "a sensor";
  reading.calibrated_ns = 7;
  EXPECT_EQ(passed(reading), reading);
  reading.source = weather::Position{48.2, 16.3};
  EXPECT_EQ(passed(reading), reading);
  weather::Node node{.name = "root", .children = {{.name = "leaf", .children = {}}}};
  EXPECT_EQ(passed(node), node);
  static_assert(kInPlace<weather::Position> && kHasKey<weather::Reading>);
  EXPECT_EQ(type_name<weather::Reading>(), "weather::Reading");
  EXPECT_EQ(type_of<weather::Node>().nodes[0].members[1].id, 8U);
}

TEST(Idl, KeepsBounds) {
  std::vector<std::byte> bytes;
  weather::Reading reading;
  reading.scale_unit = "a unit of 17 char";
  EXPECT_FALSE(encode(reading, bytes));
  reading.scale_unit.pop_back();
  EXPECT_TRUE(encode(reading, bytes));
  reading.values.resize(1025);
  EXPECT_FALSE(encode(reading, bytes));
}

TEST(Idl, PutsTheFieldsOfABaseFirst) {
  weather::Named named;
  named.latitude = 1;
  named.name = "x";
  named.grade = 'A';
  EXPECT_EQ(passed(named), named);
  EXPECT_EQ(type_of<weather::Named>().nodes[0].members[0].name, "latitude");
}

}  // namespace
}  // namespace tutti::dds
