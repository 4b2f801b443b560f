/// \file heard.hpp
/// What a member heard of a group that it joined after its node had started.
#pragma once
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace tutti {

/// The texts that a group's callback was handed.
class Heard {
 public:
  /// Options of a small group of that name, with a callback that notes what it is handed.
  [[nodiscard]] GroupOptions group(const std::string& name) {
    GroupOptions options = small_group();
    options.name = name;
    options.on_delivery = [this](std::span<const Message> batch) {
      const std::lock_guard lock(mutex_);
      for (const Message& message : batch) texts_.emplace_back(message.text());
    };
    return options;
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  [[nodiscard]] bool has(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(texts_, text) != texts_.end();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

/// So many members, with one group from the start and so many places for groups at run time.
ClusterOptions with_places(std::size_t members, std::size_t reserved);
/// Joins it at that member; throws if it cannot.
Group joined(TestCluster& cluster, std::size_t member, const GroupOptions& options);
/// The test fails if it cannot be sent.
void send(Group& group, const std::string& text);
/// The test fails if it cannot be left.
void leave(Group& group);

}  // namespace tutti
