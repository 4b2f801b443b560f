/// \file latest_test.cpp
/// Reads of a replicated state machine that are never stale (Replicated::query_latest), where its
/// group is durable, and after all of its members were stopped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

constexpr std::size_t kMembers = 3;

// The parameter: durable_quorum.
class LatestOfDurable : public ::testing::TestWithParam<bool> {
 protected:
  LatestOfDurable() : addresses_(loopback_members(kMembers)), lives_(kMembers) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-latest-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~LatestOfDurable() override {
    lives_.clear();
    std::filesystem::remove_all(root_);
  }

  void start_all() {
    for (std::size_t member = 0; member < kMembers; ++member) {
      const std::string folder = root_ + "/" + std::to_string(member);
      Life& life = lives_[member];
      auto node = Node::create({.name = addresses_[member].name,
                                .members = addresses_,
                                .suspect_after = ClusterOptions{}.suspect_after,
                                .state_dir = folder,
                                .bootstrap = member == 0 && !std::filesystem::exists(folder)});
      ASSERT_TRUE(node) << node.error().message;
      life.node.emplace(std::move(*node));
      GroupOptions group = small_group(Level::durable);
      group.logged = true;
      group.durable_quorum = GetParam();
      auto sum = Replicated<Sum>::join(*life.node, group);
      ASSERT_TRUE(sum) << sum.error().message;
      life.sum.emplace(std::move(*sum));
    }
    std::vector<std::thread> starts;
    for (Life& life : lives_) {
      starts.emplace_back([&] {
        const Result<void> started = life.node->start();
        EXPECT_TRUE(started) << started.error().message;
      });
    }
    for (std::thread& start : starts) start.join();
  }
  void kill_all() {
    for (Life& life : lives_) {
      life.sum.reset();
      life.node.reset();
    }
  }
  // One member after the other adds, and another one reads at once.
  void expect_latest(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      const Result<std::uint64_t> reply = lives_[i % kMembers].sum->execute({1}, kPatience);
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_EQ(*reply, ++added_);
      for (const std::size_t next : {1U, 2U}) {
        const Result<std::uint64_t> read = latest((i + next) % kMembers);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, added_) << "read at " << (i + next) % kMembers;
      }
    }
  }
  [[nodiscard]] Result<std::uint64_t> latest(std::size_t member) {
    return lives_[member].sum->query_latest([](const Sum& sum) { return sum.value; }, kPatience);
  }

  struct Life {
    std::optional<Node> node{};
    std::optional<Replicated<Sum>> sum{};
  };
  const std::vector<MemberAddress> addresses_;
  std::string root_;
  std::vector<Life> lives_;
  std::uint64_t added_ = 0;
};

INSTANTIATE_TEST_SUITE_P(By, LatestOfDurable, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "quorum" : "all");
});

TEST_P(LatestOfDurable, HasAllThatWasExecutedAnywhere) {
  start_all();
  expect_latest(50);
}

// What was executed before is in the log, and applied again before anything is read.
TEST_P(LatestOfDurable, HasAllThatWasExecutedBeforeAllWereStopped) {
  start_all();
  expect_latest(10);
  for (int round = 0; round < 2; ++round) {
    kill_all();
    start_all();
    for (std::size_t member = 0; member < kMembers; ++member) {
      const Result<std::uint64_t> read = latest(member);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(*read, added_) << "read at " << member;
    }
    expect_latest(10);
  }
}

}  // namespace
}  // namespace tutti
