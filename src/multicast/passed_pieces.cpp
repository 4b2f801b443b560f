#include "multicast/passed_pieces.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "base/assert.hpp"
#include "base/crc32c.hpp"
#include "smc/record.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
PassedPieces<Memory>::PassedPieces(const GroupShape& shape, Memory memory)
    : shape_(shape), memory_(memory), seen_(shape.members()) {}

template <class Memory>
std::uint64_t PassedPieces<Memory>::load(Rank member, PassWords::Word column) const {
  const std::byte* epoch = shape_.member_controls[member] + ControlWords::kEpoch;
  if (memory_.load(epoch) != shape_.view) return 0;
  const std::uint64_t value = memory_.load(word(member, column));
  return value != 0 && memory_.load(epoch) == shape_.view ? value : 0;
}

template <class Memory>
SenderIndex PassedPieces<Memory>::sender_shown(Rank member) const {
  const std::uint64_t number = load(member, PassWords::kNumber);
  if (number == 0 || number == seen_[member]) return kNoSender;
  const std::uint64_t sender = load(member, PassWords::kSender);
  if (sender >= shape_.senders()) return kNoSender;
  return {static_cast<std::uint32_t>(sender)};
}

// H1.
template <class Memory>
std::uint32_t PassedPieces<Memory>::check(const PassedPiece& piece) const {
  const std::array<std::uint64_t, 8> words{shape_.view, piece.number, piece.sender.value,
                                           piece.begin, piece.offset, piece.words.size(),
                                           piece.sent,  piece.last};
  return crc32c(std::as_bytes(piece.words), crc32c(std::as_bytes(std::span(words))));
}

template <class Memory>
std::optional<PassedPiece> PassedPieces<Memory>::look(Rank member) {
  PassedPiece piece;
  piece.number = load(member, PassWords::kNumber);
  if (piece.number == 0 || piece.number == seen_[member]) return {};
  const std::uint64_t sender = load(member, PassWords::kSender);
  const std::uint64_t length = load(member, PassWords::kGranules);
  const std::uint64_t granules = length & ~PassWords::kLast;
  if (sender >= shape_.senders() || granules > shape_.area_granules) return {};
  piece.sender = {static_cast<std::uint32_t>(sender)};
  piece.begin = static_cast<std::uint32_t>(load(member, PassWords::kBegin));
  piece.offset = static_cast<std::uint32_t>(load(member, PassWords::kOffset));
  piece.sent = load(member, PassWords::kSent);
  piece.last = (length & PassWords::kLast) != 0;
  words_.resize(granules);
  for (std::size_t i = 0; i < granules; ++i) {
    words_[i] = memory_.load(shape_.member_areas[member] + i * kGranule);
  }
  piece.words = words_;
  if (load(member, PassWords::kCheck) != check(piece)) return {};
  return piece;
}

template <class Memory>
void PassedPieces<Memory>::seen(Rank member, std::uint64_t number) {
  seen_[member] = number;
  memory_.store(own_word(PassWords::seen(shape_.senders())[member]), number);
  posts_.words = true;
}

template <class Memory>
std::optional<Reach> PassedPieces<Memory>::reach(Rank member, SenderIndex sender) const {
  const std::uint64_t word = load(member, PassWords::kReach[sender]);
  if (word == 0) return {};
  return unpack_reach(word);
}

template <class Memory>
void PassedPieces<Memory>::tell(SenderIndex sender, const Reach& reach) {
  std::byte* const at = own_word(PassWords::kReach[sender]);
  if (NativeMemory::load(at) == pack_reach(reach)) return;
  memory_.store(at, pack_reach(reach));
  posts_.words = true;
}

template <class Memory>
bool PassedPieces<Memory>::is_seen(const IndexedBy<Rank, bool>& suspected) const {
  if (number_ == 0) return true;
  for (const Rank m : shape_.ranks()) {
    if (m == shape_.self || suspected[m]) continue;
    if (load(m, PassWords::seen(shape_.senders())[shape_.self]) != number_) return false;
  }
  return true;
}

template <class Memory>
bool PassedPieces<Memory>::pass(const PassedPiece& from, std::uint32_t granules) {
  TUTTI_ASSERT(granules <= shape_.area_granules && from.offset < shape_.ring_granules, granules,
               from.offset, shape_.view, shape_.self);
  PassedPiece piece = from;
  words_.resize(granules);
  for (std::uint32_t i = 0; i < granules; ++i) {
    const std::uint32_t at = (piece.offset + i) & (shape_.ring_granules - 1);
    words_[i] = memory_.load(shape_.sender_rings[piece.sender] + std::size_t{at} * kGranule);
  }
  // Y5: who reads the epoch after the bytes has read those of this view.
  std::atomic_thread_fence(std::memory_order_acquire);
  const Rank rank = shape_.sender_ranks[piece.sender];
  if (memory_.load(shape_.member_controls[rank] + ControlWords::kEpoch) != shape_.view)
    return false;
  for (std::uint32_t i = 0; i < granules; ++i) {
    memory_.store(shape_.own_area + std::size_t{i} * kGranule, words_[i]);
  }
  piece.number = ++number_;
  piece.words = words_;
  memory_.store(own_word(PassWords::kSender), piece.sender.value);
  memory_.store(own_word(PassWords::kBegin), piece.begin);
  memory_.store(own_word(PassWords::kOffset), piece.offset);
  memory_.store(own_word(PassWords::kGranules), granules | (piece.last ? PassWords::kLast : 0));
  memory_.store(own_word(PassWords::kSent), piece.sent);
  memory_.store(own_word(PassWords::kCheck), check(piece));
  memory_.store(own_word(PassWords::kNumber), piece.number);
  posts_ = {.words = true, .area_granules = granules};
  return true;
}

template <class Memory>
PassedPosts PassedPieces<Memory>::take_posts() {
  return std::exchange(posts_, {});
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class PassedPieces<NativeMemory>;
#endif

}  // namespace tutti
