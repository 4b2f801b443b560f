// How a view ends in a group: what is settled, where the cut lies, how delivery gets there.
#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "multicast/multicast.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
std::uint64_t Multicast<Memory>::place_in_order(std::uint64_t round, std::uint64_t sender) const {
  return round * shape_.senders() + sender;
}

template <class Memory>
std::optional<std::uint64_t> Multicast<Memory>::first_seq() const {
  if (shape_.first_seq != kUnknownSeq) return shape_.first_seq;
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (const std::uint64_t said = count(m, kFirstSeqOffset); said != 0) return said - 1;
  }
  return {};
}

template <class Memory>
void Multicast<Memory>::tell_first_seq(std::uint64_t seq) {
  TUTTI_ASSERT(shape_.first_seq == kUnknownSeq && load(shape_.self, kFirstSeqOffset) == 0, seq,
               shape_.view, shape_.self);
  memory_.store(shape_.own_control + kFirstSeqOffset, seq + 1);
  control_dirty_ = true;
}

template <class Memory>
bool Multicast<Memory>::alone() const {
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m != shape_.self && in_view(m)) return false;
  }
  return true;
}

template <class Memory>
bool Multicast<Memory>::settled(const std::vector<bool>& suspected) const {
  if (shape_.level == Level::atomic) return true;
  TUTTI_ASSERT(shape_.members() == 0 || (wedged_ && suspected.size() == shape_.members()), wedged_,
               suspected.size(), shape_.members(), shape_.view, shape_.self);
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const std::uint32_t rank = shape_.sender_ranks[s];
    if (suspected[rank]) continue;
    SentState last = sent_[s];
    if (s != shape_.own_sender) {
      const std::uint64_t word = load(rank, kSentOffset);
      if (!met_[s] || !in_view(rank)) return false;
      if (tutti::advance(last, word, shape_.window_records) == SentChange::impossible) return false;
    }
    // At unordered `received` tells what was delivered, which nobody waits for.
    const bool consumed = shape_.level == Level::unordered;
    const std::uint64_t here = consumed ? sent_[s].known_rounds() : received_[s];
    if (here != last.known_rounds()) return false;
  }
  return true;
}

// The round of the first record of `sender` from round `from` on: kNoRound if it has none.
// All that it sent before it wedged is in our memory.
template <class Memory>
std::optional<std::uint64_t> Multicast<Memory>::first_lacking(std::uint32_t sender,
                                                              std::uint64_t from,
                                                              const Delivery<Memory>& delivery) {
  const std::uint32_t rank = shape_.sender_ranks[sender];
  SentState last = sent_[sender];
  if (sender != shape_.own_sender) {
    const std::uint64_t word = load(rank, kSentOffset);
    if (!met_[sender] || !in_view(rank)) return {};
    if (tutti::advance(last, word, shape_.window_records) == SentChange::impossible) {
      violation_ = {rank, kImpossibleSent};
      return {};
    }
  }
  const std::optional<RingWalk<Memory>> start = walk(sender, delivery);
  if (!start) return {};
  const std::optional<std::uint64_t> round = first_round_from(*start, last.records, from);
  if (round || sender == shape_.own_sender) return round;
  // Y5: see find_ends().
  std::atomic_thread_fence(std::memory_order_acquire);
  if (in_view(rank)) violation_ = {rank, kImpossibleRecord};
  return {};
}

// From where delivery is in the sender's ring; nothing while it moves. A sender may have been
// silent for so long that a stamp alone does not tell the round: none is before where delivery is.
template <class Memory>
std::optional<RingWalk<Memory>> Multicast<Memory>::walk(std::uint32_t sender,
                                                        const Delivery<Memory>& delivery) const {
  const std::uint64_t position = delivery.position();  // first: the place is not before it
  std::optional<RingPlace> place = delivery.place(sender);
  if (!place) return {};
  if (position < kDeliveredAll) {
    const std::uint64_t passed = position / shape_.senders();
    place->round = std::max(place->round, passed + (sender < position % shape_.senders() ? 1 : 0));
  }
  TUTTI_ASSERT(place->records <= sent_[sender].records, place->records, sent_[sender].records,
               sender, shape_.view, shape_.self);
  if (place->records == 0) place->offset = base_[sender];
  return std::optional<RingWalk<Memory>>(std::in_place, memory_, extent_of(sender), *place,
                                         shape_.view);
}

// D9. A lost sender may have delivered, and answered, what another lost one sent to it alone. Its
// answer comes later in the order, and goes with it. No member that goes on has delivered anything
// so late: it lacks that place.
template <class Memory>
void Multicast<Memory>::keep_causes(const std::vector<bool>& goes_on, Cut& cut) const {
  const std::vector<std::uint64_t> received = cut.received;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (goes_on[shape_.sender_ranks[s]]) continue;
    for (std::uint32_t other = 0; other < shape_.senders(); ++other) {
      if (other == s || goes_on[shape_.sender_ranks[other]] || received[other] == kNoRound)
        continue;
      cut.received[s] = std::min(cut.received[s], received[other] + (s < other ? 1 : 0));
    }
  }
}

template <class Memory>
std::optional<Cut> Multicast<Memory>::find_cut(const std::vector<bool>& goes_on,
                                               const Delivery<Memory>& delivery) {
  const std::uint32_t senders = shape_.senders();
  TUTTI_ASSERT(goes_on.size() == shape_.members() && goes_on[shape_.self], goes_on.size(),
               shape_.members(), shape_.view, shape_.self);
  TUTTI_ASSERT(wedged_, shape_.view, shape_.self);  // I5: else our own words still move
  Cut cut;
  cut.received.assign(senders, kNoRound);
  if (shape_.level == Level::unordered) {
    // All have received all that those who go on sent; of the others, each what it has (kNoRound).
    for (std::uint32_t s = 0; s < senders; ++s) {
      if (goes_on[shape_.sender_ranks[s]]) cut.received[s] = sent_[s].rounds;
    }
    return cut;
  }
  // At agreed one may have delivered what another has still to get, and can (I7).
  bool delivered_alone = shape_.level == Level::agreed;
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (goes_on[m]) delivered_alone = delivered_alone && has_met_all(m);
  }
  for (std::uint32_t s = 0; s < senders; ++s) {
    for (std::uint32_t m = 0; m < shape_.members(); ++m) {
      if (!goes_on[m]) continue;
      const std::uint64_t received = received_by(m, s);
      if (delivered_alone && received != received_[s]) return {};
      // Beyond what we know of s no member has anything that counts: its word may be a lie.
      const std::uint64_t known = received == kNoRound ? kNoRound : sent_[s].rounds;
      cut.received[s] = std::min({cut.received[s], received, known});
    }
  }
  if (delivered_alone) keep_causes(goes_on, cut);
  for (std::uint32_t s = 0; s < senders; ++s) {
    const std::uint64_t last = cut.received[s] == kNoRound ? sent_[s].rounds : cut.received[s];
    cut.round = std::max(cut.round, last);
  }
  for (std::uint32_t s = 0; s < senders; ++s) {
    // What a sender that does not go on sent beyond `received` is dropped: no place stops there.
    if (!goes_on[shape_.sender_ranks[s]] || cut.received[s] == kNoRound) continue;
    const std::optional<std::uint64_t> lacking = first_lacking(s, cut.received[s], delivery);
    if (!lacking) return {};
    if (place_in_order(*lacking, s) < place_in_order(cut.round, cut.sender)) {
      cut.round = *lacking;
      cut.sender = s;
    }
  }
  return cut;
}

template <class Memory>
bool Multicast<Memory>::apply_cut(const Cut& cut, const Delivery<Memory>& delivery) {
  TUTTI_ASSERT(!bounds_.is_open() && !bounds_.is_final(), shape_.view, shape_.self);  // N2
  TUTTI_ASSERT(shape_.members() == 0 || wedged_, shape_.view, shape_.self);
  if (!find_ends(cut, delivery)) return false;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    TUTTI_ASSERT(ends_[s] <= sent_[s].records, ends_[s], sent_[s].records, s, shape_.view,
                 shape_.self);
    SenderBounds end{.records = ends_[s], .base = base_[s]};
    if (shape_.level == Level::unordered) {
      end.known = end.stable = sent_[s].known_rounds();
    } else {
      end.known = end.stable = cut.round + (s < cut.sender ? 1 : 0);
    }
    bounds_.set(s, end);
  }
  bounds_.make_final();
  return true;
}

// Counts what comes before the cut. Later views may stamp anew, or unstamp, what comes after it:
// delivery, which may still have far to go, does not look there.
template <class Memory>
bool Multicast<Memory>::find_ends(const Cut& cut, const Delivery<Memory>& delivery) {
  const std::optional<std::uint64_t> first = first_seq();
  if (!first) return false;
  next_seq_ = *first;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (shape_.level == Level::unordered) {
      // A cut is another member's word. It takes back nothing that was delivered here.
      ends_[s] = std::min(std::max(cut.received[s], delivery.consumed(s)), sent_[s].records);
      continue;
    }
    const std::optional<RingWalk<Memory>> start = walk(s, delivery);
    if (!start) return false;
    const std::uint64_t rounds = cut.round + (s < cut.sender ? 1 : 0);
    const std::optional<RingPlace> end =
        place_before(*start, sent_[s].records, std::min(rounds, cut.received[s]));
    // Y5: who reads the epoch after the headers has read those that were sent in this view.
    std::atomic_thread_fence(std::memory_order_acquire);
    overtaken_ = met_[s] && s != shape_.own_sender && !in_view(shape_.sender_ranks[s]);
    if (overtaken_) return false;
    if (!end) {
      violation_ = {shape_.sender_ranks[s], kImpossibleRecord};
      return false;
    }
    ends_[s] = end->records;
    next_seq_ += end->messages;
  }
  return true;
}

template <class Memory>
bool Multicast<Memory>::at_cut(const Cut& cut, const Delivery<Memory>& delivery) const {
  if (shape_.level != Level::unordered) {
    return delivery.position() >= place_in_order(cut.round, cut.sender);
  }
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (delivery.consumed(s) < ends_[s]) return false;
  }
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
