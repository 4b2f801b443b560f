/// \file agreed_and_safe.hpp
/// The rule of Level::agreed in the order token_ring: a message is delivered once it is here with
/// all before it. One of Service::safe is delivered once every member has it too, and what comes
/// after it in the sequence waits with it.
///
/// What is here is the business of the rule that every order has at that level. This one adds how
/// far all members have everything; which messages wait for it, the follower sees in their headers.
/// Threads: the predicate thread. Source: [Accelerated Ring, II], the two services.
#pragma once
#include <memory>

#include "multicast/stability.hpp"

namespace tutti {

template <class Memory>
class AgreedAndSafe final : public Stability<Memory> {
 public:
  explicit AgreedAndSafe(ViewState<Memory>& state)
      : Stability<Memory>(state), agreed_(make_receipt_rule(state)) {}

  bool find(bool fresh) override {
    const bool more = agreed_->find(fresh);
    const ViewState<Memory>& state = this->state_;
    if (state.safe == told_) return more;
    told_ = state.safe;
    state.bounds.set_safe(told_);
    return true;
  }
  bool start() override { return agreed_->start(); }
  [[nodiscard]] bool receives_wedged() const override { return agreed_->receives_wedged(); }
  [[nodiscard]] bool delivers_wedged() const override { return agreed_->delivers_wedged(); }
  [[nodiscard]] bool passes_on() const override { return agreed_->passes_on(); }
  [[nodiscard]] bool delivers_alone(const IndexedBy<Rank, bool>& goes_on) const override {
    return agreed_->delivers_alone(goes_on);
  }

 private:
  const std::unique_ptr<Stability<Memory>> agreed_;
  std::uint64_t told_ = 0;
};

}  // namespace tutti
