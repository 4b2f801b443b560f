/// The order of one pass. Q1 .. Q3 are the invariants of predicate_loop.hpp.
#include "predicates/predicate_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mock_fabric.hpp"

namespace tutti {
namespace {

using ::testing::_;
using ::testing::InSequence;
using ::testing::NiceMock;
using ::testing::Return;

class MockStepped : public Stepped {
 public:
  MOCK_METHOD(bool, step, (Effects&), (override));
  MOCK_METHOD(bool, deliver, (), (override));
};

TEST(PredicateLoop, Q1Q2PollsStepsAndPostsAllFlushesOnceAndThenDelivers) {
  MockFabric fabric;
  MockStepped first;
  MockStepped second;
  PredicateLoop loop(fabric);
  loop.add(first);
  loop.add(second);
  const InSequence in_this_order;
  EXPECT_CALL(fabric, poll());
  const auto posts_to = [](std::uint32_t peer) {
    return [peer](Effects& effects) {
      effects.write(Slot{peer}, {});
      return true;
    };
  };
  EXPECT_CALL(first, step(_)).WillOnce(posts_to(1));
  EXPECT_CALL(fabric, write(Slot{1}, _));
  EXPECT_CALL(second, step(_)).WillOnce(posts_to(2));
  EXPECT_CALL(fabric, write(Slot{2}, _));
  EXPECT_CALL(fabric, flush());
  EXPECT_CALL(first, deliver());
  EXPECT_CALL(second, deliver());
  loop.pass();
}

TEST(PredicateLoop, Q1FlushesNothingWhenNobodyPosted) {
  NiceMock<MockFabric> fabric;
  NiceMock<MockStepped> group;
  PredicateLoop loop(fabric);
  loop.add(group);
  EXPECT_CALL(fabric, flush()).Times(0);
  EXPECT_CALL(group, deliver()).WillOnce(Return(true));
  EXPECT_EQ(loop.pass(), 1U);
}

TEST(PredicateLoop, Q1FlushesWhicheverGroupPosted) {
  for (const bool first_posts : {true, false}) {
    NiceMock<MockFabric> fabric;
    NiceMock<MockStepped> first;
    NiceMock<MockStepped> second;
    PredicateLoop loop(fabric);
    loop.add(first);
    loop.add(second);
    EXPECT_CALL(first, step(_)).WillOnce(Return(first_posts));
    EXPECT_CALL(second, step(_)).WillOnce(Return(!first_posts));
    EXPECT_CALL(fabric, flush());
    loop.pass();
  }
}

TEST(PredicateLoop, StepDeliversNothing) {
  NiceMock<MockFabric> fabric;
  NiceMock<MockStepped> group;
  PredicateLoop loop(fabric);
  loop.add(group);
  EXPECT_CALL(group, step(_)).Times(1).WillRepeatedly(Return(true));
  EXPECT_CALL(group, deliver()).Times(0);
  EXPECT_EQ(loop.step(), 1U);
  EXPECT_TRUE(loop.advanced());
}

TEST(PredicateLoop, Q3EvaluatesEachOncePerPass) {
  NiceMock<MockFabric> fabric;
  NiceMock<MockStepped> group;
  PredicateLoop loop(fabric);
  loop.add(group);
  EXPECT_CALL(group, step(_)).Times(1).WillRepeatedly(Return(true));
  EXPECT_CALL(group, deliver()).Times(1).WillRepeatedly(Return(true));
  loop.pass();
}

TEST(PredicateLoop, ReturnsHowMuchItDid) {
  NiceMock<MockFabric> fabric;
  NiceMock<MockStepped> group;
  PredicateLoop loop(fabric);
  loop.add(group);
  EXPECT_EQ(loop.pass(), 0U);
  EXPECT_FALSE(loop.advanced());
  EXPECT_CALL(fabric, poll()).WillOnce(Return(3));
  EXPECT_CALL(group, step(_)).WillOnce(Return(true));
  EXPECT_CALL(group, deliver()).WillOnce(Return(true));
  EXPECT_EQ(loop.pass(), 5U);
  EXPECT_TRUE(loop.advanced());
  EXPECT_EQ(loop.passes(), 2U);
  EXPECT_EQ(loop.working_passes(), 1U);
}

TEST(PredicateLoop, CountsWhatOnlyLandedAsWork) {
  NiceMock<MockFabric> fabric;
  PredicateLoop loop(fabric);
  EXPECT_CALL(fabric, poll()).WillOnce(Return(1));
  EXPECT_EQ(loop.pass(), 1U);
  EXPECT_FALSE(loop.advanced());
}

TEST(PredicateLoop, HandsOnTheLossesOfItsFabric) {
  NiceMock<MockFabric> fabric;
  PredicateLoop loop(fabric);
  EXPECT_CALL(fabric, take_losses()).WillOnce(Return(std::vector<PeerLoss>{{Slot{2}, "gone"}}));
  const std::vector<PeerLoss> losses = loop.take_losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].peer, Slot{2});
}

}  // namespace
}  // namespace tutti
