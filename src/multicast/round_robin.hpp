/// \file round_robin.hpp
/// The order round_robin: round k holds one message of each sender, in sender order; a sender with
/// nothing to say gives its round up with a null. The position of (round, sender) is
/// round * senders + sender.
///
/// Invariant I3: our rounds reach those of any sender we have received from, up to where
/// our message would precede its newest one; never beyond. So nulls answer messages, a null is
/// never answered by a later null, and a silent group is silent (quiescence).
/// Threads: the predicate thread. Source: [Spindle, 2.1, 3.3].
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/round_cut.hpp"
#include "multicast/total_order.hpp"

namespace tutti {

template <class Memory>
class RoundRobin : public TotalOrder<Memory> {
 public:
  RoundRobin(ViewState<Memory>& state, const Stability<Memory>& stability)
      : TotalOrder<Memory>(state), stability_(stability) {}

  [[nodiscard]] std::uint64_t rounds_owed() const override;
  void publish_received() override;

  [[nodiscard]] std::uint64_t undelivered() const override;

  [[nodiscard]] std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on,
                                            const Follower<Memory>& follower) override;
  [[nodiscard]] std::optional<ViewEnd> count_cut(const Cut& cut, std::uint64_t first_seq,
                                                 const Follower<Memory>& follower) const override;
  void set_end(const Cut& cut, const ViewEnd& end) override;
  [[nodiscard]] bool at_cut(const Cut& cut, const ViewEnd& end,
                            const Follower<Memory>& follower) const override;
  [[nodiscard]] bool is_sensible(const Cut& cut) const override;

 protected:
  using TotalOrder<Memory>::state_;

  /// The round of the first record of a sender that goes on, from round `from` on: kNoRound if it
  /// has none. Nothing: not known yet, or what it says cannot be.
  [[nodiscard]] virtual std::optional<std::uint64_t> first_lacking(
      SenderIndex sender, std::uint64_t from, const Follower<Memory>& follower);

 private:
  [[nodiscard]] std::uint64_t position(std::uint64_t round, SenderIndex sender) const {
    return round * state_.shape.senders() + sender.value;
  }
  [[nodiscard]] std::uint64_t rounds_before(std::uint64_t position,
                                            SenderIndex sender) const override {
    const std::uint64_t senders = state_.shape.senders();
    return position / senders + (sender.value < position % senders ? 1 : 0);
  }
  [[nodiscard]] bool find_received(const IndexedBy<Rank, bool>& goes_on, RoundCut& cut) const;
  void keep_causes(const IndexedBy<Rank, bool>& goes_on, RoundCut& cut) const;

  const Stability<Memory>& stability_;
};

}  // namespace tutti
