/// \file group_sends.hpp
/// What a Group does for each message that is sent, inline: one call of the application's leads to
/// the ring, from C++ and from C alike.
#pragma once
#include "node/group_core.hpp"

namespace tutti {

/// Of the claim with that index, from its commit on.
[[nodiscard]] constexpr Ticket ticket_of(std::uint64_t index) { return Ticket{index + 1}; }

inline Claim GroupCore::try_claim(std::uint32_t size) noexcept {
  Claim claim;
  // Acquire: pairs with open(): the ring is whole.
  SendRing* ring = ring_.load(std::memory_order_acquire);
  if (ring == nullptr) {
    const Subgroup<NativeMemory>* open = open_.load(std::memory_order_acquire);
    const bool sends = open == nullptr || open->is_sender();
    claim.outcome_ = sends ? ClaimOutcome::stopped : ClaimOutcome::not_sender;
    return claim;
  }
  if (size > options_.message_max_bytes) {
    claim.outcome_ = ClaimOutcome::too_large;
    return claim;
  }
  SendRing::Space space;
  const SendRing::Outcome outcome = ring->claim(size, space);
  if (outcome != SendRing::Outcome::ok) [[unlikely]] {
    sender_waits_.fetch_add(outcome == SendRing::Outcome::full, std::memory_order_relaxed);
    claim.outcome_ =
        outcome == SendRing::Outcome::full ? ClaimOutcome::full : ClaimOutcome::stopped;
    return claim;
  }
  claim.core_ = this;
  claim.data_ = space.payload;
  claim.size_ = size;
  claim.end_ = space.end;
  claim.index_ = space.index;
  claim.outcome_ = ClaimOutcome::ok;
  return claim;
}

inline void GroupCore::notify_work() noexcept {
  fence_.light();  // T3: pairs with the heavy one in NodeCore::doze()
  wake_sleeper();
}

inline void GroupCore::wake_sleeper() noexcept {
  if (asleep_->load(std::memory_order_relaxed) % 2 != 0) [[unlikely]]
    ring_doorbell();
}

inline void GroupCore::commit(Claim& claim) noexcept {
  ring_.load(std::memory_order_relaxed)->commit(space_of(claim));
  claim.core_ = nullptr;
  notify_claim_ended(claim.index_);
}

inline Ticket GroupCore::commit_own(Claim& claim) noexcept {
  if (claim.core_ != this) [[unlikely]] {
    refuse(claim, {});
    return Ticket{0};
  }
  const Ticket ticket = ticket_of(claim.index_);
  commit(claim);
  return ticket;
}

inline void GroupCore::notify_claim_ended(std::uint64_t index) noexcept {
  fence_.light();  // T3, and C1: pairs with the heavy one in count_late_claims()
  if (over_.load(std::memory_order_relaxed)) [[unlikely]]
    return late_claim_ended(index);
  wake_sleeper();
}

class GroupSends {
 public:
  [[nodiscard]] static GroupCore& core_of(const Group& group) noexcept { return *group.core_; }
};

}  // namespace tutti
