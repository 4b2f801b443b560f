// What the macros say of a type, and which types a topic can have.
#include "tutti/dds/fields.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "samples.hpp"
#include "tutti/dds/topic_type.hpp"
#include "tutti/dds/type.hpp"

namespace tutti::dds {
namespace {

using samples::Everything, samples::Numbers, samples::Point, samples::Reading, samples::Settings;

class Hidden {
 public:
  Hidden() = default;
  explicit Hidden(int value) : value_(value) {}
  [[nodiscard]] int value() const { return value_; }
  TUTTI_FIELDS(Hidden, value_);
  TUTTI_OPTIONS(Hidden, .name = "test::Hidden", .in_place = false);

 private:
  std::int32_t value_ = 0;
};

template <class T>
struct Box {
  T content{};
  TUTTI_FIELDS(Box, content);
};

struct Base {
  std::int32_t base = 0;
};
struct Derived : Base {
  std::int32_t own = 0;
};
TUTTI_FIELDS(Derived, base, own);

struct Unnamed {
  std::int32_t a;
};
struct Refers {
  std::int32_t& a;
};
struct Points {
  std::int32_t* to = nullptr;
};
TUTTI_FIELDS(Points, to);
struct Maybe {
  std::optional<std::int32_t> a;
};
TUTTI_FIELDS(Maybe, a);

TEST(Fields, SayWhichTypesATopicCanHave) {
  static_assert(TopicType<Everything> && TopicType<Settings> && TopicType<samples::Tree>);
  static_assert(TopicType<std::int32_t> && TopicType<std::string> && TopicType<Hidden>);
  static_assert(TopicType<Unnamed> && TopicType<Box<std::vector<std::string>>>);
  static_assert(!TopicType<std::int32_t*> && !TopicType<std::int32_t&> && !TopicType<Refers>);
  static_assert(!TopicType<Points> && !TopicType<Box<Points>> && !TopicType<long double>);
  static_assert(!TopicType<std::unique_ptr<int>> && !TopicType<std::map<int, int>>);
  static_assert(!TopicType<std::vector<std::int32_t*>> && !TopicType<const Point>);
}

TEST(Fields, SayWhichTypesAreSentInPlace) {
  static_assert(kInPlace<Point> && kInPlace<Numbers> && kInPlace<Unnamed> && kInPlace<Derived>);
  static_assert(kInPlace<std::array<float, 3>> && kInPlace<bounded_string<8>>);
  static_assert(kInPlace<Box<bounded_vector<Point, 4>>>);
  static_assert(std::is_trivially_copyable_v<Maybe> && !kInPlace<Maybe>);
  static_assert(std::is_trivially_copyable_v<Hidden> && !kInPlace<Hidden>);
  static_assert(!kInPlace<Reading> && !kInPlace<std::string> && !kInPlace<Points>);
}

TEST(Fields, GiveATypeItsName) {
  EXPECT_EQ(type_name<Point>(), "samples::Point");
  EXPECT_EQ(type_name<Hidden>(), "test::Hidden");
  EXPECT_EQ(type_name<samples::Shape>(), "samples::Shape");
  EXPECT_EQ(type_name<std::uint16_t>(), "uint16");
  EXPECT_EQ(type_name<std::vector<Point>>(), "sequence");
}

TEST(Fields, MayBePrivateOrOfABase) {
  std::vector<std::byte> bytes;
  ASSERT_TRUE(encode(Hidden(7), bytes));
  EXPECT_EQ(decode<Hidden>(bytes).value().value(), 7);
  Derived derived;
  derived.base = 3;
  derived.own = 4;
  ASSERT_TRUE(encode(derived, bytes));
  const Derived back = decode<Derived>(bytes).value();
  EXPECT_EQ(back.base, 3);
  EXPECT_EQ(back.own, 4);
}

TEST(Fields, HaveIdsThatGoOnFromTheOneBefore) {
  const Type& type = type_of<Settings>();
  ASSERT_GE(type.nodes[0].members.size(), 11U);
  EXPECT_EQ(type.nodes[0].members[0].id, 0U);
  EXPECT_EQ(type.nodes[0].members[1].id, 100U);
  EXPECT_EQ(type.nodes[0].members[2].id, 101U);
  EXPECT_EQ(type.nodes[0].members[9].id, 0x0ffffff0U);
  EXPECT_EQ(type.nodes[0].members[10].id, 0x0ffffff1U);
}

TEST(Fields, CopyTogetherWhatLiesInMemoryAsOnTheWire) {
  static_assert(detail::kPlain<Point, false>.yes && detail::kPlain<Point, true>.yes);
  static_assert(!detail::kPlain<Numbers, false>.yes && !detail::kPlain<Reading, false>.yes);
  static_assert(!detail::kPlain<std::array<samples::Color, 2>, false>.yes);
  constexpr auto runs = detail::kRuns<Numbers, false>;
  static_assert(runs[0].bytes == 4 && runs[1].inside);    // the four of one byte
  static_assert(runs[4].bytes == 4 && runs[5].inside);    // their alignment is larger
  static_assert(runs[6].bytes == 28 && runs[10].inside);  // up to the padding in memory
  static_assert(!detail::kRuns<Numbers, true>[0].inside &&
                detail::kRuns<Numbers, true>[0].bytes == 0);
}

TEST(Key, IsTheKeyFieldsAlone) {
  std::vector<std::byte> key, other;
  Reading reading{.sensor = 5, .unit = "m", .values = {1}, .time = {}};
  ASSERT_TRUE(key_of(reading, key));
  EXPECT_EQ(key, (std::vector<std::byte>{std::byte{5}, {}, {}, {}}));
  reading.unit = "s";
  ASSERT_TRUE(key_of(reading, other));
  EXPECT_EQ(key, other);
  static_assert(kHasKey<Reading> && !kHasKey<Everything>);
  ASSERT_TRUE(key_of(Everything{}, other));
  EXPECT_TRUE(other.empty());
  Settings settings;
  settings.text = "ab";
  settings.point = {1, 2, 3};
  ASSERT_TRUE(key_of(settings, key));  // 4 + 3, padding 1, 24
  EXPECT_EQ(key.size(), 32U);
}

}  // namespace
}  // namespace tutti::dds
