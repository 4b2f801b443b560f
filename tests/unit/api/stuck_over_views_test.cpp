/// \file stuck_over_views_test.cpp
/// A callback that does not return while members come and go: the others are in the next views and
/// are delivered what is sent there, until they run out of window; then it is delivered it all.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <latch>
#include <tuple>

#include "cluster.hpp"

namespace tutti {
namespace {

// The first callback runs into it, and stays until it is opened.
class StuckCall {
 public:
  void pass() {
    reached_ = true;
    opened_.wait();
  }
  void open() {
    if (!open_.exchange(true)) opened_.count_down();
  }
  [[nodiscard]] bool reached() const { return reached_.load(); }

 private:
  std::atomic<bool> reached_{false};
  std::atomic<bool> open_{false};
  std::latch opened_{1};
};

class StuckOverViews : public ::testing::TestWithParam<std::tuple<FabricChoice, DeliveryThread>> {
 protected:
  // The third of three founders is in its first callback; then the fourth joins, and the second is
  // killed.
  void change_views() {
    cluster.life(2).in_delivery = [this] { gate.pass(); };
    cluster.start({0, 1, 2});
    ASSERT_TRUE(cluster.group(0).send("first", kPatience));
    ASSERT_TRUE(until([this] { return gate.reached(); }));
    cluster.start({3});
    for (const std::size_t member : {0, 1, 3}) {
      ASSERT_TRUE(until([&] { return cluster.node(member).view().members.size() == 4; }));
    }
    ASSERT_TRUE(cluster.group(3).send("second", kPatience));
    for (const std::size_t member : {0, 1}) {
      ASSERT_TRUE(until([&] { return cluster.deliveries(member).size() == 2; }));
    }
    cluster.kill(1);
    for (const std::size_t member : {0, 3}) {
      ASSERT_TRUE(until([&] { return cluster.node(member).view().members.size() == 3; }));
    }
  }

  void end() {
    gate.open();
    for (const Result<void>& result : cluster.stop()) {
      EXPECT_TRUE(result) << result.error().message;
    }
    EXPECT_EQ(cluster.deliveries(2), cluster.deliveries(0));
    EXPECT_EQ(cluster.journal(2).stretches().size(), 3U) << "it was told of each view";
    cluster.expect_one_story();
  }

  TestCluster cluster{{.members = 4,
                       .fabric = std::get<0>(GetParam()),
                       .groups = {small_group(Level::atomic, std::get<1>(GetParam()))},
                       .founders = 3}};
  StuckCall gate;
};

INSTANTIATE_TEST_SUITE_P(On, StuckOverViews,
                         ::testing::Combine(::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                                            ::testing::Values(DeliveryThread::predicate,
                                                              DeliveryThread::own)),
                         [](const auto& with) {
                           const bool own = std::get<1>(with.param) == DeliveryThread::own;
                           return std::string(to_string(std::get<0>(with.param))) +
                                  (own ? "_own_thread" : "");
                         });

TEST_P(StuckOverViews, TheOthersAreInTheNextViewsAndAreDeliveredMore) {
  ASSERT_NO_FATAL_FAILURE(change_views());
  ASSERT_TRUE(cluster.group(0).send("third", kPatience));
  ASSERT_TRUE(cluster.group(3).send("fourth", kPatience));
  for (const std::size_t member : {0, 3}) {
    ASSERT_TRUE(until([&] { return cluster.deliveries(member).back().ends_with("fourth"); }));
  }
  EXPECT_EQ(cluster.journal(2).stretches().size(), 1U);
  EXPECT_TRUE(cluster.deliveries(2).empty());
  EXPECT_FALSE(cluster.node(2).failure());
  end();
  EXPECT_EQ(cluster.deliveries(2).size(), 4U);
}

TEST_P(StuckOverViews, TheOthersRunOutOfWindowAndGoOnAfterwards) {
  ASSERT_NO_FATAL_FAILURE(change_views());
  Group& group = cluster.group(0);
  const auto fill = [&] {
    for (;;) {
      Claim claim = group.try_claim(8);
      if (!claim) return claim.outcome();
      std::memset(claim.data(), 'x', 8);
      group.commit(std::move(claim));
    }
  };
  EXPECT_EQ(fill(), ClaimOutcome::full);
  EXPECT_FALSE(cluster.node(0).failure());
  gate.open();
  ASSERT_TRUE(group.send("more", kPatience)) << "there is space again";
  end();
}

}  // namespace
}  // namespace tutti
