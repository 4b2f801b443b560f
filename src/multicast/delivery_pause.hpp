/// \file delivery_pause.hpp
/// A pause of one group's delivery between two batches, for somebody who looks at what the
/// application has made of exactly the messages before it; and what is to come before all of them.
///
/// Invariant DP1: from reach() until end() nothing is delivered, and nothing that was delivered
/// before is still being handled: the callback has returned, or the batch was released.
/// Invariant DP2: while it holds views, the application is handed what comes before all that is
/// delivered, from its log: no further view is told, and no state is taken for those who join it.
/// Threads: hold_views() and holds_views() any; ask(), is_reached(), place() and end() any one
/// other than the one that delivers; what it calls are is_asked() and reach(). on_reached() before
/// both.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/assert.hpp"

namespace tutti {

class DeliveryPause {
 public:
  struct Place {
    std::uint64_t seq = 0;   ///< the number of the first message that was not delivered
    std::uint64_t view = 0;  ///< in which delivery stands there
  };

  /// Called once for each pause, on the thread that delivers.
  void on_reached(std::function<void()> reached) { reached_ = std::move(reached); }

  /// Release, and acquire: what was handed comes before what is done in the next view.
  void hold_views(bool holds) { holds_views_.store(holds, std::memory_order_release); }
  [[nodiscard]] bool holds_views() const { return holds_views_.load(std::memory_order_acquire); }

  void ask() {
    State none = State::none;
    state_.compare_exchange_strong(none, State::asked, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool is_reached() const {
    return state_.load(std::memory_order_acquire) == State::reached;
  }
  /// While it is reached.
  [[nodiscard]] Place place() const { return place_; }
  /// Delivery may go on, whether it had paused or not.
  void end() { state_.store(State::none, std::memory_order_seq_cst); }

  /// Acquire: pairs with end(), what was done in the pause comes before what is delivered next.
  [[nodiscard]] bool is_asked() const {
    return state_.load(std::memory_order_acquire) != State::none;
  }
  /// Delivery stands there (DP1).
  void reach(Place place) {
    if (state_.load(std::memory_order_relaxed) != State::asked) return;
    place_ = place;
    State asked = State::asked;
    // Release: pairs with is_reached(), what was delivered comes before what is done in the pause.
    const bool first =
        state_.compare_exchange_strong(asked, State::reached, std::memory_order_acq_rel);
    if (first && reached_) reached_();
  }

 private:
  enum class State : std::uint8_t { none, asked, reached };
  std::atomic<State> state_{State::none};
  std::atomic<bool> holds_views_{false};
  Place place_{};
  std::function<void()> reached_{};
};

}  // namespace tutti
