/// \file state_givers_test.cpp
/// Members that give a state to those who join: they leave, their snapshots are slow to read or to
/// destroy, or destroy the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class Givers : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 1'000'000;  // several times what may be under way at once

  ClusterOptions options(std::size_t members, std::uint32_t founders) {
    GroupOptions group = small_group();
    group.stateful = true;
    group.snapshot = [this]() -> Result<ReadSnapshot> {
      const auto ends = [this](const void*) { at_end_(); };
      return [this, held = std::shared_ptr<const void>(this, ends)](
                 std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
        in_read_.pass();
        const std::size_t size = std::min<std::size_t>(into.size(), kBytes - offset);
        std::ranges::fill(into.first(size), std::byte{1});
        return size;
      };
    };
    group.load_state = [this](const StatePiece& piece) -> Result<void> {
      loaded_ += piece.bytes.size();
      while (holds_) std::this_thread::yield();
      return {};
    };
    return {.members = members, .groups = {group}, .founders = founders};
  }

  // c joins a and b, while the callback passes the gate.
  void expect_named(Gate& gate, const std::string& callback, Drive drive = Drive::own_thread) {
    LogBook log;
    TestCluster cluster(options(3, 2), [&](std::size_t member, NodeOptions& node) {
      if (member != 2) node.drive = drive;
      node.slow_after = 10ms;
      node.log = log.callback();
    });
    holds_ = false;
    cluster.start({0, 1});
    std::atomic<bool> done{false};
    std::vector<std::jthread> drivers;
    for (std::size_t giver = 0; giver < 2 && drive == Drive::caller; ++giver) {
      drivers.emplace_back([&, giver] {
        while (!done) {
          if (cluster.node(giver).poll() == 0) cluster.node(giver).wait(1ms);
        }
      });
    }
    gate.shut();
    std::jthread joiner([&] { cluster.start({2}); });
    EXPECT_TRUE(until([&] { return gate.reached(); }));
    EXPECT_TRUE(until([&] { return log.with(callback + " has been running for ") != 0; }));
    EXPECT_EQ(log.with(callback + " is over"), 0);
    gate.open();
    EXPECT_TRUE(until([&] { return log.with(callback + " is over: it ran for ") != 0; }));
    joiner.join();
    done = true;
  }

  Gate in_read_;
  std::function<void()> at_end_ = [] {};  // when a snapshot is destroyed
  std::atomic<bool> holds_{true};         // load_state does not return
  std::atomic<std::size_t> loaded_{0};
};

// c, which gives nothing, leaves meanwhile: had they asked, a and b would be gone with it.
TEST_F(Givers, WhoLeaveGiveTheStateToTheEnd) {
  TestCluster cluster(options(4, 3));
  cluster.start({0, 1, 2});
  ASSERT_EQ(cluster.node(2).view().members, (std::vector<std::string>{"a", "b", "c"}));
  std::jthread joiner([&] { cluster.start({3}); });
  EXPECT_TRUE(until([&] { return loaded_ != 0; }));
  std::atomic<int> gone = 0;
  std::vector<std::jthread> leavers;
  for (const std::size_t giver : {0, 1}) {
    leavers.emplace_back([&, giver] {
      expect_ok({cluster.leave(giver)});
      ++gone;
    });
  }
  for (const std::size_t giver : {0, 1}) {
    EXPECT_TRUE(until([&] {
      return cluster.group(giver).try_claim(1).outcome() == ClaimOutcome::stopped;
    })) << "it leaves";
  }
  expect_ok({cluster.leave(2)});
  EXPECT_EQ(gone, 0);
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kBytes);
  leavers.clear();
  EXPECT_TRUE(until([&] { return cluster.are_in_view_of({3}); }));
  cluster.talk(3);
  EXPECT_TRUE(cluster.hear_more({3}));
  expect_ok({cluster.leave(3)});
}

TEST_F(Givers, WhoCannotWaitToLeaveSayForWhom) {
  TestCluster cluster(options(3, 2));
  cluster.start({0, 1});
  std::jthread joiner([&] { cluster.start({2}); });
  EXPECT_TRUE(until([&] { return loaded_ != 0; }));
  EXPECT_TRUE(until([&] { return cluster.node(1).view().members.size() == 3; }));
  const Result<void> left = cluster.node(1).leave(10ms);
  EXPECT_FALSE(left);
  if (!left) {
    EXPECT_EQ(left.error().code, ErrorCode::timed_out);
    EXPECT_THAT(left.error().message, HasSubstr("waited for 'c', which joined, to take the "));
  }
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kBytes) << "of a";
}

TEST_F(Givers, WhoseSnapshotIsReadForLongSaySo) {
  expect_named(in_read_, "what reads a snapshot of group 'log'");
}

TEST_F(Givers, WhoseSnapshotIsDestroyedForLongSaySo) {
  Gate gate;
  at_end_ = [&gate] { gate.pass(); };
  expect_named(gate, "the destructor of a snapshot of group 'log'");
}

TEST_F(Givers, ThatTheApplicationDrivesSaySoAsWell) {
  expect_named(in_read_, "what reads a snapshot of group 'log'", Drive::caller);
}

// c joins a and b, which both give: a cannot, and says why once.
TEST_F(Givers, WhoCannotGiveSayOnceWhatWasWrongInWhich) {
  const auto reader = [](const ReadSnapshot& read) {
    return [read]() -> Result<ReadSnapshot> { return read; };
  };
  std::atomic<int> reads{0};
  struct Case {
    TakeSnapshot snapshot;
    std::string logged;
    int reads;
  };
  const std::vector<Case> cases = {
      {reader({}), "snapshot: it returned an empty function", 0},
      {[]() -> Result<ReadSnapshot> { return fail(ErrorCode::system, "no ink"); },
       "snapshot: no ink", 0},
      {reader([&reads](std::uint64_t, std::span<std::byte> into) -> Result<std::size_t> {
         ++reads;
         return into.size() + 1;
       }),
       "what reads a snapshot: it returned ", 1},
      {reader([&reads](std::uint64_t, std::span<std::byte>) -> Result<std::size_t> {
         ++reads;
         throw std::runtime_error("no light");
       }),
       "what reads a snapshot: it threw: no light", 1}};
  for (const auto& [snapshot, logged, expected_reads] : cases) {
    SCOPED_TRACE(logged);
    reads = 0;
    LogBook log;
    ClusterOptions with_a = options(3, 2);
    with_a.adjust_group = [&snapshot](std::size_t member, GroupOptions& group) {
      if (member == 0) group.snapshot = snapshot;
    };
    TestCluster cluster(with_a, [&log](std::size_t member, NodeOptions& node) {
      if (member != 0) return;
      node.log = [&log](LogLevel of, std::string_view text) { log.note(of, text); };
    });
    holds_ = false;
    cluster.start({0, 1});
    cluster.start({2});
    cluster.kill(0);  // so that no job is under way
    const std::string cannot = "group 'log': cannot save the state for members that join: ";
    EXPECT_EQ(log.with(cannot + logged), 1);
    EXPECT_EQ(log.with(cannot), 1);
    EXPECT_EQ(reads, expected_reads);
  }
}

// On the thread for states, which ends with the node.
TEST_F(Givers, MayDestroyTheNodeWithTheSnapshot) {
  LogBook log;
  std::atomic<bool> destroyed = false;
  std::function<void()> destroy;
  ClusterOptions with_b = options(3, 2);
  with_b.adjust_group = [this, &destroy](std::size_t member, GroupOptions& group) {
    if (member != 1) return;
    group.snapshot = [this, &destroy]() -> Result<ReadSnapshot> {
      holds_ = false;  // not before: who needs nothing more makes b take no snapshot
      return [held = std::shared_ptr<const void>(&destroy, [&destroy](const void*) { destroy(); })](
                 std::uint64_t /*offset*/, std::span<std::byte> /*into*/) -> Result<std::size_t> {
        return 0;
      };
    };
  };
  TestCluster cluster(with_b, [&log](std::size_t member, NodeOptions& node) {
    if (member == 1) node.log = [&log](LogLevel of, std::string_view text) { log.note(of, text); };
  });
  destroy = [&] {
    cluster.life(1).node.reset();
    destroyed = true;
  };
  holds_ = true;
  cluster.start({0, 1});
  cluster.start({2});
  EXPECT_TRUE(until([&] { return destroyed.load(); }));
  // On the log's thread, which a destructor inside a callback does not wait for.
  EXPECT_TRUE(until(
      [&] { return log.with("node 'b' was destroyed inside snapshot of group 'log'") == 1; }));
  EXPECT_TRUE(until([&] { return cluster.are_in_view_of({0, 2}); }));
}

}  // namespace
}  // namespace tutti
