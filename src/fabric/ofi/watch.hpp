/// \file watch.hpp
/// A descriptor that wakes the node's Sleeper when it becomes readable. Owns it.
///
/// A wait that is left over when the node goes on costs one spurious return of sleep() later.
/// Threads: the predicate thread only. The Sleeper outlives it.
#pragma once
#include <memory>
#include <utility>

#include "base/unique_fd.hpp"
#include "fabric/sleeper.hpp"
#include "tutti/error.hpp"

namespace tutti::ofi {

class Watch {
 public:
  [[nodiscard]] static Result<Watch> of(Sleeper& sleeper, UniqueFd descriptor);
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  /// From now on, until it was readable once.
  void wait();
  /// Whether it was, since the last call. Known only when the Sleeper slept or was polled.
  [[nodiscard]] bool take_fired();

 private:
  struct Descriptor;
  struct State;
  explicit Watch(std::unique_ptr<Descriptor> descriptor);

  std::unique_ptr<Descriptor> descriptor_;
  std::shared_ptr<State> state_;  // shared with the handler, which may outlive us
};

}  // namespace tutti::ofi
