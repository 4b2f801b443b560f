// How far a group is, and what may be wrong in it: what a node shows of it.
#include <algorithm>

#include "base/assert.hpp"
#include "multicast/subgroup.hpp"

namespace tutti {

template <class Memory>
bool Subgroup<Memory>::note_course(std::uint64_t now_ns) {
  const bool tells = now_->multicast.tell_position();
  const GroupOrder<Memory>& order = now_->multicast.order();
  const bool total = order.is_total();
  course_.note(now_ns, order.own_position(),
               total ? totals_.counters.messages.get() : counters_.sent_messages.get(),
               total ? totals_.counters.bytes.get() : counters_.sent_bytes.get());
  std::uint64_t last = order.own_position();
  for (const Rank m : now_->shape.ranks()) {
    last = std::min(last, order.position_of(m));
  }
  course_.forget_before(last);
  const std::uint64_t position = order.position_of(now_->shape.self);
  const bool behind = order.undelivered() != 0 || views_.size() > 1;
  if (position != noted_position_ || !behind || noted_ns_ == 0) not_behind_ns_ = now_ns;
  noted_position_ = position;
  noted_ns_ = now_ns;
  return tells;
}

template <class Memory>
Lag Subgroup<Memory>::lag(Rank member) const {
  const GroupOrder<Memory>& order = now_->multicast.order();
  if (member != now_->shape.self || !order.is_total()) {
    return course_.of(order.position_of(member));
  }
  TUTTI_ASSERT(noted_ns_ >= not_behind_ns_, noted_ns_, not_behind_ns_, now_->shape.self);
  const std::uint64_t messages = order.undelivered();
  const std::uint64_t delivered = std::max<std::uint64_t>(totals_.counters.messages.get(), 1);
  return {.messages = messages,
          .bytes = messages * (totals_.counters.bytes.get() / delivered),
          .ns = noted_ns_ - not_behind_ns_};
}

template <class Memory>
bool Subgroup<Memory>::holds_window(Rank member) const {
  return ring_ && now_->multicast.holds_space(member) &&
         !ring_->has_space_for(now_->shape.message_max_bytes);
}

template <class Memory>
std::optional<Violation> Subgroup<Memory>::violation() const {
  const InView& oldest = *views_.front();
  Rank corrupt = oldest.follower->corrupt();  // once: a delivery thread writes it
  if (corrupt == kNobody && oldest.logger != nullptr) corrupt = oldest.logger->corrupt();
  const InView& found = corrupt != kNobody ? oldest : *now_;
  std::optional<Violation> out = found.multicast.violation();
  if (corrupt != kNobody) out = {corrupt, "its ring buffer holds a record that cannot be"};
  if (!out) return out;
  const Rank self = found.shape.self;
  TUTTI_ASSERT(out->rank.value < found.shape.members(), out->rank, found.shape.view, self);
  // The peers are the other members, by rank. Our own ring the application may have written over.
  const GroupInRow& in_row = found.in_row;
  out->slot =
      out->rank == self ? in_row.self : in_row.peers[out->rank.value - (out->rank > self ? 1 : 0)];
  return out;
}

template <class Memory>
std::optional<std::uint64_t> Subgroup<Memory>::first_new() const {
  const auto first =
      std::ranges::find_if(views_, [](const auto& view) { return view->shape.members() != 0; });
  if (first == views_.end()) return {};
  return (*first)->started() ? (*first)->first_seq : (*first)->multicast.first_seq();
}

template <class Memory>
GroupStatistics Subgroup<Memory>::statistics() const {
  GroupStatistics out;
  out.sent_messages = counters_.sent_messages.get();
  out.sent_bytes = counters_.sent_bytes.get();
  out.received_messages = counters_.received_messages.get();
  out.delivered_messages = totals_.counters.messages.get();
  out.delivered_bytes = totals_.counters.bytes.get();
  out.nulls_sent = counters_.nulls_sent.get();
  out.null_pushes = counters_.null_pushes.get();
  out.token_visits = counters_.token_visits.get();
  out.token_rests = counters_.token_rests.get();
  out.token_parked_ns = counters_.token_parked.get([this] { return counters_.now_ns(); });
  out.token_held_ns = counters_.token_held_ns.get();
  out.frames_handed_on = counters_.frames_handed_on.get();
  out.bytes_handed_on = counters_.bytes_handed_on.get();
  out.pushes = pushes_.get();
  out.send = counters_.send.snapshot();
  out.receive = counters_.receive.snapshot();
  out.delivery = totals_.counters.batches.snapshot();
  out.pending = counters_.pending.snapshot();
  return out;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Subgroup<NativeMemory>;
#endif

}  // namespace tutti
