/// \file local_fabric.hpp
/// Several nodes in one process, for tests: each has a replica of every other node's row in
/// ordinary memory, and a post lands in the target's replica at once, by the poster's thread.
///
/// One mapping per replica, so that ThreadSanitizer sees a reader that does not wait for its guard:
/// publish() stores each word with release order, write() copies without any. A lock per direction
/// of a pair keeps posts from landing after the pair was cut; readers never take it.
/// Threads: each fabric by its node's thread, or all by one; cut() and kill() by any.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "tutti/types.hpp"

namespace tutti::testing {

class LocalCluster {
 public:
  /// One node per element, with a row of so many bytes, a multiple of 8.
  explicit LocalCluster(std::vector<std::size_t> row_bytes);

  /// The fabric of one node; each node's once, before threads start to post. The own row is the
  /// node's and outlives the fabric. `wake` is called, from the poster's thread, when something is
  /// posted to the node between arm() and disarm(): usually Sleeper::wake.
  [[nodiscard]] std::unique_ptr<Fabric> fabric(Slot slot, const std::byte* own_row,
                                               std::function<void()> wake = {});

  /// Nothing posted between the two lands any more; each loses the other.
  void cut(Slot a, Slot b);

  /// The node is dead: all others lose it, and what it still posts lands nowhere.
  void kill(Slot slot);

 private:
  class LocalFabric;
  struct Link;
  struct Node;
  struct State;

  std::shared_ptr<State> state_;  // shared with the fabrics, which may live longer
};

}  // namespace tutti::testing
