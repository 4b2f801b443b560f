/// \file start_test.cpp
/// Starts that come to nothing: they end at start_timeout, and say why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "cluster.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/carriers.hpp"
#include "node/group_rules.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

/// A node's start in a thread of its own.
class Start {
 public:
  explicit Start(NodeOptions options) : node_(Node::create(std::move(options)).value()) {
    EXPECT_TRUE(node_.join(small_group()));
    thread_ = std::thread([this] {
      const Result<void> started = node_.start();
      if (!started) error_ = started.error();
    });
  }
  ~Start() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::thread& thread() { return thread_; }
  [[nodiscard]] const Node& node() const { return node_; }
  void stop() { expect_ok({node_.stop(kPatience)}); }
  /// Once it has failed.
  Error error() {
    thread_.join();
    return error_;
  }

 private:
  Node node_;
  Error error_{};
  std::thread thread_;
};

/// As much of a member as the others see before it says anything.
std::vector<Arrival> connect_silently(const NodeOptions& node) {
  const std::vector<GroupOptions> groups{resolve_group(node, small_group())};
  const Segment row = Segment::create(std::size_t{1} << 24).value();
  const UniqueFd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto carriers =
      make_carriers({.node = node, .self = 1, .own_row = row, .doorbell_fd = doorbell.get()});
  const auto bootstrap = Bootstrap::open({.node = node,
                                          .groups = groups,
                                          .carriers = carriers,
                                          .own_row_bytes = row.size(),
                                          .incarnation = 7,
                                          .wake = [] {}})
                             .value();
  std::vector<Arrival> arrivals;
  EXPECT_TRUE(until([&] {
    arrivals = bootstrap->take_arrivals();
    return !arrivals.empty();
  }));
  return arrivals;
}

// For a signal's handler: stops the thread that it runs on, as a machine without time to spare
// does.
std::atomic<bool> stands_still{false};
std::atomic<bool> stood{false};
void stand_still(int) {
  stood = true;
  while (stands_still) sched_yield();
}

// a agrees with b and stands still; meanwhile b is lost, and the time is over.
TEST(Starts, ThatLoseTheOthersDoNotBeginAgainAfterTheirTime) {
  constexpr auto kTimeout = 6s;
  std::atomic<bool> agrees{false};
  NodeOptions a{.name = "a", .members = loopback_members(2), .fabric = FabricChoice::shm};
  NodeOptions b = a;
  b.name = "b";
  a.start_timeout = kTimeout;
  a.suspect_after = kPatience;
  a.drive = Drive::caller;  // the thread that starts it does it all
  a.log = [&](LogLevel, std::string_view text) {
    if (text.starts_with("waiting for")) agrees = true;
  };
  Start start(a);
  std::vector<Arrival> arrivals = connect_silently(b);
  ASSERT_TRUE(until([&] { return agrees.load(); }));
  stands_still = true;
  ::signal(SIGUSR1, &stand_still);
  pthread_kill(start.thread().native_handle(), SIGUSR1);
  ASSERT_TRUE(until([&] { return stood.load(); }));
  arrivals.clear();
  for (const auto over = Clock::now() + kTimeout; Clock::now() < over;) std::this_thread::yield();
  stands_still = false;
  const Error error = start.error();
  EXPECT_EQ(error.code, ErrorCode::unreachable);
  // As an incarnation would say that had been opened since.
  EXPECT_THAT(error.message, AllOf(HasSubstr("start_timeout of 6.000 s is over"),
                                   Not(HasSubstr("it never connected to us"))));
}

// Each begin anew replaces what is counted; a sanitizer sees who reads it meanwhile.
TEST(Starts, ThatBeginAnewAreCountedWhileTheyDo) {
  std::atomic<int> agreed{0};
  NodeOptions a{.name = "a", .members = loopback_members(2), .fabric = FabricChoice::shm};
  NodeOptions b = a;
  b.name = "b";
  a.start_timeout = kPatience;
  a.log = [&](LogLevel, std::string_view text) {
    if (text.starts_with("waiting for")) ++agreed;
  };
  Start start(a);
  std::atomic<bool> over{false};
  std::jthread reads([&] {
    while (!over) static_cast<void>(start.node().statistics());
  });
  for (int round = 1; round <= 3; ++round) {
    const std::vector<Arrival> arrivals = connect_silently(b);
    EXPECT_TRUE(until([&] { return agreed >= round; })) << "round " << round;
  }
  over = true;
  start.stop();
  EXPECT_EQ(start.error().code, ErrorCode::stopped);
}

// Stopped at one of many instants around that at which it begins anew.
TEST(Starts, ThatAreStoppedAsTheyBeginAnewSaySo) {
  for (int instant = 0; instant < 20; ++instant) {
    NodeOptions a{.name = "a", .members = loopback_members(2), .fabric = FabricChoice::shm};
    NodeOptions b = a;
    b.name = "b";
    a.start_timeout = kPatience;
    Start start(a);
    connect_silently(b);
    const auto later = Clock::now() + instant * 250us;
    while (Clock::now() < later) std::this_thread::yield();
    start.stop();
    const Error error = start.error();
    EXPECT_EQ(error.code, ErrorCode::stopped) << error.message;
  }
}

TEST(Starts, ThatOnlyJoinSayThatNobodyElseCouldBeInAGroup) {
  NodeOptions a{.name = "a", .members = loopback_members(1)};
  a.start_timeout = 8s;
  a.join_only = true;
  std::atomic<bool> told{false};
  a.log = [&](LogLevel, std::string_view text) {
    if (text == "waiting for a group to join, but the member list names no other node") told = true;
  };
  const Error error = Start(a).error();
  EXPECT_TRUE(told);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("start its founders anew without join_only (--join); "),
                    HasSubstr("the member list names no other node"), Not(HasSubstr("connected"))));
}

TEST(Starts, ThatOnlyJoinSayThatNoneOfThemIsInAGroup) {
  NodeOptions a{.name = "a", .members = loopback_members(2)};
  a.start_timeout = 8s;
  a.join_only = true;
  NodeOptions b = a;
  b.name = "b";
  b.start_timeout = 20s;  // a is to find it connected to the end
  std::atomic<bool> told{false};
  a.log = [&](LogLevel, std::string_view text) {
    if (text == "waiting for a group to join: no member is in one") told = true;
  };
  Start joins(b);
  const Error error = Start(a).error();
  EXPECT_TRUE(told);
  EXPECT_THAT(error.message, HasSubstr("; all members are connected, and none is in a group"));
}

TEST(Starts, ThatAwaitFoundersNameThoseThatOnlyJoin) {
  NodeOptions a{.name = "a", .members = loopback_members(2)};
  NodeOptions b = a;
  b.name = "b";
  b.join_only = true;
  a.start_timeout = 8s;
  b.start_timeout = 20s;  // a is to find it connected to the end
  std::atomic<bool> told{false};
  b.log = [&](LogLevel, std::string_view text) {
    if (text.find("founds no group") != std::string_view::npos) told = true;
  };
  Start joins(b);
  const Error error = Start(a).error();
  EXPECT_EQ(error.code, ErrorCode::unreachable);
  EXPECT_THAT(
      error.message,
      HasSubstr("all members are connected, but did not agree on a view yet; b is connected but "
                "founds no group: it was started with join_only (--join); if no group runs "
                "anywhere, start it without"));
  EXPECT_THAT(joins.error().message, Not(HasSubstr("founds no group")));
  EXPECT_FALSE(told) << "it founds none either";
}

class EndedStart : public ::testing::TestWithParam<Drive> {};

INSTANTIATE_TEST_SUITE_P(With, EndedStart, ::testing::Values(Drive::own_thread, Drive::caller),
                         [](const auto& drive) {
                           return drive.param == Drive::caller ? "caller" : "own_thread";
                         });

// In time or not: there is nothing yet to be stopped.
TEST_P(EndedStart, TellsWhoStartsAndWhoStops) {
  for (const std::chrono::seconds timeout : {kPatience, std::chrono::seconds(0)}) {
    NodeOptions options{.name = "a", .members = loopback_members(2)};
    options.drive = GetParam();
    options.start_timeout = kPatience;
    Node node = Node::create(std::move(options)).value();
    ASSERT_TRUE(node.join(small_group()));
    std::atomic<bool> over{false};
    std::jthread stops([&] {
      while (!over) {
        const Result<void> stopped = node.stop(timeout);
        EXPECT_TRUE(stopped ||
                    (timeout != kPatience && stopped.error().code == ErrorCode::timed_out));
      }
    });
    const Result<void> started = node.start();
    over = true;
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::stopped);
    EXPECT_THAT(started.error().message,
                HasSubstr("was stopped by another thread before it was in a view"));
    stops.join();
    expect_ok({node.stop(kPatience)});
  }
}

}  // namespace
}  // namespace tutti
