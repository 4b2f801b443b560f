/// \file own_space.hpp
/// When the space of our own records may be used again: the same in every order, which says only
/// what the others have passed.
///
/// Invariant I4: our space is released only once every member has delivered it; that of records of
/// earlier views once every member of this one has delivered all of those (ControlWords::kDrained).
/// Threads: the predicate thread.
#pragma once
#include <cstdint>

#include "flow/round_map.hpp"
#include "smc/send_ring.hpp"
#include "sst/control_blocks.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// What lies in our row for the readers of records of earlier views.
struct EarlierViews {
  std::byte* control = nullptr;    ///< our block of the view before, or null
  std::byte* reclaimed = nullptr;  ///< GroupOffsets::reclaimed, null if we are no sender
};

template <class Memory>
class OwnSpace {
 public:
  /// `ring`: null if we are no sender. `base_records` of ours came before this view.
  OwnSpace(ControlBlocks<Memory>& blocks, std::uint64_t view, Rank self, SendRing* ring,
           std::uint64_t base_records, std::uint32_t window_records, const EarlierViews& earlier,
           Memory memory);

  /// Of our records in this view those from number `record` on are in rounds from `round` on.
  void sent(std::uint64_t record, std::uint64_t round) { round_map_.add(record, round); }

  /// Every member has passed so many of our rounds, of the `sent` records that we sent in this
  /// view. True if that released anything.
  bool release(std::uint64_t rounds, std::uint64_t sent);
  /// To be asked before release(), which may release something if it is true. The first time that
  /// every member has drained, it says that space of earlier views is used again (Y5).
  [[nodiscard]] bool begin_release(std::uint64_t sent) {
    return ring_->released() != base_records_ + sent &&
           (all_drained_ || (!held_ && find_all_drained()));
  }

  /// While held, nothing that earlier views delivered is released, nor what came after it.
  void hold(bool held) {
    TUTTI_ASSERT(!held || !all_drained_, view_, self_);
    held_ = held;
  }

  /// Tells the others that this member has delivered all of the views before this one (I4).
  void set_drained();
  [[nodiscard]] bool drained() const { return drained_; }

 private:
  bool find_all_drained();

  ControlBlocks<Memory>& blocks_;
  const std::uint64_t view_;
  const Rank self_;
  SendRing* const ring_;
  const std::uint64_t base_records_;
  const EarlierViews earlier_;
  Memory memory_;
  RoundMap round_map_;
  std::uint64_t released_rounds_ = 0;
  bool drained_;              // as published; nothing comes before view 0
  bool all_drained_ = false;  // every member
  bool held_ = false;
};

}  // namespace tutti
