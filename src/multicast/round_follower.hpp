/// \file round_follower.hpp
/// Delivers in the order round_robin: round by round, in each the senders in their order, nulls
/// left out.
/// Threads: see Follower. Source: [Spindle, 2.1].
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "multicast/follower.hpp"

namespace tutti {

template <class Memory>
class RoundFollower final : public Follower<Memory> {
 public:
  RoundFollower(const GroupShape& shape, Memory memory, const Bounds& bounds,
                DeliveryCallback callback, DeliveryTotals& totals)
      : Follower<Memory>(shape, memory, bounds, std::move(callback), totals),
        active_(shape.senders()) {}

 private:
  using Base = Follower<Memory>;
  using Base::cursors_;
  using Base::lay_out;
  using Base::pass;
  using Base::peek;
  using Base::records_before_wrap;
  using Base::round_;
  using Base::sender_;
  using Base::shape_;
  using Base::skip;
  using typename Base::Cursor;
  using typename Base::Filling;

  void fill(Filling& filling) override;
  [[nodiscard]] std::uint64_t position_here() const override {
    return round_ * shape_.senders() + sender_.value;
  }

  bool run_round(Filling& filling);
  bool run_block(Filling& filling);
  [[nodiscard]] std::uint64_t known_after(const Cursor& cursor) const;
  bool skip_empty_rounds();

  std::vector<SenderIndex> active_;  // of run_block(): the senders that have records
};

}  // namespace tutti
