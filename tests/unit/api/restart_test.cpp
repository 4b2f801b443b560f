/// \file restart_test.cpp
/// Groups that come back from their logs: all nodes at once, some of them, one after the other;
/// what a node says while it waits; and directories that cannot be gone on with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "heard.hpp"
#include "log/read.hpp"
#include "support/sanitized.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct RestartCase {
  FabricChoice fabric;
  Order order;
  Level level;
  bool quorum = false;
};

class Restarts : public ::testing::TestWithParam<RestartCase> {
 protected:
  Restarts() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tutti-restart-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~Restarts() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] static ClusterOptions options() {
    GroupOptions group = small_group(GetParam().level);
    group.order = GetParam().order;
    group.logged = true;
    group.durable_quorum = GetParam().quorum;
    return {.members = 3, .fabric = GetParam().fabric, .groups = {group}};
  }
  // Always the same, but for the first start of all.
  [[nodiscard]] TestCluster::Adjust in_folders() {
    return [this](std::size_t member, NodeOptions& node) {
      node.state_dir = folder(member);
      node.bootstrap = member == 1 && !std::filesystem::exists(node.state_dir);
    };
  }
  [[nodiscard]] std::string folder(std::size_t member) const {
    return root_ + "/" + std::to_string(member);
  }
  [[nodiscard]] std::vector<Told> log_of(std::size_t member) const {
    std::vector<Told> out;
    const std::unique_ptr<log::Disk> disk = log::posix_disk();
    const Result<log::Reading> read = log::read_log(
        *disk, folder(member) + "/log", [&](const log::Record& record, std::uint64_t) {
          out.push_back(
              {record.seq, record.sender,
               std::string(reinterpret_cast<const char*>(record.data.data()), record.data.size())});
          return true;
        });
    EXPECT_TRUE(read && !read->damage);
    return out;
  }
  void kill_all(TestCluster& cluster) {
    for (const std::size_t member : {0U, 1U, 2U}) cluster.kill(member);
  }
  void renew_all(TestCluster& cluster) {
    for (const std::size_t member : {0U, 1U, 2U}) cluster.renew(member, in_folders());
  }

  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(
    Of, Restarts,
    ::testing::Values(RestartCase{FabricChoice::shm, Order::round_robin, Level::durable},
                      RestartCase{FabricChoice::tcp, Order::round_robin, Level::atomic},
                      RestartCase{FabricChoice::shm, Order::token_ring, Level::durable},
                      RestartCase{FabricChoice::tcp, Order::lcr, Level::durable},
                      RestartCase{FabricChoice::tcp, Order::round_robin, Level::durable, true}),
    [](const auto& each) {
      return std::string(to_string(each.param.fabric)) + "_" +
             std::string(to_string(each.param.order)) + "_" +
             std::string(to_string(each.param.level)) + (each.param.quorum ? "_quorum" : "");
    });

TEST_P(Restarts, OfAllNodesGoOnWithTheSequence) {
  TestCluster cluster(options(), in_folders());
  cluster.start();
  std::vector<Told> delivered;
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    kill_all(cluster);
    if (GetParam().level == Level::durable) {
      for (const std::size_t member : {0U, 1U, 2U}) {
        const std::vector<Told> told = cluster.journal(member).sequence();
        if (delivered.size() < told.size()) delivered = told;
      }
    }
    renew_all(cluster);
    cluster.start();
    const std::vector<Told> log = log_of(0);
    ASSERT_GE(log.size(), delivered.size());
    EXPECT_TRUE(std::ranges::equal(delivered, std::span(log).first(delivered.size())));
  }
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  EXPECT_EQ(log_of(0), log_of(1));
  EXPECT_EQ(log_of(0), log_of(2));
}

// The first that is killed is not in the others' last view.
// The views that were kept say nothing of them: they are opened anew.
TEST_P(Restarts, OfNodesThatWereInGroupsJoinedAtRunTime) {
  ClusterOptions with = options();
  with.reserved = {small_group(), small_group()};
  TestCluster cluster(with, in_folders());
  for (int round = 0; round < 2; ++round) {
    cluster.start();
    cluster.talk({0, 1, 2});
    Heard b;
    Heard c;
    Group at_b = joined(cluster, 1, b.group("x"));
    Group at_c = joined(cluster, 2, c.group("x"));
    send(at_b, std::to_string(round));
    ASSERT_TRUE(until([&] { return c.has(std::to_string(round)); }));
    EXPECT_EQ(c.texts().size(), 1U);
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    kill_all(cluster);
    renew_all(cluster);
  }
  cluster.start();
  expect_ok(cluster.stop());
}

TEST_P(Restarts, OfAMajorityLetTheOthersJoinLater) {
  TestCluster cluster(options(), in_folders());
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  kill_all(cluster);
  renew_all(cluster);
  cluster.start({1, 2});
  cluster.talk({1, 2});
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  if (testing::kSanitized) cluster.hush();  // what it lacks is as much on a slow machine
  cluster.start({0});
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  EXPECT_EQ(log_of(0), log_of(1));
  EXPECT_EQ(log_of(0), log_of(2));
}

TEST_P(Restarts, OfOneNodeBringItsLogUpToDate) {
  TestCluster cluster(options(), in_folders());
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  for (const std::size_t member : {0U, 1U, 2U}) {
    cluster.kill(member);
    ASSERT_TRUE(cluster.hear_more({(member + 1) % 3, (member + 2) % 3}));
    cluster.hush();  // what it lacks is as much on a slow machine
    if (member == 2) std::filesystem::remove_all(folder(2));  // a new disk
    cluster.renew(member, in_folders());
    cluster.start({member});
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  }
  expect_ok(cluster.stop());
  EXPECT_EQ(log_of(0), log_of(1));
  EXPECT_EQ(log_of(0), log_of(2));
}

}  // namespace
}  // namespace tutti
