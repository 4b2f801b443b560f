// When a frame of control words may follow the data before it (PQ1, Ordering).
#include "fabric/post_queue.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tutti {
namespace {

constexpr bool kLanded = true;
constexpr bool kOnItsWay = false;

class UnorderedPosts : public ::testing::Test {
 protected:
  static void post(PostQueue& queue) {
    static constexpr std::array<std::uint64_t, 2> kWords{1, 2};
    queue.write({1000, 100});
    queue.publish(64, std::as_bytes(std::span(kWords)));
  }

  PostQueue ordered{{.words = Words::framed, .ordering = Ordering::writes}};
  PostQueue unordered{{.words = Words::framed, .ordering = Ordering::none}};
};

TEST_F(UnorderedPosts, AFrameFollowsItsDataAtOnceWhereWritesLandInOrder) {
  post(ordered);
  EXPECT_EQ(ordered.frame_behind_next_data().size(), 32U);
  ordered.data_sent(100);
  EXPECT_EQ(ordered.next_frame(kOnItsWay).size(), 32U);
}

TEST_F(UnorderedPosts, AFrameWaitsForItsDataWhereWritesLandInAnyOrder) {
  post(unordered);
  EXPECT_TRUE(unordered.frame_behind_next_data().empty());
  unordered.data_sent(100);
  EXPECT_FALSE(unordered.next_data());
  EXPECT_TRUE(unordered.next_frame(kOnItsWay).empty());
  EXPECT_FALSE(unordered.empty());
  EXPECT_EQ(unordered.next_frame(kLanded).size(), 32U);
}

TEST_F(UnorderedPosts, TheRestOfAFrameNeedNotWait) {
  post(unordered);
  unordered.data_sent(100);
  unordered.frame_sent(8);
  EXPECT_EQ(unordered.next_frame(kOnItsWay).size(), 24U);
  unordered.frame_sent(24);
  EXPECT_TRUE(unordered.empty());
}

}  // namespace
}  // namespace tutti
