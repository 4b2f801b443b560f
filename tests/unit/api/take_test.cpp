/// \file take_test.cpp
/// Group::take and Group::event_fd: an application takes batches instead of being called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <optional>
#include <thread>
#include <utility>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GroupOptions taken_group(Level level = Level::atomic) {
  return small_group(level, DeliveryThread::application);
}

std::vector<std::string> texts_of(const Batch& batch) {
  std::vector<std::string> texts;
  for (const Message& message : batch) texts.emplace_back(message.text());
  return texts;
}

bool is_readable(int descriptor, std::chrono::milliseconds patience = 0ms) {
  pollfd waits{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&waits, 1, static_cast<int>(patience.count())) == 1;
}

std::optional<ErrorCode> code_of(const Result<Batch>& batch) {
  return batch ? std::nullopt : std::optional(batch.error().code);
}

/// The next messages, at least one.
Batch take_some(Group& group, std::size_t max = kDeliveryBatchMax) {
  Result<Batch> batch = group.take(max, kPatience);
  EXPECT_TRUE(batch) << batch.error().message;
  return batch ? std::move(*batch) : Batch();
}

/// Takes all that comes, in a thread of its own, and notes it in the member's journal.
class Reader {
 public:
  Reader(Group group, Journal& journal)
      : thread_([group = std::move(group), &journal, this]() mutable { run(group, journal); }) {}
  ~Reader() { end(); }
  /// Why the reader has ended.
  ErrorCode end() {
    if (thread_.joinable()) thread_.join();
    return ended_;
  }

 private:
  void run(Group& group, Journal& journal) {
    for (;;) {
      Result<Batch> batch = group.take(16, 1s);
      if (batch) {
        journal.note(batch->messages());
      } else if (batch.error().code != ErrorCode::timed_out) {
        ended_ = batch.error().code;
        return;
      }
    }
  }

  ErrorCode ended_{};
  std::thread thread_;
};

class TakeOn : public ::testing::TestWithParam<std::tuple<FabricChoice, Order, Level>> {
 protected:
  static GroupOptions group() {
    GroupOptions group = taken_group(std::get<Level>(GetParam()));
    group.order = std::get<Order>(GetParam());
    return group;
  }
};

INSTANTIATE_TEST_SUITE_P(
    With, TakeOn,
    ::testing::Values(std::tuple{FabricChoice::shm, Order::round_robin, Level::atomic},
                      std::tuple{FabricChoice::tcp, Order::round_robin, Level::agreed},
                      std::tuple{FabricChoice::shm, Order::token_ring, Level::agreed},
                      std::tuple{FabricChoice::tcp, Order::lcr, Level::atomic},
                      std::tuple{FabricChoice::shm, Order::none, Level::unordered}),
    [](const auto& with) {
      return std::string(to_string(std::get<FabricChoice>(with.param))) + "_" +
             std::string(to_string(std::get<Order>(with.param))) + "_" +
             std::string(to_string(std::get<Level>(with.param)));
    });

TEST_P(TakeOn, ReadersOfAllMembersSeeOneStoryThroughALossAndAnEnd) {
  TestCluster cluster(
      {.members = 4, .fabric = std::get<FabricChoice>(GetParam()), .groups = {group()}});
  cluster.start();
  std::vector<std::unique_ptr<Reader>> readers;
  for (std::size_t m = 0; m < cluster.size(); ++m) {
    readers.push_back(std::make_unique<Reader>(cluster.group(m), cluster.journal(m)));
  }
  cluster.talk({0, 1, 2, 3});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  cluster.kill(3);
  EXPECT_EQ(readers[3]->end(), ErrorCode::stopped);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.hush();
  expect_ok(cluster.stop());
  for (std::size_t m = 0; m < 3; ++m) EXPECT_EQ(readers[m]->end(), ErrorCode::complete);
  if (std::get<Level>(GetParam()) != Level::unordered) cluster.expect_one_story();
}

TEST(Take, ABatchIsDeliveredOnceItIsReleased) {
  TestCluster cluster({.members = 1, .groups = {taken_group()}});
  cluster.start();
  Group& group = cluster.group(0);
  const Ticket first = *group.send("first", kPatience);
  const Ticket second = *group.send("second", kPatience);
  Batch batch = take_some(group, 1);
  EXPECT_THAT(texts_of(batch), ElementsAre("first"));
  EXPECT_EQ(batch.view(), cluster.node(0).view().view);
  EXPECT_TRUE(batch.intact());
  EXPECT_FALSE(group.delivered(first));
  const Result<Batch> another = group.take();
  ASSERT_FALSE(another);
  EXPECT_EQ(another.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(another.error().message, HasSubstr("still held; release it first"));
  batch.release();
  batch.release();
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(group.wait(first, kPatience));
  EXPECT_FALSE(group.delivered(second));
  EXPECT_THAT(texts_of(take_some(group)), ElementsAre("second"));
  EXPECT_TRUE(group.wait(second, kPatience));
  const Result<Batch> nothing = group.take();
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_TRUE(nothing->empty());
  EXPECT_EQ(nothing->view(), 0U);
  const Result<Batch> in_vain = group.take(1, 1ms);
  ASSERT_FALSE(in_vain);
  EXPECT_EQ(in_vain.error().code, ErrorCode::timed_out);
}

TEST(Take, ABatchThatIsHeldHoldsUpItsSendersAndRemovesNobody) {
  TestCluster cluster({.members = 2, .groups = {taken_group()}, .suspect_after = 4s});
  cluster.start();
  Group& sender = cluster.group(0);
  std::thread reader([&] {  // member 0 takes what comes
    std::optional<ErrorCode> ended;
    while (!ended) ended = code_of(sender.take(64, kPatience));
    EXPECT_EQ(ended, ErrorCode::complete);
  });
  ASSERT_TRUE(sender.send("0", kPatience));
  Batch held = take_some(cluster.group(1));
  EXPECT_THAT(texts_of(held), ElementsAre("0"));
  int sent = 0;
  while (sender.send(std::to_string(sent + 1), 6s)) ++sent;  // longer than suspect_after
  EXPECT_GT(sent, 0);
  EXPECT_LE(sent, 64);
  EXPECT_EQ(cluster.node(0).view().members.size(), 2U);
  EXPECT_EQ(held[0].text(), "0");
  held.release();
  int taken = 0;
  while (taken < sent) taken += static_cast<int>(take_some(cluster.group(1)).size());
  ASSERT_TRUE(sender.send("last", kPatience));
  EXPECT_EQ(take_some(cluster.group(1))[0].text(), "last");
  sender.finish();
  cluster.group(1).finish();
  const Result<Batch> end = cluster.group(1).take(1, kPatience);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::complete);
  reader.join();
}

TEST(Take, ABatchIsHeldThroughAChangeOfView) {
  TestCluster cluster({.groups = {taken_group()}});
  cluster.start();
  std::optional<Reader> other(std::in_place, cluster.group(1), cluster.journal(1));
  ASSERT_TRUE(cluster.group(0).send("before", kPatience));
  Batch held = take_some(cluster.group(0));
  const std::uint64_t view = held.view();
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.node(1).view().members.size() == 2; }));
  EXPECT_EQ(cluster.node(0).view().view, view) << "it is told of the next one after this batch";
  EXPECT_EQ(held[0].text(), "before");
  EXPECT_TRUE(held.intact());
  held.release();
  ASSERT_TRUE(until([&] {  // only a look tells that there was nothing more in that view
    EXPECT_TRUE(cluster.group(0).take()->empty());
    return cluster.node(0).view().members.size() == 2;
  }));
  ASSERT_TRUE(cluster.group(1).send("after", kPatience));
  const Batch next = take_some(cluster.group(0));
  EXPECT_THAT(texts_of(next), ElementsAre("after"));
  EXPECT_EQ(next.view(), cluster.node(0).view().view);
  cluster.kill(0);
  cluster.kill(1);
}

class TakeOver : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(Fabric, TakeOver,
                         ::testing::Values(FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi),
                         [](const auto& over) { return std::string(to_string(over.param)); });

TEST_P(TakeOver, ABatchMayOutliveItsNodeWhichDoesNotWaitForIt) {
  TestCluster cluster({.members = 2, .fabric = GetParam(), .groups = {taken_group()}});
  cluster.start();
  std::optional<Reader> other(std::in_place, cluster.group(1), cluster.journal(1));
  ASSERT_TRUE(cluster.group(1).send("kept", kPatience));
  Batch held = take_some(cluster.group(0));
  const Result<void> stopped = cluster.node(0).stop(50ms);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("must take what is left of group 'log'"));
  const Result<Batch> late = cluster.group(0).take();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::invalid_argument) << "it is still held";
  cluster.kill(0);
  EXPECT_EQ(held[0].text(), "kept");
  held = Batch();
  const Result<Batch> over = cluster.group(0).take();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::stopped);
  cluster.kill(1);
}

TEST(Take, TheDescriptorIsReadableWhileThereMayBeSomethingToTake) {
  TestCluster cluster({.members = 2, .groups = {taken_group()}});
  Group& group = cluster.group(0);
  const Result<int> descriptor = group.event_fd();
  ASSERT_TRUE(descriptor) << descriptor.error().message;
  EXPECT_EQ(group.event_fd(), *descriptor);
  EXPECT_TRUE(is_readable(*descriptor)) << "before the first look";
  const Result<Batch> early = group.take();
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_TRUE(early->empty());
  EXPECT_FALSE(is_readable(*descriptor));
  cluster.start();
  std::optional<Reader> other(std::in_place, cluster.group(1), cluster.journal(1));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(cluster.group(1).send(std::to_string(i), kPatience));
    ASSERT_TRUE(is_readable(*descriptor, kPatience));
    std::string text;
    while (text.empty()) {  // it may be readable a little early
      ASSERT_TRUE(is_readable(*descriptor, kPatience));
      Result<Batch> batch = group.take();
      ASSERT_TRUE(batch) << batch.error().message;
      if (!batch->empty()) text = (*batch)[0].text();
    }
    EXPECT_EQ(text, std::to_string(i));
  }
  ASSERT_TRUE(until([&] { return group.take()->empty() && !is_readable(*descriptor); }));
  cluster.group(1).finish();
  group.finish();
  ASSERT_TRUE(until([&] {
    return is_readable(*descriptor, kPatience) && code_of(group.take()) == ErrorCode::complete;
  }));
  EXPECT_TRUE(is_readable(*descriptor)) << "it stays so, like a socket at its end";
}

TEST(Take, TheDescriptorIsReadableOnceTheNodeHasEnded) {
  TestCluster cluster({.members = 1, .groups = {taken_group()}});
  cluster.start();
  const Result<int> descriptor = cluster.group(0).event_fd();
  ASSERT_TRUE(descriptor) << descriptor.error().message;
  ASSERT_TRUE(until([&] { return cluster.group(0).take() && !is_readable(*descriptor); }));
  cluster.kill(0);
  EXPECT_TRUE(is_readable(*descriptor, kPatience));
  const Result<Batch> over = cluster.group(0).take();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::stopped);
  EXPECT_TRUE(is_readable(*descriptor));
}

TEST(Take, TheDescriptorIsReadableAgainAfterATakeThatLeftSomething) {
  TestCluster cluster({.members = 1, .groups = {taken_group()}});
  cluster.start();
  Group& group = cluster.group(0);
  const Result<int> descriptor = group.event_fd();
  ASSERT_TRUE(descriptor) << descriptor.error().message;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(until([&] { return group.take()->empty() && !is_readable(*descriptor); }));
    Claim first = *group.claim(1, kPatience);
    Claim second = *group.claim(1, kPatience);
    static_cast<void>(group.commit(std::move(second)));  // both are sent when the first is
    static_cast<void>(group.commit(std::move(first)));
    ASSERT_EQ(take_some(group, 1).size(), 1U);
    ASSERT_TRUE(is_readable(*descriptor, kPatience)) << "there is one more";
    ASSERT_EQ(take_some(group).size(), 1U);
  }
}

TEST(Take, TheDescriptorOfANodeThatNeverRanIsReadableOnceThatIsGone) {
  TestCluster cluster({.members = 1, .groups = {taken_group()}});
  const Result<int> descriptor = cluster.group(0).event_fd();
  ASSERT_TRUE(descriptor) << descriptor.error().message;
  ASSERT_TRUE(cluster.group(0).take());
  EXPECT_FALSE(is_readable(*descriptor));
  cluster.kill(0);
  EXPECT_TRUE(is_readable(*descriptor, kPatience));
  EXPECT_EQ(code_of(cluster.group(0).take()), ErrorCode::stopped);
}

// A view that begins after that has nulls to pass, for which nobody takes any more.
TEST(Take, AMemberEndsInOrderThoughItsReaderEndedWhenTheGroupWasComplete) {
  TestCluster cluster({.groups = {taken_group()}});
  cluster.start();
  {
    std::vector<std::unique_ptr<Reader>> readers;
    for (std::size_t m = 0; m < 3; ++m) {
      readers.push_back(std::make_unique<Reader>(cluster.group(m), cluster.journal(m)));
    }
    for (std::size_t m = 0; m < 3; ++m) {
      ASSERT_TRUE(cluster.group(m).send("last", kPatience));
      cluster.group(m).finish();
    }
    for (const auto& reader : readers) EXPECT_EQ(reader->end(), ErrorCode::complete);
  }
  const Result<void> left = cluster.leave(2);
  EXPECT_TRUE(left) << left.error().message;
  cluster.kill(2);
  std::thread other([&] {
    const Result<void> stopped = cluster.node(1).stop(kPatience);
    EXPECT_TRUE(stopped) << stopped.error().message;
  });
  const Result<void> stopped = cluster.node(0).stop(kPatience);
  EXPECT_TRUE(stopped) << stopped.error().message;
  other.join();
}

TEST(Take, WithDriveCallerTheCallThatWaitsDrivesTheNode) {
  TestCluster cluster({.members = 1, .drive = Drive::caller, .groups = {taken_group()}});
  cluster.start();
  ASSERT_TRUE(cluster.group(0).send("self", kPatience));
  EXPECT_THAT(texts_of(take_some(cluster.group(0))), ElementsAre("self"));
}

TEST(Take, IsRefusedWhereItMakesNoSense) {
  GroupOptions called{.name = "called"};
  GroupOptions others = taken_group();
  others.name = "others";
  others.members = {"b"};
  TestCluster cluster({.members = 2, .groups = {taken_group(), called, others}});
  const auto refusal = [&](std::size_t group, std::size_t max,
                           std::chrono::nanoseconds timeout = 0ns) {
    const Result<Batch> batch = cluster.group(0, group).take(max, timeout);
    return batch ? Error{} : batch.error();
  };
  EXPECT_THAT(refusal(0, 0).message, HasSubstr("ask for 1 or more"));
  EXPECT_EQ(refusal(0, 1, 1s).code, ErrorCode::stopped);
  EXPECT_THAT(refusal(0, 1, 1s).message, HasSubstr("its node is not started"));
  EXPECT_THAT(refusal(1, 1).message, HasSubstr("DeliveryThread::application"));
  EXPECT_THAT(refusal(2, 1).message, HasSubstr("not among its members"));
  EXPECT_THAT(cluster.group(0, 1).event_fd().error().message, HasSubstr("cannot be taken"));
}

// A member of the node that is not one of the group's has nothing to take, and holds up nobody.
TEST(Take, ANodeThatIsNoMemberOfTheGroupHoldsUpNobody) {
  GroupOptions group = taken_group();
  group.members = {"a", "b"};
  TestCluster cluster({.members = 3, .groups = {group}});
  cluster.start();
  Reader first(cluster.group(0), cluster.journal(0));
  Reader second(cluster.group(1), cluster.journal(1));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(cluster.group(0).send("more than the window", kPatience));
  }
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.journal(1).messages(), 1000U);
}

TEST(Take, TwoThreadsDoNotTakeAtTheSameTime) {
  TestCluster cluster({.members = 1, .groups = {taken_group()}});
  cluster.start();
  std::thread waits([&] {
    Result<Batch> batch = cluster.group(0).take(1, kPatience);
    while (!batch) batch = cluster.group(0).take(1, kPatience);  // the other one was in between
    EXPECT_THAT(texts_of(*batch), ElementsAre("for the one that waits"));
  });
  Error error{};
  ASSERT_TRUE(until([&] {
    Result<Batch> batch = cluster.group(0).take();
    if (!batch) error = batch.error();
    return !batch.has_value();
  }));
  EXPECT_THAT(error.message, HasSubstr("another thread is in Group::take"));
  ASSERT_TRUE(cluster.group(0).send("for the one that waits", kPatience));
  waits.join();
}

}  // namespace
}  // namespace tutti
