/// \file takers.hpp
/// The threads of a measured member that take its messages, where no callback is handed them: one
/// for each group, or one with an event loop, which also serves a timer of 10 ms.
/// Threads: one makes and destroys them; each Receiver is called by one of theirs.
#pragma once
#include <chrono>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "cli/perf/plan.hpp"
#include "cli/perf/receiver.hpp"
#include "tutti/group.hpp"

namespace tutti::cli {

/// How often an event loop serves something else.
inline constexpr std::chrono::milliseconds kLoopTick{10};

class Takers {
 public:
  /// Of a node that has started. The receivers, one for each group, outlive this.
  [[nodiscard]] static Result<Takers> start(Taking taking, const std::vector<Group>& groups,
                                            std::deque<Receiver>& receivers);

 private:
  explicit Takers(std::vector<std::jthread> threads) : threads_(std::move(threads)) {}
  std::vector<std::jthread> threads_;  // each ends with its groups; to destroy them waits for that
};

/// A group that an event loop serves.
struct Served {
  Group group;
  Receiver* receiver = nullptr;
  int readable = -1;  ///< Group::event_fd

  /// Takes one batch. False: nothing comes any more.
  [[nodiscard]] bool take();
};

/// A thread with such a loop. It ends once nothing comes any more of any group.
[[nodiscard]] Result<std::jthread> serve_with_epoll(std::vector<Served> groups);
[[nodiscard]] Result<std::jthread> serve_with_asio(std::vector<Served> groups);

}  // namespace tutti::cli
