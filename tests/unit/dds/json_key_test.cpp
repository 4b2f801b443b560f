// The key of a sample that JSON describes is that of the same sample as an object.
#include <gtest/gtest.h>

#include "samples.hpp"
#include "tutti/dds/json.hpp"
#include "tutti/dds/type_support.hpp"

namespace tutti::dds {
namespace {

using samples::Point, samples::Random, samples::Reading, samples::Settings;

struct Place {
  std::int32_t x = 0;
  std::uint8_t floor = 0;
  std::int64_t seen = 0;
};
TUTTI_FIELDS(Place, x, floor, seen);
TUTTI_OPTIONS(Place, .keys = {"floor", "x"});

struct Robot {
  std::uint16_t id = 0;
  Place place;
  double charge = 0;
};
TUTTI_FIELDS(Robot, id, place, charge);
TUTTI_OPTIONS(Robot, .keys = {"id", "place"});

template <class T>
void expect_same_key(const T& value) {
  std::vector<std::byte> sample;
  if constexpr (kInPlace<T>) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    sample.assign(bytes.begin(), bytes.end());
  } else {
    ASSERT_TRUE(encode(value, sample));
  }
  const Result<std::string> json = print_json(type_of<T>(), sample);
  ASSERT_TRUE(json) << json.error().message;
  std::vector<std::byte> key;
  ASSERT_TRUE(key_of(value, key));
  const Result<std::vector<std::byte>> found = parse_json_key(type_of<T>(), *json);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, key);
  if (kHasKey<T>) {
    EXPECT_EQ(hash_of_key(*found), TypeSupport<T>::key_hash(value));
  }
}

TEST(JsonKey, IsThatOfTheObject) {
  Random random{1};
  for (int i = 0; i < 50; ++i) {
    expect_same_key(random.make<Reading>());
    expect_same_key(random.make<Settings>());
  }
}

// Of a key that is a structure with keys only these count.
TEST(JsonKey, GoesIntoStructures) {
  static_assert(kInPlace<Robot>);
  expect_same_key(Robot{.id = 7, .place = {.x = -3, .floor = 2, .seen = 99}, .charge = 0.5});
}

TEST(JsonKey, IsEmptyWithoutKeys) {
  const auto none = parse_json_key(type_of<Point>(), R"({"x": 1})");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(JsonKey, RefusesWhatIsNoSample) {
  const auto none = parse_json_key(type_of<Robot>(), R"({"place": {"floor": 1000}})");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("place.floor"), std::string::npos) << none.error().message;
  EXPECT_FALSE(parse_json_key(type_of<Robot>(), "["));
}

}  // namespace
}  // namespace tutti::dds
