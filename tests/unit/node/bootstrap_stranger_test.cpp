/// \file bootstrap_stranger_test.cpp
/// Who connects and is not, or not yet, a member: does no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class Strangers : public ::testing::Test {
 protected:
  // Member a has started and waits for b.
  void SetUp() override { a.start(); }

  void expect_that_members_meet() {
    b.start();
    EXPECT_EQ(a.outcome(), "met");
    EXPECT_EQ(b.outcome(), "met");
  }

  const std::string& address() { return addresses[0].address; }

  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
};

TEST_F(Strangers, GarbageIsClosedAndLoggedOnce) {
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(100000, '\xff'),
        std::string(12, '\0'), hello_prefix(kProtocolVersion, kHelloMax + 1) + "x",
        hello_prefix(kProtocolVersion, 4) + "{\"a\"", hello_prefix(kProtocolVersion, 2) + "{}"}) {
    RawClient stranger(address());
    stranger.send(text);
    stranger.wait_for_close();
  }
  expect_that_members_meet();
  const auto warnings = a.logged(LogLevel::warning);
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("closed a stranger's connection from 127."),
                                 HasSubstr("not Tutti's protocol")));
}

TEST_F(Strangers, OneThatHangsUpIsForgotten) {
  RawClient stranger(address());
  stranger.send("TUTTI");
  stranger.close();
  expect_that_members_meet();
}

class SilentStrangers : public Strangers {
 protected:
  void SetUp() override {
    a.silence_limit = 200ms;
    // By TCP only what has not agreed yet is bound by the limit, and that is tried again: a slow
    // machine delays the members, it does not fail them.
    a.node.fabric = FabricChoice::tcp;
    a.start();
  }
};

TEST_F(SilentStrangers, AreClosed) {
  RawClient stranger(address());
  stranger.wait_for_close();
  expect_that_members_meet();
  const auto warnings = a.logged(LogLevel::warning);
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings[0], HasSubstr("silent"));
}

TEST_F(SilentStrangers, AreClosedInTheMiddleOfAHello) {
  RawClient stranger(address());
  stranger.send(hello_prefix(kProtocolVersion, 100) + "{");
  stranger.wait_for_close();
  expect_that_members_meet();
}

TEST_F(Strangers, ManySilentOnesDoNotKeepMembersOut) {
  std::vector<std::unique_ptr<RawClient>> strangers;
  strangers.reserve(100);
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<RawClient>(address()));
  for (std::size_t i = 0; i < 36; ++i) strangers[i]->wait_for_close();  // all but the newest 64
  expect_that_members_meet();
}

TEST_F(Strangers, AnotherProtocolVersionIsAnErrorOnBothSides) {
  RawClient other(address());
  other.send(hello_prefix(9, 100));
  ASSERT_TRUE(other.receive_hello());
  EXPECT_THAT(other.receive_verdict(), HasSubstr("protocol version is 9 there but 1 here"));
  EXPECT_THAT(a.outcome(), HasSubstr("protocol version is 9 there but 1 here"));
}

TEST_F(Strangers, ASecondProcessOfOneNameIsRefusedAndTheFirstStays) {
  b.node.fabric = FabricChoice::tcp;
  RawClient first(address());
  first.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(first.receive_hello());
  EXPECT_EQ(first.receive_verdict(), "");

  RawClient second(address());
  second.send(encode_hello(hello_of(b, 2)).value());
  ASSERT_TRUE(second.receive_hello());
  EXPECT_THAT(second.receive_verdict(), HasSubstr("the name 'b' is taken"));

  RawClient namesake(address());
  namesake.send(encode_hello(hello_of(a, 3)).value());
  ASSERT_TRUE(namesake.receive_hello());
  EXPECT_THAT(namesake.receive_verdict(), HasSubstr("two processes were started as member 'a'"));

  first.send(encode_verdict());  // the pair agrees
  EXPECT_EQ(first.receive_verdict(), "");
  first.send(encode_verdict());  // and so do all pairs of b
  EXPECT_EQ(a.outcome(), "met");
}

TEST_F(Strangers, AMemberThatDiesInItsHandshakeMayComeBack) {
  RawClient first(address());
  first.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(first.receive_hello());
  EXPECT_EQ(first.receive_verdict(), "");
  first.close();
  // Once a has closed a later stranger it has seen the end of the first.
  RawClient probe(address());
  probe.send("not a member");
  probe.wait_for_close();
  expect_that_members_meet();
}

TEST_F(Strangers, AMemberThatCallsAgainReplacesItsFirstConnection) {
  b.node.fabric = FabricChoice::tcp;
  RawClient first(address());
  first.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(first.receive_hello());
  EXPECT_EQ(first.receive_verdict(), "");
  RawClient again(address());
  again.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(again.receive_hello());
  EXPECT_EQ(again.receive_verdict(), "");
  first.wait_for_close();
  again.send(encode_verdict());
  EXPECT_EQ(again.receive_verdict(), "");
  again.send(encode_verdict());
  EXPECT_EQ(a.outcome(), "met");
}

TEST_F(Strangers, AMemberThatLeavesAfterAgreementEndsTheStart) {
  b.node.fabric = FabricChoice::tcp;
  RawClient client(address());
  client.send(encode_hello(hello_of(b, 1)).value() + encode_verdict());
  ASSERT_TRUE(client.receive_hello());
  EXPECT_EQ(client.receive_verdict(), "");
  EXPECT_EQ(client.receive_verdict(), "");
  client.close();
  EXPECT_THAT(a.outcome(), HasSubstr("member 'b' left while the members met"));
  EXPECT_EQ(a.result().error().code, ErrorCode::peer_lost);
}

TEST(Bootstrap, AContradictionBetweenTwoIsToldToTheThird) {
  const auto addresses = loopback_members(3);
  TestMember a(addresses, 0);
  TestMember b(addresses, 1);
  TestMember c(addresses, 2);
  for (TestMember* member : {&a, &b, &c}) member->node.fabric = FabricChoice::tcp;
  b.groups[0].level = Level::agreed;
  a.start();
  RawClient third(addresses[0].address);
  third.send(encode_hello(hello_of(c, 3)).value() + encode_verdict());
  ASSERT_TRUE(third.receive_hello());
  EXPECT_EQ(third.receive_verdict(), "");
  b.start();
  EXPECT_THAT(third.receive_verdict(),
              HasSubstr("a gave up the start: group 'log': level is 'atomic' at a but 'agreed'"));
  third.close();
  EXPECT_THAT(a.outcome(), HasSubstr("level is 'atomic' at a but 'agreed' at b"));
  EXPECT_THAT(b.outcome(), HasSubstr("level is 'agreed' at b but 'atomic' at a"));
}

TEST_F(Strangers, AVerdictThatRefusesEndsTheStartWithItsReason) {
  RawClient client(address());
  client.send(encode_hello(hello_of(b, 1)).value());
  client.send(encode_verdict({ErrorCode::mismatch, "b does not like\n this"}));
  EXPECT_EQ(a.outcome(), "b does not like? this");
}

TEST_F(Strangers, AMemberThatGivesUpBeforeItHandsOverItsRowSaysWhy) {
  RawClient client(address());
  client.send(encode_hello(hello_of(b, 1)).value() + encode_verdict());
  ASSERT_TRUE(client.receive_hello());
  EXPECT_EQ(client.receive_verdict(), "");
  client.send(encode_verdict({ErrorCode::system, "b has no memory"}));
  EXPECT_EQ(a.outcome(), "b has no memory");
}

TEST(Bootstrap, ARowThatNeverComesEndsTheStart) {
  const auto addresses = loopback_members(2);
  TestMember a(addresses, 0);
  TestMember b(addresses, 1);
  a.silence_limit = 200ms;
  a.start();
  RawClient client(addresses[0].address);
  client.send(encode_hello(hello_of(b, 1)).value() + encode_verdict());
  ASSERT_TRUE(client.receive_hello());
  EXPECT_EQ(client.receive_verdict(), "");
  EXPECT_THAT(a.outcome(), HasSubstr("a and b cannot share memory"));
}

}  // namespace
}  // namespace tutti
