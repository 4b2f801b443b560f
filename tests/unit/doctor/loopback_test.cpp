#include "doctor/loopback.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/loopback.hpp"

namespace tutti::doctor {
namespace {

LoopbackOptions options(const std::string& fabric) {
  const std::vector<MemberAddress> members = loopback_members(2);
  return {.fabric = fabric,
          .addresses = {members[0].address, members[1].address},
          .litmus_rounds = 40,
          .rounds = 40};
}

class EachLoopback : public ::testing::TestWithParam<std::string> {};

#ifdef __SANITIZE_THREAD__  // libfabric is not instrumented
INSTANTIATE_TEST_SUITE_P(On, EachLoopback, ::testing::Values("shm", "tcp"));
#else
INSTANTIATE_TEST_SUITE_P(On, EachLoopback, ::testing::Values("shm", "tcp", "ofi:tcp", "ofi:shm"));
#endif

TEST_P(EachLoopback, DeliversWhatWasSentAndTakesItsTime) {
  const Result<LoopbackResult> result = loopback(options(GetParam()));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->wrong, 0);
  EXPECT_GT(result->median_ns, 0);
  EXPECT_GE(result->p99_ns, result->median_ns);
}

TEST(Loopback, WhoseAddressesAreNotToBeHadSaysSo) {
  LoopbackOptions wrong = options("tcp");
  wrong.addresses[1] = wrong.addresses[0];
  const Result<LoopbackResult> result = loopback(wrong);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr(wrong.addresses[0]));
}

TEST(Loopback, OnAFabricThatIsNoneSaysSo) {
  for (const std::string fabric : {"carrier-pigeon", "ofi:", "tcp:1", "ofi:no-such-provider"}) {
    const Result<LoopbackResult> result = loopback(options(fabric));
    ASSERT_FALSE(result) << fabric;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << result.error().message;
  }
}

}  // namespace
}  // namespace tutti::doctor
