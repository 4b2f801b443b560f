/// \file state_givers_test.cpp
/// Members that give a state to those who join, and leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class Givers : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 1'000'000;  // several times what may be under way at once

  ClusterOptions options(std::size_t members, std::uint32_t founders) {
    GroupOptions group = small_group();
    group.stateful = true;
    group.snapshot = []() -> Result<ReadSnapshot> {
      return [](std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
        const std::size_t size = std::min<std::size_t>(into.size(), kBytes - offset);
        std::ranges::fill(into.first(size), std::byte{1});
        return size;
      };
    };
    group.load_state = [this](const StatePiece& piece) -> Result<void> {
      loaded_ += piece.bytes.size();
      while (holds_) std::this_thread::yield();
      return {};
    };
    return {.members = members, .groups = {group}, .founders = founders};
  }

  std::atomic<bool> holds_{true};  // load_state does not return
  std::atomic<std::size_t> loaded_{0};
};

// c, which gives nothing, leaves meanwhile: had they asked, a and b would be gone with it.
TEST_F(Givers, WhoLeaveGiveTheStateToTheEnd) {
  TestCluster cluster(options(4, 3));
  cluster.start({0, 1, 2});
  ASSERT_EQ(cluster.node(2).view().members, (std::vector<std::string>{"a", "b", "c"}));
  std::jthread joiner([&] { cluster.start({3}); });
  EXPECT_TRUE(until([&] { return loaded_ != 0; }));
  std::atomic<int> gone = 0;
  std::vector<std::jthread> leavers;
  for (const std::size_t giver : {0, 1}) {
    leavers.emplace_back([&, giver] {
      expect_ok({cluster.leave(giver)});
      ++gone;
    });
  }
  for (const std::size_t giver : {0, 1}) {
    EXPECT_TRUE(until([&] {
      return cluster.group(giver).try_claim(1).outcome() == ClaimOutcome::stopped;
    })) << "it leaves";
  }
  expect_ok({cluster.leave(2)});
  EXPECT_EQ(gone, 0);
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kBytes);
  leavers.clear();
  EXPECT_TRUE(until([&] { return cluster.are_in_view_of({3}); }));
  cluster.talk(3);
  EXPECT_TRUE(cluster.hear_more({3}));
  expect_ok({cluster.leave(3)});
}

TEST_F(Givers, WhoCannotWaitToLeaveSayForWhom) {
  TestCluster cluster(options(3, 2));
  cluster.start({0, 1});
  std::jthread joiner([&] { cluster.start({2}); });
  EXPECT_TRUE(until([&] { return loaded_ != 0; }));
  const Result<void> left = cluster.node(1).leave(10ms);
  EXPECT_FALSE(left);
  if (!left) {
    EXPECT_EQ(left.error().code, ErrorCode::timed_out);
    EXPECT_THAT(left.error().message, HasSubstr("waited for 'c', which joined, to take the "));
  }
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kBytes) << "of a";
}

}  // namespace
}  // namespace tutti
