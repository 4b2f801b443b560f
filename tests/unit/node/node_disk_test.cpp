/// \file node_disk_test.cpp
/// What a node has on disk, when the node ends while its threads are at work.
#include "node/node_disk.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "restart/log_summary.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

// The thread for logs tells the RestartThread of each batch, and then the node. It is held up after
// its first one until the thread for restarts has ended, and writes the others then: the
// RestartThread, with all that it owns, must still be there.
TEST(NodeDisk, EndsWhileItsLogIsWritten) {
  constexpr std::uint64_t kRecords = 12;
  std::string root = ::testing::TempDir() + "tutti-node-disk-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const NodeOptions node{.name = "a", .members = loopback_members(2), .state_dir = root + "/s"};
  const std::vector<GroupOptions> groups{
      {.name = "g", .members = {"a", "b"}, .level = Level::durable, .logged = true}};
  std::atomic<bool> has_ended{false};
  std::atomic<int> batches{0};
  std::atomic<int> too_late{0};
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> restart(owned);
  Result<std::unique_ptr<NodeDisk>> disk =
      NodeDisk::open(node, groups,
                     {.changed =
                          [&] {
                            ++batches;
                            if (restart.expired()) ++too_late;
                            has_ended.wait(false);
                          },
                      .failed = [](const Error& why) { ADD_FAILURE() << why.message; },
                      .log = [held = std::move(owned)](LogLevel, std::string_view) {},
                      .ended =
                          [&] {
                            has_ended = true;
                            has_ended.notify_all();
                          }});
  ASSERT_TRUE(disk) << disk.error().message;
  DiskLog& log = *(*disk)->logs().log(0);
  log.take_over({.group = "g"}, 7);
  const std::vector<std::byte> data(1U << 20);
  for (std::uint64_t seq = 0; seq < kRecords; ++seq) {
    const Message message{.seq = {seq},
                          .data = data.data(),
                          .size = static_cast<std::uint32_t>(data.size()),
                          .sender = {},
                          .ticket = {},
                          .view = 3};
    EXPECT_TRUE(log.append(std::span(&message, 1), [] { return true; }));
  }
  disk->reset();
  EXPECT_GT(batches, 1);
  EXPECT_EQ(too_late, 0) << "of " << batches << " batches";
  const auto on_disk = restart::summarize(*log::posix_disk(), root + "/s/g", "g");
  EXPECT_TRUE(on_disk) << on_disk.error().message;
  if (on_disk) {
    EXPECT_EQ(on_disk->next, kRecords) << "what waited was written";
  }
  std::filesystem::remove_all(root);
}

// The thread for restarts is held up, as by its disk, from the moment in which the first view may
// begin. The log begins and gets a message, and the node ends: the message is written even so.
TEST(NodeDisk, WritesALogThatHadJustBegunAtItsEnd) {
  std::string root = ::testing::TempDir() + "tutti-node-disk-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const NodeOptions node{
      .name = "a", .members = loopback_members(1), .state_dir = root + "/s", .bootstrap = true};
  const std::vector<GroupOptions> groups{
      {.name = "g", .members = {"a"}, .level = Level::atomic, .logged = true}};
  NodeDisk* there = nullptr;
  std::atomic<bool> is_there{false};
  std::atomic<bool> goes_on{false};
  Result<std::unique_ptr<NodeDisk>> disk =
      NodeDisk::open(node, groups,
                     {.changed =
                          [&] {
                            is_there.wait(false);
                            if (there->restart().has_entered()) goes_on.wait(false);
                          },
                      .failed = [](const Error& why) { ADD_FAILURE() << why.message; },
                      .ended = [] {}});
  ASSERT_TRUE(disk) << disk.error().message;
  there = disk->get();
  is_there = true;
  is_there.notify_all();
  std::optional<RestartView> founds;
  while (!(founds = there->begin_incarnation())) std::this_thread::yield();
  const View view{.id = founds->id, .members = {{ViewMember{.slot = Slot{0}, .incarnation = 1}}}};
  while (!there->restart().has_installed(view, founds->firsts)) std::this_thread::yield();

  DiskLog& log = *there->logs().log(0);
  log.begin(0);
  const std::string text = "all that there is";
  const Message message{.seq = {0},
                        .data = reinterpret_cast<const std::byte*>(text.data()),
                        .size = static_cast<std::uint32_t>(text.size()),
                        .sender = {},
                        .ticket = {},
                        .view = view.id};
  EXPECT_TRUE(log.append(std::span(&message, 1), [] { return true; }));
  there->quit();
  goes_on = true;
  goes_on.notify_all();
  disk->reset();
  const auto on_disk = restart::summarize(*log::posix_disk(), root + "/s/g", "g");
  ASSERT_TRUE(on_disk) << on_disk.error().message;
  EXPECT_EQ(on_disk->next, 1U);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tutti
