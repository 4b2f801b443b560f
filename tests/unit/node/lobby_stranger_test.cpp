/// \file lobby_stranger_test.cpp
/// Who connects and is no member does no harm (B3).
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

const std::vector<std::string>& garbage() {
  static const std::vector<std::string> texts{"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                              std::string(100000, '\xff'),
                                              std::string(12, '\0'),
                                              hello_prefix(kProtocolVersion, kHelloMax + 1) + "x",
                                              hello_prefix(kProtocolVersion, 4) + "{\"a\"",
                                              hello_prefix(kProtocolVersion, 2) + "{}"};
  return texts;
}

TEST_F(Strangers, GarbageIsClosedAndLoggedOnce) {
  for (const std::string& text : garbage()) {
    RawPeer stranger(address());
    stranger.send(text);
    stranger.wait_for_close();
  }
  expect_that_members_meet();
  const auto warnings = a.logged(LogLevel::warning);
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("closed a stranger's connection from 127."),
                                 HasSubstr("not Tutti's protocol")));
}

TEST_F(Strangers, GarbageDoesNotDisturbAGroupThatRuns) {
  expect_that_members_meet();
  a.lobby().set_running();
  for (const std::string& text : garbage()) {
    RawPeer stranger(address());
    stranger.send(text);
    stranger.wait_for_close();
  }
  EXPECT_FALSE(a.lobby().failure());
  EXPECT_TRUE(a.alive(1));
}

TEST_F(Strangers, OneThatHangsUpIsForgotten) {
  RawPeer stranger(address());
  stranger.send("TUTTI");
  stranger.close();
  expect_that_members_meet();
}

TEST_F(Strangers, WhereAMemberShouldBeAreTrouble) {
  const std::vector<MemberAddress> others = loopback_members(2);
  TestMember d(others, 1);
  {
    const RawServer stranger(others[0].address);
    d.start();
    RawPeer called = stranger.accept();
    called.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    d.await_trouble("a (" + others[0].address + ": wrong peer: no member answers at ");
  }
  TestMember c(others, 0);
  c.start();
  EXPECT_EQ(c.outcome(), "met");
  EXPECT_EQ(d.outcome(), "met");
}

TEST_F(Strangers, WhereAMemberShouldBeThatAreMuteAreTrouble) {
  a.stop();
  b.silence_limit = 200ms;
  {
    const RawServer mute(address());
    b.start();
    const RawPeer called = mute.accept();
    b.await_trouble("a (" + address() + ": no answer from " + address() +
                    ": it was silent for too long");
  }
  a.start();
  EXPECT_EQ(a.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

class SilentStrangers : public Strangers {
 protected:
  void SetUp() override {
    a.silence_limit = 200ms;
    a.start();
  }
};

TEST_F(SilentStrangers, AreClosed) {
  RawPeer stranger(address());
  stranger.wait_for_close();
  expect_that_members_meet();
  const auto warnings = a.logged(LogLevel::warning);
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings[0], HasSubstr("silent"));
}

TEST_F(SilentStrangers, AreClosedInTheMiddleOfAHello) {
  RawPeer stranger(address());
  stranger.send(hello_prefix(kProtocolVersion, 100) + "{");
  stranger.wait_for_close();
  expect_that_members_meet();
}

TEST_F(Strangers, ManySilentOnesDoNotKeepMembersOut) {
  std::vector<std::unique_ptr<RawPeer>> strangers;
  strangers.reserve(100);
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<RawPeer>(address()));
  for (std::size_t i = 0; i < 36; ++i) strangers[i]->wait_for_close();  // all but the newest 64
  expect_that_members_meet();
}

TEST_F(Strangers, ManyThatAreSentAwayAndStayDoNotKeepMembersOut) {
  std::vector<std::unique_ptr<RawPeer>> namesakes;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    namesakes.push_back(std::make_unique<RawPeer>(address()));
    namesakes.back()->send(encode_hello(hello_of(a, i)).value());
    ASSERT_TRUE(namesakes.back()->receive_hello());
    EXPECT_EQ(namesakes.back()->receive_verdict().kind, Verdict::Kind::refused);
  }
  expect_that_members_meet();
}

TEST_F(Strangers, ANamesakeIsRefusedAndTheFirstStays) {
  RawPeer namesake(address());
  namesake.send(encode_hello(hello_of(a, 3)).value());
  ASSERT_TRUE(namesake.receive_hello());
  EXPECT_THAT(namesake.receive_verdict().error.message,
              HasSubstr("two processes were started as member 'a'"));
  expect_that_members_meet();
}

// Before b has called a itself: then it would say that a is about to be connected.
class StrangersOfB : public Strangers {
 protected:
  void SetUp() override { b.start(); }
};

TEST_F(StrangersOfB, AMemberThatShouldWaitToBeCalledIsRefused) {
  RawPeer caller(addresses[1].address);
  caller.send(encode_hello(hello_of(a, 3, "b")).value());
  ASSERT_TRUE(caller.receive_hello());
  EXPECT_THAT(caller.receive_verdict().error.message, HasSubstr("waits to be called"));
  a.start();
  EXPECT_EQ(a.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

}  // namespace
}  // namespace tutti
