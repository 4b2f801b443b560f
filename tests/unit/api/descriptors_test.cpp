/// \file descriptors_test.cpp
/// A program that the application starts keeps nothing of its nodes: the others see at once that
/// their process has ended, though that program goes on. Not so what libfabric opens for itself.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "cluster.hpp"

namespace tutti {
namespace {

std::set<int> open_descriptors() {
  std::set<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    if (::fcntl(fd, F_GETFD) >= 0) open.insert(fd);
  }
  return open;
}

class Descriptors : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, Descriptors,
                         ::testing::Values(FabricChoice::automatic, FabricChoice::shm,
                                           FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(Descriptors, OfNodesAreClosedOnExec) {
  const std::set<int> before = open_descriptors();
  TestCluster cluster({.fabric = GetParam(), .groups = {small_group()}});
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  std::size_t opened = 0;
  for (const int fd : open_descriptors()) {
    if (before.contains(fd)) continue;
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags < 0) continue;  // it was closed meanwhile
    ++opened;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    EXPECT_NE(flags & FD_CLOEXEC, 0) << fd << " " << std::filesystem::read_symlink(link);
  }
  EXPECT_GE(opened, 6U);  // each node listens, and has its row or connections
  expect_ok(cluster.stop());
}

}  // namespace
}  // namespace tutti
