#include "multicast/multicast.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "sst/memory.hpp"
#include "sst/row_layout.hpp"

namespace tutti {

template <class Memory>
Multicast<Memory>::Multicast(const GroupShape& shape, Memory memory, SendRing* own_ring,
                             Bounds& bounds, MulticastCounters& counters)
    : shape_(shape),
      memory_(memory),
      ring_(own_ring),
      bounds_(bounds),
      sent_(shape.senders()),
      received_(shape.senders()),
      stable_(shape.senders()),
      least_(shape.senders()),
      ends_(shape.senders()),
      round_map_(own_ring != nullptr ? shape.window_records : 1),
      base_(shape.senders()),
      met_(shape.senders()),
      unmet_(shape.senders()),
      passing_(shape_, memory),
      ignored_(shape.senders()),
      entered_(shape.members()),
      unentered_(shape.members()),
      drained_(shape.view == 0),
      started_(shape.level != Level::agreed),
      counters_(counters) {
  TUTTI_ASSERT((shape.own_sender == kNobody) == (own_ring == nullptr), shape.own_sender, shape.view,
               shape.self);
  TUTTI_ASSERT(shape.sender_ids.size() == shape.senders() &&
                   shape.sender_rings.size() == shape.senders() &&
                   shape.sender_reclaimed.size() == shape.senders() &&
                   shape.sender_replicas.size() == shape.senders(),
               shape.senders(), shape.view, shape.self);
  if (shape.members() == 0) return;
  TUTTI_ASSERT(shape.self < shape.members(), shape.self, shape.members(), shape.view);
  TUTTI_ASSERT(shape.own_control == shape.member_controls[shape.self], shape.view, shape.self);
  TUTTI_ASSERT(own_ring == nullptr || shape.sender_ranks[shape.own_sender] == shape.self,
               shape.own_sender, shape.view, shape.self);
  entered_[shape.self] = true;  // our words are those of the view that we are in
  --unentered_;
}

template <class Memory>
bool Multicast<Memory>::step(Outbox& out) {
  out = {};
  if (violation_) return false;
  if (unmet_ != 0) meet();
  bool advanced = !started_ && start();
  if (!wedged_ || shape_.level != Level::atomic) {
    advanced |= receive();
    if (ring_ != nullptr && !wedged_) advanced |= send(out);
    if (advanced) publish_received();
    if (!wedged_) advanced |= find_stable();
  }
  if (ring_ != nullptr) advanced |= release();
  if (!complete_ && delivered_ >= kDeliveredAll) {
    complete_ = complete_everywhere();
    advanced |= complete_;
  }
  out.control = std::exchange(control_dirty_, false);
  return advanced || out.control || violation_;  // it is looked for after a pass that did work
}

// A sender's records are looked at only once it is in this view and its base is known.
template <class Memory>
void Multicast<Memory>::meet() {
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const std::uint32_t rank = shape_.sender_ranks[s];
    if (met_[s] || !in_view(rank)) continue;
    const std::uint64_t base = load(rank, kBaseOffset) & ~kBaseFlags;
    if (!in_view(rank)) continue;
    if (base >= shape_.ring_granules) {
      violation_ = {rank, "its ring starts outside its memory"};
      return;
    }
    TUTTI_ASSERT(unmet_ != 0 && sent_[s].rounds == 0, unmet_, sent_[s].rounds, s, shape_.view,
                 shape_.self);
    base_[s] = static_cast<std::uint32_t>(base);
    met_[s] = true;
    --unmet_;
  }
}

// I7.
template <class Memory>
bool Multicast<Memory>::start() {
  if (unmet_ != 0 || wedged_) return false;
  if (!has_met_all(shape_.self)) {
    memory_.store(shape_.own_control + kBaseOffset, load(shape_.self, kBaseOffset) | kMetAll);
    control_dirty_ = true;
  }
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (!has_met_all(m)) return false;
  }
  TUTTI_ASSERT(shape_.level == Level::agreed, static_cast<int>(shape_.level), shape_.view,
               shape_.self);
  started_ = true;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    TUTTI_ASSERT(stable_[s] == 0, stable_[s], s, shape_.view, shape_.self);  // I7
    stable_[s] = received_[s];
    set_bounds(s);
  }
  return true;
}

template <class Memory>
bool Multicast<Memory>::receive() {
  bool advanced = false;
  std::uint64_t fresh = 0;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (s == shape_.own_sender || ignored_[s]) continue;
    const std::uint64_t before = sent_[s].records;
    const std::uint64_t word = load(shape_.sender_ranks[s], kSentOffset);
    if (!met_[s] || !in_view(shape_.sender_ranks[s])) continue;  // I6
    switch (tutti::advance(sent_[s], word, shape_.window_records)) {
      case SentChange::none:
        break;
      case SentChange::advanced:
        TUTTI_ASSERT(sent_[s].records <= sent_[s].rounds, sent_[s].records, sent_[s].rounds, s,
                     shape_.view, shape_.self);
        advanced = true;
        fresh += sent_[s].records - before;
        break;
      case SentChange::impossible:
        violation_ = {shape_.sender_ranks[s], kImpossibleSent};
        return false;
    }
  }
  if (fresh != 0) {
    counters_.receive.record(fresh);
    counters_.received_messages.add(fresh);
  }
  return advanced;
}

// I3. What we have seen of sender j up to round k asks for our round k if we come before j in the
// order, for round k - 1 if we come after it.
template <class Memory>
std::uint64_t Multicast<Memory>::rounds_owed() const {
  if (shape_.level == Level::unordered) return 0;
  std::uint64_t owed = 0;
  for (std::uint32_t j = 0; j < shape_.senders(); ++j) {
    if (j == shape_.own_sender || sent_[j].rounds == 0) continue;
    owed = std::max(owed, sent_[j].rounds - (shape_.own_sender < j ? 0 : 1));
  }
  return owed;
}

template <class Memory>
bool Multicast<Memory>::send(Outbox& out) {
  if (own_sent_.finished) return false;
  const SendRing::Batch batch = ring_->take(kSendBatchBytes);
  if (batch.count != 0) {
    if (nulls_since_record_) ring_->stamp(batch, own_sent_.rounds, shape_.view);
    nulls_since_record_ = false;
    TUTTI_ASSERT(batch.first - shape_.own_base_records == own_sent_.records, batch.first,
                 shape_.own_base_records, own_sent_.records, shape_.view, shape_.self);  // R4
    round_map_.add(batch.first - shape_.own_base_records, own_sent_.rounds);
    own_sent_.records += batch.count;
    own_sent_.rounds += batch.count;

    const std::uint32_t mask = shape_.ring_granules - 1;
    const std::uint32_t begin = batch.begin & mask;
    const std::uint32_t length = batch.end - batch.begin;
    const std::uint32_t first = std::min(length, shape_.ring_granules - begin);
    out.data[0] = {begin, first};
    out.data[1] = {0, length - first};
    out.pieces = first == length ? 1 : 2;
    counters_.sent_messages.add(batch.count);
    counters_.received_messages.add(batch.count);
    counters_.sent_bytes.add(static_cast<std::uint64_t>(length) * kGranule);
    counters_.send.record(batch.count);
  }
  const std::uint64_t owed = rounds_owed();
  const bool nulls = own_sent_.rounds < owed;
  if (nulls) {
    counters_.nulls_sent.add(owed - own_sent_.rounds);
    if (batch.count == 0) counters_.null_pushes.add(1);
    own_sent_.rounds = owed;
    nulls_since_record_ = true;
  }
  own_sent_.finished = ring_->closed_and_empty();
  if (batch.count == 0 && !nulls && !own_sent_.finished) return false;
  sent_[shape_.own_sender] = own_sent_;
  // The records' bytes were acquired by take(); this release publishes them to members on this
  // host, the push to the others.
  memory_.store(shape_.own_control + kSentOffset, pack(own_sent_));
  control_dirty_ = true;
  return true;
}

template <class Memory>
void Multicast<Memory>::publish_received() {
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const std::uint64_t known = sent_[s].known_rounds();
    if (shape_.level != Level::unordered && known != received_[s]) {
      TUTTI_ASSERT(known > received_[s], known, received_[s], s, shape_.view, shape_.self);  // S1
      received_[s] = known;
      memory_.store(shape_.own_control + kReceivedOffset + 8 * s, known);
      control_dirty_ = true;
    }
    const bool frozen = wedged_ && shape_.level == Level::agreed;
    if (shape_.level != Level::atomic && started_ && !frozen) {
      stable_[s] = known;
      set_bounds(s);
    }
  }
}

template <class Memory>
void Multicast<Memory>::set_bounds(std::uint32_t sender) {
  const std::uint64_t known = sent_[sender].known_rounds();
  TUTTI_ASSERT(stable_[sender] <= known, stable_[sender], known, sender, shape_.view, shape_.self);
  bounds_.set(sender, {.records = sent_[sender].records,
                       .known = known,
                       .stable = stable_[sender],
                       .base = base_[sender]});
}

// I2. At the other levels what is known may be delivered, and publish_received() has said so. True
// if there is more to deliver: a delivery thread has to be told.
template <class Memory>
bool Multicast<Memory>::find_stable() {
  if (shape_.level != Level::atomic) return false;
  const bool entered = unentered_ == 0 || have_all_entered();
  bool unstable = false;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (stable_[s] == received_[s]) continue;
    unstable = true;
    std::uint64_t least = received_[s];
    for (std::uint32_t m = 0; m < shape_.members(); ++m) {
      if (m != shape_.self) least = std::min(least, load(m, kReceivedOffset + 8 * s));
    }
    least_[s] = least;
  }
  if (!unstable) return false;
  const bool counts = entered && are_all_in_view();  // L3: one look for all words
  bool advanced = false;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    if (stable_[s] == received_[s]) continue;
    if (counts && least_[s] > stable_[s]) {
      stable_[s] = least_[s];
      advanced = true;
    }
    set_bounds(s);
  }
  return advanced;
}

template <class Memory>
bool Multicast<Memory>::are_all_in_view() const {
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m != shape_.self && !in_view(m)) return false;
  }
  return true;
}

template <class Memory>
bool Multicast<Memory>::have_all_entered() const {
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (!look_whether_entered(m)) return false;
  }
  return true;
}

// A member that has entered need not be looked at again: L3 asks for one look before the word, at
// any time.
template <class Memory>
[[gnu::noinline]] bool Multicast<Memory>::look_whether_entered(std::uint32_t member) const {
  if (entered_[member]) return true;
  if (!in_view(member)) return false;
  TUTTI_ASSERT(unentered_ != 0 && member != shape_.self, unentered_, member, shape_.view);
  entered_[member] = true;
  --unentered_;
  return true;
}

template <class Memory>
bool Multicast<Memory>::complete_at(std::uint32_t member) const {
  return count(member, kDeliveredOffset) >= kDeliveredAll;
}

template <class Memory>
bool Multicast<Memory>::complete_everywhere() const {
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m != shape_.self && !complete_at(m)) return false;
  }
  return true;
}

template <class Memory>
void Multicast<Memory>::set_delivered(std::uint64_t position) {
  if (position == delivered_) return;
  TUTTI_ASSERT(position > delivered_, position, delivered_, shape_.view, shape_.self);  // S1
  delivered_ = position;
  // Release: our reads of the delivered records are done; pairs with the sender's load (I4).
  memory_.store(shape_.own_control + kDeliveredOffset, position);
  control_dirty_ = true;
}

template <class Memory>
void Multicast<Memory>::set_consumed(std::size_t sender, std::uint64_t rounds) {
  if (rounds == received_[sender]) return;
  TUTTI_ASSERT(shape_.level == Level::unordered && rounds > received_[sender], rounds,
               received_[sender], sender, shape_.view, shape_.self);  // S1
  received_[sender] = rounds;
  memory_.store(shape_.own_control + kReceivedOffset + 8 * sender, rounds);
  control_dirty_ = true;
}

template <class Memory>
std::uint64_t Multicast<Memory>::undelivered() const {
  if (shape_.level == Level::unordered || delivered_ >= kDeliveredAll) return 0;
  std::uint64_t sum = 0;
  for (std::uint32_t s = 0; s < shape_.senders(); ++s) {
    const std::uint64_t done =
        delivered_ / shape_.senders() + (s < delivered_ % shape_.senders() ? 1 : 0);
    if (sent_[s].rounds > done) sum += sent_[s].rounds - done;
  }
  return sum;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
