/// \file libfabric_test.cpp
/// What the doctor says of libfabric's providers, there or not.
#include "doctor/libfabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tutti::doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();

TEST(Libfabric, EachProviderSaysHowItWritesAndWhatToCallIt) {
  const Findings all = findings_of(ofi::Offers{
      .version = "1.17",
      .providers = {
          {.provider = "tcp", .connected = true, .ordered = true, .ordered_bytes = kAnySize},
          {.provider = "x;y", .ordered = true, .ordered_bytes = 8192}}});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].subject, "libfabric");
  EXPECT_EQ(all[0].what, "version 1.17");
  EXPECT_EQ(all[1].subject, "libfabric tcp");
  EXPECT_EQ(all[1].what,
            "connections (FI_EP_MSG), writes in order (FI_ORDER_RMA_WAW), of any size; --fabric "
            "'ofi:tcp'");
  EXPECT_EQ(all[2].what,
            "datagrams (FI_EP_RDM), writes in order (FI_ORDER_RMA_WAW), of up to 8192 bytes; "
            "--fabric 'ofi:x;y'");
  for (const Finding& finding : all) {
    EXPECT_EQ(finding.grade, Grade::good);
    EXPECT_EQ(finding.how, "");
  }
}

TEST(Libfabric, AProviderThatWillNotDoSaysWhy) {
  const Findings all = findings_of(
      ofi::Offers{.version = "1.17", .providers = {{.provider = "efa", .why_not = "no order"}}});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[1].grade, Grade::could_be_better);
  EXPECT_EQ(all[1].what, "datagrams (FI_EP_RDM), writes in no order; not for members: no order");
  EXPECT_THAT(all[1].how, HasSubstr("another"));
}

TEST(Libfabric, AProviderThatDoesNotSurviveAKillSaysSo) {
  const Findings all = findings_of(
      ofi::Offers{.version = "1.17", .providers = {{.provider = "shm", .ordered = true}}});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[1].grade, Grade::could_be_better);
  EXPECT_THAT(all[1].what, HasSubstr("--fabric 'ofi:shm'"));
  EXPECT_THAT(all[1].how, HasSubstr("a member that is killed there may hang"));
}

TEST(Libfabric, WithoutProvidersCouldBeBetter) {
  const Findings all = findings_of(ofi::Offers{.version = "1.17"});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].grade, Grade::could_be_better);
  EXPECT_THAT(all[0].what, HasSubstr("without a provider"));
}

TEST(Libfabric, ThatIsMissingBreaksNothing) {
  const Findings all = findings_of(fail(ErrorCode::system, "cannot load libfabric: none"));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].grade, Grade::could_be_better);
  EXPECT_THAT(all[0].what, HasSubstr("cannot load libfabric: none"));
  EXPECT_THAT(all[0].how, AllOf(HasSubstr("install it"), HasSubstr("nothing else needs it")));
}

// Whatever this host has: Debian's libfabric always has tcp.
TEST(Libfabric, HereHasTcp) {
  const Result<ofi::Offers> here = ofi::offers();
  ASSERT_TRUE(here) << here.error().message;
  const auto tcp = std::ranges::find(here->providers, "tcp", &ofi::Offer::provider);
  ASSERT_NE(tcp, here->providers.end());
  EXPECT_TRUE(tcp->connected);
  EXPECT_TRUE(tcp->ordered);
  EXPECT_EQ(tcp->why_not, "");
}

}  // namespace
}  // namespace tutti::doctor
