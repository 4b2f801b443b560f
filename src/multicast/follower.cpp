#include "multicast/follower.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "multicast/follower_walk.hpp"
#include "multicast/view_state.hpp"
#include "sst/control_words.hpp"
#include "sst/memory.hpp"

namespace tutti {
template <class Memory>
Follower<Memory>::Follower(const GroupShape& shape, Memory memory, const Bounds& bounds,
                           DeliveryCallback callback, DeliveryTotals& totals)
    : shape_(shape),
      memory_(memory),
      cursors_(shape.senders()),
      consumed_(shape.senders()),
      bounds_(bounds),
      callback_(std::move(callback)),
      totals_(totals),
      seq_(shape.first_seq),
      told_cursors_(shape.senders()) {
  TUTTI_ASSERT(shape.sender_rings.size() == shape.senders(), shape.senders(), shape.view,
               shape.self);
  for (const SenderIndex s : shape.sender_indices()) cursors_[s].ring = shape.sender_rings[s];
  if (shape.own_sender == kNoSender) return;
  cursors_[shape.own_sender].first_ticket = shape.own_base_records + 1;
  cursors_[shape.own_sender].tickets_per_record = 1;
}

template <class Memory>
bool Follower<Memory>::run(std::size_t max_batches) {
  looked_at_.store(bounds_.moves(), std::memory_order_relaxed);  // N3: before the bounds are read
  if (!goes_on()) return false;
  refresh();
  bool moved = false;
  for (std::size_t i = 0; i < max_batches; ++i) {
    const Filling filling = fill_up_to(batch_.size());
    moved |= hand_over(filling);
    // N2: the view may have come to its end during the callback.
    const bool over = totals_.ended() || position() >= kDeliveredAll;
    if (!filling.full() || !bounds_.is_open() || over) break;
    if (bounds_.is_final() != final_) refresh();
  }
  return moved;
}

template <class Memory>
Taken Follower<Memory>::take(std::size_t max) {
  TUTTI_ASSERT(!lent_ && max != 0, max, shape_.view, shape_.self);
  looked_at_.store(bounds_.moves(), std::memory_order_relaxed);  // N3: before the bounds are read
  if (!goes_on()) return {};
  refresh();
  const Filling filling = fill_up_to(std::min(max, batch_.size()));
  const std::size_t size = messages_of(filling);
  if (size == 0) return {.messages = {}, .moved = publish()};
  if (!may_hand_over()) return {};
  lent_ = filling;
  return {.messages = {batch_.data(), size}};
}

template <class Memory>
bool Follower<Memory>::release() {
  TUTTI_ASSERT(lent_.has_value(), shape_.view, shape_.self);
  return count_delivered(*std::exchange(lent_, {}));
}

template <class Memory>
bool Follower<Memory>::goes_on() const {
  return corrupt() == kNobody && !stale() && position() < kDeliveredAll && !totals_.ended();
}

template <class Memory>
auto Follower<Memory>::fill_up_to(std::size_t max) -> Filling {
  Filling filling{batch_.data(), batch_.data() + max, seq_, limit_};
  fill(filling);
  seq_ = filling.seq;
  return filling;
}

template <class Memory>
std::size_t Follower<Memory>::messages_of(const Filling& filling) const {
  const auto size = static_cast<std::size_t>(filling.next - batch_.data());
  TUTTI_ASSERT(size <= batch_.size(), size, shape_.view, shape_.self);
  return size;
}

template <class Memory>
void Follower<Memory>::refresh() {
  final_ = bounds_.is_final();
  for (const SenderIndex s : shape_.sender_indices()) {
    Cursor& cursor = cursors_[s];
    cursor.bounds = bounds_.get(s);
    if (!cursor.entered && cursor.bounds.records != 0) {
      TUTTI_ASSERT(cursor.bounds.base < shape_.ring_granules && cursor.records == 0,
                   cursor.bounds.base, cursor.records, s, shape_.view, shape_.self);
      cursor.offset = cursor.bounds.base;
      cursor.entered = true;
      cursor.told = kUntold;
    }
    TUTTI_ASSERT(final_ || cursor.records <= cursor.bounds.records, cursor.records,
                 cursor.bounds.records, s, shape_.view, shape_.self);                // N1
    if (final_ && cursor.records >= cursor.bounds.records) cursor.round = kNoRound;  // it was there
    if (cursor.round == kNoRound && cursor.records < cursor.bounds.records) peek(cursor);
  }
  safe_ = final_ ? kNoRound : bounds_.safe();
  if (waits_) limit_ = bounds_.durable();
}

// A header with flags: stamped with a round, modulo 2^32 and never behind ours (R3); a pad (R1);
// abandoned (R2); a tick (R6).
template <class Memory>
[[gnu::noinline]] void Follower<Memory>::peek_rare(Cursor& cursor, RecordHeader header) {
  // A sender may have been silent for more than 2^32 rounds: count from where delivery is.
  bool beyond = false;
  const auto stamp = [&](RecordHeader from) {
    if (!from.stamped()) return;
    const StampFrom view = from.stamp_seen_from(shape_.view);
    beyond |= view == StampFrom::later;
    if (view != StampFrom::this_view) return;
    cursor.next_round = std::max(cursor.next_round, round_);
    cursor.next_round += from.round - static_cast<std::uint32_t>(cursor.next_round);
  };
  stamp(header);
  for (int pads = 0; header.pad() && pads < kMostPads; ++pads) {
    const std::optional<std::uint32_t> next =
        offset_after(header, cursor.offset, shape_.ring_granules);
    if (!next) break;
    cursor.offset = *next;
    header = unpack_header(
        memory_.load(cursor.ring + static_cast<std::size_t>(cursor.offset) * kGranule));
    stamp(header);
  }
  if (beyond) cursor.next_round = kNoRound;
  cursor.abandoned = header.abandoned();
  cursor.safe = header.safe();
  cursor.tick = header.tick();
  const bool expected = cursor.tick ? has_time(cursor) : !header.pad();
  cursor.length = expected ? header.length() : kLengthMask;  // a pad too many, a tick: refused
}

// Of a tick: its group has ticks, and its time is one that times may follow.
template <class Memory>
bool Follower<Memory>::has_time(const Cursor& cursor) const {
  constexpr std::uint64_t kEnd = 1ULL << 63;
  if (shape_.tick_every_ns == 0 || cursor.offset + 2 > shape_.ring_granules) return false;
  const std::byte* data = cursor.ring + static_cast<std::size_t>(cursor.offset + 1) * kGranule;
  const std::uint64_t time_ns = memory_.load(data);
  return time_ns != 0 && time_ns < kEnd;
}

template <class Memory>
[[gnu::noinline]] void Follower<Memory>::note_tick(const Cursor& cursor) {
  const std::byte* data = cursor.ring + static_cast<std::size_t>(cursor.offset + 1) * kGranule;
  totals_.last_tick_ns.store(memory_.load(data), std::memory_order_relaxed);
}

// Y4. Nothing of this sender is known any more: delivery stops before it.
template <class Memory>
[[gnu::noinline]] void Follower<Memory>::refuse(Cursor& cursor) {
  const SenderIndex sender{static_cast<std::uint32_t>(&cursor - cursors_.all().data())};
  if (as_sent()) {
    corrupt_.store(shape_.sender_ranks[sender], std::memory_order_release);
  } else {
    stale_.store(true, std::memory_order_release);
  }
  cursor.round = kNoRound;
  cursor.bounds = {};
}

// The batch is what was sent, and the application may still be handed something.
template <class Memory>
bool Follower<Memory>::may_hand_over() {
  if (!as_sent()) [[unlikely]] {
    stale_.store(true, std::memory_order_release);
    return false;
  }
  return !totals_.ended();
}

template <class Memory>
bool Follower<Memory>::hand_over(const Filling& filling) {
  const std::size_t size = messages_of(filling);
  if (size == 0) return publish();
  if (!may_hand_over()) [[unlikely]]
    return false;
  if (callback_) callback_({batch_.data(), size});
  return count_delivered(filling);
}

template <class Memory>
bool Follower<Memory>::count_delivered(const Filling& filling) {
  if (totals_.halted.load(std::memory_order_acquire)) [[unlikely]]
    return false;
  const std::size_t size = messages_of(filling);
  totals_.counters.messages.add(size);
  totals_.counters.bytes.add(filling.bytes);
  totals_.counters.batches.record(size);
  return publish();
}

template <class Memory>
bool Follower<Memory>::in_place() const {
  // What was read of the rings was read before the words are: the reader's half of a seqlock, of
  // which OwnSpace::find_all_drained and SendRing::release are the writer's.
  std::atomic_thread_fence(std::memory_order_acquire);
  for (const SenderIndex s : shape_.sender_indices()) {
    if (!cursors_[s].entered || s == shape_.own_sender) continue;
    if (memory_.load(shape_.sender_reclaimed[s]) > shape_.view) return false;
  }
  return true;
}

// Y5.
template <class Memory>
bool Follower<Memory>::as_sent() const {
  if (final_) return in_place();
  std::atomic_thread_fence(std::memory_order_acquire);  // as in in_place()
  for (const SenderIndex s : shape_.sender_indices()) {
    if (!cursors_[s].entered || s == shape_.own_sender) continue;
    const std::byte* control = shape_.member_controls[shape_.sender_ranks[s]];
    if (memory_.load(control + ControlWords::kEpoch) != shape_.view) return false;
  }
  return true;
}

template <class Memory>
bool Follower<Memory>::raise(std::atomic<std::uint64_t>& cell, std::uint64_t value) {
  const std::uint64_t before = cell.load(std::memory_order_relaxed);
  if (before == value) return false;
  TUTTI_ASSERT(before < value, before, value, shape_.view, shape_.self);  // S1, Y3
  cell.store(value, std::memory_order_release);
  return true;
}

// Release: the callback's reads are done; pairs with the getters on the predicate thread (Y3).
// True if there is something new to tell the senders.
template <class Memory>
bool Follower<Memory>::publish() {
  bool moved = false;
  bool all = true;
  for (const SenderIndex s : shape_.sender_indices()) {
    const Cursor& cursor = cursors_[s];
    const bool done = cursor.bounds.known == kNoRound && cursor.round == kNoRound;
    all &= done;
    if (cursor.told != cursor.records) tell_cursor(s);
    moved |= publish_consumed(s, done);
  }
  if (shape_.own_sender != kNoSender) {
    // Over views, too: should a cut be a lie, what was delivered stays delivered.
    const std::uint64_t own = shape_.own_base_records + cursors_[shape_.own_sender].records;
    if (own > totals_.own_records.load(std::memory_order_relaxed)) raise(totals_.own_records, own);
  }
  return raise(position_, all ? kDeliveredAll : position_here()) || moved;
}

template <class Memory>
void Follower<Memory>::tell_cursor(SenderIndex sender) {
  Cursor& cursor = cursors_[sender];
  const std::uint64_t next = cursor.round != kNoRound ? cursor.round : cursor.next_round;
  told_cursors_[sender].store({cursor.records, cursor.delivered, next, cursor.offset});
  cursor.told = cursor.records;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Follower<NativeMemory>;
#endif

}  // namespace tutti
