/// \file bootstrap_descriptors_test.cpp
/// Where descriptors run out, strangers give way to members, and a start waits until there are
/// some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "descriptors.hpp"
#include "fabric/host.hpp"
#include "fabric/shm/fd_passing.hpp"
#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Descriptors : public ::testing::Test {
 protected:
  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};

  // What the member, which had none, says instead of sharing memory.
  void expect_later(RawPeer& peer, const std::string& at) {
    EXPECT_EQ(peer.receive_verdict().kind, Verdict::Kind::agreed);
    const Verdict verdict = peer.receive_verdict();
    EXPECT_EQ(verdict.kind, Verdict::Kind::not_now);
    EXPECT_THAT(verdict.error.message,
                AllOf(HasSubstr("cannot share memory yet: at " + at + ", "),
                      HasSubstr("no file descriptor is free: raise the limit (ulimit -n)")));
  }

  // Of whoever answers b in the place of a, which is not there yet, and shares memory here.
  Hello hello_of_a(const std::string& unix_name) {
    Hello hello = hello_of(a, 7, {});
    hello.carriers["shm"] = unix_name;
    return hello;
  }
  static void answer(RawPeer& called, const Hello& hello) {
    ASSERT_TRUE(called.receive_hello());
    called.send(encode_hello(hello).value());
    called.send(encode_verdict());
  }

  // Strangers at a, for which a has done all that it does.
  std::vector<std::unique_ptr<RawPeer>> strangers_at_a(int count) {
    std::vector<std::unique_ptr<RawPeer>> strangers;
    for (int i = 0; i < count; ++i) {
      strangers.push_back(std::make_unique<RawPeer>(addresses[0].address));
      EXPECT_TRUE(strangers.back()->receive_hello());
    }
    return strangers;
  }

  void expect_that_b_meets_a() {
    ASSERT_EQ(b.bootstrap().failure().value_or(Error{}).message, "");
    a.start();
    ASSERT_EQ(b.outcome(), "met");
    EXPECT_EQ(a.outcome(), "met");
  }
};

TEST_F(Descriptors, ThatAMemberNeedsAreTakenFromAsManyStrangersAsHaveThem) {
  a.start();
  auto strangers = strangers_at_a(30);
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

// Of which one would be a member that has just called.
TEST_F(Descriptors, ThatStrangersDoNotHaveAreNotTakenFromAllOfThem) {
  a.start();
  const auto strangers = strangers_at_a(3);
  const std::string hello = encode_hello(hello_of(b, 7)).value();
  NoDescriptors none;
  none.spare(1);
  RawPeer caller(addresses[0].address);
  ASSERT_TRUE(caller.receive_hello());  // the oldest went for it
  strangers[1]->send(hello);
  EXPECT_EQ(strangers[1]->receive_verdict().kind, Verdict::Kind::agreed);
}

TEST_F(Descriptors, ThatADialingMemberLacksForItsSocketAreWaitedFor) {
  {
    const RawServer server(addresses[0].address);
    b.start();
    RawPeer called = server.accept();
    const std::string name = random_socket_name().value();
    const UniqueFd listener = listen_abstract(name).value();
    const Hello hello = hello_of_a(name);
    const NoDescriptors none;
    answer(called, hello);
    expect_later(called, "b");
    b.await_trouble("no file descriptor is free");
  }
  b.await_log(LogLevel::warning, "b and a cannot share memory yet: at b, ");
  expect_that_b_meets_a();
}

// It keeps its own row: the other end would take itself for connected.
TEST_F(Descriptors, ThatADialingMemberLacksForARowAreWaitedFor) {
  {
    const RawServer server(addresses[0].address);
    b.start();
    RawPeer called = server.accept();
    const std::string name = random_socket_name().value();
    const UniqueFd listener = listen_abstract(name).value();
    const Hello hello = hello_of_a(name);
    {
      NoDescriptors none;
      none.spare(1);  // its unix socket
      answer(called, hello);
      expect_later(called, "b");
    }
    await_input(listener.get());
    const UniqueFd there = std::move(*accept_same_user(listener.get()).value());
    await_input(there.get());
    EXPECT_EQ(receive_offer(there.get()).error().code, ErrorCode::peer_lost);
  }
  expect_that_b_meets_a();
}

TEST_F(Descriptors, ThatAMemberLacksThatIsCalledAreWaitedFor) {
  a.start();
  RawPeer caller(addresses[0].address);
  caller.send(encode_hello(hello_of(b, 7)).value());
  const Result<Hello> hello = caller.receive_hello();
  ASSERT_TRUE(hello);
  const UniqueFd here = connect_abstract(hello->carriers.at("shm")).value();
  {
    const NoDescriptors none;
    caller.send(encode_verdict());
    expect_later(caller, "a");
  }
  caller.close();
  b.start();
  ASSERT_EQ(b.outcome(), "met");
  EXPECT_EQ(a.outcome(), "met");
}

}  // namespace
}  // namespace tutti
