/// The role of turning a node's predicate loop, between two threads. BA1, BA2: baton.hpp.
#include "node/baton.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "support/effort.hpp"

namespace tutti {
namespace {

TEST(Baton, CannotBeTakenWhileTheOwnerHoldsIt) {
  Baton baton;
  EXPECT_FALSE(baton.take());
  baton.lend();
  baton.take_back([] { FAIL() << "nobody has taken it"; });
  EXPECT_FALSE(baton.take());
}

TEST(Baton, CanBeTakenOnceWhileItIsLent) {
  Baton baton;
  baton.lend();
  EXPECT_TRUE(baton.take());
  EXPECT_FALSE(baton.take());
  EXPECT_FALSE(baton.asked());
}

TEST(Baton, IsAskedForAndComesBack) {
  Baton baton;
  baton.lend();
  ASSERT_TRUE(baton.take());
  std::atomic<bool> woken{false};
  std::thread owner([&] { baton.take_back([&] { woken = true; }); });
  while (!baton.asked() || !woken) sched_yield();
  baton.give_back();
  owner.join();
  EXPECT_FALSE(baton.take()) << "the owner holds it again";
  EXPECT_FALSE(baton.asked());
}

// What both change without any other protection: ThreadSanitizer looks on.
TEST(Baton, H1H2HandsOverWhatItsHolderHasDone) {
  constexpr int kTurns = 20'000;
  Baton baton;
  std::uint64_t turns = 0;
  std::uint64_t stood_in = 0;
  std::atomic<bool> done{false};
  std::thread stand_in([&] {
    while (!done) {
      if (!baton.take()) {
        sched_yield();
        continue;
      }
      while (!baton.asked()) {
        ++turns;
        ++stood_in;
        sched_yield();
      }
      baton.give_back();
    }
  });
  std::uint64_t own = 0;
  const testing::Effort effort;
  for (int i = 0; i < kTurns && !effort.spent(); ++i) {
    ++turns;
    ++own;
    baton.lend();
    if (i % 16 == 0) sched_yield();
    baton.take_back([] {});
  }
  done = true;
  stand_in.join();
  EXPECT_EQ(turns, own + stood_in);
}

}  // namespace
}  // namespace tutti
