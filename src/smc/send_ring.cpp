#include "smc/send_ring.hpp"

#include <bit>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

SendRing::SendRing(std::byte* ring, std::uint32_t granules, std::uint32_t records,
                   std::uint32_t alignment)
    : ring_(ring),
      granule_mask_(granules - 1),
      record_mask_(records - 1),
      record_bits_(std::countr_zero(records)),
      unit_granules_(alignment / kGranule),
      ready_(std::make_unique<std::atomic<std::uint64_t>[]>(records)) {
  TUTTI_ASSERT(ring != nullptr && reinterpret_cast<std::uintptr_t>(ring) % kGranule == 0);
  TUTTI_ASSERT(std::has_single_bit(granules), granules);
  TUTTI_ASSERT(std::has_single_bit(alignment) && unit_granules_ != 0 && unit_granules_ <= granules,
               alignment, granules);
  TUTTI_ASSERT((reinterpret_cast<std::uintptr_t>(ring) + kGranule) % alignment == 0, alignment);
  if (unit_granules_ != 1) bias_.share();  // SR5
  TUTTI_ASSERT(std::has_single_bit(records) && records <= (1U << 30), records);
}

SendRing::Outcome SendRing::claim_shared(std::uint32_t bytes, Space& space) noexcept {
  if (unit_granules_ != 1) return claim_as<Sharing::aligned>(bytes, released_now(), space);
  return claim_as<Sharing::shared>(bytes, released_now(), space);
}

void SendRing::set_kind(const Space& space, std::uint32_t bits) noexcept {
  std::byte* header = space.payload - kGranule;
  const RecordHeader claimed = unpack_header(NativeMemory::load(header));
  TUTTI_ASSERT((claimed.length_and_flags & kSafeBits) == 0, space.index, space.end);
  store_cell(header, pack_header(claimed) | bits);
}

SendRing::Space SendRing::shrink(const Space& space, std::uint32_t bytes) noexcept {
  std::byte* header = space.payload - kGranule;
  const RecordHeader claimed = unpack_header(NativeMemory::load(header));
  TUTTI_ASSERT(claimed.length_and_flags <= kLengthMask && bytes <= claimed.length(),
               claimed.length_and_flags, bytes, space.index);
  store_cell(header, pack_header({bytes, 0}));
  const std::uint32_t record = record_granules(claimed.length());
  const std::uint32_t used = record_granules(bytes);
  if (used == record) return space;
  const std::uint32_t end = space.end - record + used;
  const std::uint32_t left = whole(record) - whole(used);
  std::uint32_t pad = whole(record) - used;
  if (left != 0 && give_back(end + pad, left)) pad -= left;
  if (pad != 0) store_cell(at(end), pack_header({kPadBit | pad, 0}));
  return {space.payload, end, space.index};
}

// The last granules that were claimed, up to `end`: they may be claimed again. False if others were
// claimed since. A closed ring allows it, too: claims made before are still taken (SR4).
bool SendRing::give_back(std::uint32_t end, std::uint32_t granules) noexcept {
  const std::uint64_t back = static_cast<std::uint64_t>(granules) << 32;
  std::uint64_t word = 0;
  const auto is_last = [&] { return static_cast<std::uint32_t>(word >> 32) == end; };
  if (bias_.enter()) {
    word = claimed_.load(std::memory_order_relaxed);
    const bool last = is_last();
    if (last) claimed_.store(word - back, std::memory_order_relaxed);
    bias_.leave();
    return last;
  }
  word = claimed_.load(std::memory_order_relaxed);
  // Release: pairs with claim(): what was written there before is overwritten after it.
  while (is_last() && !claimed_.compare_exchange_weak(word, word - back, std::memory_order_release,
                                                      std::memory_order_relaxed)) {
  }
  return is_last();
}

void SendRing::commit_safe(const Space& space) noexcept {
  set_kind(space, kSafeBits);
  commit(space);
}

void SendRing::commit_tick(const Space& space) noexcept {
  set_kind(space, kTickLength);  // it has all bits of a length
  commit(space);
}

void SendRing::abandon(const Space& space) noexcept {
  set_kind(space, kAbandonedBit);
  commit(space);
}

SendRing::Batch SendRing::prefix(std::uint32_t max_bytes, std::uint32_t max_records) const {
  Batch batch{taken_, 0, taken_granules_, taken_granules_};
  const auto max_granules = static_cast<std::uint32_t>(max_bytes / kGranule);
  while (batch.count < max_records) {
    const std::uint64_t index = taken_ + batch.count;
    // Acquire: pairs with commit(): the record's bytes are there.
    const std::uint64_t entry = ready_[index & record_mask_].load(std::memory_order_acquire);
    if (static_cast<std::uint32_t>(entry) != lap(index)) break;
    const auto end = static_cast<std::uint32_t>(entry >> 32);
    if (batch.count != 0 && end - batch.begin > max_granules) break;
    batch.end = end;
    ++batch.count;
  }
  TUTTI_ASSERT(batch.end - batch.begin <= granule_mask_ + 1, batch.begin, batch.end);  // SR3
  return batch;
}

SendRing::Batch SendRing::take(std::uint32_t max_bytes, std::uint32_t max_records) {
  const Batch batch = prefix(max_bytes, max_records);
  taken_ += batch.count;
  taken_granules_ = batch.end;
  if (static_cast<std::int32_t>(batch.end - stamped_granules_) > 0) stamped_granules_ = batch.end;
  return batch;
}

void SendRing::stamp(const Batch& batch, std::uint64_t round, std::uint64_t view) {
  TUTTI_ASSERT(batch.count != 0, batch.first, view);
  TUTTI_ASSERT(batch.first + batch.count == taken_, batch.first, batch.count, taken_, view);
  std::byte* header = at(batch.begin);
  RecordHeader first = unpack_header(NativeMemory::load(header));
  first.length_and_flags = (first.length_and_flags & ~kViewMask) | kStampedBit | view_tag(view);
  first.round = static_cast<std::uint32_t>(round);
  store_cell(header, pack_header(first));
}

void SendRing::release(std::uint64_t records) {
  const std::uint64_t released = released_records_.load(std::memory_order_relaxed);
  if (records == released) return;
  TUTTI_ASSERT(records > released && records <= taken_, records, released, taken_);
  const std::uint64_t entry = ready_[(records - 1) & record_mask_].load(std::memory_order_relaxed);
  TUTTI_ASSERT(static_cast<std::uint32_t>(entry) == lap(records - 1), entry, records);  // SR2
  // Release: pairs with claim(). The members' reads of the space happened before their delivered
  // counters, which the predicate thread has read.
  released_granules_.store(static_cast<std::uint32_t>(entry >> 32), std::memory_order_release);
  released_records_.store(records, std::memory_order_release);
}

std::uint32_t SendRing::rebase(std::uint64_t records, std::uint64_t view) {
  const std::uint64_t released = released_records_.load(std::memory_order_relaxed);
  TUTTI_ASSERT(records >= released && records <= taken_, records, released, taken_, view);
  std::uint32_t begin = released_granules_.load(std::memory_order_relaxed);
  if (records != released) {
    const std::uint64_t last = ready_[(records - 1) & record_mask_].load(std::memory_order_relaxed);
    TUTTI_ASSERT(static_cast<std::uint32_t>(last) == lap(records - 1), last, records, view);
    begin = static_cast<std::uint32_t>(last >> 32);
  }
  // Stamps of the view that ends stay, for members that have still to reach its end. Older ones go,
  // before they are so old that they look like those of a later view; also those of records that no
  // view has taken again since.
  for (std::uint32_t granule = begin; granule != stamped_granules_;) {
    const RecordHeader header = unpack_header(NativeMemory::load(at(granule)));
    if (header.stamped() && header.stamp_seen_from(view - 1) == StampFrom::earlier) {
      store_cell(at(granule),
                 pack_header({header.length_and_flags & ~(kStampedBit | kViewMask), 0}));
    }
    granule += granules_of(header, granule);
    // Headers are our own, and lead to where they were taken up to.
    TUTTI_ASSERT(stamped_granules_ - granule <= granule_mask_, granule, stamped_granules_, view);
  }
  taken_ = records;
  taken_granules_ = begin;
  return begin & granule_mask_;
}

// Of the record or pad at that granule, one's own.
std::uint32_t SendRing::granules_of(RecordHeader header, std::uint32_t granule) const {
  if (!header.pad()) return record_granules(header.length());
  return header.length() != 0 ? header.length() : granule_mask_ + 1 - (granule & granule_mask_);
}

bool SendRing::has_space_for(std::uint32_t bytes) const {
  const Released released = released_now();
  const std::uint64_t word = claimed_.load(std::memory_order_relaxed);
  const std::uint32_t in_use =
      (static_cast<std::uint32_t>(word) - static_cast<std::uint32_t>(released.records)) &
      kCountMask;
  const auto begin = static_cast<std::uint32_t>(word >> 32);
  const std::uint32_t need = whole(record_granules(bytes));
  const std::uint32_t left = granule_mask_ + 1 - (begin & granule_mask_);
  const std::uint32_t pad = need > left ? left : 0;
  return in_use <= record_mask_ && begin - released.granules + pad + need <= granule_mask_ + 1;
}

std::vector<bool> SendRing::unfinished() const {
  TUTTI_ASSERT(claimed() >= taken_ && claimed() - taken_ <= record_mask_ + 1, claimed(), taken_);
  std::vector<bool> out(claimed() - taken_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t index = taken_ + i;
    // Acquire: pairs with commit().
    const std::uint64_t entry = ready_[index & record_mask_].load(std::memory_order_acquire);
    out[i] = static_cast<std::uint32_t>(entry) != lap(index);
  }
  return out;
}

bool SendRing::closed_and_empty() const {
  if (!closing_.load(std::memory_order_acquire)) return false;
  const std::uint64_t word = claimed_.load(std::memory_order_acquire);
  return (word & kClosedBit) != 0 && (static_cast<std::uint32_t>(word) & kCountMask) ==
                                         (static_cast<std::uint32_t>(taken_) & kCountMask);
}

}  // namespace tutti
