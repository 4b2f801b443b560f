/// \file cluster.hpp
/// Several nodes of the public interface in this process, on loopback, for the tests of Node and
/// Group: each started in a thread of its own, as processes would be.
#pragma once
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti {

using namespace std::chrono_literals;

/// Long enough for any machine; only a failing test waits for it.
inline constexpr std::chrono::seconds kPatience{60};

/// What one member delivered: "seq sender text" per message.
using Deliveries = std::vector<std::string>;

struct ClusterOptions {
  std::size_t members = 3;
  FabricChoice fabric = FabricChoice::shm;
  Drive drive = Drive::own_thread;
  Idle idle{};
  std::vector<GroupOptions> groups = {GroupOptions{.name = "log"}};
};

class TestCluster {
 public:
  explicit TestCluster(const ClusterOptions& options);

  /// Starts all nodes; fails the test if one does not.
  void start();
  /// Stops all nodes at once and returns what each said.
  std::vector<Result<void>> stop(std::chrono::nanoseconds timeout = kPatience);

  Node& node(std::size_t member) { return nodes_[member]; }
  Group& group(std::size_t member, std::size_t index = 0) { return groups_[member][index]; }
  /// To be read after stop(), or on the thread that delivers.
  const Deliveries& deliveries(std::size_t member, std::size_t index = 0) const {
    return deliveries_[member][index];
  }

 private:
  std::vector<std::vector<Deliveries>> deliveries_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Group>> groups_;
};

}  // namespace tutti
