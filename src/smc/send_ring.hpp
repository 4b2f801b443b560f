/// \file send_ring.hpp
/// One's own ring buffer: application threads claim space, fill it and commit; the predicate thread
/// takes the longest committed prefix and gives space back.
///
/// Invariants:
///  SR1  Claims are handed out in ring order: by plain stores while one thread claims (ClaimBias),
///      by one compare-and-swap once there are more; no lock anywhere.
///  SR2  Commits may finish in any order; take() returns only a prefix without holes.
///  SR3  claimed - released <= capacity, in granules and in records: space is claimed again only
///      after release(), which the caller makes once every member has delivered it.
///  SR5  With an alignment of more than a granule each claim takes a multiple of it. So if the ring
///      begins a granule before such an address, the data of each record lies on one. A pad fills
///      what the record leaves of its claim (R1), in front of the next: readers know of pads only.
///      Such a ring is shared from the start: rings without alignment pay nothing.
///  SR4  After close() no claim succeeds, and those made before it are all still taken.
/// Threads: claim, shrink, commit, close: any. take, stamp, release, rebase, closed_and_empty: the
/// predicate's, which also asks ready().
/// Source: [Spindle, 2.3, 3.1, 3.4]; records of variable length instead of fixed slots.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "smc/claim_bias.hpp"
#include "smc/record.hpp"
#include "sst/memory.hpp"

namespace tutti {

class SendRing {
 public:
  enum class Outcome : std::uint8_t { ok, full, closed };

  struct Space {
    std::byte* payload = nullptr;
    std::uint32_t end = 0;    ///< granule after the record
    std::uint64_t index = 0;  ///< record number, from 0
  };

  /// Records taken by one send predicate: `count` from number `first`, in the ring from granule
  /// `begin` up to `end`, both modulo 2^32.
  struct Batch {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  /// `granules` and `records` are powers of two; the ring is zeroed memory of our own row. Records'
  /// data is aligned to `alignment` bytes, a power of two (SR5).
  SendRing(std::byte* ring, std::uint32_t granules, std::uint32_t records,
           std::uint32_t alignment = kGranule);

  /// Asks for `bytes` of payload, at most half the ring. Inline, like commit(): together they are
  /// most of what a small message costs its sender.
  [[nodiscard]] Outcome claim(std::uint32_t bytes, Space& space) noexcept;

  /// The record is to have its first `bytes` bytes alone, at most as many as were claimed. Space
  /// behind it is free again, if none was claimed after it; else a pad fills it (R1). Commit what
  /// this returns instead of `space`.
  [[nodiscard]] Space shrink(const Space& space, std::uint32_t bytes) noexcept;

  /// Makes a claimed record ready for take().
  void commit(const Space& space) noexcept;

  /// The same for a message of Service::safe (R5).
  void commit_safe(const Space& space) noexcept;

  /// The same for a tick, for which kTickBytes were claimed (R6).
  void commit_tick(const Space& space) noexcept;

  /// The same for a record that shall not be delivered (R2).
  void abandon(const Space& space) noexcept;

  /// No claim succeeds from now on (SR4).
  void close() noexcept {
    bias_.share();
    claimed_.fetch_or(kClosedBit, std::memory_order_seq_cst);
    closing_.store(true, std::memory_order_release);  // pairs with closed_and_empty()
  }

  /// The longest committed prefix, at most `max_bytes` of ring (but always one record if there is
  /// one) and `max_records`.
  [[nodiscard]] Batch take(std::uint32_t max_bytes,
                           std::uint32_t max_records = std::numeric_limits<std::uint32_t>::max());

  /// How many records take() would find now.
  [[nodiscard]] std::uint32_t ready(std::uint32_t max_bytes, std::uint32_t max_records) const {
    return prefix(max_bytes, max_records).count;
  }

  /// Writes into the batch's first header which round it takes up, since nulls came before (R3).
  void stamp(const Batch& batch, std::uint64_t round, std::uint64_t view);

  /// Space of all records before number `records` may be claimed again (SR3).
  void release(std::uint64_t records);

  /// View `view` starts: it takes records from number `records` on again (R4). Returns the granule
  /// where the next record starts. Nothing is released: others may still read what comes before.
  std::uint32_t rebase(std::uint64_t records, std::uint64_t view);

  /// Records that were ever claimed. Any thread; exact once closed.
  [[nodiscard]] std::uint64_t claimed() const {
    const std::uint64_t released = released_records_.load(std::memory_order_acquire);
    const auto count = static_cast<std::uint32_t>(claimed_.load(std::memory_order_acquire));
    return released + ((count - static_cast<std::uint32_t>(released)) & kCountMask);
  }

  /// Whether a claim of so many bytes would find space now. Any thread.
  [[nodiscard]] bool has_space_for(std::uint32_t bytes) const;

  /// Of the records from number taken() on, which are claimed and neither committed nor abandoned
  /// so far. Once closed, and when nobody takes any more.
  [[nodiscard]] std::vector<bool> unfinished() const;

  /// True once closed and every claim made has been taken.
  [[nodiscard]] bool closed_and_empty() const;

  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t released() const {
    return released_records_.load(std::memory_order_relaxed);
  }

 private:
  void set_kind(const Space& space, std::uint32_t bits) noexcept;
  [[nodiscard]] bool give_back(std::uint32_t end, std::uint32_t granules) noexcept;
  [[nodiscard]] std::uint32_t granules_of(RecordHeader header, std::uint32_t granule) const;
  [[nodiscard]] Batch prefix(std::uint32_t max_bytes, std::uint32_t max_records) const;

  struct Released {
    std::uint64_t records = 0;
    std::uint32_t granules = 0;
  };
  [[nodiscard]] Released released_now() const;

  // How a claim is made; `aligned`: shared, and of whole units of the alignment (SR5).
  enum class Sharing : std::uint8_t { alone, shared, aligned };
  template <Sharing sharing>
  Outcome claim_as(std::uint32_t bytes, Released released, Space& space) noexcept;
  Outcome claim_shared(std::uint32_t bytes, Space& space) noexcept;

  // The granules that a claim takes for so many (SR5).
  [[nodiscard]] std::uint32_t whole(std::uint32_t granules) const {
    return (granules + unit_granules_ - 1) & ~(unit_granules_ - 1);
  }

  // The claim word: granules claimed mod 2^32 | closed | records claimed mod 2^31.
  static constexpr std::uint64_t kClosedBit = 1ULL << 31;
  static constexpr std::uint32_t kCountMask = (1U << 31) - 1;

  [[nodiscard]] std::byte* at(std::uint32_t granule) const {
    return ring_ + static_cast<std::size_t>(granule & granule_mask_) * kGranule;
  }
  // A ready entry is end | lap: the lap (from 1) tells this record from the one before in its slot.
  [[nodiscard]] std::uint32_t lap(std::uint64_t index) const {
    return static_cast<std::uint32_t>(index >> record_bits_) + 1;
  }

  std::byte* ring_;
  std::uint32_t granule_mask_;
  std::uint32_t record_mask_;
  int record_bits_;
  std::uint32_t unit_granules_;  // of the alignment
  std::unique_ptr<std::atomic<std::uint64_t>[]> ready_;

  alignas(64) std::atomic<std::uint64_t> claimed_{0};
  ClaimBias bias_;
  Released seen_released_;                        // inside bias_ only
  alignas(64) std::atomic<bool> closing_{false};  // so that asking need not touch claimed_
  alignas(64) std::atomic<std::uint64_t> released_records_{0};
  std::atomic<std::uint32_t> released_granules_{0};

  alignas(64) std::uint64_t taken_ = 0;
  std::uint32_t taken_granules_ = 0;
  std::uint32_t stamped_granules_ = 0;  // the most that taken_granules_ was: stamps end there
};

}  // namespace tutti

#include "smc/send_ring_claim.hpp"  // IWYU pragma: keep
