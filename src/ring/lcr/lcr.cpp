#include "ring/lcr/lcr.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Lcr<Memory>::Lcr(ViewState<Memory>& state, const Stability<Memory>& stability,
                 MulticastCounters& counters)
    : RoundRobin<Memory>(state, stability),
      counters_(counters),
      words_(state.shape.senders()),
      ring_{.self = state.shape.self, .members = state.shape.members()},
      done_(state.shape.senders()) {}

// From the member behind a sender on, each adds itself; the sender reads it at the last one.
template <class Memory>
bool Lcr<Memory>::step(const SendRing* /*own*/) {
  const GroupShape& shape = state_.shape;
  if (shape.members() < 2) return false;
  bool advanced = false;
  for (const SenderIndex s : shape.sender_indices()) {
    if (s == shape.own_sender || done_[s] == state_.delivered) continue;
    std::uint64_t least = state_.delivered;
    if (ring_.last() != shape.sender_ranks[s]) {
      least = std::min(least, state_.blocks.count(ring_.last(), words_.done(s)));
    }
    if (least <= done_[s]) continue;
    done_[s] = least;
    state_.blocks.say_to_next(words_.done(s), least);
    advanced = true;
  }
  return advanced;
}

template <class Memory>
void Lcr<Memory>::publish_received() {
  RoundRobin<Memory>::publish_received();
  counters_.pending.record(this->undelivered());
}

template <class Memory>
std::uint64_t Lcr<Memory>::least_position() const {
  if (ring_.members < 2) return state_.delivered;
  return std::min(state_.delivered,
                  state_.blocks.count(ring_.last(), words_.done(state_.shape.own_sender)));
}

template <class Memory>
bool Lcr<Memory>::tell_position() {
  if (told_position_ == state_.delivered || state_.owes_end_mark) return false;
  told_position_ = state_.delivered;
  state_.blocks.ask_for_post();
  return true;
}

// LC1.
template <class Memory>
bool Lcr<Memory>::tell_wedged(const IndexedBy<Rank, bool>& suspected,
                              const Follower<Memory>& follower) {
  if (state_.shape.members() < 2 || state_.violation) return false;
  const bool first = !std::exchange(shown_, true);
  const std::uint64_t from = first_not_received(suspected);
  if (lacking_from_ == from) return first;
  const std::optional<Lacking> lacking = lacking_from(from, follower);
  if (!lacking) return first;
  lacking_from_ = from;
  state_.blocks.note(words_.lacking(), pack_lacking(*lacking));
  return true;
}

// Of our own rounds, as far as the others have said: all have what is stable. It grows while they
// wedge, or are suspected.
template <class Memory>
std::uint64_t Lcr<Memory>::first_not_received(const IndexedBy<Rank, bool>& suspected) const {
  const GroupShape& shape = state_.shape;
  if (shape.own_sender == kNoSender) return 0;
  std::uint64_t from = state_.own_sent.rounds;
  for (const Rank m : shape.ranks()) {
    if (!suspected[m]) from = std::min(from, state_.received_by(m, shape.own_sender));
  }
  return std::max(from, std::min(state_.own_sent.rounds, state_.stable[shape.own_sender]));
}

// Nothing: delivery moves just now, or a member says what cannot be. The walk passes over what was
// delivered, which all have.
template <class Memory>
std::optional<Lacking> Lcr<Memory>::lacking_from(std::uint64_t round,
                                                 const Follower<Memory>& follower) {
  const GroupShape& shape = state_.shape;
  if (shape.own_sender == kNoSender) return Lacking{};
  const SentState& sent = state_.own_sent;
  const std::optional<RingWalk<Memory>> walk = this->walk(shape.own_sender, follower);
  if (!walk) return {};
  const std::optional<std::uint64_t> record = first_round_from(*walk, sent.records, round);
  if (!record) {
    state_.violation = {shape.self, kImpossibleRecord};
    return {};
  }
  if (sent.rounds - round > kRoundsMask) return {};
  return Lacking{
      .from = static_cast<std::uint32_t>(sent.rounds - round),
      .record = static_cast<std::uint32_t>(*record == kNoRound ? 0 : sent.rounds - *record)};
}

// LC2. What a survivor sent is not here, but for what this member has received.
template <class Memory>
std::optional<std::uint64_t> Lcr<Memory>::first_lacking(SenderIndex sender, std::uint64_t from,
                                                        const Follower<Memory>& follower) {
  const GroupShape& shape = state_.shape;
  if (sender == shape.own_sender) {
    return RoundRobin<Memory>::first_lacking(sender, from, follower);
  }
  const Rank rank = shape.sender_ranks[sender];
  const std::uint64_t word = state_.blocks.count(rank, words_.lacking());
  const std::uint64_t sent_word = state_.blocks.load(rank, ControlWords::kSent);
  if (word == 0 || !state_.blocks.in_view(rank)) return {};
  SentState sent = state_.sent[sender];
  const Lacking lacking = unpack_lacking(word);
  if (advance(sent, sent_word, shape.window_records) == SentChange::impossible ||
      lacking.record > lacking.from || lacking.from > sent.rounds) {
    state_.violation = {rank, kImpossibleSent};
    return {};
  }
  TUTTI_ASSERT(from <= sent.rounds, from, sent.rounds, shape.view, shape.self);
  const std::uint64_t lacked = sent.rounds - from;
  if (lacking.from < lacked || lacking.record > lacked) return {};
  return lacking.record == 0 ? kNoRound : sent.rounds - lacking.record;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Lcr<NativeMemory>;
#endif

}  // namespace tutti
