// How members that go on come to have the same of a lost sender, at Level::agreed (I8).
#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "multicast/multicast.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Multicast<Memory>::pass_on(const std::vector<bool>& suspected, bool all_wedged,
                                const Delivery<Memory>& delivery) {
  if (shape_.level != Level::agreed || shape_.members() == 0 || violation_) return;
  TUTTI_ASSERT(wedged_ && suspected.size() == shape_.members(), wedged_, suspected.size(),
               shape_.view, shape_.self);
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (suspected[shape_.sender_ranks[s]]) ignored_[s] = true;
  }
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m == shape_.self || suspected[m]) continue;
    const std::uint32_t sender = passing_.sender_shown(m);
    if (sender == kNobody || !suspected[shape_.sender_ranks[sender]]) continue;
    const std::optional<PassedPiece> piece = passing_.look(m);
    if (piece && piece->sender == sender && take(*piece, delivery)) passing_.seen(m, piece->number);
    if (violation_) return;
  }
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (suspected[shape_.sender_ranks[s]] && met_[s]) tell_reach(s, delivery);
  }
  if (!all_wedged || !passing_.is_seen(suspected)) return;
  // Where one that goes on lacks a row, nobody has delivered anything (I7).
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (!suspected[m] && !has_met_all(m)) return;
  }
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (!suspected[shape_.sender_ranks[s]]) continue;
    for (const std::uint32_t m : lacking(s, suspected)) {
      const std::optional<Reach> from = passing_.reach(m, s);
      if (from && pass(s, *from, delivery)) return;
      if (violation_) return;
    }
  }
}

// Behind the last record that we have; nothing while delivery moves.
template <class Memory>
std::optional<RingPlace> Multicast<Memory>::end_of(std::uint32_t sender,
                                                   const Delivery<Memory>& delivery) {
  const std::optional<RingWalk<Memory>> start = walk(sender, delivery);
  if (!start) return {};
  const std::optional<RingPlace> end = place_before(*start, sent_[sender].records, kNoRound);
  if (end && end->records == sent_[sender].records) return end;
  // Y5: see find_ends().
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint32_t rank = shape_.sender_ranks[sender];
  if (in_view(rank)) violation_ = {rank, kImpossibleRecord};
  return {};
}

template <class Memory>
void Multicast<Memory>::tell_reach(std::uint32_t sender, const Delivery<Memory>& delivery) {
  const std::optional<Reach> told = passing_.reach(shape_.self, sender);
  const auto records = static_cast<std::uint32_t>(sent_[sender].records);
  if (told && told->records == records) return;
  const std::optional<RingPlace> end = end_of(sender, delivery);
  if (end) passing_.tell(sender, {.records = records, .offset = end->offset});
}

// The members that lack some of what this one has, the one that has least of it first. Empty if
// another member passes on: one that has more, or as much and a lower rank.
template <class Memory>
std::vector<std::uint32_t> Multicast<Memory>::lacking(std::uint32_t sender,
                                                      const std::vector<bool>& suspected) const {
  std::vector<std::uint32_t> out;
  std::vector<std::uint64_t> received(shape_.members());
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m == shape_.self || suspected[m]) continue;
    received[m] = received_by(m, sender);
    if (received[m] > received_[sender] || (received[m] == received_[sender] && m < shape_.self))
      return {};
    if (received[m] < received_[sender]) out.push_back(m);
  }
  std::ranges::stable_sort(out, {}, [&](std::uint32_t m) { return received[m]; });
  return out;
}

// Passes on what comes from there, as many whole records as a piece holds. False: not possible just
// now, or what the other says of its reach is no place between two of our records.
template <class Memory>
bool Multicast<Memory>::pass(std::uint32_t sender, const Reach& from,
                             const Delivery<Memory>& delivery) {
  const std::optional<RingPlace> end = end_of(sender, delivery);
  const SentState& sent = sent_[sender];
  const std::uint32_t lacking = static_cast<std::uint32_t>(sent.records) - from.records;
  if (!end || lacking > shape_.window_records || lacking > sent.records) return false;
  if (from.offset >= shape_.ring_granules) return false;
  const RingPlace start{.records = sent.records - lacking, .offset = from.offset};
  RingWalk<Memory> walk(memory_, extent_of(sender), start, shape_.view);
  std::uint64_t granules = 0;
  std::uint64_t passed = 0;  // of them, those of whole records that fit
  std::uint64_t records = start.records;
  while (walk.place().records < sent.records) {
    const std::uint32_t before = walk.place().offset;
    if (!walk.look() || !walk.pass()) return false;
    granules += (walk.place().offset - before) & (shape_.ring_granules - 1);
    if (granules > shape_.area_granules) continue;
    passed = granules;
    records = walk.place().records;
  }
  if (walk.place().offset != end->offset || granules > shape_.ring_granules) return false;
  const bool last = records == sent.records;
  if (!last && records == start.records) return false;
  SentState with = sent;
  if (!last) with = {.records = records, .rounds = 0, .finished = false};
  return passing_.pass({.sender = sender,
                        .begin = from.records,
                        .offset = from.offset,
                        .sent = pack(with),
                        .last = last},
                       static_cast<std::uint32_t>(passed));
}

// True: it need not be looked at again. What does not follow what we have is passed on again if we
// still lack it then. Where we read the sender's own row the bytes are there.
template <class Memory>
bool Multicast<Memory>::take(const PassedPiece& piece, const Delivery<Memory>& delivery) {
  const std::uint32_t s = piece.sender;
  std::byte* const replica = shape_.sender_replicas[s];
  if (!met_[s]) return true;
  const std::optional<RingWalk<Memory>> start = walk(s, delivery);
  const std::optional<RingPlace> end = end_of(s, delivery);
  if (!start || !end) return false;
  SentState sent = sent_[s];
  if (piece.begin != static_cast<std::uint32_t>(sent.records) || piece.offset != end->offset)
    return true;
  const auto more = static_cast<std::uint32_t>(piece.sent) - piece.begin;
  const std::uint32_t mask = shape_.ring_granules - 1;
  const std::uint64_t kept = end->records == start->place().records
                                 ? 0
                                 : ((end->offset - start->place().offset - 1) & mask) + 1;
  bool possible =
      more <= shape_.window_records && piece.words.size() + kept <= shape_.ring_granules;
  if (possible) {
    for (std::size_t i = 0; i < piece.words.size() && replica != nullptr; ++i) {
      const std::size_t at = (piece.offset + i) & mask;
      store_cell(replica + at * kGranule, piece.words[i]);
    }
    const std::optional<RingPlace> then = place_before(
        RingWalk<Memory>(memory_, extent_of(s), *end, shape_.view), sent.records + more, kNoRound);
    possible = then && then->records == sent.records + more &&
               ((then->offset - piece.offset) & mask) == (piece.words.size() & mask);
    if (possible && piece.last) {
      const SentChange change = tutti::advance(sent, piece.sent, shape_.window_records);
      if (change == SentChange::none) return true;
      possible = change == SentChange::advanced && (more == 0 || then->round <= sent.rounds);
    } else if (possible) {
      possible = more != 0 && then->round > sent.rounds && !sent.finished;
      sent.records += more;
      sent.rounds = then->round;
    }
  }
  if (!possible) {
    // Y5: where we read the sender's own row, it may be in a later view by now. See find_ends().
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint32_t rank = shape_.sender_ranks[s];
    if (replica != nullptr || in_view(rank)) violation_ = {rank, kImpossiblePassed};
    return false;
  }
  counters_.received_messages.add(sent.records - sent_[s].records);
  sent_[s] = sent;
  publish_received();
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
