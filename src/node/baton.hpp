/// \file baton.hpp
/// The role of turning a node's predicate loop, which one thread has at a time: the owner, the
/// node's own thread, or, while the owner is in a call of the application, its stand-in.
///
///     held --lend--> lent --take_back--> held                the owner alone
///                    lent --take--> taken --(owner asks)--> asked --give_back--> held
///
/// Invariants: BA1 between lend() and the return of take_back() the owner touches nothing that
/// belongs to the loop; between a take() that succeeded and give_back() the stand-in may. BA2 who
/// gets the role sees all that was done by who had it before.
/// If nobody takes it, lending costs a store and taking back one uncontended atomic operation.
/// Threads: two, as marked.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/assert.hpp"
#include "node/signal.hpp"

namespace tutti {

class Baton {
 public:
  // The owner.
  void lend() noexcept {
    const State seen = state_.load(std::memory_order_relaxed);
    TUTTI_ASSERT(seen == State::held, static_cast<int>(seen));  // BA1
    state_.store(State::lent, std::memory_order_release);       // BA2: pairs with take()
  }

  /// Waits for the stand-in if it has taken over: it is woken by `wake_stand_in()`, wherever it
  /// sleeps, and gives the role back at the end of its pass.
  template <class Wake>
  void take_back(const Wake& wake_stand_in) {
    State seen = State::lent;
    if (state_.compare_exchange_strong(seen, State::held, std::memory_order_acquire)) [[likely]] {
      return;
    }
    TUTTI_ASSERT(seen == State::taken, static_cast<int>(seen));
    state_.store(State::asked, std::memory_order_seq_cst);  // in taken, the stand-in writes nothing
    wake_stand_in();
    await_return();
  }

  // The stand-in.
  /// True if the role was lent: now the stand-in has it.
  [[nodiscard]] bool take() noexcept {
    State seen = State::lent;
    // BA2: acquire, pairs with lend().
    return state_.compare_exchange_strong(seen, State::taken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  /// The owner waits for it.
  [[nodiscard]] bool asked() const noexcept {
    return state_.load(std::memory_order_seq_cst) == State::asked;
  }

  /// Once asked for.
  void give_back() noexcept {
    TUTTI_ASSERT(asked(), static_cast<int>(state_.load()));
    state_.store(State::held, std::memory_order_release);  // BA2: pairs with await_return()
    returned_.notify();
  }

 private:
  enum class State : std::uint8_t { held, lent, taken, asked };

  void await_return() {
    const auto returned = [this] {
      return state_.load(std::memory_order_acquire) == State::held;  // BA2: pairs with give_back()
    };
    while (!returned()) {
      const std::uint32_t seen = returned_.prepare();
      if (returned()) return returned_.cancel();
      returned_.wait(seen, std::chrono::seconds(1));
    }
  }

  std::atomic<State> state_{State::held};
  Signal returned_;
};

}  // namespace tutti
