#include "membership/failure_detector.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::uint64_t kTimeout = 800;

TEST(FailureDetector, SuspectsWhoDoesNotBeatForLongerThanTheTimeout) {
  FailureDetector detector(2, kTimeout);
  std::uint64_t beat = 0;
  for (std::uint64_t now = 100; now <= 3000; now += 50) {
    detector.look(now);
    detector.heard(Slot{0}, ++beat);
    detector.heard(Slot{1}, 7);
    EXPECT_FALSE(detector.silent(Slot{0})) << now;
  }
  EXPECT_TRUE(detector.silent(Slot{1}));
}

TEST(FailureDetector, IsExactToOneLook) {
  FailureDetector detector(1, kTimeout);
  detector.look(50);
  detector.heard(Slot{0}, 1);
  std::uint64_t now = 50;
  while (!detector.silent(Slot{0})) detector.look(now += 50);
  EXPECT_GT(now, 50 + kTimeout);
  EXPECT_LE(now, 100 + kTimeout);
}

// V6: our own pause is nobody else's silence.
TEST(FailureDetector, DoesNotHoldItsOwnPausesAgainstOthers) {
  FailureDetector detector(1, kTimeout);
  detector.look(100);
  detector.heard(Slot{0}, 1);
  detector.look(1'000'000'000);
  EXPECT_FALSE(detector.silent(Slot{0}));
  detector.heard(Slot{0}, 2);
  detector.look(2'000'000'000);
  EXPECT_FALSE(detector.silent(Slot{0}));
}

TEST(FailureDetector, WatchesANewMemberFromTheBeginning) {
  FailureDetector detector(1, kTimeout);
  for (std::uint64_t now = 0; now <= 2000; now += 50) {
    detector.look(now);
    detector.heard(Slot{0}, 1);
  }
  EXPECT_TRUE(detector.silent(Slot{0}));
  detector.watch(Slot{0});
  EXPECT_FALSE(detector.silent(Slot{0}));
}

// V6, P4: the member came between two looks; what passed of that before it came is not its silence.
TEST(FailureDetector, GivesANewMemberItsWholeTimeout) {
  FailureDetector detector(1, kTimeout);
  detector.look(100);
  constexpr std::uint64_t kCame = 190;
  detector.watch(Slot{0});
  std::uint64_t now = 100;
  do {
    detector.look(now += 100);
    detector.heard(Slot{0}, 0);
  } while (!detector.silent(Slot{0}));
  EXPECT_GE(now, kCame + kTimeout);
  EXPECT_LE(now, kCame + kTimeout + 200);
}

}  // namespace
}  // namespace tutti
