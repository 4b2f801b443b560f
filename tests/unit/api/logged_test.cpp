/// \file logged_test.cpp
/// Groups that are logged: the log of each member has exactly what that member delivered, at both
/// levels, in all orders, over views; and what a node says of a log that it cannot use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cluster.hpp"
#include "log/read.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Case {
  FabricChoice fabric;
  Order order;
  Level level;
};

class Logged : public ::testing::TestWithParam<Case> {
 protected:
  Logged() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-logged-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~Logged() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] static ClusterOptions options() {
    GroupOptions group = small_group(GetParam().level);
    group.order = GetParam().order;
    group.logged = true;
    return {.members = 3, .fabric = GetParam().fabric, .groups = {group}};
  }
  // A folder for each start.
  [[nodiscard]] TestCluster::Adjust in_folders() {
    return [this](std::size_t member, NodeOptions& node) {
      node.state_dir = next_folder(member);
      node.bootstrap = member == 0 && folders_[0].size() == 1;
    };
  }
  std::string next_folder(std::size_t member) {
    folders_[member].push_back(root_ + "/" + std::to_string(member) + "-" +
                               std::to_string(folders_[member].size()));
    return folders_[member].back();
  }
  [[nodiscard]] std::string folder(std::size_t member) const {
    return folders_[member].back() + "/log";
  }
  [[nodiscard]] static std::vector<Told> log_in(const std::string& folder) {
    std::vector<Told> out;
    const std::unique_ptr<log::Disk> disk = log::posix_disk();
    const Result<log::Reading> read =
        log::read_log(*disk, folder, [&](const log::Record& record, std::uint64_t) {
          out.push_back(
              {record.seq, record.sender,
               std::string(reinterpret_cast<const char*>(record.data.data()), record.data.size())});
          return true;
        });
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read) {
      EXPECT_FALSE(read->damage) << log::to_string(*read->damage);
    }
    return out;
  }
  // The log has what was delivered; at durable maybe more, but all members the same.
  void expect_logged(TestCluster& cluster, std::size_t member) {
    const std::vector<Told> delivered = cluster.journal(member).sequence();
    std::vector<Told> logged = log_in(folder(member));
    ASSERT_GE(logged.size(), delivered.size()) << member;
    logged.resize(delivered.size());
    EXPECT_TRUE(logged == delivered) << member;
  }

  // Of a member that was there from the beginning, and has stopped.
  void expect_counted(TestCluster& cluster, std::size_t member) {
    const GroupStatistics counted = cluster.group(member).statistics();
    std::uint64_t bytes = 0;
    const std::vector<Told> logged = log_in(folder(member));
    for (const Told& told : logged) bytes += told.text.size();
    EXPECT_EQ(counted.persisted, logged.size());
    EXPECT_EQ(counted.persist.items, logged.size());
    EXPECT_GT(counted.logged_bytes, bytes);
  }

  static void expect_logged_prefix(const std::vector<Told>& delivered, std::vector<Told> logged) {
    // What was delivered last may not have been written when the process ended.
    if (GetParam().level == Level::durable) {
      ASSERT_GE(logged.size(), delivered.size());
    }
    logged.resize(std::min(logged.size(), delivered.size()));
    for (std::size_t i = 0; i < logged.size(); ++i) ASSERT_TRUE(logged[i] == delivered[i]) << i;
  }

  std::string root_;
  std::array<std::vector<std::string>, 3> folders_;
};

INSTANTIATE_TEST_SUITE_P(
    Of, Logged,
    ::testing::Values(Case{FabricChoice::shm, Order::round_robin, Level::atomic},
                      Case{FabricChoice::shm, Order::round_robin, Level::durable},
                      Case{FabricChoice::tcp, Order::round_robin, Level::durable},
                      Case{FabricChoice::shm, Order::token_ring, Level::durable},
                      Case{FabricChoice::tcp, Order::token_ring, Level::atomic},
                      Case{FabricChoice::shm, Order::lcr, Level::atomic},
                      Case{FabricChoice::tcp, Order::lcr, Level::durable}),
    [](const auto& each) {
      return std::string(to_string(each.param.fabric)) + "_" +
             std::string(to_string(each.param.order)) + "_" +
             std::string(to_string(each.param.level));
    });

TEST_P(Logged, HasWhatWasDelivered) {
  TestCluster cluster(options(), in_folders());
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}, 500));
  expect_ok(cluster.stop());
  for (const std::size_t member : {0U, 1U, 2U}) expect_counted(cluster, member);
  cluster.expect_one_story();
  for (const std::size_t member : {0U, 1U, 2U}) expect_logged(cluster, member);
  EXPECT_EQ(log_in(folder(0)), log_in(folder(1)));
}

TEST_P(Logged, HasWhatWasDeliveredOverViews) {
  TestCluster cluster(options(), in_folders());
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  const std::vector<Told> before = cluster.journal(1).sequence();
  cluster.kill(1);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 2}));
  expect_logged_prefix(before, log_in(folder(1)));
  cluster.renew(1, in_folders());
  cluster.start({1});
  cluster.talk({1});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  const Result<void> left = cluster.leave(2);
  EXPECT_TRUE(left) << left.error().message;
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
  for (const std::size_t member : {0U, 1U, 2U}) expect_logged(cluster, member);
}

// The log does not wait for the application: else nobody could deliver anything of the new view.
TEST_P(Logged, ACallbackThatTakesLongStopsNobodyInTheNextView) {
  ClusterOptions all = options();
  all.groups[0].window_messages = 65536;
  all.groups[0].window_bytes = 8U << 20;
  TestCluster cluster(all, in_folders());
  std::atomic<bool> blocks{false};
  std::atomic<bool> blocked{false};
  cluster.life(0).in_delivery = [&] {
    if (!blocks) return;
    blocked = true;
    blocks.wait(true);
  };
  cluster.start();
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  cluster.talk({1});
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  blocks = true;
  ASSERT_TRUE(until([&] { return blocked.load(); }));
  ASSERT_TRUE(cluster.hear_more({1}, 10));  // of the view before there is something left
  cluster.hush(1);                          // there is space in the window
  cluster.renew(2, in_folders());
  cluster.start({2});
  cluster.talk({2});
  EXPECT_TRUE(cluster.hear_more({1, 2}));
  blocks = false;
  blocks.notify_all();
  expect_ok(cluster.stop());
  cluster.expect_one_story();
  for (const std::size_t member : {0U, 1U, 2U}) expect_logged(cluster, member);
}

class LogFolders : public ::testing::Test {
 protected:
  LogFolders() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-folder-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~LogFolders() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] ClusterOptions options() const {
    return {.members = 1,
            .groups = {GroupOptions{.name = "a/b", .level = Level::durable, .logged = true}}};
  }
  [[nodiscard]] TestCluster::Adjust in_root() const {
    return [this](std::size_t, NodeOptions& node) {
      node.state_dir = root_ + "/state";
      node.bootstrap = !std::filesystem::exists(node.state_dir);
    };
  }

  // So many messages of each member, as large as they may be, come into the log.
  void expect_logged(const ClusterOptions& options, std::uint64_t count) {
    TestCluster cluster(options, [this](std::size_t member, NodeOptions& node) {
      node.state_dir = root_ + "/" + std::to_string(member);
      node.bootstrap = member == 0;
    });
    cluster.start();
    const std::vector<std::byte> bytes(options.groups[0].message_max_bytes, std::byte{7});
    std::vector<std::thread> senders;
    for (std::size_t member = 0; member < options.members; ++member) {
      senders.emplace_back([&, member] {
        for (std::uint64_t i = 0; i < count; ++i) {
          EXPECT_TRUE(cluster.group(member).send(bytes, kPatience));
        }
      });
    }
    for (std::thread& sender : senders) sender.join();
    expect_ok(cluster.stop());
    const std::unique_ptr<log::Disk> disk = log::posix_disk();
    EXPECT_EQ(log::read_log(*disk, root_ + "/0/log")->next, options.members * count);
  }

  std::string root_;
};

// What one round brings is more than a segment of the log holds.
TEST_F(LogFolders, TakeRoundsLargerThanASegment) {
  expect_logged({.members = 5,
                 .groups = {GroupOptions{.name = "log",
                                         .message_max_bytes = 16U << 10,
                                         .window_bytes = 64U << 10,
                                         .logged = true,
                                         .log_segment_bytes = 64U << 10}}},
                100);
}

TEST_F(LogFolders, TakeMessagesOfTheLargestSize) {
  expect_logged({.members = 2,
                 .groups = {GroupOptions{.name = "log",
                                         .message_max_bytes = 16U << 20,
                                         .window_bytes = 64U << 20,
                                         .logged = true}}},
                3);
}

TEST_F(LogFolders, ServeOneNodeAtATime) {
  TestCluster cluster(options(), in_root());
  cluster.start();
  {
    TestCluster other(options(), in_root());
    const Result<void> started = other.node(0).start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("another node uses"));
  }
  expect_ok(cluster.stop());
  TestCluster third(options(), in_root());
  third.start();
  expect_ok(third.stop());
}

TEST_F(LogFolders, AreNeeded) {
  NodeOptions node{.name = "a", .members = {{"a", "127.0.0.1:1"}}};
  Result<Node> made = Node::create(node);
  ASSERT_TRUE(made);
  const Result<Group> joined = made->join({.name = "g", .logged = true});
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error().message, HasSubstr("state_dir"));
  const Result<Group> durable = made->join({.name = "g", .level = Level::durable});
  ASSERT_FALSE(durable);
  EXPECT_THAT(durable.error().message, HasSubstr("needs logged"));
  const Result<Group> agreed = made->join({.name = "g", .level = Level::agreed, .logged = true});
  ASSERT_FALSE(agreed);
  EXPECT_THAT(agreed.error().message, HasSubstr("goes with level 'atomic' or 'durable'"));
}

}  // namespace
}  // namespace tutti
