#include "multicast/delivery.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "multicast/multicast.hpp"
#include "sst/memory.hpp"
#include "sst/row_layout.hpp"

namespace tutti {
namespace {

// Records from this size on are too far apart for the processor to see a stream of headers: those
// are fetched two records early.
constexpr std::size_t kPrefetchFrom = 256;

}  // namespace

template <class Memory>
Delivery<Memory>::Delivery(const GroupShape& shape, Memory memory, const Bounds& bounds,
                           DeliveryCallback callback, DeliveryTotals& totals)
    : shape_(shape),
      memory_(memory),
      bounds_(bounds),
      callback_(std::move(callback)),
      totals_(totals),
      cursors_(shape.senders()),
      earlier_(shape.senders()),
      active_(shape.senders()),
      seq_(shape.first_seq),
      consumed_(std::make_unique<std::atomic<std::uint64_t>[]>(shape.senders())),
      places_(std::make_unique<RingPlaceCell[]>(shape.senders())) {
  TUTTI_ASSERT(shape.sender_rings.size() == shape.senders(), shape.senders(), shape.view,
               shape.self);
  for (std::uint32_t s = 0; s < shape.senders(); ++s) cursors_[s].ring = shape.sender_rings[s];
}

template <class Memory>
bool Delivery<Memory>::run(std::size_t max_batches) {
  if (corrupt() != kNobody || stale() || position() >= kDeliveredAll) return false;
  if (totals_.ended()) [[unlikely]]
    return false;
  refresh();
  bool moved = false;
  for (std::size_t i = 0; i < max_batches; ++i) {
    Filling filling{batch_.data(), batch_.data() + batch_.size(), seq_};
    fill(filling);
    seq_ = filling.seq;
    moved |= hand_over(filling);
    // N2: the view may have come to its end during the callback.
    const bool over = totals_.ended() || position() >= kDeliveredAll;
    if (!filling.full() || !bounds_.is_open() || over) break;
    if (bounds_.is_final() != final_) refresh();
  }
  return moved;
}

template <class Memory>
void Delivery<Memory>::refresh() {
  final_ = bounds_.is_final();
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
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
}

template <class Memory>
void Delivery<Memory>::fill(Filling& filling) {
  if (shape_.level == Level::unordered) {
    run_unordered(filling);
    return;
  }
  while (!filling.full() && (run_block(filling) || run_round(filling))) {
  }
}

// Reads the header of the sender's next record. The usual one follows the record before it without
// nulls or a pad in between.
template <class Memory>
[[gnu::always_inline]] inline void Delivery<Memory>::peek(Cursor& cursor) {
  const std::byte* at = cursor.ring + static_cast<std::size_t>(cursor.offset) * kGranule;
  const RecordHeader header = unpack_header(memory_.load(at));
  cursor.length = header.length_and_flags;
  cursor.abandoned = false;
  if (header.length_and_flags > kLengthMask) peek_rare(cursor, header);
  cursor.granules = record_granules(cursor.length);
  // Of senders before sender_, delivery has passed this round too.
  const std::uint64_t passed = round_ + (&cursor < cursors_.data() + sender_ ? 1 : 0);
  if (cursor.length > shape_.message_max_bytes ||
      cursor.offset + cursor.granules > shape_.ring_granules || cursor.next_round < passed) {
    refuse(cursor);
    return;
  }
  cursor.round = cursor.next_round;
  if (cursor.round == kNoRound) [[unlikely]]
    cursor.bounds.records = cursor.records;  // R4: this view has no more
}

// A header with flags: stamped with a round, modulo 2^32 and never behind ours (R3); a pad (R1);
// abandoned (R2).
template <class Memory>
[[gnu::noinline]] void Delivery<Memory>::peek_rare(Cursor& cursor, RecordHeader header) {
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
  if (header.pad()) {
    cursor.offset = 0;
    header = unpack_header(memory_.load(cursor.ring));
    stamp(header);
  }
  if (beyond) cursor.next_round = kNoRound;
  cursor.abandoned = header.abandoned();
  cursor.length = header.pad() ? kLengthMask : header.length();  // two pads in a row: refused
}

// Y4. Nothing of this sender is known any more: delivery stops before it.
template <class Memory>
[[gnu::noinline]] void Delivery<Memory>::refuse(Cursor& cursor) {
  const auto sender = static_cast<std::size_t>(&cursor - cursors_.data());
  if (as_sent()) {
    corrupt_.store(shape_.sender_ranks[sender], std::memory_order_release);
  } else {
    stale_.store(true, std::memory_order_release);
  }
  cursor.round = kNoRound;
  cursor.bounds = {};
}

// Puts the record at the sender's cursor into the batch, which has room, and moves on.
template <class Memory>
[[gnu::always_inline]] inline void Delivery<Memory>::pass(std::uint32_t sender, Filling& filling) {
  Cursor& cursor = cursors_[sender];
  if (!cursor.abandoned) {
    Message& message = *filling.next++;
    const bool by_sender = shape_.level == Level::unordered;
    message.seq = {by_sender ? earlier_[sender] + cursor.delivered : filling.seq};
    message.data = cursor.ring + static_cast<std::size_t>(cursor.offset + 1) * kGranule;
    message.size = cursor.length;
    message.sender = shape_.sender_ids[sender];
    ++filling.seq;
    ++cursor.delivered;
    filling.bytes += cursor.length;
  }
  ++cursor.records;
  cursor.next_round = cursor.round + 1;
  cursor.offset = (cursor.offset + cursor.granules) & (shape_.ring_granules - 1);
  cursor.round = kNoRound;
  if (cursor.records < cursor.bounds.records) peek(cursor);
}

// One round from where we are. False when something is not there yet (Y2) or the batch is full.
template <class Memory>
[[gnu::always_inline]] inline bool Delivery<Memory>::run_round(Filling& filling) {
  bool delivered = false;
  const std::uint32_t senders = shape_.senders();
  const bool whole = sender_ == 0;
  while (sender_ < senders) {
    const Cursor& cursor = cursors_[sender_];
    if (cursor.round == round_) {
      if (round_ >= cursor.bounds.stable) return false;
      delivered = true;
      pass(sender_++, filling);
      if (filling.full()) return false;
    } else {
      if (round_ >= cursor.bounds.known) return false;
      ++sender_;
    }
  }
  sender_ = 0;
  ++round_;
  return delivered || !whole || skip_empty_rounds();
}

// A block of whole rounds in which the same senders have records of an unchanging size and the
// others have nulls: sender by sender, into every n-th place of the batch. Nearly all messages
// take this way. False if there is no such round here.
template <class Memory>
bool Delivery<Memory>::run_block(Filling& filling) {
  if (sender_ != 0) return false;
  std::uint64_t rounds = kNoRound;
  std::uint32_t active = 0;
  std::size_t round_bytes = 0;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const Cursor& cursor = cursors_[s];
    if (cursor.round != round_) {
      rounds = std::min({rounds, cursor.round - round_, known_after(cursor)});
      continue;
    }
    if (cursor.abandoned || cursor.bounds.stable <= round_) return false;
    rounds = std::min({rounds, cursor.bounds.stable - round_,
                       cursor.bounds.records - cursor.records, records_before_wrap(cursor)});
    active_[active++] = s;
    round_bytes += cursor.length;
  }
  const auto room = static_cast<std::size_t>(filling.end - filling.next);
  if (active == 0 || active > room || rounds == 0) return false;
  rounds = std::min<std::uint64_t>(rounds, room / active);
  if (round_bytes * rounds > kDeliveryBatchBytes) {
    rounds = std::max<std::uint64_t>(1, kDeliveryBatchBytes / round_bytes);
  }
  for (std::uint32_t a = 0; a < active; ++a) rounds = lay_out(filling, a, active, rounds);
  TUTTI_ASSERT(rounds != 0 && rounds * active <= room, rounds, active, room, shape_.view);
  for (std::uint32_t a = 0; a < active; ++a) skip(cursors_[active_[a]], rounds);
  filling.next += rounds * active;
  filling.seq += rounds * active;
  filling.bytes += rounds * round_bytes;
  round_ += rounds;
  for (std::uint32_t a = 0; a < active; ++a) {
    Cursor& cursor = cursors_[active_[a]];
    if (cursor.records < cursor.bounds.records) peek(cursor);
  }
  return true;
}

// Writes up to `rounds` messages of the a-th active sender. Returns how many there were until the
// size changed, at least the one that peek() has checked.
template <class Memory>
std::uint64_t Delivery<Memory>::lay_out(const Filling& filling, std::uint32_t a,
                                        std::uint32_t active, std::uint64_t rounds) {
  const std::uint32_t sender = active_[a];
  const Cursor& cursor = cursors_[sender];
  const std::byte* at = cursor.ring + static_cast<std::size_t>(cursor.offset) * kGranule;
  const std::size_t size = static_cast<std::size_t>(cursor.granules) * kGranule;
  const std::uint32_t length = cursor.length;
  const MemberIndex index = shape_.sender_ids[sender];
  const bool far = size >= kPrefetchFrom;
  Message* message = filling.next + a;
  std::uint64_t seq = filling.seq + a;
  for (std::uint64_t done = 0;;) {
    *message = {SeqNo{seq}, at + kGranule, length, index};
    if (++done == rounds) return done;
    at += size;
    if (far) __builtin_prefetch(at + 2 * size);
    if (static_cast<std::uint32_t>(memory_.load(at)) != length) return done;
    message += active;
    seq += active;
  }
}

template <class Memory>
std::uint64_t Delivery<Memory>::known_after(const Cursor& cursor) const {
  return cursor.bounds.known > round_ ? cursor.bounds.known - round_ : 0;
}

template <class Memory>
std::uint64_t Delivery<Memory>::records_before_wrap(const Cursor& cursor) const {
  const std::uint32_t left = shape_.ring_granules - cursor.offset;
  if (left / kDeliveryBatchMax >= cursor.granules) return kDeliveryBatchMax;
  return left / cursor.granules;
}

// Moves the cursor over records of the size of the one it is at.
template <class Memory>
void Delivery<Memory>::skip(Cursor& cursor, std::uint64_t records) {
  cursor.records += records;
  cursor.delivered += records;
  cursor.next_round = cursor.round + records;
  cursor.offset = (cursor.offset + static_cast<std::uint32_t>(records) * cursor.granules) &
                  (shape_.ring_granules - 1);
  cursor.round = kNoRound;
}

// False if no round will ever have a message again: everybody finished.
template <class Memory>
bool Delivery<Memory>::skip_empty_rounds() {
  std::uint64_t next = kNoRound;
  for (const Cursor& cursor : cursors_) {
    next = std::min({next, cursor.round, cursor.bounds.known});
  }
  if (next == kNoRound) return false;
  round_ = std::max(round_, next);
  return true;
}

// Every sender by itself: as many as it has, then the next. False when nobody has more.
template <class Memory>
bool Delivery<Memory>::run_unordered(Filling& filling) {
  const std::uint32_t senders = shape_.senders();
  for (std::uint32_t tried = 0; tried < senders; ++tried) {
    while (cursors_[turn_].round != kNoRound) {
      if (filling.full()) return true;
      pass(turn_, filling);
    }
    turn_ = turn_ + 1 == senders ? 0 : turn_ + 1;
  }
  return false;
}

template <class Memory>
bool Delivery<Memory>::hand_over(const Filling& filling) {
  const auto size = static_cast<std::size_t>(filling.next - batch_.data());
  TUTTI_ASSERT(size <= batch_.size(), size, shape_.view, shape_.self);
  if (size != 0) {
    if (!as_sent()) [[unlikely]] {
      stale_.store(true, std::memory_order_release);
      return false;
    }
    if (totals_.ended()) [[unlikely]]
      return false;
    if (callback_) callback_({batch_.data(), size});
    if (totals_.halted.load(std::memory_order_acquire)) [[unlikely]]
      return false;
    totals_.counters.messages.add(size);
    totals_.counters.bytes.add(filling.bytes);
    totals_.counters.batches.record(size);
  }
  return publish();
}

template <class Memory>
bool Delivery<Memory>::in_place() const {
  // What was read of the rings was read before the words are: the reader's half of a seqlock, of
  // which Multicast::find_all_drained and SendRing::release are the writer's.
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (!cursors_[s].entered || s == shape_.own_sender) continue;
    if (memory_.load(shape_.sender_reclaimed[s]) > shape_.view) return false;
  }
  return true;
}

// Y5.
template <class Memory>
bool Delivery<Memory>::as_sent() const {
  if (final_) return in_place();
  std::atomic_thread_fence(std::memory_order_acquire);  // as in in_place()
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (!cursors_[s].entered || s == shape_.own_sender) continue;
    const std::byte* control = shape_.member_controls[shape_.sender_ranks[s]];
    if (memory_.load(control + kEpochOffset) != shape_.view) return false;
  }
  return true;
}

// Release: the callback's reads are done; pairs with the getters on the predicate thread (Y3).
// True if there is something new to tell the senders.
template <class Memory>
bool Delivery<Memory>::publish() {
  const auto raise = [this](std::atomic<std::uint64_t>& cell, std::uint64_t value) {
    const std::uint64_t before = cell.load(std::memory_order_relaxed);
    if (before == value) return false;
    TUTTI_ASSERT(before < value, before, value, shape_.view, shape_.self);  // S1, Y3
    cell.store(value, std::memory_order_release);
    return true;
  };
  bool moved = false;
  bool all = true;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const Cursor& cursor = cursors_[s];
    const bool done = cursor.bounds.known == kNoRound && cursor.round == kNoRound;
    all &= done;
    if (cursor.told != cursor.records) tell_place(s);
    // A sender that has ended may show more only by a lie: it stays ended.
    const bool ended = consumed_[s].load(std::memory_order_relaxed) == kNoRound;
    if (shape_.level == Level::unordered && !ended) {
      moved |= raise(consumed_[s], done ? kNoRound : cursor.records);
    }
  }
  if (shape_.own_sender != kNobody) {
    // Over views, too: should a cut be a lie, what was delivered stays delivered.
    const std::uint64_t own = shape_.own_base_records + cursors_[shape_.own_sender].records;
    if (own > totals_.own_records.load(std::memory_order_relaxed)) raise(totals_.own_records, own);
  }
  std::uint64_t here = round_ * shape_.senders() + sender_;
  if (shape_.level == Level::unordered) here = 0;
  return raise(position_, all ? kDeliveredAll : here) || moved;
}

template <class Memory>
void Delivery<Memory>::tell_place(std::uint32_t sender) {
  Cursor& cursor = cursors_[sender];
  const std::uint64_t next = cursor.round != kNoRound ? cursor.round : cursor.next_round;
  places_[sender].store({cursor.records, cursor.delivered, next, cursor.offset});
  cursor.told = cursor.records;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Delivery<NativeMemory>;
#endif

}  // namespace tutti
