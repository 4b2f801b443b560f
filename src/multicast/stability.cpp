#include "multicast/stability.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

template <class Memory>
class AllReceived final : public Stability<Memory> {
 public:
  explicit AllReceived(ViewState<Memory>& state)
      : Stability<Memory>(state), least_(state.shape.senders()) {}

  // I2.
  bool find(bool /*fresh*/) override {
    ViewState<Memory>& state = this->state_;
    const bool entered = state.blocks.have_all_entered();
    bool unstable = false;
    for (const SenderIndex s : state.shape.sender_indices()) {
      if (state.stable[s] == state.received[s]) continue;
      unstable = true;
      std::uint64_t least = state.received[s];
      for (const Rank m : state.shape.ranks()) {
        if (m != state.shape.self) {
          least = std::min(least, state.blocks.load(m, ControlWords::kReceived[s]));
        }
      }
      least_[s] = least;
    }
    if (!unstable) return false;
    const bool counts = entered && state.blocks.are_all_in_view();  // L3: one look for all words
    bool advanced = false;
    for (const SenderIndex s : state.shape.sender_indices()) {
      if (state.stable[s] == state.received[s]) continue;
      if (counts && least_[s] > state.stable[s]) {
        state.stable[s] = least_[s];
        advanced = true;
      }
      state.set_bounds(s);
    }
    return advanced;
  }
  [[nodiscard]] bool receives_wedged() const override { return false; }  // I5
  [[nodiscard]] bool delivers_wedged() const override { return false; }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& /*goes_on*/) const override {
    return false;
  }

 private:
  IndexedBy<SenderIndex, std::uint64_t> least_;  // scratch
};

template <class Memory>
class AtOnce : public Stability<Memory> {
 public:
  using Stability<Memory>::Stability;

  bool find(bool fresh) override {
    if (fresh) raise();
    return false;
  }
  [[nodiscard]] bool receives_wedged() const override { return true; }
  [[nodiscard]] bool delivers_wedged() const override { return true; }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& /*goes_on*/) const override {
    return false;
  }

 protected:
  void raise() {
    ViewState<Memory>& state = this->state_;
    for (const SenderIndex s : state.shape.sender_indices()) {
      state.stable[s] = state.received_of(s);
      state.set_bounds(s);
    }
  }
};

template <class Memory>
class OnReceipt final : public AtOnce<Memory> {
 public:
  using AtOnce<Memory>::AtOnce;

  // I7.
  bool start() override {
    ViewState<Memory>& state = this->state_;
    if (started_ || state.unmet != 0 || state.wedged) return false;
    if (!state.has_met_all(state.shape.self)) {
      state.blocks.say(
          ControlWords::kBase,
          state.blocks.load(state.shape.self, ControlWords::kBase) | ControlWords::kMetAll);
    }
    for (const Rank m : state.shape.ranks()) {
      if (!state.has_met_all(m)) return false;
    }
    started_ = true;
    for (const SenderIndex s : state.shape.sender_indices()) {
      TUTTI_ASSERT(state.stable[s] == 0, state.stable[s], s, state.shape.view);  // I7
    }
    this->raise();
    return true;
  }
  bool find(bool fresh) override {
    return AtOnce<Memory>::find(fresh && started_ && !this->state_.wedged);
  }
  [[nodiscard]] bool delivers_wedged() const override { return false; }
  [[nodiscard]] bool passes_on() const override { return true; }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& goes_on) const override {
    for (const Rank m : this->state_.shape.ranks()) {
      if (goes_on[m] && !this->state_.has_met_all(m)) return false;
    }
    return true;
  }

 private:
  bool started_ = false;
};

}  // namespace

template <class Memory>
std::unique_ptr<Stability<Memory>> make_receipt_rule(ViewState<Memory>& state) {
  switch (state.shape.level) {
    case Level::agreed:
      return std::make_unique<OnReceipt<Memory>>(state);
    case Level::unordered:
      return std::make_unique<AtOnce<Memory>>(state);
    default:
      return std::make_unique<AllReceived<Memory>>(state);
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template std::unique_ptr<Stability<NativeMemory>> make_receipt_rule(ViewState<NativeMemory>&);
#endif

}  // namespace tutti
