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
  if (header.length_and_flags > kLengthMask) peek_rare(cursor, header);
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

}  // namespace tutti
