/// \file found_test.cpp
#include "restart/found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "log/writer.hpp"
#include "restart/views_file.hpp"
#include "support/sim_disk.hpp"

namespace tutti::restart {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::SimDisk;

constexpr const char* kState = "/state";
const FoundedGroup kLog{.name = "log", .directory = "/state/log"};
const FoundedGroup kOther{.name = "b", .directory = "/state/b"};

Views views_on(const SimDisk& disk) {
  auto& writable = const_cast<SimDisk&>(disk);  // ViewsFile can write, and does not here
  const auto views = ViewsFile(writable, kState).load();
  EXPECT_TRUE(views && *views);
  return views && *views ? **views : Views{};
}

const std::vector<std::string> kNodes{"a", "b", "c"};

std::string outcome(SimDisk& disk, const std::string& node = "a",
                    const std::vector<std::string>& nodes = kNodes,
                    const std::vector<FoundedGroup>& groups = {kLog}) {
  const Result<void> done = found(disk, kState, node, nodes, groups);
  return done ? "founded" : done.error().message;
}

void log_a_record(SimDisk& disk) {
  auto writer = log::Writer::open(disk, kLog.directory, {.node = "a", .group = "log"});
  ASSERT_TRUE(writer) << writer.error().message;
  log::Batch batch;
  batch.add({.seq = 0, .view = 1});
  ASSERT_TRUE((*writer)->write(batch));
}

TEST(Found, WritesTheFirstViewOfAllNodes) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk, "a", kNodes, {kLog, kOther}), "founded");
  const Views views = views_on(disk);
  EXPECT_EQ(views.node, "a");
  EXPECT_NE(views.origin, 0U);
  EXPECT_EQ(views.nodes, kNodes);
  EXPECT_EQ(views.since, 1U);
  ASSERT_EQ(views.chain.size(), 1U);
  EXPECT_EQ(
      views.chain[0],
      (ViewRecord{.id = 1, .members = {0, 1, 2}, .first = {{.group = "b"}, {.group = "log"}}}));
  EXPECT_TRUE(is_founding(views));
}

TEST(Found, IsDoneOnceAndTheSameAfterwards) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk), "founded");
  const Views views = views_on(disk);
  EXPECT_EQ(outcome(disk), "founded");
  EXPECT_EQ(views_on(disk), views);
}

TEST(Found, AnotherTimeItHasAnotherOrigin) {
  SimDisk one;
  SimDisk other;
  EXPECT_EQ(outcome(one), "founded");
  EXPECT_EQ(outcome(other), "founded");
  EXPECT_NE(views_on(one).origin, views_on(other).origin);
}

TEST(Found, RefusesAnotherNodesDirectoryAndAnotherFounding) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk), "founded");
  const Views views = views_on(disk);
  EXPECT_THAT(outcome(disk, "b"), AllOf(HasSubstr("/state/views belongs to node 'a', not to 'b'"),
                                        HasSubstr("state_dir of its own")));
  EXPECT_THAT(outcome(disk, "a", {"a", "b", "c", "d"}), HasSubstr("or other nodes"));
  EXPECT_THAT(outcome(disk, "a", kNodes, {kLog, kOther}), HasSubstr("with other groups"));
  EXPECT_EQ(views_on(disk), views);
}

TEST(Found, RefusesAGroupThatHasBegun) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk), "founded");
  const Views first = views_on(disk);
  for (int i = 0; i < 4; ++i) {
    Views begun = first;
    if (i == 0) begun.promised = {.view = 1, .ballot = restart_ballot(1, 0)};
    if (i == 1)
      begun.accepted = Accepted{.ballot = 1, .proposal = {.follows = 1, .next = {.id = 3}}};
    if (i == 1) begun.accepted->proposal.next.members = {0};
    if (i == 2) begun.chain.push_back({.id = 3, .members = {0, 1}, .first = {{.group = "log"}}});
    if (i == 3) begun.since = 2;
    EXPECT_FALSE(is_founding(begun)) << i;
    ASSERT_TRUE(ViewsFile(disk, kState).save(begun));
    EXPECT_THAT(outcome(disk), AllOf(HasSubstr("/state/views knows of a group already, in view"),
                                     HasSubstr("start the node without bootstrap")))
        << i;
    EXPECT_EQ(views_on(disk), begun) << i;
  }
}

TEST(Found, RefusesALogWithRecords) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory(kLog.directory));
  log_a_record(disk);
  EXPECT_THAT(outcome(disk), AllOf(HasSubstr("/state/log has messages up to 0"),
                                   HasSubstr("move the directory away")));
  EXPECT_FALSE(disk.has("/state/views"));
}

TEST(Found, RefusesALogWithRecordsAlsoIfTheViewsAreStillTheFirst) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk), "founded");
  log_a_record(disk);
  EXPECT_THAT(outcome(disk), HasSubstr("/state/log has messages up to 0"));
}

TEST(Found, RefusesWhatIsDamaged) {
  SimDisk disk;
  EXPECT_EQ(outcome(disk), "founded");
  disk.put("/state/views", std::vector<std::byte>(100));
  EXPECT_THAT(outcome(disk), HasSubstr("move the whole directory /state away"));
}

TEST(Found, IsThereAsAWholeOrNotAtAllAfterAPowerLoss) {
  SimDisk disk;
  disk.on_operation([&](const DiskOperation& operation) {
    if (!operation.changes()) return DiskFate::done;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const std::unique_ptr<SimDisk> left = disk.after_power_loss(seed);
      EXPECT_EQ(outcome(*left), "founded");
    }
    return DiskFate::done;
  });
  EXPECT_EQ(outcome(disk), "founded");
  EXPECT_TRUE(is_founding(views_on(*disk.after_power_loss(SimDisk::kNothingKept))));
}

TEST(Found, AnErrorOfTheDiskIsAnError) {
  std::size_t operations = 0;
  {
    SimDisk disk;
    disk.on_operation([&](const DiskOperation& operation) {
      operations += operation.changes() ? 1 : 0;
      return DiskFate::done;
    });
    EXPECT_EQ(outcome(disk), "founded");
  }
  ASSERT_GT(operations, 5U);
  for (std::size_t bad = 0; bad < operations; ++bad) {
    SimDisk disk;
    std::size_t count = 0;
    disk.on_operation([&](const DiskOperation& operation) {
      if (!operation.changes()) return DiskFate::done;
      return count++ == bad ? DiskFate::io_error : DiskFate::done;
    });
    EXPECT_NE(outcome(disk), "founded") << bad;
  }
}

}  // namespace
}  // namespace tutti::restart
