/// What the watch over the tokens of a world takes for wrong (E10).
#include "sim/token_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ring/forged_ring.hpp"

namespace tutti::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three members; windows: personal 8, global 16, gap 32.
class Watch : public ::testing::Test {
 protected:
  std::string see(std::uint32_t member, const Token& token) {
    ring_.post(member, token);
    return watch_.see(0, ring_.table.shape(member));
  }

 private:
  tutti::testing::ForgedRing ring_;
  TokenWatch watch_;
};

TEST_F(Watch, LetsATokenGoRoundRestAndBeHandedOver) {
  EXPECT_THAT(see(0, {}), IsEmpty()) << "it has never left";
  EXPECT_THAT(see(0, {.visit = 1, .seq = 8, .aru = 8, .fcc = 8}), IsEmpty());
  EXPECT_THAT(see(0, {.visit = 1, .seq = 8, .aru = 8, .fcc = 8}), IsEmpty()) << "the same";
  EXPECT_THAT(see(1, {.visit = 2, .seq = 16, .aru = 8, .fcc = 16}), IsEmpty());
  EXPECT_THAT(see(2, {.visit = 3, .seq = 16, .aru = 8, .fcc = 16}), IsEmpty());
  EXPECT_THAT(see(0, {.visit = 5, .seq = 16, .aru = 16}), IsEmpty()) << "handed over to 2";
  EXPECT_THAT(see(2, {.visit = 9, .seq = 24, .aru = 24, .fcc = 8}), IsEmpty()) << "after a rest";
}

TEST_F(Watch, SeesThemInAnyOrder) {
  EXPECT_THAT(see(1, {.visit = 2, .seq = 16, .aru = 16, .fcc = 16}), IsEmpty());
  EXPECT_THAT(see(0, {.visit = 1, .seq = 8, .aru = 8, .fcc = 8}), IsEmpty());
}

TEST_F(Watch, WantsOneTokenForAVisit) {
  EXPECT_THAT(see(0, {.visit = 4, .seq = 8, .aru = 8, .fcc = 8}), IsEmpty());
  EXPECT_THAT(see(1, {.visit = 4, .seq = 8, .aru = 8, .fcc = 8}),
              AllOf(HasSubstr("rank 1 posts visit 4"), HasSubstr("and rank 0")));
  EXPECT_THAT(see(0, {.visit = 4, .seq = 9, .aru = 9, .fcc = 8}), HasSubstr("with seq 9"));
}

TEST_F(Watch, WantsItFromTheMemberThatHadIt) {
  EXPECT_THAT(see(0, {.visit = 1, .seq = 1, .aru = 1, .fcc = 1}), IsEmpty());
  EXPECT_THAT(see(2, {.visit = 2, .seq = 1, .aru = 1, .fcc = 1}), HasSubstr("after rank 0"));
}

TEST_F(Watch, WantsNoNumberTwiceAndNoMoreThanAVisitMayGive) {
  EXPECT_THAT(see(0, {.visit = 1, .seq = 8, .aru = 8, .fcc = 8}), IsEmpty());
  EXPECT_THAT(see(0, {.visit = 7, .seq = 7, .aru = 7}), HasSubstr("after rank 0"));
  EXPECT_THAT(see(1, {.visit = 2, .seq = 17, .aru = 8, .fcc = 16}), HasSubstr("with seq 17"));
}

TEST_F(Watch, WantsTheWindowsKept) {
  EXPECT_THAT(see(0, {.visit = 1, .seq = 8, .aru = 9, .fcc = 8}), HasSubstr("beyond its windows"));
  EXPECT_THAT(see(1, {.visit = 2, .seq = 33, .fcc = 8}), HasSubstr("beyond its windows"));
  EXPECT_THAT(see(2, {.visit = 3, .seq = 33, .aru = 33, .fcc = 17}),
              HasSubstr("beyond its windows"));
}

}  // namespace
}  // namespace tutti::sim
