/// \file node_life.hpp
/// How far a node has come, in two courses that meet in NodeCore: what threads of the application
/// made of it (Phase), and how the thread that turns the loop came into its views and out (Course).
///
///   created -> running -> closing -> stopped       outside -> entered -> told
///               |   |      ^    ^                     |          |        |
///               | abandoned+    |                     |          +--------+-> said_all
///               +---+-----> quitting -> tried         +-> unfounded -> parted
///
/// Invariant T5: each changes as follows() allows, in no other way. From `tried` the start goes on
/// with another incarnation, `running` and `outside`, or it has failed, and the node is `stopped`.
/// From `created` it is `stopped` as well: by a start that failed before it opened anything, or by
/// the end of a node that was never started.
/// Threads: phases any; of two that end a node at once the first counts. A course is set by the
/// thread that turns (T1), or by start() while none does; read by any.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/assert.hpp"

namespace tutti {

enum class Phase : std::uint8_t {
  created,
  tried,      ///< start() has taken back one incarnation, and opens the next or fails
  running,    ///< starts, or has started
  abandoned,  ///< the start: the last words go out
  quitting,   ///< the start: the threads that turn end
  closing,    ///< T4
  stopped,
};

enum class Course : std::uint8_t {
  outside,    ///< in no view yet
  unfounded,  ///< this incarnation came into no view
  parted,     ///< its last words are with the others
  entered,    ///< in a view; here and below the groups are open
  told,       ///< on_view has returned from the first
  said_all,   ///< it has ended (Engine::has_ended), and makes no pass
};

[[nodiscard]] constexpr bool follows(Phase now, Phase next) {
  switch (next) {
    case Phase::created:
      return false;
    case Phase::tried:
      return now == Phase::quitting;
    case Phase::running:
      return now == Phase::created || now == Phase::tried;
    case Phase::abandoned:
      return now == Phase::running;
    case Phase::quitting:
      return now == Phase::running || now == Phase::abandoned;
    case Phase::closing:
      return now == Phase::running || now == Phase::abandoned || now == Phase::quitting;
    case Phase::stopped:
      return now == Phase::created || now == Phase::tried || now == Phase::closing;
  }
  return false;
}

[[nodiscard]] constexpr bool follows(Course now, Course next) {
  switch (next) {
    case Course::outside:
      return now == Course::unfounded || now == Course::parted;
    case Course::unfounded:
    case Course::entered:
      return now == Course::outside;
    case Course::parted:
      return now == Course::unfounded;
    case Course::told:
      return now == Course::entered;
    case Course::said_all:  // from `entered` if the application is in its first call of on_view
      return now == Course::entered || now == Course::told;
  }
  return false;
}

class NodeLife {
 public:
  [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_acquire); }
  [[nodiscard]] Course course() const { return course_.load(std::memory_order_acquire); }

  /// False, and nothing is changed, if the phase is one that `next` does not follow.
  bool try_phase(Phase next) {
    Phase now = phase_.load(std::memory_order_acquire);
    do {
      if (!follows(now, next)) return false;
    } while (!phase_.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                           std::memory_order_acquire));
    return true;
  }
  /// Where no other thread can have been quicker.
  void set_phase(Phase next) {
    const bool legal = try_phase(next);
    TUTTI_ASSERT(legal, static_cast<int>(phase()), static_cast<int>(next));  // T5
  }
  void set_course(Course next) {
    TUTTI_ASSERT(follows(course(), next), static_cast<int>(course()),
                 static_cast<int>(next));  // T5
    course_.store(next, std::memory_order_release);
  }

  /// There is an incarnation to turn.
  [[nodiscard]] bool is_open() const {
    const Phase now = phase();
    return now >= Phase::running && now <= Phase::closing;
  }
  /// T4: no call of the application begins any more.
  [[nodiscard]] bool ends() const { return phase() >= Phase::closing; }
  [[nodiscard]] bool in_view() const { return course() >= Course::entered; }

 private:
  std::atomic<Phase> phase_{Phase::created};
  std::atomic<Course> course_{Course::outside};
};

}  // namespace tutti
