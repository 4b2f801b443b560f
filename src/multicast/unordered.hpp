/// \file unordered.hpp
/// The order none: each sender's messages in its order, and nothing between senders. There are no
/// nulls, so a round is a record. `received` says what was delivered, and a member's position is
/// what it has delivered of our records.
///
/// A cut drops nothing: those who go on deliver all that each of them sent before it wedged, and of
/// the others each what it has.
/// Threads: the predicate thread.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/order.hpp"

namespace tutti {

template <class Memory>
class Unordered final : public GroupOrder<Memory> {
 public:
  using GroupOrder<Memory>::GroupOrder;

  [[nodiscard]] std::uint64_t rounds_owed() const override { return 0; }
  void publish_received() override {}
  void publish_consumed(SenderIndex sender, std::uint64_t rounds) override;

  [[nodiscard]] bool is_total() const override { return false; }
  [[nodiscard]] std::uint64_t position_of(Rank member) const override;
  [[nodiscard]] std::uint64_t own_position() const override { return state_.own_sent.rounds; }
  [[nodiscard]] std::uint64_t own_rounds_before(std::uint64_t position) const override;
  [[nodiscard]] std::uint64_t undelivered() const override { return 0; }

  [[nodiscard]] std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on,
                                            const Follower<Memory>& follower) override;
  [[nodiscard]] std::optional<ViewEnd> count_cut(const Cut& cut, std::uint64_t first_seq,
                                                 const Follower<Memory>& follower) const override;
  void set_end(const Cut& cut, const ViewEnd& end) override;
  [[nodiscard]] bool at_cut(const Cut& cut, const ViewEnd& end,
                            const Follower<Memory>& follower) const override;
  [[nodiscard]] bool is_sensible(const Cut& cut) const override;

 private:
  using GroupOrder<Memory>::state_;
};

}  // namespace tutti
