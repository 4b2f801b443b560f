/// \file bootstrap_return_test.cpp
/// Members that go and come again: one at a time in each slot (HS1), and not once removed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Return : public ::testing::TestWithParam<FabricChoice> {
 protected:
  void SetUp() override {
    for (TestMember* member : {&a, &b, &c}) choose_fabric(*member);
  }

  static void choose_fabric(TestMember& member) {
    member.node.fabric = GetParam();
    if (GetParam() == FabricChoice::ofi) member.node.provider = "tcp";
  }

  void start_all() {
    for (TestMember* member : {&a, &b, &c}) member->start();
    for (TestMember* member : {&a, &b, &c}) ASSERT_EQ(member->outcome(), "met");
  }

  std::vector<MemberAddress> addresses = loopback_members(3);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
  TestMember c{addresses, 2};
};

TEST_P(Return, AsANewIncarnationIsConnectedOnceTheOldIsReleased) {
  start_all();
  for (int round = 0; round < 3; ++round) {
    b.stop();
    b.start();  // calls a at once, which does not know yet
    a.release(1);
    c.release(1);
    EXPECT_EQ(a.await(1).incarnation, b.incarnation);
    EXPECT_EQ(c.await(1).incarnation, b.incarnation);
    EXPECT_EQ(b.outcome(), "met");
    EXPECT_TRUE(a.alive(2));
  }
}

TEST_P(Return, OfTheOneThatIsCalledIsSeenByItsCaller) {
  start_all();
  a.stop();
  b.release(0);
  c.release(0);
  b.await_trouble("a (" + addresses[0].address + ": connection refused");
  a.start();
  EXPECT_EQ(a.outcome(), "met");
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
  EXPECT_EQ(c.await(0).incarnation, a.incarnation);
}

TEST_P(Return, OfTheSameIncarnationIsPossible) {
  start_all();
  a.release(2);
  c.release(0);
  EXPECT_EQ(a.await(2).incarnation, c.incarnation);
  EXPECT_EQ(c.await(0).incarnation, a.incarnation);
}

TEST_P(Return, WithoutAReleaseIsNotNow) {
  a.start();
  c.start();
  a.await(2);
  TestMember& old = b;
  old.start();
  a.await(1);
  old.stop();
  TestMember again(addresses, 1);
  choose_fabric(again);
  again.start();
  again.await_trouble("a (" + addresses[0].address + ": it says that another 'b' is connected");
  EXPECT_EQ(a.bootstrap().take_arrivals().size(), 0U);
  EXPECT_FALSE(again.bootstrap().failure());
  a.release(1);
  EXPECT_EQ(a.await(1).incarnation, again.incarnation);
  again.await(0);
}

// Its row is still read.
TEST_P(Return, OfOneWhoseLastStartWasRemovedAwaitsTheEndOfItsMessages) {
  a.start();
  c.start();
  a.await(2);
  TestMember& old = b;
  old.start();
  a.await(1);
  a.bootstrap().refuse(old.incarnation);
  old.stop();
  TestMember again(addresses, 1);
  choose_fabric(again);
  again.start();
  again.await_trouble("it says that the last 'b' was removed, and its messages");
  a.release(1);
  EXPECT_EQ(a.await(1).incarnation, again.incarnation);
  again.await(0);
}

TEST_P(Return, OfWhoIsStillConnectedIsNotNow) {
  start_all();
  b.release(0);  // a has not noticed, or does not care
  b.await_trouble("it says that 'b' is still connected");
  a.release(1);
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  b.await(0);
}

TEST_P(Return, OfARemovedIncarnationIsRefused) {
  start_all();
  a.bootstrap().refuse(c.incarnation);
  a.release(2);
  EXPECT_FALSE(c.bootstrap().failure());
  c.release(0);
  const Error failure = c.await_failure();
  EXPECT_EQ(failure.code, ErrorCode::stopped);
  EXPECT_THAT(failure.message,
              AllOf(HasSubstr("'a' says that this start of 'c' was removed"), HasSubstr("again")));
  c.stop();
  c.start();
  EXPECT_EQ(a.await(2).incarnation, c.incarnation);
}

TEST_P(Return, OfARemovedIncarnationIsRefusedByItsCallerToo) {
  start_all();
  b.bootstrap().set_running();  // it matters not
  a.bootstrap().set_running();
  b.bootstrap().refuse(a.incarnation);
  c.bootstrap().refuse(a.incarnation);
  b.release(0);  // it calls a, which says "not now"
  EXPECT_EQ(a.await_failure().code, ErrorCode::stopped);
  EXPECT_FALSE(b.bootstrap().failure());
  a.stop();
  a.start();
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
  c.release(0);
  EXPECT_EQ(c.await(0).incarnation, a.incarnation);
  EXPECT_EQ(a.outcome(), "met");
}

TEST_P(Return, ThatWasNeverTakenIsNotReleased) {
  start_all();
  b.stop();
  a.release(1);
  b.start();
  while (!a.bootstrap().has_news()) std::this_thread::yield();
  a.bootstrap().release(Slot{1});  // too late: this was meant for the one before
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_TRUE(a.alive(1));
  b.await(0);
  b.release(0);
  b.await_trouble("still connected");
}

TEST_P(Return, OfACallerInItsHandshakeReplacesItsFirstConnection) {
  if (b.node.fabric == FabricChoice::automatic) b.node.fabric = FabricChoice::tcp;
  a.start();
  RawPeer first(addresses[0].address);
  first.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(first.receive_hello());
  EXPECT_EQ(first.receive_verdict().kind, Verdict::Kind::agreed);
  RawPeer other(addresses[0].address);
  other.send(encode_hello(hello_of(b, 2)).value());
  ASSERT_TRUE(other.receive_hello());
  const Verdict verdict = other.receive_verdict();
  EXPECT_EQ(verdict.kind, Verdict::Kind::not_now);
  EXPECT_THAT(verdict.error.message, HasSubstr("another 'b' is about to be connected"));
  RawPeer again(addresses[0].address);
  again.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(again.receive_hello());
  EXPECT_EQ(again.receive_verdict().kind, Verdict::Kind::agreed);
  first.wait_for_close();
  again.send(encode_verdict());
  EXPECT_EQ(a.await(1).incarnation, 1U);
  EXPECT_TRUE(a.alive(1));
}

TEST_P(Return, OfARemovedIncarnationInItsHandshakeIsRefused) {
  if (b.node.fabric == FabricChoice::automatic) b.node.fabric = FabricChoice::tcp;
  a.start();
  RawPeer first(addresses[0].address);
  first.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(first.receive_hello());
  EXPECT_EQ(first.receive_verdict().kind, Verdict::Kind::agreed);
  a.bootstrap().refuse(1);
  first.wait_for_close();
  RawPeer again(addresses[0].address);
  again.send(encode_hello(hello_of(b, 1)).value());
  ASSERT_TRUE(again.receive_hello());
  EXPECT_EQ(again.receive_verdict().kind, Verdict::Kind::removed);
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
}

// A member that was stopped and removed runs on, meets us, and dies: its successor is at its
// address in a moment, and must not wait until we tire of the dead one.
TEST_P(Return, AfterARemovedIncarnationHasDiedIsCalledAtOnce) {
  b.silence_limit = std::chrono::hours(1);
  const RawServer old(addresses[0].address);
  b.start();
  RawPeer first = old.accept();
  b.bootstrap().refuse(7);
  ASSERT_TRUE(first.receive_hello());
  first.send(encode_hello(hello_of(a, 7, "")).value());
  EXPECT_EQ(first.receive_verdict().kind, Verdict::Kind::removed);
  EXPECT_EQ(first.receive(1), "");  // b has said all and waits for an answer
  first.reset();
  RawPeer second = old.accept();
  EXPECT_TRUE(second.receive_hello());
}

INSTANTIATE_TEST_SUITE_P(On, Return,
                         ::testing::Values(FabricChoice::automatic, FabricChoice::tcp,
                                           FabricChoice::ofi),
                         [](const auto& test) {
                           const bool shares = test.param == FabricChoice::automatic;
                           return std::string(shares ? "shm" : to_string(test.param));
                         });

}  // namespace
}  // namespace tutti
