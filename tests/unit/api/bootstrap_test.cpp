/// \file bootstrap_test.cpp
/// Groups that are logged are founded by bootstrap(): what it writes, and what it refuses.
#include "tutti/bootstrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "log/disk.hpp"
#include "restart/found.hpp"
#include "restart/views_file.hpp"
#include "tutti/node.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class Bootstrapped : public ::testing::Test {
 protected:
  Bootstrapped() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-found-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    node_ = {.name = "b",
             .members = {{"a", "127.0.0.1:1"}, {"b", "127.0.0.1:2"}},
             .state_dir = root_ + "/deep/state"};
  }
  ~Bootstrapped() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string outcome(const std::vector<std::string>& groups) const {
    const Result<void> done = bootstrap(node_, groups);
    return done ? "founded" : done.error().message;
  }

  std::string root_;
  NodeOptions node_;
};

TEST_F(Bootstrapped, WritesTheViewThatAllNodesFound) {
  EXPECT_EQ(outcome({"orders", "a/b"}), "founded");
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  const auto views = restart::ViewsFile(*disk, node_.state_dir).load();
  ASSERT_TRUE(views && *views);
  EXPECT_TRUE(restart::is_founding(**views));
  EXPECT_EQ((*views)->node, "b");
  EXPECT_EQ((*views)->installed().members, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE((*views)->installed().first_of("orders"));
  EXPECT_TRUE((*views)->installed().first_of("a/b"));
  EXPECT_TRUE(std::filesystem::is_directory(node_.state_dir + "/a%2Fb"));
  EXPECT_EQ(outcome({"a/b", "orders"}), "founded") << "it was done already";
}

TEST_F(Bootstrapped, NeedsWhatANodeNeeds) {
  EXPECT_THAT(outcome({}), HasSubstr("name the groups"));
  EXPECT_THAT(outcome({"g", "g"}), HasSubstr("name is taken"));
  EXPECT_THAT(outcome({""}), HasSubstr("group name of 0 bytes"));
  EXPECT_THAT(outcome({std::string(200, '/')}), HasSubstr("too long for a folder"));
  node_.name = "z";
  EXPECT_THAT(outcome({"g"}), HasSubstr("'z' is not among the members"));
  node_.name = "a";
  node_.state_dir = "";
  EXPECT_THAT(outcome({"g"}), HasSubstr("no state_dir"));
}

TEST_F(Bootstrapped, WritesNothingWhereAnotherNodeIs) {
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  ASSERT_TRUE(disk->make_directory(node_.state_dir));
  const auto lock = disk->lock(node_.state_dir);
  ASSERT_TRUE(lock);
  EXPECT_THAT(outcome({"g"}), HasSubstr("another node uses"));
  EXPECT_FALSE(std::filesystem::exists(node_.state_dir + "/views"));
}

TEST_F(Bootstrapped, WhereNoFolderCanBeMadeTheErrorNamesIt) {
  node_.state_dir = "/proc/nobody/state";
  EXPECT_THAT(outcome({"g"}), HasSubstr("/proc/nobody"));
}

// The option of a node: what contradicts it is said before anything is made.
TEST_F(Bootstrapped, AsAnOptionIsForGroupsThatAreLogged) {
  node_.bootstrap = true;
  {
    Result<Node> node = Node::create(node_);
    ASSERT_TRUE(node);
    ASSERT_TRUE(node->join({.name = "g"}));
    const Result<void> started = node->start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(started.error().message, HasSubstr("none of this node's is"));
  }
  node_.join_only = true;
  Result<Node> node = Node::create(node_);
  ASSERT_TRUE(node);
  ASSERT_TRUE(node->join({.name = "g", .logged = true}));
  const Result<void> started = node->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("bootstrap and join_only contradict"));
  EXPECT_FALSE(std::filesystem::exists(node_.state_dir));
}

}  // namespace
}  // namespace tutti
