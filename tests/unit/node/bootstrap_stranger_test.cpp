/// \file bootstrap_stranger_test.cpp
/// A caller that is no member does no harm (HS3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>

#include "descriptors.hpp"
#include "fabric/shm/fd_passing.hpp"
#include "hellos.hpp"
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
  a.bootstrap().set_running();
  for (const std::string& text : garbage()) {
    RawPeer stranger(address());
    stranger.send(text);
    stranger.wait_for_close();
  }
  EXPECT_FALSE(a.bootstrap().failure());
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

// Each is taken for b until it has said that, and would stay as long as it likes.
TEST_F(Strangers, ManyThatAgreeAndFailAndStayAreBounded) {
  a.stop();
  a.silence_limit = 24h;
  a.start();
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    strangers.push_back(std::make_unique<RawPeer>(address()));
    strangers.back()->send(encode_hello(hello_of(b, i)).value());
    const Result<Hello> hello = strangers.back()->receive_hello();
    ASSERT_TRUE(hello);
    const UniqueFd row = connect_abstract(hello->carriers.at("shm")).value();
    ASSERT_EQ(::send(row.get(), "x", 1, MSG_NOSIGNAL), 1);
    strangers.back()->send(encode_verdict());
    EXPECT_EQ(strangers.back()->receive_verdict().kind, Verdict::Kind::agreed);
    EXPECT_EQ(strangers.back()->receive_verdict().kind, Verdict::Kind::refused);
  }
  // Their own ends, the newest 64 at a, and a few of the last one's.
  EXPECT_LE(open_descriptors(), before + 100 + 64 + 8);
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

// A caller that contradicts a, which waits. Nobody is at the address of the name that it gives.
class StrangersThatSpeak : public Strangers {
 protected:
  // What they are told.
  std::string refusal_of(const std::string& frame) {
    RawPeer stranger(address());
    stranger.send(frame);
    EXPECT_TRUE(stranger.receive_hello());
    const Verdict verdict = stranger.receive_verdict();
    EXPECT_EQ(verdict.kind, Verdict::Kind::refused);
    return verdict.error.message;
  }
  std::string refusal_of(const Hello& hello) { return refusal_of(encode_hello(hello).value()); }

  void expect_that_a_waits_on(const std::string& said) {
    a.await_log(LogLevel::warning, said);
    EXPECT_FALSE(a.bootstrap().failure());
    expect_that_members_meet();
  }
};

TEST_F(StrangersThatSpeak, OfAnotherProtocolVersionAreRefused) {
  const std::string why = versions_differ();
  EXPECT_THAT(refusal_of(hello_prefix(kOtherVersion, 100)), HasSubstr(why));
  EXPECT_THAT(a.bootstrap().refused(), AllOf(HasSubstr("1 caller was refused"), HasSubstr(why)));
  expect_that_a_waits_on(why);
}

// Version 1 did not say whether a node founds a group.
TEST_F(StrangersThatSpeak, OfAnOlderBuildAreToldBothVersions) {
  std::string body = encode_hello(hello_of(b, 7)).value().substr(HelloPrefix{}.size());
  const std::string founding = R"("founding":0,)";
  body.erase(body.find(founding), founding.size());
  const std::string frame = hello_prefix(1, static_cast<std::uint32_t>(body.size())) + body;
  const std::string why = versions_differ(1) + "; start all members with the same";
  EXPECT_THAT(refusal_of(frame), HasSubstr(why));
  expect_that_a_waits_on(why);
}

TEST_F(StrangersThatSpeak, OfAnUnknownNameAreRefused) {
  Hello hello = hello_of(b, 7);
  hello.name = "x";
  EXPECT_THAT(refusal_of(hello), HasSubstr("'x' is not in the member list"));
  EXPECT_THAT(a.bootstrap().refused(), HasSubstr("'x' is not in the member list"));
  expect_that_a_waits_on("'x' is not in the member list");
}

TEST_F(StrangersThatSpeak, InAMembersNameWithOtherOptionsAreRefused) {
  Hello hello = hello_of(b, 7);
  --hello.groups[0].message_max_bytes;
  EXPECT_THAT(refusal_of(hello), HasSubstr("message_max_bytes is 65536 at a but 65535 at b"));
  EXPECT_THAT(a.bootstrap().awaited(), HasSubstr(": refused: group 'log': message_max_bytes is"));
  expect_that_a_waits_on("message_max_bytes is 65536 at a but 65535 at b");
}

TEST_F(StrangersThatSpeak, InTheNameOfAMemberThatIsThereAreRefused) {
  Hello hello = hello_of(b, 7);
  hello.groups.clear();
  expect_that_members_meet();
  a.release(1);
  b.stop();
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  a.release(1);  // b keeps its end, so that it does not come in between
  EXPECT_THAT(refusal_of(hello), HasSubstr("b has not joined it"));
  EXPECT_FALSE(a.bootstrap().failure());
  b.await(0);
  b.release(0);
  a.await(1);
}

TEST_F(StrangersThatSpeak, ThatRefuseAMemberAreNotBelieved) {
  RawPeer stranger(address());
  stranger.send(encode_hello(hello_of(b, 7)).value());
  stranger.send(encode_verdict({ErrorCode::mismatch, "b does not like this"}));
  a.await_trouble("b (" + addresses[1].address + ": it refused us: b does not like this");
  stranger.wait_for_close();
  expect_that_a_waits_on("called and refused us: b does not like this");
}

TEST_F(StrangersThatSpeak, OfARemovalAreNotBelieved) {
  RawPeer stranger(address());
  stranger.send(encode_hello(hello_of(b, 7)).value());
  stranger.send(encode_removed());
  stranger.wait_for_close();
  expect_that_members_meet();
}

TEST_F(StrangersThatSpeak, OfARemovalFromAGroupThatRunsAreNotBelieved) {
  expect_that_members_meet();
  a.bootstrap().set_running();
  b.bootstrap().set_running();
  RawPeer stranger(address());
  stranger.send(encode_hello(hello_of(b, 7)).value());
  stranger.send(encode_removed());
  ASSERT_TRUE(stranger.receive_hello());
  EXPECT_EQ(stranger.receive_verdict().kind, Verdict::Kind::not_now);
  stranger.close();
  b.await_log(LogLevel::warning, "waits to be called");  // by a, which asks it
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(StrangersThatSpeak, WithTooSmallARowAreToldSo) {
  a.stop();
  a.row_bytes = {0, 8192};
  a.start();
  Hello hello = hello_of(b, 7);
  hello.row_bytes = 4096;
  EXPECT_THAT(refusal_of(hello), HasSubstr("row_bytes is 4096 at b but 8192 for it at a"));
  expect_that_a_waits_on("row_bytes is 4096 at b but 8192 for it at a");
}

TEST_F(StrangersThatSpeak, DoNotHideEachOther) {
  for (int i = 0; i < 20; ++i) {
    Hello hello = hello_of(b, 7);
    hello.name = "x" + std::to_string(i);
    refusal_of(hello);
  }
  EXPECT_THAT(a.bootstrap().refused(), HasSubstr("20 callers were refused"));
  RawPeer stranger(address());
  stranger.send("GET / HTTP/1.1\r\n\r\n");
  a.await_log(LogLevel::warning, "closed a stranger's connection");
  a.await_log(LogLevel::warning, "more like it before)");  // though no other comes
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
