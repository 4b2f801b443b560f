#include "multicast/multicast.hpp"

#include <algorithm>
#include <functional>

#include "base/assert.hpp"
#include "sst/control_bytes.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Multicast<Memory>::Multicast(const GroupShape& shape, Memory memory, SendRing* own_ring,
                             Bounds& bounds, MulticastCounters& counters)
    : state_(shape, memory, bounds),
      stability_(make_stability(state_)),
      order_(make_order(state_, *stability_, counters)),
      dissemination_(make_dissemination(state_, counters)),
      ring_(own_ring),
      space_(state_.blocks, shape.view, shape.self, own_ring, shape.own_base_records,
             shape.window_records, {shape.own_other_control, shape.own_reclaimed}, memory),
      pass_on_(state_, *order_, counters.received_messages),
      said_(shape.members()),
      counters_(counters) {
  TUTTI_ASSERT((shape.own_sender == kNoSender) == (own_ring == nullptr), shape.own_sender,
               shape.view, shape.self);
  TUTTI_ASSERT(shape.sender_ids.size() == shape.senders() &&
                   shape.sender_rings.size() == shape.senders() &&
                   shape.sender_reclaimed.size() == shape.senders() &&
                   shape.sender_replicas.size() == shape.senders(),
               shape.senders(), shape.view, shape.self);
  TUTTI_ASSERT((shape.order == Order::none) == (shape.level == Level::unordered),
               static_cast<int>(shape.order), static_cast<int>(shape.level), shape.view,
               shape.self);
  TUTTI_ASSERT(!stability_->passes_on() || shape.member_areas.size() == shape.members(),
               shape.member_areas.size(), shape.members(), shape.view, shape.self);
  TUTTI_ASSERT(own_ring == nullptr || shape.members() == 0 ||
                   shape.sender_ranks[shape.own_sender] == shape.self,
               shape.own_sender, shape.view, shape.self);
}

template <class Memory>
bool Multicast<Memory>::step(Outbox& out) {
  out = {};
  if (state_.violation) return false;
  if (state_.unmet != 0) meet();
  bool advanced = stability_->start();
  if (!state_.wedged || stability_->receives_wedged()) {
    advanced |= dissemination_->receive(pass_on_.ignored());
    if (!state_.wedged) {
      advanced |= order_->step(ring_);
      if (ring_ != nullptr) advanced |= send(out);
    }
    if (advanced) order_->publish_received();
    advanced |= stability_->find(advanced);
    if (!state_.wedged && !state_.violation) {
      if (state_.owes_end_mark) tell_end();
      advanced |= dissemination_->post(out);
    }
  }
  if (state_.owes_end_mark && state_.wedged && !state_.violation) tell_end();
  if (ring_ != nullptr) advanced |= release();
  if (!complete_ && state_.delivered >= kDeliveredAll && !state_.owes_end_mark) {
    complete_ = complete_everywhere();
    advanced |= complete_;
  }
  out.control = state_.blocks.take_unsaid();
  out.control_to_next = state_.blocks.take_unsaid_to_next();
  out.control_to_last = state_.blocks.take_unsaid_to_last();
  return advanced || out.any() || state_.violation;  // looked for after a pass that did work
}

// A sender's records are looked at only once it is in this view and its base is known.
template <class Memory>
void Multicast<Memory>::meet() {
  const GroupShape& shape = state_.shape;
  for (const SenderIndex s : shape.sender_indices()) {
    const Rank rank = shape.sender_ranks[s];
    if (state_.met[s] || !state_.blocks.in_view(rank)) continue;
    const std::uint64_t base =
        state_.blocks.load(rank, ControlWords::kBase) & ~ControlWords::kBaseFlags;
    if (!state_.blocks.in_view(rank)) continue;
    if (base >= shape.ring_granules) {
      state_.violation = {rank, "its ring starts outside its memory"};
      return;
    }
    TUTTI_ASSERT(state_.unmet != 0 && state_.sent[s].rounds == 0, state_.unmet,
                 state_.sent[s].rounds, s, shape.view, shape.self);
    state_.base[s] = static_cast<std::uint32_t>(base);
    state_.met[s] = true;
    --state_.unmet;
  }
}

template <class Memory>
bool Multicast<Memory>::send(Outbox& out) {
  SentState& sent = state_.own_sent;
  if (sent.finished) return false;
  const Turn turn = order_->turn();
  const SendRing::Batch batch = ring_->take(kSendBatchBytes, turn.records);
  if (batch.count != 0) take(batch, turn.round, out);
  const std::uint64_t owed = order_->rounds_owed();
  const bool nulls = sent.rounds < owed;
  if (nulls) {
    counters_.nulls_sent.add(owed - sent.rounds);
    if (batch.count == 0) counters_.null_pushes.add(1);
    sent.rounds = owed;
    nulls_since_record_ = true;
  }
  sent.finished = ring_->closed_and_empty();
  if (batch.count == 0 && !nulls && !sent.finished) return false;
  state_.sent[state_.shape.own_sender] = sent;
  // The records' bytes were acquired by take(); this release publishes them to members on this
  // host, the push to the others.
  state_.say_running(ControlWords::kSent, pack(sent));
  return true;
}

template <class Memory>
void Multicast<Memory>::take(const SendRing::Batch& batch, std::uint64_t round, Outbox& out) {
  const GroupShape& shape = state_.shape;
  SentState& sent = state_.own_sent;
  TUTTI_ASSERT(round >= sent.rounds, round, sent.rounds, shape.view, shape.self);  // S1
  if (round != sent.rounds) nulls_since_record_ = true;
  sent.rounds = round;
  if (nulls_since_record_) ring_->stamp(batch, sent.rounds, shape.view);
  nulls_since_record_ = false;
  TUTTI_ASSERT(batch.first - shape.own_base_records == sent.records, batch.first,
               shape.own_base_records, sent.records, shape.view, shape.self);  // R4
  space_.sent(batch.first - shape.own_base_records, sent.rounds);
  sent.records += batch.count;
  sent.rounds += batch.count;

  dissemination_->sent(batch, out);
  counters_.sent_messages.add(batch.count);
  counters_.received_messages.add(batch.count);
  counters_.sent_bytes.add(std::uint64_t{batch.end - batch.begin} * kGranule);
  counters_.send.record(batch.count);
}

template <class Memory>
void Multicast<Memory>::set_persisted(std::uint64_t seq) {
  const GroupShape& shape = state_.shape;
  if (seq == persisted_) return;
  TUTTI_ASSERT(seq > persisted_, seq, persisted_, shape.view, shape.self);  // S1, FO2
  persisted_ = seq;
  state_.blocks.say(persisted_word(shape.order, shape.senders()), seq);
}

template <class Memory>
std::uint64_t Multicast<Memory>::persisted_of(Rank member) const {
  const GroupShape& shape = state_.shape;
  if (member == shape.self) return persisted_;
  return state_.blocks.count(member, persisted_word(shape.order, shape.senders()));
}

// Whether a member is suspected makes no difference: what its disk has it keeps. Members that keep
// no log are none of those of which a majority is wanted.
template <class Memory>
std::uint64_t Multicast<Memory>::durable_end() {
  std::uint64_t least = kAllPersisted;
  if (state_.shape.level != Level::durable) return least;
  if (state_.shape.durable_quorum) {
    for (const Rank m : state_.shape.ranks()) said_[m.value] = persisted_of(m);
    const auto without = std::ranges::count(said_, kAllPersisted);
    const auto logs = std::ssize(said_) - without;
    if (logs == 0) return least;
    const auto last = said_.begin() + without + logs / 2;  // of the smallest majority
    std::ranges::nth_element(said_, last, std::ranges::greater{});
    return *last;
  }
  for (const Rank m : state_.shape.ranks()) least = std::min(least, persisted_of(m));
  return least;
}

template <class Memory>
bool Multicast<Memory>::is_on_disks() const {
  const GroupShape& shape = state_.shape;
  const std::optional<std::uint64_t> first = first_seq();
  std::uint32_t many = 0;
  for (const Rank m : shape.ranks()) {
    const std::uint64_t persisted =
        m == shape.self ? persisted_
                        : state_.blocks.count(m, persisted_word(shape.order, shape.senders()));
    if (first && persisted >= *first) ++many;
  }
  return 2 * many > shape.members();
}

template <class Memory>
void Multicast<Memory>::tell_end() {
  if (!dissemination_->has_posted_all()) return;
  state_.owes_end_mark = false;
  state_.blocks.say(ControlWords::kDelivered, state_.delivered);
}

template <class Memory>
bool Multicast<Memory>::release() {
  const std::uint64_t records = state_.own_sent.records;
  if (!space_.begin_release(records)) return false;
  return space_.release(order_->own_rounds_before(order_->least_position()), records);
}

template <class Memory>
bool Multicast<Memory>::holds_space(Rank member) const {
  if (ring_ == nullptr) return false;
  const std::uint64_t there = order_->own_rounds_before(order_->position_of(member));
  if (there >= state_.own_sent.rounds) return false;
  for (const Rank m : state_.shape.ranks()) {
    if (order_->own_rounds_before(order_->position_of(m)) < there) return false;
  }
  return true;
}

template <class Memory>
bool Multicast<Memory>::complete_everywhere() const {
  for (const Rank m : state_.shape.ranks()) {
    if (m != state_.shape.self && !complete_at(m)) return false;
  }
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
