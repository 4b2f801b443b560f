/// \file lobby_descriptors_test.cpp
/// Where descriptors run out, strangers give way to members, and a start waits until there are
/// some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "descriptors.hpp"
#include "members.hpp"

namespace tutti {
namespace {

class Descriptors : public ::testing::Test {
 protected:
  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
};

TEST_F(Descriptors, ThatAMemberNeedsAreTakenFromAsManyStrangersAsHaveThem) {
  a.start();
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 30; ++i) {
    strangers.push_back(std::make_unique<RawPeer>(addresses[0].address));
    ASSERT_TRUE(strangers.back()->receive_hello());  // a has done all for it that it does
  }
  {
    NoDescriptors none;
    none.spare(1);  // the caller's own
    RawPeer caller(addresses[0].address);
    ASSERT_TRUE(caller.receive_hello());
    // Sixteen were free when it was accepted; it was given one to share memory with.
    EXPECT_GE(NoDescriptors::free(), 15U);
  }
  strangers.clear();
  b.start();
  EXPECT_EQ(a.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

}  // namespace
}  // namespace tutti
