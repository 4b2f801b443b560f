/// \file node_watchers.hpp
/// Layers above a node that its application does not see, and what they are told.
/// Threads: settled by start; then any.
#pragma once
#include <functional>
#include <vector>

#include "tutti/view.hpp"

namespace tutti {

struct NodeWatchers {
  std::vector<std::function<void(const ViewChange&)>> of_views{};
  std::vector<std::function<void()>> of_end{};

  void tell_end() const {
    for (const auto& watcher : of_end) watcher();
  }
};

}  // namespace tutti
