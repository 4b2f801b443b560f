// R4: how a ring goes from one view to the next.
#include <gtest/gtest.h>

#include "smc/send_ring.hpp"
#include "unit/smc/ring_fixture.hpp"

namespace tutti::testing {
namespace {

TEST(Rebase, TakesWhatWasNotDeliveredOnceMore) {
  RingFixture fixture(64, 16);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(fixture.send(8));
  fixture.take();
  EXPECT_EQ(fixture.ring.rebase(3, 2), 6U) << "three records of two granules lie before";
  ASSERT_TRUE(fixture.send(8)) << "claimed during the change of view";
  const SendRing::Batch batch = fixture.take();
  EXPECT_EQ(batch.first, 3U);
  EXPECT_EQ(batch.count, 3U);
  EXPECT_EQ(batch.begin, 6U);
}

TEST(Rebase, ReleasesNothing) {
  RingFixture fixture(64, 16);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(fixture.send(8));
  fixture.take();
  fixture.ring.rebase(10, 2);
  EXPECT_EQ(fixture.ring.released(), 0U);
  EXPECT_FALSE(fixture.send(8)) << "somebody may still read the records of the last view";
  fixture.take();
  fixture.ring.release(10);
  EXPECT_TRUE(fixture.send(8));
}

TEST(Rebase, StartsBehindWhatIsReleasedIfNothingElseIsThere) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8));
  fixture.take();
  fixture.ring.release(1);
  EXPECT_EQ(fixture.ring.rebase(1, 2), 2U);
  EXPECT_EQ(fixture.take().count, 0U);
}

// Members that have still to reach the end of the view read the stamps of that view.
TEST(Rebase, KeepsTheStampsOfTheViewThatEnds) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8));
  fixture.ring.stamp(fixture.take(), 41, 6);
  fixture.ring.rebase(0, 7);
  const RecordHeader header = fixture.header_at(0);
  EXPECT_TRUE(header.stamped());
  EXPECT_EQ(header.round, 41U);
  EXPECT_EQ(header.stamp_seen_from(7), StampFrom::earlier);
}

TEST(Rebase, ForgetsOlderStamps) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8) && fixture.send(8));
  fixture.ring.stamp(fixture.take(), 41, 6);
  fixture.ring.rebase(0, 7);
  fixture.take();
  fixture.ring.rebase(0, 8);
  EXPECT_FALSE(fixture.header_at(0).stamped());
  EXPECT_EQ(fixture.header_at(0).length(), 8U);
  EXPECT_EQ(fixture.header_at(2).length(), 8U);
}

// Nothing was sent in the views between, so nothing was taken again.
TEST(Rebase, ForgetsOlderStampsOfRecordsThatWereNotTakenAgain) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8));
  fixture.ring.stamp(fixture.take(), 41, 6);
  for (std::uint64_t view = 7; view <= 15; ++view) fixture.ring.rebase(0, view);
  EXPECT_FALSE(fixture.header_at(0).stamped());
}

TEST(Rebase, WalksOverPads) {
  RingFixture fixture(16, 16);
  ASSERT_TRUE(fixture.send(72));  // 10 granules
  fixture.take();
  fixture.ring.release(1);
  ASSERT_TRUE(fixture.send(40));  // 6 granules up to the end
  ASSERT_TRUE(fixture.send(40));
  fixture.ring.stamp(fixture.take(), 5, 1);
  EXPECT_EQ(fixture.ring.rebase(1, 3), 10U);
  EXPECT_FALSE(fixture.header_at(10).stamped());
  EXPECT_EQ(fixture.take().count, 2U);
}

}  // namespace
}  // namespace tutti::testing
