/// \file number_follower.hpp
/// Delivers in the order of numbers that a token has given: each number is one record's.
/// Threads: see Follower. Source: [Accelerated Ring, III-B].
#pragma once
#include <cstdint>
#include <utility>

#include "multicast/follower.hpp"

namespace tutti {

template <class Memory>
class NumberFollower final : public Follower<Memory> {
 public:
  NumberFollower(const GroupShape& shape, Memory memory, const Bounds& bounds,
                 DeliveryCallback callback, DeliveryTotals& totals)
      : Follower<Memory>(shape, memory, bounds, std::move(callback), totals) {}

 private:
  using Base = Follower<Memory>;
  using Base::cursors_;
  using Base::lay_out;
  using Base::pass;
  using Base::peek;
  using Base::records_before_wrap;
  using Base::round_;
  using Base::safe_;
  using Base::shape_;
  using Base::skip;
  using typename Base::Filling;

  void fill(Filling& filling) override;
  [[nodiscard]] std::uint64_t position_here() const override { return round_; }

  [[nodiscard]] bool find_next();
  bool pass_run(Filling& filling, std::uint64_t end);

  SenderIndex turn_{};  // whose record had the last number
};

}  // namespace tutti
