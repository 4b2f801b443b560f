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
      logger(group.log_.logs()
                 ? make_follower(shape, group.memory_, bounds, {}, group.log_.totals())
                 : nullptr),
      first_seq(shape.first_seq) {
  bounds.close();
  if (logger != nullptr) logger->wait_for_no_disk();
  if (shape.level == Level::durable) bounds.set_durable(0);
}

template <class Memory>
Subgroup<Memory>::Subgroup(const GroupShape& shape, GroupInRow in_row, DeliveryCallback callback,
                           Memory memory, std::uint64_t (*clock)(), LogSink* log)
    : memory_(memory),
      callback_(in_row.delivered_elsewhere ? marked(std::move(callback)) : std::move(callback)),
      ring_(make_ring(shape)),
      log_(log) {
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
  if (!now_->started()) [[unlikely]]
    start(*now_);
  bool advanced = false;
  if (!now_->multicast.drained()) [[unlikely]]
    advanced = retire();
  if (!views_.front()->bounds.is_open()) advanced |= open_oldest();
  take_over_delivered();
  Outbox out;
  if (now_->shape.logged) advanced |= follow_log();
  advanced |= now_->multicast.step(out);
  if (out.any()) pushes_.add(now_->posts.push(out, effects));
  if (now_->multicast.complete()) complete_.store(true, std::memory_order_release);
  return advanced;
}

// In the oldest view of which it has not had all, which may be behind that of the application: a
// callback that takes long keeps nobody's messages off the disks. The view need not be allowed, for
// the log comes before the application. What was durable in one view is so in the next.
template <class Memory>
bool Subgroup<Memory>::follow_log() {
  InView& oldest = *views_.front();
  bool moved = false;
  for (const auto& view : views_) {
    if (!log_.logs() || view->shape.members() == 0) continue;
    if (!view->started() || view->wedged) break;
    if (!log_.has_begun()) log_.begin(view->first_seq);
    moved |= log_.take(*view->logger);
    if (!view->cut || !view->multicast.at_cut(*view->cut, *view->logger)) break;
  }
  const std::uint64_t durable = log_.tell(now_->multicast);
  if (now_->shape.level == Level::durable && durable != oldest.bounds.durable()) {
    oldest.bounds.set_durable(durable);
    moved = true;
  }
  return moved;
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
  if (!now_->started()) return false;  // step() starts it, and tells the number on
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
  if (view.logger != nullptr) view.logger->start_at(*first);
  view.multicast.tell_first_seq(*first);
  view.first_seq = *first;
}

template <class Memory>
bool Subgroup<Memory>::is_at_cut(const InView& view) const {
  return view.cut && view.multicast.at_cut(*view.cut, *view.follower) &&
         (view.logger == nullptr || view.multicast.at_cut(*view.cut, *view.logger));
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
    next.follower->number_on(*oldest.follower, oldest.shape);  // Z4
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
  if (!view.started() || view.wedged || view.shape.view > allowed_) return false;
  view.bounds.open();
  return true;
}

template <class Memory>
void Subgroup<Memory>::take_over_delivered() {
  std::uint64_t position = now_->follower->position();
  if (now_->logger != nullptr) position = std::min(position, now_->logger->position());  // FO3
  now_->multicast.set_delivered(position);
  if (now_->multicast.order().is_total()) return;
  for (const SenderIndex s : now_->shape.sender_indices()) {
    now_->multicast.set_consumed(s, now_->follower->consumed(s));
  }
}

// Only where something might be delivered: then the number of the next message is known. A member
// that was overtaken may not have applied all before that number (Y5): it finds so in run().
template <class Memory>
bool Subgroup<Memory>::pauses(const InView& view) {
  if (!pause_.is_asked()) return false;
  if (view.follower->stale() || !view.follower->in_place()) [[unlikely]]
    return false;
  pause_.reach({.seq = view.follower->next_seq(), .view = view.shape.view});
  return true;
}

template <class Memory>
bool Subgroup<Memory>::deliver() {
  InView& view = *views_.front();
  if (view.in_row.delivered_elsewhere || totals_.halted.load(std::memory_order_relaxed))
    return false;
  if (!view.bounds.is_open()) return false;
  TUTTI_ASSERT(view.shape.view <= allowed_, view.shape.view, allowed_, view.shape.self);  // Z2
  if (pauses(view)) [[unlikely]]
    return false;
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
  const bool delivered = view != nullptr && view->bounds.is_open() && !pauses(*view) &&
                         view->follower->run(kBatchesPerTurn);
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
  if (lender_ != nullptr && lender_->bounds.is_open() && !pauses(*lender_)) {
    taken = lender_->follower->take(max);
  }
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

// FO2. What comes next is not durable, and what comes before it was delivered.
template <class Memory>
bool Subgroup<Memory>::waits_for_disk(const InView& view) const {
  if (view.shape.level != Level::durable || !view.started()) return false;
  if (view.cut && view.multicast.at_cut(*view.cut, *view.follower)) return false;
  std::uint64_t next = view.first_seq;
  for (const SenderIndex s : view.shape.sender_indices()) {
    const std::optional<RingCursor> here = view.follower->cursor(s);
    if (!here) return false;
    next += here->messages;
  }
  return next >= view.bounds.durable();
}

template <class Memory>
bool Subgroup<Memory>::logged_all() const {
  const InView& view = *views_.front();
  return view.logger == nullptr || view.logger->position() >= view.follower->position();
}

// Those who go on tell how far their disks are in a view that this member does not see.
template <class Memory>
bool Subgroup<Memory>::delivered_all() {
  gave_up_ |= now_->cut && waits_for_disk(*views_.front());  // for good: nobody delivers any more
  return (gave_up_ || (caught_up() && is_at_cut(*now_))) && at_rest();
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

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Subgroup<NativeMemory>;
#endif

}  // namespace tutti
