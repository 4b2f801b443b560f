#include "multicast/subgroup.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sst/row_layout.hpp"

namespace tutti {
namespace {

std::optional<SendRing> make_ring(const GroupShape& shape) {
  if (shape.own_ring == nullptr) return std::nullopt;
  return std::optional<SendRing>(std::in_place, shape.own_ring, shape.ring_granules,
                                 shape.window_records);
}

}  // namespace

template <class Memory>
Subgroup<Memory>::InView::InView(Subgroup& group, const GroupShape& of_view, SubgroupPlace at)
    : shape(of_view),
      place(std::move(at)),
      bounds(shape.senders()),
      multicast(shape, group.memory_, shape.own_sender == kNobody ? nullptr : group.ring(), bounds,
                group.counters_),
      delivery(shape, group.memory_, bounds, group.callback_, group.totals_),
      started(shape.first_seq != kUnknownSeq) {}

template <class Memory>
Subgroup<Memory>::Subgroup(const GroupShape& shape, SubgroupPlace place, DeliveryCallback callback,
                           Memory memory)
    : memory_(memory),
      callback_(std::move(callback)),
      ring_(make_ring(shape)),
      now_(std::make_unique<InView>(*this, shape, std::move(place))),
      open_(now_.get()) {}

template <class Memory>
Subgroup<Memory>::~Subgroup() = default;

template <class Memory>
bool Subgroup<Memory>::step(Fabric& fabric) {
  if (halted_.load(std::memory_order_relaxed) || now_->shape.members() == 0) return false;
  if (!now_->open.load(std::memory_order_relaxed)) open(*now_);
  take_over_delivered();
  Outbox out;
  const bool advanced = now_->multicast.step(out);
  if (out.control) post(fabric, out);
  if (now_->multicast.complete()) complete_.store(true, std::memory_order_release);
  return advanced;
}

// Nothing is delivered between the wedge and the decision, but where delivery is what settles.
template <class Memory>
void Subgroup<Memory>::wedge() {
  now_->multicast.wedge();
  if (now_->shape.level != Level::unordered) now_->wedged = true;
  if (now_->wedged) now_->open.store(false, std::memory_order_relaxed);
}

template <class Memory>
void Subgroup<Memory>::apply_cut(const Cut& cut) {
  now_->multicast.apply_cut(cut);
  now_->wedged = false;
}

template <class Memory>
void Subgroup<Memory>::open(InView& view) {
  if (view.wedged || held_) return;
  if (!view.started) {
    const std::optional<std::uint64_t> first = view.multicast.first_seq();
    if (!first) return;
    view.delivery.start_at(*first);
    view.started = true;
  }
  view.open.store(true, std::memory_order_release);
}

template <class Memory>
void Subgroup<Memory>::take_over_delivered() {
  now_->multicast.set_delivered(now_->delivery.position());
  if (now_->shape.level != Level::unordered) return;
  for (std::uint32_t s = 0; s < now_->shape.senders(); ++s) {
    now_->multicast.set_consumed(s, now_->delivery.consumed(s));
  }
}

template <class Memory>
void Subgroup<Memory>::post(Fabric& fabric, const Outbox& out) {
  const SubgroupPlace& place = now_->place;
  const std::span<const std::byte> control(now_->shape.own_control,
                                           control_bytes(now_->shape.senders()));
  for (const Rank peer : place.peers) {
    for (std::uint32_t i = 0; i < out.pieces; ++i) {
      const Outbox::Piece& piece = out.data[i];
      fabric.write(peer, {place.ring_offset + piece.begin_granule * kGranule,
                          static_cast<std::uint32_t>(piece.granules * kGranule)});
    }
    fabric.publish(peer, place.control_offset, control);
  }
  pushes_.add(place.peers.size());
}

template <class Memory>
bool Subgroup<Memory>::deliver() {
  if (now_->place.own_delivery_thread || halted_.load(std::memory_order_relaxed)) return false;
  if (!now_->open.load(std::memory_order_relaxed)) return false;
  // Relaxed: only a thread that has the loop from us in the middle of the callback sees it.
  busy_.store(true, std::memory_order_relaxed);
  const bool delivered = now_->delivery.run(kBatchesPerTurn);
  busy_.store(false, std::memory_order_relaxed);
  return delivered;
}

// Both sides store, then look at the other's word, all in one order: either at_cut() sees that we
// are busy, or we see that the view is closed.
template <class Memory>
bool Subgroup<Memory>::deliver_here() {
  busy_.store(true, std::memory_order_seq_cst);
  InView* const view = open_.load(std::memory_order_seq_cst);
  // Acquire: pairs with open().
  const bool delivered = view != nullptr && view->open.load(std::memory_order_acquire) &&
                         view->delivery.run(kBatchesPerTurn);
  busy_.store(false, std::memory_order_release);
  return delivered;
}

template <class Memory>
bool Subgroup<Memory>::at_cut(const Cut& cut) {
  // A joiner must know its first number, if only to tell the next joiner.
  if (!now_->started || !now_->multicast.at_cut(cut, now_->delivery)) return false;
  open_.store(nullptr, std::memory_order_seq_cst);
  return !busy_.load(std::memory_order_seq_cst);
}

template <class Memory>
std::uint32_t Subgroup<Memory>::enter(const GroupShape& shape, SubgroupPlace place) {
  const std::uint32_t base = ring_ ? ring_->rebase(shape.own_base_records, shape.view) : 0;
  now_ = std::make_unique<InView>(*this, shape, std::move(place));
  course_.clear();
  complete_.store(false, std::memory_order_release);  // who has joined may send
  open_.store(now_.get(), std::memory_order_release);
  return base;
}

template <class Memory>
void Subgroup<Memory>::halt() {
  halted_.store(true, std::memory_order_release);
  if (ring_) ring_->close();
}

template <class Memory>
bool Subgroup<Memory>::at_rest() {
  open_.store(nullptr, std::memory_order_seq_cst);  // see deliver_here()
  return !busy_.load(std::memory_order_seq_cst);
}

template <class Memory>
void Subgroup<Memory>::note_course(std::uint64_t now_ns) {
  const Multicast<Memory>& multicast = now_->multicast;
  const bool unordered = now_->shape.level == Level::unordered;
  course_.note(now_ns, multicast.own_place(),
               unordered ? counters_.sent_messages.get() : totals_.counters.messages.get(),
               unordered ? counters_.sent_bytes.get() : totals_.counters.bytes.get());
  std::uint64_t last = multicast.own_place();
  for (std::uint32_t m = 0; m < now_->shape.members(); ++m) {
    last = std::min(last, multicast.place_of(m));
  }
  course_.forget_before(last);
  const std::uint64_t place = multicast.place_of(now_->shape.self);
  if (place != noted_place_ || multicast.undelivered() == 0) not_behind_ns_ = now_ns;
  noted_place_ = place;
  noted_ns_ = now_ns;
}

template <class Memory>
Lag Subgroup<Memory>::lag(std::uint32_t member) const {
  const Multicast<Memory>& multicast = now_->multicast;
  if (member != now_->shape.self || now_->shape.level == Level::unordered) {
    return course_.of(multicast.place_of(member));
  }
  const std::uint64_t messages = multicast.undelivered();
  const std::uint64_t delivered = std::max<std::uint64_t>(totals_.counters.messages.get(), 1);
  return {.messages = messages,
          .bytes = messages * (totals_.counters.bytes.get() / delivered),
          .ns = noted_ns_ - not_behind_ns_};
}

template <class Memory>
bool Subgroup<Memory>::holds_window(std::uint32_t member) const {
  return ring_ && now_->multicast.holds_space(member) &&
         !ring_->has_space_for(now_->shape.message_max_bytes);
}

template <class Memory>
std::optional<Violation> Subgroup<Memory>::violation() const {
  if (now_->delivery.corrupt() != kNobody) {
    return Violation{now_->delivery.corrupt(), "its ring buffer holds a record that cannot be"};
  }
  return now_->multicast.violation();
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
  out.pushes = pushes_.get();
  out.send = counters_.send.snapshot();
  out.receive = counters_.receive.snapshot();
  out.delivery = totals_.counters.batches.snapshot();
  return out;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Subgroup<NativeMemory>;
#endif

}  // namespace tutti
