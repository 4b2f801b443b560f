/// \file begin_start_test.cpp
/// Starts that the application does not wait for: how they end, and what ends them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <memory>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool is_readable(int descriptor) {
  pollfd waits{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&waits, 1, 0) == 1;
}

/// A node whose start has begun, with the thread of a loop in place of the application's.
class Beginner {
 public:
  explicit Beginner(NodeOptions options, GroupOptions group = small_group())
      : drive_(options.drive), node_(Node::create(std::move(options)).value()) {
    group.on_delivery = [this](std::span<const Message> batch) { delivered_ += batch.size(); };
    group_.emplace(node_->join(std::move(group)).value());
    over_ = node_->begin_start().value();
  }
  [[nodiscard]] Node& node() { return *node_; }
  [[nodiscard]] Group& group() { return *group_; }
  [[nodiscard]] int over() const { return over_; }
  [[nodiscard]] std::size_t delivered() const { return delivered_; }
  void destroy() { node_.reset(); }
  /// One turn of the loop. True once the start has ended, which both ways to ask agree on.
  bool turn() {
    if (drive_ == Drive::caller) node_->poll();
    return is_readable(over_) && node_->started().has_value();
  }
  /// Once the start has ended.
  Result<void> result() {
    EXPECT_TRUE(until([this] { return turn(); }));
    return node_->started().value_or(fail(ErrorCode::timed_out, "the start did not end"));
  }

 private:
  const Drive drive_;
  std::atomic<std::size_t> delivered_{0};
  std::optional<Node> node_;
  std::optional<Group> group_;
  int over_ = -1;
};

class BegunStart : public ::testing::TestWithParam<Drive> {
 protected:
  NodeOptions options(const std::string& name) const {
    return {.name = name,
            .members = members_,
            .fabric = FabricChoice::shm,
            .drive = GetParam(),
            .start_timeout = kPatience,
            .suspect_after = 20s};
  }
  std::vector<MemberAddress> members_ = loopback_members(2);
};

INSTANTIATE_TEST_SUITE_P(With, BegunStart, ::testing::Values(Drive::own_thread, Drive::caller),
                         [](const auto& drive) {
                           return drive.param == Drive::caller ? "caller" : "own_thread";
                         });

TEST_P(BegunStart, EndsOnceAllAreThere) {
  Beginner a(options("a"));
  for (int turn = 0; turn < 1000; ++turn) ASSERT_FALSE(a.turn()) << "b is missing";
  EXPECT_FALSE(is_readable(a.over()));
  EXPECT_FALSE(a.node().started().has_value());
  Beginner b(options("b"));
  ASSERT_TRUE(until([&] { return a.turn() & b.turn(); }));
  expect_ok({*a.node().started(), *b.node().started()});
  EXPECT_EQ(a.node().view().view, 1U);
  ASSERT_TRUE(a.group().send("hello", 0s));
  EXPECT_TRUE(until([&] {
    a.turn();
    b.turn();
    return a.delivered() == 1 && b.delivered() == 1;
  }));
  EXPECT_TRUE(is_readable(a.over())) << "it stays so";
  Result<void> stopped;
  std::jthread stops([&] { stopped = a.node().stop(kPatience); });
  expect_ok({b.node().stop(kPatience)});
  stops.join();
  expect_ok({stopped});
}

TEST_P(BegunStart, EndsAtItsTimeAndNamesWhoIsMissing) {
  NodeOptions alone = options("a");
  alone.start_timeout = 3s;
  Beginner a(alone);
  const Result<void> result = a.result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unreachable);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("start_timeout of 3.000 s is over"),
                                            HasSubstr("waiting for b (127.")));
  EXPECT_FALSE(a.group().send("hello", 0s));
  expect_ok({a.node().stop(kPatience)});
}

TEST_P(BegunStart, TellsOfAPeerWithOtherOptions) {
  GroupOptions other = small_group();
  other.message_max_bytes /= 2;
  Beginner a(options("a"));
  Beginner b(options("b"), other);
  ASSERT_TRUE(until([&] { return a.turn() & b.turn(); }));
  for (Beginner* one : {&a, &b}) {
    const Result<void> result = one->result();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::mismatch) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr("message_max_bytes"));
  }
}

TEST_P(BegunStart, IsEndedByStopAndByLeave) {
  for (const bool leaves : {false, true}) {
    Beginner a(options("a"));
    a.turn();
    expect_ok({leaves ? a.node().leave(kPatience) : a.node().stop(kPatience)});
    const Result<void> result = a.result();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::stopped);
    EXPECT_THAT(result.error().message, HasSubstr("before it was in a view"));
  }
}

TEST_P(BegunStart, IsEndedByAStopOfAnotherThread) {
  Beginner a(options("a"));
  Result<void> stopped;
  std::jthread stops([&] { stopped = a.node().stop(kPatience); });
  EXPECT_EQ(a.result().error().code, ErrorCode::stopped);
  stops.join();
  expect_ok({stopped});
}

TEST_P(BegunStart, IsEndedByTheEndOfTheNode) {
  for (int turns = 0; turns < 40; ++turns) {
    Beginner a(options("a"));
    for (int turn = 0; turn < turns; ++turn) a.turn();
    a.destroy();
    EXPECT_TRUE(is_readable(a.over())) << "the group keeps the descriptor";
    EXPECT_FALSE(a.group().send("hello", 0s));
  }
}

// The other one may be about to found a group with it.
TEST_P(BegunStart, MayBeEndedWhileTheyMeet) {
  for (int turns = 0; turns < 20; ++turns) {
    Beginner a(options("a"));
    {
      Beginner b(options("b"));
      for (int turn = 0; turn < turns * 20; ++turn) {
        a.turn();
        b.turn();
      }
    }
    const Result<void> left = a.node().leave(kPatience);
    if (left) continue;
    EXPECT_EQ(left.error().code, ErrorCode::peer_lost) << left.error().message;  // they had met
  }
}

TEST_P(BegunStart, HappensOnce) {
  Beginner a(options("a"));
  for (const Error& error : {a.node().begin_start().error(), a.node().start().error()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_THAT(error.message, HasSubstr("a node is started once"));
  }
  EXPECT_THAT(a.node().join({.name = "late"}).error().message, HasSubstr("joined after start"));
  Beginner b(options("b"));
  ASSERT_TRUE(until([&] { return a.turn() & b.turn(); }));
  expect_ok({*a.node().started(), *b.node().started()});
}

TEST_P(BegunStart, IsRefusedInACallback) {
  std::optional<Node> inner;
  Result<int> begun = -1;
  NodeOptions one{.name = "a", .members = loopback_members(1), .drive = GetParam()};
  one.on_view = [&](const ViewChange&) { begun = inner->begin_start(); };
  inner.emplace(Node::create(one).value());
  ASSERT_TRUE(inner->join(small_group()));
  expect_ok({inner->start()});
  EXPECT_EQ(begun.error().code, ErrorCode::in_callback);
  EXPECT_THAT(begun.error().message, HasSubstr("Node::begin_start"));
  ASSERT_TRUE(inner->started().has_value());
  expect_ok({*inner->started()});
}

// The view callback of the first view runs while the start is still under way.
TEST_P(BegunStart, IsEndedByACallbackThatDestroysTheNode) {
  std::optional<Node> node;
  std::atomic<bool> destroyed{false};
  NodeOptions one{.name = "a", .members = loopback_members(1), .drive = GetParam()};
  one.on_view = [&](const ViewChange&) {
    node.reset();
    destroyed = true;
  };
  node.emplace(Node::create(one).value());
  const Group group = node->join(small_group()).value();
  const int over = node->begin_start().value();
  if (GetParam() == Drive::caller) {
    ASSERT_TRUE(until([&] { return destroyed || node->poll() > 1'000'000; }));
  }
  EXPECT_TRUE(until([&] { return destroyed && is_readable(over); }));
}

TEST(BegunStartOfACaller, MakesItsCallbacksInPoll) {
  std::thread::id told_on;
  NodeOptions one{.name = "a", .members = loopback_members(1), .drive = Drive::caller};
  one.on_view = [&](const ViewChange&) { told_on = std::this_thread::get_id(); };
  Beginner a(one);
  expect_ok({a.result()});
  EXPECT_EQ(told_on, std::this_thread::get_id());
  expect_ok({a.node().stop(kPatience)});
}

TEST(BegunStartOfACaller, SaysThatNobodyPolls) {
  Beginner a({.name = "a",
              .members = loopback_members(2),
              .drive = Drive::caller,
              .start_timeout = 100ms});
  ASSERT_TRUE(until([&] { return is_readable(a.over()); }));
  EXPECT_EQ(a.node().started()->error().code, ErrorCode::unreachable);
  EXPECT_THAT(a.node().started()->error().message, HasSubstr("nobody has called Node::poll"));
}

TEST(BegunStartOfANodeThatWasMoved, IsAnError) {
  Node node = Node::create({.name = "a", .members = loopback_members(1)}).value();
  EXPECT_FALSE(node.started().has_value());
  const Node other = std::move(node);
  Node& empty = node;  // NOLINT(bugprone-use-after-move): what this test is about
  EXPECT_THAT(empty.begin_start().error().message, HasSubstr("moved from"));
  EXPECT_THAT(empty.started()->error().message, HasSubstr("moved from"));
}

}  // namespace
}  // namespace tutti
