/// What a member delivers at Level::agreed, and when it begins to (I7).
#include <gtest/gtest.h>

#include "multicast/multicast.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {
namespace {

TEST(MulticastAtAgreed, DeliversWhatItHas) {
  ForgedTable table({.level = Level::agreed});
  table.met_all(1);
  table.met_all(2);
  ForgedMember member(table, 0);
  table.sent(1, {.records = 2, .rounds = 6});
  member.step();
  EXPECT_EQ(member.bounds(1).records, 2U);
  EXPECT_EQ(member.bounds(1).stable, 6U);
  EXPECT_EQ(table.received(0, 1), 6U);
}

TEST(MulticastAtAgreed, DeliversNothingBeforeAllHaveTheRowsOfAll) {  // I7
  ForgedTable table({.level = Level::agreed});
  table.met_all(2);
  table.epoch(1, 7);
  ForgedMember member(table, 0);
  table.sent(2, {.records = 2, .rounds = 6});
  member.step();
  EXPECT_FALSE(table.has_met_all(0)) << "1 is not there yet";
  table.epoch(1, 0);
  member.step();
  EXPECT_TRUE(table.has_met_all(0));
  EXPECT_TRUE(member.out.control);
  EXPECT_EQ(table.received(0, 2), 6U);
  EXPECT_EQ(member.bounds(2).stable, 0U) << "1 lacks some row";
  table.met_all(1);
  EXPECT_TRUE(member.step());
  EXPECT_EQ(member.bounds(2).stable, 6U);
}

TEST(MulticastAtAgreed, DoesNotBeginToSayThatItHasAllRowsOnceItIsWedged) {  // I7
  ForgedTable table({.level = Level::agreed});
  ForgedMember member(table, 0);
  member->wedge();
  member.step();
  EXPECT_FALSE(table.has_met_all(0));
}

}  // namespace
}  // namespace tutti::testing
