/// \file bootstrap_look_test.cpp
/// A look at a node from outside: what it is told, and that neither end harms the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "hellos.hpp"
#include "members.hpp"
#include "node/bootstrap/status.hpp"
#include "tutti/look.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

class Look : public ::testing::Test {
 protected:
  void SetUp() override { a.start(); }

  void expect_that_members_meet() {
    b.start();
    EXPECT_EQ(a.outcome(), "met");
    EXPECT_EQ(b.outcome(), "met");
  }

  const std::string& address() { return addresses[0].address; }

  NodeLook look() {
    Result<NodeLook> seen = look_at(address(), kPatience);
    EXPECT_TRUE(seen) << seen.error().message;
    return seen.value_or(NodeLook{});
  }

  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
};

TEST_F(Look, ShowsWhoWaits) {
  const NodeLook seen = look();
  EXPECT_EQ(seen.name, "a");
  EXPECT_EQ(seen.version, version());
  EXPECT_EQ(seen.incarnation, a.incarnation);
  EXPECT_EQ(seen.state, NodeState::waiting);
  EXPECT_THAT(seen.groups, ElementsAre("log"));
  ASSERT_EQ(seen.nodes.size(), 2);
  EXPECT_EQ(seen.nodes[1].name, "b");
  EXPECT_EQ(seen.nodes[1].address, addresses[1].address);
  EXPECT_EQ(seen.view, 0);
  EXPECT_TRUE(seen.members.empty());
  expect_that_members_meet();
}

TEST_F(Look, ShowsTheNewestView) {
  a.bootstrap().show(
      {.state = NodeState::joining, .view = 2, .members = {"b", "a"}, .incarnations = {11, 12}});
  EXPECT_EQ(look().state, NodeState::joining);
  a.bootstrap().show(
      {.state = NodeState::in_view, .view = 3, .members = {"a"}, .incarnations = {12}});
  const NodeLook seen = look();
  EXPECT_EQ(seen.state, NodeState::in_view);
  EXPECT_EQ(seen.view, 3);
  ASSERT_EQ(seen.members.size(), 1);
  EXPECT_EQ(seen.members[0].name, "a");
  EXPECT_EQ(seen.members[0].address, addresses[0].address);
  EXPECT_EQ(seen.members[0].incarnation, 12);
}

TEST_F(Look, ShowsWhyANodeStoppedAndItsLastView) {
  a.bootstrap().show(
      {.state = NodeState::in_view, .view = 3, .members = {"a"}, .incarnations = {12}});
  a.bootstrap().show_stopped("lost the majority");
  const NodeLook seen = look();
  EXPECT_EQ(seen.state, NodeState::stopped);
  EXPECT_EQ(seen.why, "lost the majority");
  EXPECT_EQ(seen.view, 3);
}

TEST_F(Look, IsTakenOfAGroupThatRunsAndChangesNothing) {
  expect_that_members_meet();
  a.bootstrap().set_running();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(look().name, "a");
  EXPECT_FALSE(a.bootstrap().failure());
  EXPECT_TRUE(a.alive(1));
  EXPECT_THAT(a.logged(LogLevel::warning), ElementsAre());
}

TEST_F(Look, OfManyWhoNeverHangUpKeepsNobodyOut) {
  std::vector<std::unique_ptr<RawPeer>> lookers;
  for (int i = 0; i < 100; ++i) {
    lookers.push_back(std::make_unique<RawPeer>(address()));
    lookers.back()->send(encode_question());
    ASSERT_TRUE(lookers.back()->receive_hello());
  }
  EXPECT_EQ(look().name, "a");
  expect_that_members_meet();
}

TEST_F(Look, WithMoreToSayIsAnsweredAndForgotten) {
  RawPeer looker(address());
  looker.send(encode_question() + std::string(100'000, 'x'));
  ASSERT_TRUE(looker.receive_hello());
  EXPECT_EQ(looker.receive(12).substr(0, 5), "TUTTI");
  looker.close();
  expect_that_members_meet();
}

TEST_F(Look, AQuestionLikeItIsAStrangers) {
  RawPeer looker(address());
  looker.send(hello_prefix(kProtocolVersion, 19) + R"({"question":"what"})");
  ASSERT_TRUE(looker.receive_hello());
  looker.wait_for_close();
  a.await_log(LogLevel::warning, "closed a stranger's connection");
  expect_that_members_meet();
}

// Where we call, a member has to answer.
TEST_F(Look, AQuestionFromWhoWasCalledIsTrouble) {
  a.stop();
  const RawServer stranger(address());
  b.start();
  RawPeer called = stranger.accept();
  called.send(encode_question());
  b.await_trouble("wrong peer: no member answers at ");
}

/// Something else than a node, where a look expects one.
class LookAtAStranger : public ::testing::Test {
 protected:
  // What comes of a look at it, once it has said this.
  Error look(const std::string& says, bool hangs_up, std::chrono::nanoseconds timeout = kPatience) {
    const RawServer server(address);
    Result<NodeLook> seen = fail(ErrorCode::system, "");
    std::jthread looker([&] { seen = look_at(address, timeout); });
    RawPeer called = server.accept();
    called.send(says);
    if (hangs_up) called.close();
    looker.join();
    EXPECT_FALSE(seen);
    return seen ? Error{} : seen.error();
  }

  static std::string hello() {
    const std::vector<MemberAddress> members = loopback_members(2);
    return encode_hello(hello_of(TestMember(members, 0), 5, "")).value();
  }

  const std::string address = loopback_members(1)[0].address;
};

TEST_F(LookAtAStranger, ThatIsMuteEndsAtItsDeadline) {
  const Error error = look("", false, 300ms);
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_THAT(error.message, HasSubstr("no answer from " + address + " within 0.300 s"));
  EXPECT_THAT(error.message, HasSubstr("is it a node of Tutti?"));
}

TEST_F(LookAtAStranger, ThatSaysHelloOnlyEndsAtItsDeadline) {
  const Error error = look(hello(), false, 3s);
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_THAT(error.message, HasSubstr("node 'a' said hello, but nothing of its view"));
}

TEST_F(LookAtAStranger, ThatIsNoNodeSaysSo) {
  for (const std::string& says :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), hello_prefix(kProtocolVersion, 0),
        hello_prefix(kProtocolVersion, kHelloMax + 1), hello_prefix(kProtocolVersion, 2) + "{}",
        hello_prefix(kProtocolVersion, 2) + "[["}) {
    const Error error = look(says, false);
    EXPECT_EQ(error.code, ErrorCode::mismatch) << error.message;
    EXPECT_THAT(error.message, HasSubstr("no node of Tutti answers at " + address));
  }
}

TEST_F(LookAtAStranger, OfAnotherVersionNamesBoth) {
  const Error error = look(hello_prefix(kOtherVersion, 100), false);
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(versions_differ()), HasSubstr("same release"), HasSubstr(address)));
}

TEST_F(LookAtAStranger, ThatHangsUpIsUnreachable) {
  for (const std::string& says : {std::string(), hello_prefix(kProtocolVersion, 100), hello()}) {
    const Error error = look(says, true);
    EXPECT_EQ(error.code, ErrorCode::unreachable) << error.message;
    EXPECT_THAT(error.message, HasSubstr(address));
  }
}

TEST_F(LookAtAStranger, WithAMalformedAnswerIsNamed) {
  for (const std::string& answer : {hello_prefix(kProtocolVersion, 2) + "{}", std::string(12, 'x'),
                                    hello_prefix(kProtocolVersion, kHelloMax + 1)}) {
    const Error error = look(hello() + answer, false);
    EXPECT_EQ(error.code, ErrorCode::mismatch);
    EXPECT_THAT(error.message, HasSubstr("node 'a' at " + address));
  }
}

TEST_F(LookAtAStranger, WhereNobodyListensIsUnreachable) {
  const Result<NodeLook> seen = look_at(address, kPatience);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::unreachable);
  EXPECT_THAT(seen.error().message, HasSubstr("nobody listens at " + address));
}

TEST_F(LookAtAStranger, ThatDoesNotResolveIsUnreachable) {
  const Result<NodeLook> seen = look_at("no-such-host.invalid:7001", kPatience);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::unreachable);
  EXPECT_THAT(seen.error().message, HasSubstr("no-such-host.invalid"));
}

TEST_F(LookAtAStranger, NeedsAnAddressAndATime) {
  for (const std::string& bad : {std::string(), std::string("h"), std::string("h:0")}) {
    const Result<NodeLook> seen = look_at(bad, kPatience);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, ErrorCode::invalid_argument);
  }
  for (const auto bad : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(25h)}) {
    const Result<NodeLook> seen = look_at(address, bad);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(seen.error().message, HasSubstr("1 ms .. 1 day"));
  }
}

}  // namespace
}  // namespace tutti
