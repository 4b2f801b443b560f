/// \file put_back_test.cpp
/// A state directory that somebody puts back from an older copy: its node ends and says so, beside
/// members that run and in a restart, and joins once the directory is moved away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cluster.hpp"
#include "log/read.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PutBackDirectory : public ::testing::Test {
 protected:
  // All were in a view together, then all were stopped and copied, and then in a later view.
  PutBackDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tutti-put-back-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    GroupOptions group = small_group(Level::durable);
    group.logged = true;
    cluster_.emplace(ClusterOptions{.members = 3, .groups = {group}}, in_folders());
    cluster_->start();
    cluster_->talk({0, 1, 2});
    EXPECT_TRUE(cluster_->hear_more({0, 1, 2}));
    kill_all();
    std::filesystem::copy(folder(0), copy(), std::filesystem::copy_options::recursive);
    renew_all();
    cluster_->start();
    cluster_->talk({0, 1, 2});
    EXPECT_TRUE(cluster_->hear_more({0, 1, 2}));
  }
  ~PutBackDirectory() override {
    cluster_.reset();
    std::filesystem::remove_all(root_);
  }

  [[nodiscard]] TestCluster::Adjust in_folders() {
    return [this](std::size_t member, NodeOptions& node) {
      node.state_dir = folder(member);
      node.bootstrap = member == 1 && !std::filesystem::exists(node.state_dir);
    };
  }
  [[nodiscard]] std::string folder(std::size_t member) const {
    return root_ + "/" + std::to_string(member);
  }
  [[nodiscard]] std::string copy() const { return root_ + "/copy"; }
  void put_back() {
    std::filesystem::remove_all(folder(0));
    std::filesystem::rename(copy(), folder(0));
  }
  void kill_all() {
    for (const std::size_t member : {0U, 1U, 2U}) cluster_->kill(member);
  }
  void renew_all() {
    for (const std::size_t member : {0U, 1U, 2U}) cluster_->renew(member, in_folders());
  }
  // The start of the node with the older copy.
  void expect_noticed() {
    const Result<void> started = cluster_->node(0).start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::damaged);
    EXPECT_THAT(started.error().message,
                AllOf(HasSubstr(folder(0) + " was put back from an older copy: "),
                      HasSubstr(" has heard of save "), HasSubstr("move it away")));
  }
  // What the message says is done.
  void move_it_away() {
    cluster_->kill(0);
    std::filesystem::remove_all(folder(0));
    cluster_->renew(0, in_folders());
    cluster_->start({0});
    cluster_->talk(0);
    EXPECT_TRUE(cluster_->hear_more({0, 1, 2}));
    expect_ok(cluster_->stop());
    EXPECT_EQ(bytes_of_log(0), bytes_of_log(1));
    EXPECT_EQ(bytes_of_log(0), bytes_of_log(2));
  }
  [[nodiscard]] std::string bytes_of_log(std::size_t member) const {
    std::string out;
    const std::unique_ptr<log::Disk> disk = log::posix_disk();
    const Result<log::Reading> read = log::read_log(
        *disk, folder(member) + "/log", [&](const log::Record& record, std::uint64_t) {
          out += std::to_string(record.seq) + " ";
          out.append(reinterpret_cast<const char*>(record.data.data()), record.data.size());
          return true;
        });
    EXPECT_TRUE(read && !read->damage);
    return out;
  }

  std::string root_;
  std::optional<TestCluster> cluster_;
};

TEST_F(PutBackDirectory, BesideMembersThatRunEndsItsNode) {
  cluster_->kill(0);
  ASSERT_TRUE(cluster_->hear_more({1, 2}));
  put_back();
  cluster_->renew(0, in_folders());
  expect_noticed();
  move_it_away();
}

TEST_F(PutBackDirectory, DoesNotCountInARestart) {
  kill_all();
  put_back();
  renew_all();
  std::thread waits([&] { cluster_->start({1}); });  // in vain, for member 2 is away
  expect_noticed();
  std::thread comes([&] { cluster_->start({2}); });
  waits.join();
  comes.join();
  EXPECT_TRUE(until([&] { return cluster_->are_in_view_of({1, 2}); }));
  cluster_->talk({1, 2});
  ASSERT_TRUE(cluster_->hear_more({1, 2}));
  move_it_away();
}

}  // namespace
}  // namespace tutti
