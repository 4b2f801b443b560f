#include "multicast/subgroup.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/assert.hpp"

namespace tutti {
namespace {

std::optional<SendRing> make_ring(const GroupShape& shape) {
  if (shape.own_ring == nullptr) return std::nullopt;
  return std::optional<SendRing>(std::in_place, shape.own_ring, shape.ring_granules,
                                 shape.window_records, shape.alignment);
}

}  // namespace

template <class Memory>
Subgroup<Memory>::InView::InView(Subgroup& group, const GroupShape& of_view, GroupInRow at)
    : shape(of_view),
      in_row(std::move(at)),
      posts(shape, in_row),
      bounds(shape.senders()),
      multicast(shape, group.memory_, shape.own_sender == kNoSender ? nullptr : group.ring(),
                bounds, group.counters_),
      follower(make_follower(shape, group.memory_, bounds, group.callback_, group.totals_)),
      started(shape.first_seq != kUnknownSeq) {
  bounds.close();
}

template <class Memory>
Subgroup<Memory>::Subgroup(const GroupShape& shape, GroupInRow in_row, DeliveryCallback callback,
                           Memory memory, std::uint64_t (*clock)())
    : memory_(memory),
      callback_(in_row.delivered_elsewhere ? marked(std::move(callback)) : std::move(callback)),
      ring_(make_ring(shape)) {
  counters_.clock = clock;
  now_ = views_.emplace_back(std::make_unique<InView>(*this, shape, std::move(in_row))).get();
  oldest_.store(now_, std::memory_order_release);
  open_.store(now_, std::memory_order_release);
}

template <class Memory>
Subgroup<Memory>::~Subgroup() = default;

// For the delivery thread: Z3 does not wait for the application.
template <class Memory>
DeliveryCallback Subgroup<Memory>::marked(DeliveryCallback callback) {
  if (!callback) return callback;
  return [this, callback = std::move(callback)](std::span<const Message> batch) {
    busy_.store(Busy::calling, std::memory_order_release);
    callback(batch);
    busy_.store(Busy::reading, std::memory_order_seq_cst);  // then it looks whether it may go on
  };
}

template <class Memory>
bool Subgroup<Memory>::step(Effects& effects) {
  if (totals_.halted.load(std::memory_order_relaxed) || now_->shape.members() == 0) return false;
  if (!now_->started) [[unlikely]]
    start(*now_);
  bool advanced = false;
  if (!now_->multicast.drained()) [[unlikely]]
    advanced = retire();
  if (!views_.front()->bounds.is_open()) advanced |= open_oldest();
  take_over_delivered();
  Outbox out;
  advanced |= now_->multicast.step(out);
  if (out.any()) pushes_.add(now_->posts.push(out, effects));
  if (now_->multicast.complete()) complete_.store(true, std::memory_order_release);
  return advanced;
}

// Nothing is delivered between the wedge and the decision: the cut is found from where it stands.
template <class Memory>
void Subgroup<Memory>::wedge() {
  TUTTI_ASSERT(!now_->cut, now_->shape.view, now_->shape.self);
  now_->multicast.wedge();
  if (!now_->multicast.delivers_wedged()) now_->wedged = true;
  if (now_->wedged) now_->bounds.close();
}

template <class Memory>
bool Subgroup<Memory>::tell_wedged(const IndexedBy<Rank, bool>& suspected, Effects& effects) {
  if (!now_->multicast.tell_wedged(suspected, *now_->follower)) return false;
  now_->posts.show(suspected, effects);
  return true;
}

template <class Memory>
bool Subgroup<Memory>::pass_on(const IndexedBy<Rank, bool>& suspected, bool all_wedged,
                               Effects& effects) {
  now_->multicast.pass_on(suspected, all_wedged, *now_->follower);
  const PassedPosts posts = now_->multicast.take_passed();
  if (!posts.words) return false;
  now_->posts.pass_on(posts, suspected, effects);
  return true;
}

// Z3. Both sides store, then look at the other's word, all in one order: either we see that the
// delivery thread is reading, or that sees that the bounds are closed.
template <class Memory>
bool Subgroup<Memory>::end(const Cut& cut) {
  if (now_->cut) return true;
  if (!now_->started) return false;  // step() starts it, and tells the number on
  now_->wedged = true;
  now_->bounds.close();
  if (busy_.load(std::memory_order_seq_cst) == Busy::reading) return false;
  if (!now_->multicast.apply_cut(cut, *now_->follower)) return false;
  TUTTI_ASSERT(now_->bounds.is_final() && !now_->bounds.is_open(), now_->shape.view,
               now_->shape.self);  // Z3
  now_->cut = cut;
  now_->wedged = false;
  return true;
}

template <class Memory>
void Subgroup<Memory>::start(InView& view) {
  const std::optional<std::uint64_t> first = view.multicast.first_seq();
  if (!first) return;
  view.follower->start_at(*first);
  view.multicast.tell_first_seq(*first);
  view.started = true;
}

template <class Memory>
bool Subgroup<Memory>::is_at_cut(const InView& view) const {
  return view.cut && view.multicast.at_cut(*view.cut, *view.follower);
}

// Z1. True if anything changed.
template <class Memory>
bool Subgroup<Memory>::retire() {
  bool changed = false;
  while (views_.size() > 1) {
    const InView& oldest = *views_.front();
    // Nothing is delivered in the view before the first, of which a joiner knows no cut.
    if (oldest.shape.members() != 0 && !is_at_cut(oldest)) break;
    changed = true;  // as soon as the delivery thread has noticed it
    if (!at_rest()) break;
    const InView& next = *views_[1];
    TUTTI_ASSERT(oldest.shape.view < next.shape.view && !next.bounds.is_open(), oldest.shape.view,
                 next.shape.view, next.shape.self);  // Z1
    TUTTI_ASSERT(oldest.shape.members() == 0 || oldest.bounds.is_final(), oldest.shape.view,
                 oldest.shape.self);
    views_[1]->follower->number_on(*oldest.follower, oldest.shape);  // Z4
    views_.pop_front();
    oldest_.store(views_.front().get(), std::memory_order_release);
    open_.store(views_.front().get(), std::memory_order_release);
  }
  if (views_.size() == 1) now_->multicast.set_drained();
  return changed;
}

template <class Memory>
void Subgroup<Memory>::allow(std::uint64_t view) {
  TUTTI_ASSERT(allowed_ == ~0ULL || view >= allowed_, view, allowed_, now_->shape.self);  // Z2
  allowed_ = view;
  if (!views_.front()->bounds.is_open()) open_oldest();
}

template <class Memory>
bool Subgroup<Memory>::open_oldest() {
  InView& view = *views_.front();
  if (!view.started || view.wedged || view.shape.view > allowed_) return false;
  view.bounds.open();
  return true;
}

template <class Memory>
void Subgroup<Memory>::take_over_delivered() {
  now_->multicast.set_delivered(now_->follower->position());
  if (now_->multicast.order().is_total()) return;
  for (const SenderIndex s : now_->shape.sender_indices()) {
    now_->multicast.set_consumed(s, now_->follower->consumed(s));
  }
}

template <class Memory>
bool Subgroup<Memory>::deliver() {
  InView& view = *views_.front();
  if (view.in_row.delivered_elsewhere || totals_.halted.load(std::memory_order_relaxed))
    return false;
  if (!view.bounds.is_open()) return false;
  TUTTI_ASSERT(view.shape.view <= allowed_, view.shape.view, allowed_, view.shape.self);  // Z2
  // Relaxed: only a thread that has the loop from us in the middle of the callback sees it.
  busy_.store(Busy::calling, std::memory_order_relaxed);
  const bool delivered = view.follower->run(kBatchesPerTurn);
  busy_.store(Busy::no, std::memory_order_relaxed);
  return delivered;
}

// As in end() and at_rest(): first it says that it reads, then it looks whether it may.
template <class Memory>
bool Subgroup<Memory>::deliver_here() {
  busy_.store(Busy::reading, std::memory_order_seq_cst);
  InView* const view = open_.load(std::memory_order_seq_cst);
  const bool delivered =
      view != nullptr && view->bounds.is_open() && view->follower->run(kBatchesPerTurn);
  busy_.store(Busy::no, std::memory_order_release);
  return delivered;
}

// The same; a batch that is lent keeps the view like a callback that runs.
template <class Memory>
Taken Subgroup<Memory>::take_here(std::size_t max) {
  TUTTI_ASSERT(busy_.load(std::memory_order_relaxed) == Busy::no);
  busy_.store(Busy::reading, std::memory_order_seq_cst);
  lender_ = open_.load(std::memory_order_seq_cst);
  Taken taken;
  if (lender_ != nullptr && lender_->bounds.is_open()) taken = lender_->follower->take(max);
  const bool lends = !taken.messages.empty();
  busy_.store(lends ? Busy::lent : Busy::no, std::memory_order_release);
  return taken;
}

template <class Memory>
bool Subgroup<Memory>::release_here() {
  TUTTI_ASSERT(busy_.load(std::memory_order_relaxed) == Busy::lent);
  busy_.store(Busy::reading, std::memory_order_seq_cst);
  const bool moved = lender_->follower->release();
  busy_.store(Busy::no, std::memory_order_release);
  return moved;
}

template <class Memory>
bool Subgroup<Memory>::delivered_all() {
  return caught_up() && is_at_cut(*now_) && at_rest();
}

template <class Memory>
std::uint64_t Subgroup<Memory>::next_seq() const {
  TUTTI_ASSERT(now_->cut, now_->shape.view, now_->shape.self);
  return now_->multicast.next_seq();
}

template <class Memory>
std::uint64_t Subgroup<Memory>::own_records_before() const {
  TUTTI_ASSERT(now_->cut, now_->shape.view, now_->shape.self);
  return now_->multicast.own_records_before_cut();
}

template <class Memory>
bool Subgroup<Memory>::may_tick() const {
  const GroupShape& shape = now_->shape;
  if (shape.own_sender == kNoSender || now_->wedged || now_->cut || !caught_up()) return false;
  return std::ranges::all_of(shape.sender_indices(), [&](SenderIndex s) {
    if (shape.sender_ranks[s] >= shape.self) return true;
    const SentState& sent = now_->multicast.sent_by(s);
    const std::optional<RingCursor> here = now_->follower->cursor(s);
    return sent.finished && here && here->records >= sent.records;
  });
}

template <class Memory>
std::uint32_t Subgroup<Memory>::enter(const GroupShape& shape, GroupInRow in_row) {
  const GroupShape& last = now_->shape;
  TUTTI_ASSERT(shape.view > last.view && shape.members() != 0, shape.view, last.view, shape.self);
  TUTTI_ASSERT(last.members() == 0 || now_->cut, shape.view, last.view, shape.self);
  TUTTI_ASSERT(ring_.has_value() == (shape.own_ring != nullptr), shape.view, shape.self);
  pieces_before_ = pieces_passed();
  const std::uint32_t base = ring_ ? ring_->rebase(shape.own_base_records, shape.view) : 0;
  now_ = views_.emplace_back(std::make_unique<InView>(*this, shape, std::move(in_row))).get();
  course_.clear();
  complete_.store(false, std::memory_order_release);  // who has joined may send
  return base;
}

template <class Memory>
void Subgroup<Memory>::halt() {
  totals_.halted.store(true, std::memory_order_release);
  if (ring_) ring_->close();
}

template <class Memory>
void Subgroup<Memory>::mute() {
  totals_.muted.store(true, std::memory_order_release);
  if (ring_) ring_->close();
}

template <class Memory>
bool Subgroup<Memory>::at_rest() {
  open_.store(nullptr, std::memory_order_seq_cst);  // see deliver_here()
  return busy_.load(std::memory_order_seq_cst) == Busy::no;
}

template <class Memory>
bool Subgroup<Memory>::at_rest_but_for_a_loan() {
  return at_rest() || busy_.load(std::memory_order_seq_cst) == Busy::lent;
}

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
  const Rank corrupt = oldest.follower->corrupt();  // once: a delivery thread writes it
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
