#include "doctor/loopback.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/loopback.hpp"

namespace tutti::doctor {
namespace {

LoopbackOptions options(FabricChoice fabric) {
  const std::vector<MemberAddress> members = loopback_members(2);
  return {.fabric = fabric,
          .addresses = {members[0].address, members[1].address},
          .litmus_rounds = 40,
          .rounds = 40};
}

class EachLoopback : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, EachLoopback, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(EachLoopback, DeliversWhatWasSentAndTakesItsTime) {
  const Result<LoopbackResult> result = loopback(options(GetParam()));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->wrong, 0);
  EXPECT_GT(result->median_ns, 0);
  EXPECT_GE(result->p99_ns, result->median_ns);
}

TEST(Loopback, WhoseAddressesAreNotToBeHadSaysSo) {
  LoopbackOptions wrong = options(FabricChoice::tcp);
  wrong.addresses[1] = wrong.addresses[0];
  const Result<LoopbackResult> result = loopback(wrong);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr(wrong.addresses[0]));
}

}  // namespace
}  // namespace tutti::doctor
