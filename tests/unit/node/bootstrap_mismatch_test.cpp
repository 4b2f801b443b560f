/// \file bootstrap_mismatch_test.cpp
/// Members whose options contradict each other are never connected, and say in what they differ:
/// both, or only the newcomer if the other is in a group already (HS2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>

#include "hellos.hpp"
#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Difference {
  std::string field;
  std::function<void(GroupOptions&)> change;
};

TEST(BootstrapMismatch, BothMembersNameTheOptionThatDiffers) {
  const std::array differences{
      Difference{"order", [](auto& g) { g.order = Order::none, g.level = Level::unordered; }},
      Difference{"level", [](auto& g) { g.level = Level::agreed; }},
      Difference{"message_max_bytes", [](auto& g) { --g.message_max_bytes; }},
      Difference{"window_bytes", [](auto& g) { g.window_bytes *= 2; }},
      Difference{"window_messages", [](auto& g) { g.window_messages /= 2; }},
      Difference{"personal_window", [](auto& g) { --g.personal_window; }},
      Difference{"accelerated_window", [](auto& g) { --g.accelerated_window; }},
      Difference{"global_window", [](auto& g) { --g.global_window; }},
      Difference{"maximum_gap", [](auto& g) { --g.maximum_gap; }},
      Difference{"members", [](auto& g) { g.members = {"b", "a"}; }},
      Difference{"senders", [](auto& g) { g.senders = {"a"}; }}};
  for (const Difference& difference : differences) {
    const auto members = start_members(2, [&](TestMember& m, std::size_t slot) {
      if (slot == 1) difference.change(m.groups[0]);
    });
    for (const auto& member : members) {
      EXPECT_THAT(member->outcome(),
                  AllOf(HasSubstr("group 'log': " + difference.field), HasSubstr(" b")));
      EXPECT_EQ(member->await_failure().code, ErrorCode::mismatch);
    }
  }
}

TEST(BootstrapMismatch, MemberListsThatDifferAreNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t slot) {
    if (slot == 1) m.node.members.push_back({"z", "127.0.0.1:1"});
  });
  EXPECT_THAT(members[0]->outcome(), HasSubstr("number of members is 2 at a but 3 at b"));
  EXPECT_THAT(members[1]->outcome(), HasSubstr("number of members is 3 at b but 2 at a"));
}

TEST(BootstrapMismatch, AGroupThatAMemberHasNotJoinedIsNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t slot) {
    if (slot == 1) m.groups.clear();
  });
  for (const auto& member : members) {
    EXPECT_THAT(member->outcome(),
                HasSubstr("group 'log': a has joined it, but b has not joined it"));
  }
}

TEST(BootstrapMismatch, FabricsThatExcludeEachOtherAreNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t slot) {
    m.node.fabric = slot == 0 ? FabricChoice::shm : FabricChoice::tcp;
  });
  EXPECT_THAT(members[0]->outcome(), HasSubstr("fabric is 'shm' at a and 'tcp' at b"));
  EXPECT_THAT(members[1]->outcome(), HasSubstr("fabric is 'tcp' at b and 'shm' at a"));
}

TEST(BootstrapMismatch, ProvidersThatDifferAreNamed) {
  const auto members = start_members(2, [](TestMember& m, std::size_t slot) {
    m.node.fabric = FabricChoice::ofi;
    m.node.provider = slot == 0 ? "tcp" : "shm";
  });
  EXPECT_THAT(members[0]->outcome(), HasSubstr("fabric is 'ofi:tcp' at a and 'ofi:shm' at b"));
  EXPECT_THAT(members[1]->outcome(), HasSubstr("fabric is 'ofi:shm' at b and 'ofi:tcp' at a"));
}

TEST(BootstrapMismatch, AnAddressThatLeadsToAnotherMemberIsNamed) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember b(addresses, 1);
  addresses[0].name = "x";
  TestMember x(addresses, 0);
  b.start();
  x.start();
  EXPECT_THAT(b.outcome(), HasSubstr("'b' called the address of 'a' but 'x' answered there"));
  EXPECT_THAT(x.outcome(), HasSubstr("'b' called the address of 'a' but 'x' answered there"));
}

TEST(BootstrapMismatch, AnAddressThatLeadsBackToTheMemberIsNamed) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  addresses[0].address = addresses[1].address;
  TestMember b(addresses, 1);
  b.start();
  EXPECT_THAT(b.outcome(), HasSubstr("the address of 'a' leads back to 'b' itself"));
}

class Contradiction : public ::testing::Test {
 protected:
  std::vector<MemberAddress> addresses = loopback_members(3);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
  TestMember c{addresses, 2};
};

TEST_F(Contradiction, LeavesAThirdThatAgreesWithBothWaiting) {
  b.node.fabric = FabricChoice::shm;
  c.node.fabric = FabricChoice::tcp;
  a.start();
  b.start();
  a.await(1);
  b.await(0);
  c.start();
  EXPECT_THAT(b.await_failure().message, HasSubstr("fabric is 'shm' at b and 'tcp' at c"));
  EXPECT_THAT(c.await_failure().message, HasSubstr("fabric is 'tcp' at c and 'shm' at b"));
  b.stop();
  c.stop();
  EXPECT_FALSE(a.bootstrap().failure());
  a.release(1);
  b.node.fabric = FabricChoice::automatic;
  b.start();
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
}

TEST_F(Contradiction, IsToldToAllThatCallWhoeverDiffers) {
  a.start();
  c.start();
  a.await(2);
  c.await(0);
  b.groups[0].message_max_bytes = 99;
  b.start();
  while (!c.bootstrap().failure()) {
    std::this_thread::yield();
    if (!b.bootstrap().failure()) continue;
    // It stays for a moment only; a machine that is too slow has more than one try.
    b.stop();
    b.start();
  }
  EXPECT_THAT(a.await_failure().message, HasSubstr("99 at b"));
  EXPECT_THAT(c.await_failure().message, HasSubstr("99 at b"));
}

TEST_F(Contradiction, WithAMemberThatRunsEndsTheCallersStartOnly) {
  a.start();
  a.bootstrap().set_running();
  b.groups[0].level = Level::agreed;
  b.start();
  EXPECT_THAT(b.await_failure().message,
              AllOf(HasSubstr("level is 'agreed' at b but 'atomic' at a"),
                    HasSubstr("a runs already and goes on without b")));
  a.await_log(LogLevel::warning, "level is 'atomic' at a but 'agreed' at b");
  EXPECT_FALSE(a.bootstrap().failure());
  b.stop();
  b.groups[0].level = Level::atomic;
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
}

TEST_F(Contradiction, WithAMemberThatRunsEndsTheStartOfTheOneItCalls) {
  b.start();
  b.bootstrap().set_running();
  a.groups[0].level = Level::agreed;
  a.start();
  EXPECT_THAT(a.await_failure().message, HasSubstr("b runs already and goes on without a"));
  EXPECT_FALSE(b.bootstrap().failure());
  a.stop();
  a.groups[0].level = Level::atomic;
  a.start();
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
}

TEST_F(Contradiction, BetweenTwoThatRunEndsNothing) {
  a.start();
  b.groups[0].level = Level::agreed;
  a.bootstrap().set_running();
  RawPeer caller(addresses[0].address);
  Hello hello = hello_of(b, 7);
  hello.running = true;
  caller.send(encode_hello(hello).value());
  ASSERT_TRUE(caller.receive_hello());
  const Verdict verdict = caller.receive_verdict();
  EXPECT_EQ(verdict.kind, Verdict::Kind::refused);
  EXPECT_THAT(verdict.error.message, Not(HasSubstr("gave up")));
  caller.send(encode_verdict({ErrorCode::mismatch, "no"}));
  caller.close();
  c.start();
  EXPECT_EQ(a.await(2).incarnation, c.incarnation);
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(Contradiction, ThatIsStillBeingToldIsForgottenOnceTheMemberRuns) {
  b.farewell = std::chrono::hours(1);
  const RawServer other(addresses[0].address);
  b.start();
  RawPeer called = other.accept();
  a.groups[0].level = Level::agreed;
  called.send(encode_hello(hello_of(a, 7, "")).value());
  ASSERT_TRUE(called.receive_hello());
  EXPECT_THAT(called.receive_verdict().error.message, HasSubstr("b gave up the start"));
  b.bootstrap().set_running();
  called.close();
  c.start();
  EXPECT_EQ(b.await(2).incarnation, c.incarnation);
  EXPECT_FALSE(b.bootstrap().failure());
}

TEST_F(Contradiction, ThatOnlyTheCalledEndSeesIsBelieved) {
  const RawServer other(addresses[0].address);
  b.start();
  RawPeer called = other.accept();
  called.send(encode_hello(hello_of(a, 7, "")).value());
  called.send(encode_verdict({ErrorCode::mismatch, "a does not like\n this"}));
  EXPECT_EQ(b.await_failure().message, "a does not like? this");
}

TEST_F(Contradiction, ThatOnlyTheOtherEndSeesDoesNotEndAMemberThatRuns) {
  a.start();
  a.bootstrap().set_running();
  RawPeer client(addresses[0].address);
  client.send(encode_hello(hello_of(b, 1)).value());
  client.send(encode_verdict({ErrorCode::mismatch, "b does not like this"}));
  client.wait_for_close();
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(Contradiction, OfTheProtocolsVersionDoesNotEndAMemberThatRuns) {
  a.start();
  a.bootstrap().set_running();
  RawPeer other(addresses[0].address);
  other.send(hello_prefix(kOtherVersion, 100));
  other.wait_for_close();
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_FALSE(a.bootstrap().failure());
}

}  // namespace
}  // namespace tutti
