#include "multicast/pass_on.hpp"

#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void PassOn<Memory>::step(const IndexedBy<Rank, bool>& suspected, bool all_wedged,
                          const Follower<Memory>& follower) {
  if (shape_.members() == 0 || state_.violation) return;
  TUTTI_ASSERT(state_.wedged && suspected.size() == shape_.members(), state_.wedged,
               suspected.size(), shape_.view, shape_.self);
  for (const SenderIndex s : shape_.sender_indices()) {
    if (suspected[shape_.sender_ranks[s]]) ignored_[s] = true;
  }
  for (const Rank m : shape_.ranks()) {
    if (m == shape_.self || suspected[m]) continue;
    const SenderIndex sender = pieces_.sender_shown(m);
    if (sender == kNoSender || !suspected[shape_.sender_ranks[sender]]) continue;
    const std::optional<PassedPiece> piece = pieces_.look(m);
    if (piece && piece->sender == sender && take(*piece, follower)) pieces_.seen(m, piece->number);
    if (state_.violation) return;
  }
  for (const SenderIndex s : shape_.sender_indices()) {
    if (suspected[shape_.sender_ranks[s]] && state_.met[s]) tell_reach(s, follower);
  }
  if (!all_wedged || !pieces_.is_seen(suspected)) return;
  // Where one that goes on lacks a row, nobody has delivered anything (I7).
  for (const Rank m : shape_.ranks()) {
    if (!suspected[m] && !state_.has_met_all(m)) return;
  }
  for (const SenderIndex s : shape_.sender_indices()) {
    if (!suspected[shape_.sender_ranks[s]]) continue;
    for (const Rank m : lacking(s, suspected)) {
      const std::optional<Reach> from = pieces_.reach(m, s);
      if (from && pass(s, *from, follower)) return;
      if (state_.violation) return;
    }
  }
}

// Behind the last record that we have; nothing while delivery moves.
template <class Memory>
std::optional<RingCursor> PassOn<Memory>::end_of(SenderIndex sender,
                                                 const Follower<Memory>& follower) {
  const std::optional<RingWalk<Memory>> start = order_.walk(sender, follower);
  if (!start) return {};
  const std::optional<RingCursor> end =
      cursor_before(*start, state_.sent[sender].records, kNoRound);
  if (end && end->records == state_.sent[sender].records) return end;
  // Where we read the sender's own row, it may have stamped its next record for a later view, in
  // which we are not.
  const bool later = end && shape_.sender_replicas[sender] == nullptr;
  if (!later) state_.refuse_record(sender);  // Y5
  return {};
}

template <class Memory>
void PassOn<Memory>::tell_reach(SenderIndex sender, const Follower<Memory>& follower) {
  const std::optional<Reach> told = pieces_.reach(shape_.self, sender);
  const auto records = static_cast<std::uint32_t>(state_.sent[sender].records);
  if (told && told->records == records) return;
  const std::optional<RingCursor> end = end_of(sender, follower);
  if (end) pieces_.tell(sender, {.records = records, .offset = end->offset});
}

// The members that lack some of what this one has, the one that has least of it first. Empty if
// another member passes on: one that has more, or as much and a lower rank.
template <class Memory>
std::vector<Rank> PassOn<Memory>::lacking(SenderIndex sender,
                                          const IndexedBy<Rank, bool>& suspected) const {
  std::vector<Rank> out;
  IndexedBy<Rank, std::uint64_t> received(shape_.members());
  for (const Rank m : shape_.ranks()) {
    if (m == shape_.self || suspected[m]) continue;
    received[m] = state_.received_by(m, sender);
    if (received[m] > state_.received[sender] ||
        (received[m] == state_.received[sender] && m < shape_.self))
      return {};
    if (received[m] < state_.received[sender]) out.push_back(m);
  }
  std::ranges::stable_sort(out, {}, [&](Rank m) { return received[m]; });
  return out;
}

// Passes on what comes from there, as many whole records as a piece holds. False: not possible just
// now, or what the other says of its reach lies between no two of our records.
template <class Memory>
bool PassOn<Memory>::pass(SenderIndex sender, const Reach& from, const Follower<Memory>& follower) {
  const std::optional<RingCursor> end = end_of(sender, follower);
  const SentState& sent = state_.sent[sender];
  const std::uint32_t lacking = static_cast<std::uint32_t>(sent.records) - from.records;
  if (!end || lacking > shape_.window_records || lacking > sent.records) return false;
  if (from.offset >= shape_.ring_granules) return false;
  const RingCursor start{.records = sent.records - lacking, .offset = from.offset};
  RingWalk<Memory> walk(state_.memory, state_.extent_of(sender), start, shape_.view);
  std::uint64_t granules = 0;
  std::uint64_t passed = 0;  // of them, those of whole records that fit
  std::uint64_t records = start.records;
  while (walk.cursor().records < sent.records) {
    const std::uint32_t before = walk.cursor().offset;
    if (!walk.look() || !walk.pass()) return false;
    granules += (walk.cursor().offset - before) & (shape_.ring_granules - 1);
    if (granules > shape_.area_granules) continue;
    passed = granules;
    records = walk.cursor().records;
  }
  if (walk.cursor().offset != end->offset || granules > shape_.ring_granules) return false;
  const bool last = records == sent.records;
  if (!last && records == start.records) return false;
  SentState with = sent;
  if (!last) with = {.records = records, .rounds = 0, .finished = false};
  return pieces_.pass({.sender = sender,
                       .begin = from.records,
                       .offset = from.offset,
                       .sent = pack(with),
                       .last = last},
                      static_cast<std::uint32_t>(passed));
}

// True: it need not be looked at again. What does not follow what we have is passed on again if we
// still lack it then. Where we read the sender's own row the bytes are there.
template <class Memory>
bool PassOn<Memory>::take(const PassedPiece& piece, const Follower<Memory>& follower) {
  const SenderIndex s = piece.sender;
  std::byte* const replica = shape_.sender_replicas[s];
  if (!state_.met[s]) return true;
  const std::optional<RingWalk<Memory>> start = order_.walk(s, follower);
  const std::optional<RingCursor> end = end_of(s, follower);
  if (!start || !end) return false;
  SentState sent = state_.sent[s];
  if (piece.begin != static_cast<std::uint32_t>(sent.records) || piece.offset != end->offset)
    return true;
  const auto more = static_cast<std::uint32_t>(piece.sent) - piece.begin;
  const std::uint32_t mask = shape_.ring_granules - 1;
  const std::uint64_t kept = end->records == start->cursor().records
                                 ? 0
                                 : ((end->offset - start->cursor().offset - 1) & mask) + 1;
  bool possible =
      more <= shape_.window_records && piece.words.size() + kept <= shape_.ring_granules;
  if (possible) {
    for (std::size_t i = 0; i < piece.words.size() && replica != nullptr; ++i) {
      const std::size_t at = (piece.offset + i) & mask;
      store_cell(replica + at * kGranule, piece.words[i]);
    }
    const std::optional<RingCursor> then =
        cursor_before(RingWalk<Memory>(state_.memory, state_.extent_of(s), *end, shape_.view),
                      sent.records + more, kNoRound);
    const bool later = then && then->records != sent.records + more;
    if (later && replica == nullptr) return false;  // as in end_of()
    possible =
        then && !later && ((then->offset - piece.offset) & mask) == (piece.words.size() & mask);
    if (possible && piece.last) {
      const SentChange change = advance(sent, piece.sent, shape_.window_records);
      if (change == SentChange::none) return true;
      possible = change == SentChange::advanced && (more == 0 || then->round <= sent.rounds);
    } else if (possible) {
      possible = more != 0 && then->round > sent.rounds && !sent.finished;
      sent.records += more;
      sent.rounds = then->round;
    }
  }
  if (!possible) {
    // Y5: where we read the sender's own row, it may be in a later view by now. See
    // TotalOrder::count_before().
    std::atomic_thread_fence(std::memory_order_acquire);
    const Rank rank = shape_.sender_ranks[s];
    if (replica != nullptr || state_.blocks.in_view(rank))
      state_.violation = {rank, kImpossiblePassed};
    return false;
  }
  received_messages_.add(sent.records - state_.sent[s].records);
  state_.sent[s] = sent;
  order_.publish_received();
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class PassOn<NativeMemory>;
#endif

}  // namespace tutti
