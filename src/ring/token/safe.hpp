/// \file safe.hpp
/// The rule of Level::atomic in the order token_ring: a message is safe, and delivered, once the
/// token has left this member twice with an aru beyond it. Then every member has it.
///
/// As with AllReceived, a wedged member receives nothing more (I5).
/// Threads: the predicate thread. Source: [Accelerated Ring, III-A], "safe delivery".
#pragma once
#include <vector>

#include "multicast/stability.hpp"

namespace tutti {

template <class Memory>
class Safe final : public Stability<Memory> {
 public:
  using Stability<Memory>::Stability;

  bool find(bool fresh) override {
    ViewState<Memory>& state = this->state_;
    const bool rose = state.safe != told_;
    if (!fresh && !rose) return false;
    told_ = state.safe;
    state.bounds.set_safe(told_);  // first: what is stable here is safe
    for (const SenderIndex s : state.shape.sender_indices()) {
      state.stable[s] = told_;
      state.set_bounds(s);
    }
    return rose;
  }
  [[nodiscard]] bool receives_wedged() const override { return false; }  // I5
  [[nodiscard]] bool delivers_wedged() const override { return false; }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& /*goes_on*/) const override {
    return false;
  }

 private:
  std::uint64_t told_ = 0;
};

}  // namespace tutti
