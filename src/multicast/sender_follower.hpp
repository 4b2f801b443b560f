/// \file sender_follower.hpp
/// Delivers where senders are not ordered among each other: of each sender what it has, in turn.
/// Messages are numbered by sender, over all its views in the group.
/// Threads: see Follower.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "multicast/follower.hpp"

namespace tutti {

template <class Memory>
class SenderFollower final : public Follower<Memory> {
 public:
  SenderFollower(const GroupShape& shape, Memory memory, const Bounds& bounds,
                 DeliveryCallback callback, DeliveryTotals& totals)
      : Follower<Memory>(shape, memory, bounds, std::move(callback), totals),
        earlier_(shape.senders()) {}

  void number_on(const Follower<Memory>& before, const GroupShape& of_view) override;

 private:
  using Base = Follower<Memory>;
  using Base::consumed_;
  using Base::cursors_;
  using Base::pass;
  using Base::shape_;
  using typename Base::Filling;

  void fill(Filling& filling) override;
  [[nodiscard]] std::uint64_t position_here() const override { return 0; }
  bool publish_consumed(SenderIndex sender, bool done) override;

  IndexedBy<SenderIndex, std::uint64_t> earlier_;  // messages in earlier views
  SenderIndex turn_{};                             // whose records come next
};

}  // namespace tutti
