// What older and newer versions of a type make of each other's samples.
#include <gtest/gtest.h>

#include "samples.hpp"

namespace tutti::dds {
namespace {

struct Old {
  std::int32_t a = 0;
};
TUTTI_FIELDS(Old, a);
TUTTI_OPTIONS(Old, .extensibility = Extensibility::appendable);

struct New {
  std::int32_t a = 0;
  std::string b = "unset";
  std::int32_t c[2] = {7, 8};
};
TUTTI_FIELDS(New, a, b, c);
TUTTI_OPTIONS(New, .extensibility = Extensibility::appendable);

struct OldList {
  std::vector<Old> all;
  std::uint16_t last = 0;
};
TUTTI_FIELDS(OldList, all, last);
struct NewList {
  std::vector<New> all;
  std::uint16_t last = 0;
};
TUTTI_FIELDS(NewList, all, last);

struct Apples {
  std::int32_t apples = 1;
  std::string name = "none";
};
TUTTI_FIELDS(Apples, apples, name);
TUTTI_OPTIONS(Apples, .extensibility = Extensibility::mutable_, .ids = {{"apples", 9}});
struct Pears {
  std::string name = "none";
  std::int32_t pears = 2;
  std::optional<std::int32_t> plums = 3;
};
TUTTI_FIELDS(Pears, name, pears, plums);
TUTTI_OPTIONS(Pears, .extensibility = Extensibility::mutable_,
              .ids = {{"name", 10}, {"pears", 20}});

template <class To, class From>
To passed(const From& value) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(encode(value, bytes));
  To into;
  const Result<void> done = decode(bytes, into);
  EXPECT_TRUE(done) << done.error().message;
  return into;
}

TEST(Versions, AFieldThatASenderLacksHasItsInitialValue) {
  New into{.a = 1, .b = "left from before", .c = {1, 2}};
  std::vector<std::byte> bytes;
  ASSERT_TRUE(encode(Old{5}, bytes));
  ASSERT_TRUE(decode(bytes, into));
  EXPECT_EQ(into.a, 5);
  EXPECT_EQ(into.b, "unset");
  EXPECT_EQ(into.c[1], 8);
}

TEST(Versions, AFieldThatAReceiverLacksIsSkipped) {
  EXPECT_EQ(passed<Old>(New{.a = 6, .b = "much longer than that", .c = {1, 2}}).a, 6);
  const NewList sent{.all = {{.a = 1, .b = "x", .c = {}}, {.a = 2, .b = "yy", .c = {}}}, .last = 9};
  const OldList got = passed<OldList>(sent);
  ASSERT_EQ(got.all.size(), 2U);
  EXPECT_EQ(got.all[1].a, 2);
  EXPECT_EQ(got.last, 9);
  const NewList back = passed<NewList>(got);
  EXPECT_EQ(back.all[1].b, "unset");
  EXPECT_EQ(back.last, 9);
}

TEST(Versions, MembersOfMutableTypesAreFoundByTheirIds) {
  const Pears pears = passed<Pears>(Apples{.apples = 4, .name = "fruit"});
  EXPECT_EQ(pears.name, "fruit");
  EXPECT_EQ(pears.pears, 2);
  EXPECT_FALSE(pears.plums.has_value());  // whatever its initial value is
  const Apples apples = passed<Apples>(Pears{.name = "n", .pears = 5, .plums = 6});
  EXPECT_EQ(apples.name, "n");
  EXPECT_EQ(apples.apples, 1);
}

TEST(Versions, AMemberThatMustBeUnderstoodIsNotSkipped) {
  std::vector<std::byte> bytes;
  ASSERT_TRUE(encode(Pears{}, bytes));
  ASSERT_EQ(std::to_integer<unsigned>(bytes[8]), 10U);  // the id of the name, in its header
  bytes[11] |= std::byte{0x80};
  EXPECT_TRUE(decode<Apples>(bytes));  // it has the name
  bytes[11] &= std::byte{0x7f};
  ASSERT_EQ(std::to_integer<unsigned>(bytes[24]), 20U);  // that of the pears
  bytes[27] |= std::byte{0x80};
  const Result<Apples> apples = decode<Apples>(bytes);
  ASSERT_FALSE(apples);
  EXPECT_NE(apples.error().message.find("the id 20 must be understood"), std::string::npos)
      << apples.error().message;
}

}  // namespace
}  // namespace tutti::dds
