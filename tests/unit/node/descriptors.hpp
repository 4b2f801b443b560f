/// \file descriptors.hpp
/// For tests of how many file descriptors are open, and of what happens where none is left.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <vector>

#include "base/unique_fd.hpp"

namespace tutti {

/// How many this process has open.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
  return count;
}

/// Takes all descriptors that this process may have, until it goes.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = 512;  // or this would take long
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    while (UniqueFd fd = another()) taken_.push_back(std::move(fd));
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

  /// How many others have given back since.
  [[nodiscard]] static std::size_t free() {
    std::vector<UniqueFd> taken;
    while (UniqueFd fd = another()) taken.push_back(std::move(fd));
    return taken.size();
  }

  /// Gives back so many.
  void spare(std::size_t count) { taken_.resize(taken_.size() - count); }

 private:
  static UniqueFd another() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  rlimit before_{};
  std::vector<UniqueFd> taken_;
};

}  // namespace tutti
