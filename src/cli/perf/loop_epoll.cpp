// An application with an epoll loop, as examples/epoll.cpp has it.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "base/system_error.hpp"
#include "base/unique_fd.hpp"
#include "cli/perf/takers.hpp"

namespace tutti::cli {
namespace {

struct EpollLoop {
  std::vector<Served> groups;
  UniqueFd descriptor;
  UniqueFd timer;

  [[nodiscard]] bool watch(int of, std::uint64_t mark) const {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = mark}};
    return ::epoll_ctl(descriptor.get(), EPOLL_CTL_ADD, of, &event) == 0;
  }
  [[nodiscard]] bool open() {
    const timespec tick{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kLoopTick).count()};
    const itimerspec every{.it_interval = tick, .it_value = tick};
    descriptor = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    timer = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    bool all = descriptor && timer && ::timerfd_settime(timer.get(), 0, &every, nullptr) == 0;
    all = all && watch(timer.get(), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) all = all && watch(groups[i].readable, i);
    return all;
  }
  void run() {
    for (std::size_t left = groups.size(); left > 0;) {
      epoll_event events[16];
      const int count = ::epoll_wait(descriptor.get(), events, 16, -1);
      for (int i = 0; i < count; ++i) {
        const std::uint64_t index = events[i].data.u64;
        if (index == groups.size()) {
          std::uint64_t ticks = 0;
          [[maybe_unused]] const ssize_t done = ::read(timer.get(), &ticks, sizeof ticks);
        } else if (!groups[index].take()) {
          ::epoll_ctl(descriptor.get(), EPOLL_CTL_DEL, groups[index].readable, nullptr);
          --left;
        }
      }
    }
  }
};

}  // namespace

Result<std::jthread> serve_with_epoll(std::vector<Served> groups) {
  EpollLoop loop{.groups = std::move(groups), .descriptor = {}, .timer = {}};
  if (!loop.open()) return fail_system("cannot open an epoll loop");
  return std::jthread([loop = std::move(loop)]() mutable { loop.run(); });
}

}  // namespace tutti::cli
