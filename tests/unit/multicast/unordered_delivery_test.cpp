/// Delivery at Level::unordered: each sender by itself.
#include <gtest/gtest.h>

#include "unit/multicast/forged_delivery.hpp"

namespace tutti::testing {
namespace {

TEST(UnorderedDelivery, DeliversEachSenderByItself) {
  ForgedDelivery group({.level = Level::unordered});
  for (std::uint64_t i = 0; i < 3; ++i) group.rings[1].put(8, i);
  group.rings[2].put(8, 0);
  group.known(1, 3);
  group.known(2, 1);
  group.run();
  EXPECT_EQ(group.senders(), "1112");
  EXPECT_EQ(group.messages[2].seq.value, 2U) << "numbered by sender";
  EXPECT_EQ(group.messages[3].seq.value, 0U);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{0}), 0U);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{1}), 3U);
  EXPECT_EQ(group.delivery->position(), 0U);
}

TEST(UnorderedDelivery, TakesASenderThatWasPassedWhenTheBatchWasFull) {
  ForgedDelivery group({.level = Level::unordered, .ring_granules = 1024, .window_records = 1024});
  const std::uint64_t many = kDeliveryBatchMax + 1;
  for (std::uint64_t i = 0; i < many; ++i) group.rings[1].put(0, i);
  group.known(1, many);
  group.run(1);
  ASSERT_EQ(group.messages.size(), kDeliveryBatchMax);
  group.rings[0].put(8, 0);
  group.known(0, 1);
  group.run();
  EXPECT_EQ(group.delivery->corrupt(), kNobody);
  EXPECT_EQ(group.messages.size(), many + 1);
}

TEST(UnorderedDelivery, HasConsumedAllOfAFinishedSender) {
  ForgedDelivery group({.level = Level::unordered});
  group.rings[1].put(8, 0);
  group.known(1, kNoRound);
  group.run();
  EXPECT_EQ(group.delivery->consumed(SenderIndex{1}), kNoRound);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{0}), 0U);
}

// A lie: the header of its last record says that it belongs to the next view, then that it belongs
// to this one. Another sender's messages fill the batch, so it is seen and not yet delivered.
TEST(UnorderedDelivery, KeepsASenderEndedWhoseHeaderIsStampedAgain) {
  ForgedDelivery group({.level = Level::unordered, .ring_granules = 1024, .window_records = 1024});
  const std::uint64_t view = group.shape.view;
  group.rings[1].raw_at(0, {8 | kStampedBit | view_tag(view + 1), 0});
  group.bounds.set(SenderIndex{1}, {.records = 1, .known = kNoRound, .stable = kNoRound});
  group.run();
  ASSERT_EQ(group.delivery->consumed(SenderIndex{1}), kNoRound);
  group.rings[1].raw_at(0, {8 | kStampedBit | view_tag(view), 3});
  for (std::uint64_t i = 0; i < kDeliveryBatchMax; ++i) group.rings[0].put(0, i);
  group.known(0, kDeliveryBatchMax);
  group.run(1);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{0}), kDeliveryBatchMax);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{1}), kNoRound);
}

}  // namespace
}  // namespace tutti::testing
