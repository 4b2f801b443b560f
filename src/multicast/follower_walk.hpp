/// \file follower_walk.hpp
/// How a follower goes from one record of a sender to the next: inlined into the loops of the
/// orders' followers.
#pragma once
#include "multicast/follower.hpp"
#include "smc/record.hpp"

namespace tutti {

// Reads the header of the sender's next record. The usual one follows the record before it without
// nulls or a pad in between.
template <class Memory>
[[gnu::always_inline]] inline void Follower<Memory>::peek(Cursor& cursor) {
  const std::byte* at = cursor.ring + static_cast<std::size_t>(cursor.offset) * kGranule;
  const RecordHeader header = unpack_header(memory_.load(at));
  cursor.length = header.length_and_flags;
  cursor.abandoned = false;
  cursor.safe = false;
  cursor.tick = false;
  if (header.length_and_flags >= kTickLength) peek_rare(cursor, header);
  cursor.granules = record_granules(cursor.length);
  // Of senders before sender_, delivery has passed this round too.
  const std::uint64_t passed = round_ + (&cursor < cursors_.all().data() + sender_.value ? 1 : 0);
  if (cursor.length > shape_.message_max_bytes ||
      cursor.offset + cursor.granules > shape_.ring_granules || cursor.next_round < passed) {
    refuse(cursor);
    return;
  }
  cursor.round = cursor.next_round;
  if (cursor.round == kNoRound) [[unlikely]]
    cursor.bounds.records = cursor.records;  // R4: this view has no more
}

// Puts the record at the sender's cursor into the batch, which has room, and moves on.
template <class Memory>
[[gnu::always_inline]] inline void Follower<Memory>::pass(SenderIndex sender, std::uint64_t seq,
                                                          Filling& filling) {
  Cursor& cursor = cursors_[sender];
  if (!cursor.abandoned) {
    Message& message = *filling.next++;
    message.seq = {seq};
    message.data = cursor.ring + static_cast<std::size_t>(cursor.offset + 1) * kGranule;
    message.size = cursor.length;
    message.sender = shape_.sender_ids[sender];
    message.ticket = ticket_at(cursor);
    if (cursor.tick) [[unlikely]] {
      message.ticket = kTickTicket;
      note_tick(cursor);
    }
    message.view = shape_.view;
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

// Writes up to `count` messages of the sender, from its cursor on, into every `stride`-th message
// of the batch from the `first` on. Returns how many there were until the size changed, or a header
// had flags: at least the one that peek() has checked.
template <class Memory>
inline std::uint64_t Follower<Memory>::lay_out(SenderIndex sender, const Filling& filling,
                                               std::uint32_t first, std::uint32_t stride,
                                               std::uint64_t count) {
  // Records from this size on are too far apart for the processor to see a stream of headers: those
  // are fetched two records early.
  constexpr std::size_t kPrefetchFrom = 256;
  const Cursor& cursor = cursors_[sender];
  const std::byte* at = cursor.ring + static_cast<std::size_t>(cursor.offset) * kGranule;
  const std::size_t size = static_cast<std::size_t>(cursor.granules) * kGranule;
  const std::uint32_t length = cursor.length;
  const MemberIndex index = shape_.sender_ids[sender];
  const bool far = size >= kPrefetchFrom;
  Message* message = filling.next + first;
  std::uint64_t seq = filling.seq + first;
  std::uint64_t ticket = ticket_at(cursor).value;
  for (std::uint64_t done = 0;;) {
    *message = {SeqNo{seq}, at + kGranule, length, index, Ticket{ticket}, shape_.view};
    if (++done == count) return done;
    ticket += cursor.tickets_per_record;
    at += size;
    if (far) __builtin_prefetch(at + 2 * size);
    if (static_cast<std::uint32_t>(memory_.load(at)) != length) return done;
    message += stride;
    seq += stride;
  }
}

// Moves the cursor over records of the size of the one it is at.
template <class Memory>
inline void Follower<Memory>::skip(Cursor& cursor, std::uint64_t records) {
  cursor.records += records;
  cursor.delivered += records;
  cursor.next_round = cursor.round + records;
  cursor.offset = (cursor.offset + static_cast<std::uint32_t>(records) * cursor.granules) &
                  (shape_.ring_granules - 1);
  cursor.round = kNoRound;
}

/// What Message::ticket says of the record at the cursor.
template <class Memory>
inline Ticket Follower<Memory>::ticket_at(const Cursor& cursor) {
  return Ticket{cursor.first_ticket + cursor.records * cursor.tickets_per_record};
}

template <class Memory>
inline std::uint64_t Follower<Memory>::records_before_wrap(const Cursor& cursor) const {
  const std::uint32_t left = shape_.ring_granules - cursor.offset;
  if (left / kDeliveryBatchMax >= cursor.granules) return kDeliveryBatchMax;
  return left / cursor.granules;
}

}  // namespace tutti
