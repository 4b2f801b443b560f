/// \file forged_member.hpp
/// One member's Multicast over a forged table.
#pragma once
#include <optional>

#include "multicast/multicast.hpp"
#include "support/forged_table.hpp"

namespace tutti::testing {

class ForgedMember {
 public:
  ForgedMember(ForgedTable& table, std::uint32_t self, std::uint64_t view = 0)
      : shape_(table.shape(self)), bounds_(shape_.senders()) {
    shape_.view = view;
    if (shape_.own_sender != kNoSender) {
      ring_.emplace(shape_.own_ring, shape_.ring_granules, shape_.window_records);
    }
    multicast_.emplace(shape_, NativeMemory{}, ring_ ? &*ring_ : nullptr, bounds_, counters);
  }

  /// One step; its outbox stays to be looked at.
  bool step() { return multicast_->step(out); }

  /// Commits a message. False: no space.
  bool commit(std::uint32_t bytes = 8) {
    SendRing::Space space;
    if (ring_->claim(bytes, space) != SendRing::Outcome::ok) return false;
    ring_->commit(space);
    return true;
  }

  Multicast<NativeMemory>* operator->() { return &*multicast_; }
  [[nodiscard]] SendRing& ring() { return *ring_; }
  [[nodiscard]] SenderBounds bounds(std::uint32_t sender) const {
    return bounds_.get(SenderIndex{sender});
  }

  [[nodiscard]] std::uint64_t safe() const { return bounds_.safe(); }

  Outbox out;
  MulticastCounters counters;

 private:
  GroupShape shape_;
  Bounds bounds_;
  std::optional<SendRing> ring_;
  std::optional<Multicast<NativeMemory>> multicast_;
};

}  // namespace tutti::testing
