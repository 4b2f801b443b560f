/// \file bootstrap_mismatch_test.cpp
/// Members whose options contradict each other: both ends say in what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Difference {
  std::string field;
  std::function<void(GroupOptions&)> change;
};

TEST(Bootstrap, BothMembersNameTheOptionThatDiffers) {
  const std::array differences{
      Difference{"order", [](auto& g) { g.order = Order::none, g.level = Level::unordered; }},
      Difference{"level", [](auto& g) { g.level = Level::agreed; }},
      Difference{"message_max_bytes", [](auto& g) { --g.message_max_bytes; }},
      Difference{"window_bytes", [](auto& g) { g.window_bytes *= 2; }},
      Difference{"window_messages", [](auto& g) { g.window_messages /= 2; }},
      Difference{"members", [](auto& g) { g.members = {"b", "a"}; }},
      Difference{"senders", [](auto& g) { g.senders = {"a"}; }}};
  for (const Difference& difference : differences) {
    const auto members = start_members(2, [&](TestMember& m, std::size_t rank) {
      if (rank == 1) difference.change(m.groups[0]);
    });
    for (const auto& member : members) {
      EXPECT_THAT(member->outcome(),
                  AllOf(HasSubstr("group 'log': " + difference.field), HasSubstr(" b")));
      EXPECT_EQ(member->result().error().code, ErrorCode::mismatch);
    }
  }
}

TEST(Bootstrap, MemberListsThatDifferAreNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t rank) {
    if (rank == 1) m.node.members.push_back({"z", "127.0.0.1:1"});
  });
  EXPECT_THAT(members[0]->outcome(), HasSubstr("number of members is 2 at a but 3 at b"));
  EXPECT_THAT(members[1]->outcome(), HasSubstr("number of members is 3 at b but 2 at a"));
}

TEST(Bootstrap, AGroupThatAMemberHasNotJoinedIsNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t rank) {
    if (rank == 1) m.groups.clear();
  });
  for (const auto& member : members) {
    EXPECT_THAT(member->outcome(), HasSubstr("group 'log': members: a lists 'b', but b has not "
                                             "joined it"));
  }
}

TEST(Bootstrap, FabricsThatExcludeEachOtherAreNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t rank) {
    m.node.fabric = rank == 0 ? FabricChoice::shm : FabricChoice::tcp;
  });
  EXPECT_THAT(members[0]->outcome(), HasSubstr("fabric is 'shm' at a and 'tcp' at b"));
  EXPECT_THAT(members[1]->outcome(), HasSubstr("fabric is 'tcp' at b and 'shm' at a"));
}

TEST(Bootstrap, AnAddressThatLeadsToAnotherMemberIsNamed) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember b(addresses, 1);
  addresses[0].name = "x";
  TestMember x(addresses, 0);
  b.start();
  x.start();
  EXPECT_THAT(b.outcome(), HasSubstr("'b' called the address of 'a' but 'x' answered there"));
  EXPECT_THAT(x.outcome(), HasSubstr("'b' called the address of 'a' but 'x' answered there"));
}

TEST(Bootstrap, AnAddressThatLeadsBackToTheMemberIsNamed) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  addresses[0].address = addresses[1].address;
  TestMember b(addresses, 1);
  b.start();
  EXPECT_THAT(b.outcome(), HasSubstr("the address of 'a' leads back to 'b' itself"));
}

}  // namespace
}  // namespace tutti
