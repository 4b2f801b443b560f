#include "requests/requests.hpp"

#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Requests<Memory>::Requests(const ViewMember& self, const RequestWords& words, std::byte* own_row,
                           RowOf row_of, RequestEvents& events, Memory memory)
    : self_(self),
      words_(words),
      own_row_(own_row),
      row_of_(std::move(row_of)),
      events_(events),
      memory_(memory),
      peers_(words.nodes),
      copy_(RequestFrame::granules(bytes_max(FrameKind::failed))) {
  TUTTI_ASSERT(self.slot.value < words.nodes && self.incarnation != 0, self.slot, words.nodes);
  TUTTI_ASSERT(words.bytes_max != 0 && words.offset % 8 == 0, words.bytes_max, words.offset);
  TUTTI_ASSERT(2 * copy_.size() <= words.lane_granules(), copy_.size(), words.lane_granules());
}

template <class Memory>
void Requests<Memory>::enter(const View& view) {
  if (ended_) return;
  for (Slot slot{}; slot.value < words_.nodes; ++slot.value) {
    if (slot == self_.slot) continue;
    const std::optional<Rank> rank = view.rank_of(slot);
    const std::uint64_t incarnation = rank ? view.members[*rank].incarnation : 0;
    if (incarnation == peers_[slot.value].incarnation) continue;
    close(slot);
    if (incarnation != 0) open(slot, incarnation);
  }
}

template <class Memory>
void Requests<Memory>::gone(Slot slot) {
  TUTTI_ASSERT(slot.value < words_.nodes && slot != self_.slot, slot, self_.slot);
  close(slot);
}

template <class Memory>
void Requests<Memory>::end() {
  ended_ = true;
  events_.ended();
  for (Slot slot{}; slot.value < words_.nodes; ++slot.value) close(slot);
}

// RQ1, for who reads our row itself: an earlier incarnation of that node may still run.
template <class Memory>
void Requests<Memory>::open(Slot slot, std::uint64_t incarnation) {
  Peer& peer = peers_[slot.value];
  TUTTI_ASSERT(peer.session.load(std::memory_order_relaxed) == 0, slot, self_.slot);
  memory_.store(own(slot, RequestWords::kSession), 0);
  for (const Lane lane : kLanes) {
    const auto at = static_cast<std::size_t>(lane);
    memory_.store(own(slot, RequestWords::kSent[at]), 0);
    memory_.store(own(slot, RequestWords::kTaken[at]), 0);
    peer.out[at].written.store(0, std::memory_order_relaxed);
    peer.out[at].taken.store(0, std::memory_order_relaxed);
    peer.out[at].sent = 0;
    peer.in[at] = {};
  }
  peer.released.store(0, std::memory_order_relaxed);
  peer.requests.store(0, std::memory_order_relaxed);
  peer.id_max.store(0, std::memory_order_relaxed);
  peer.incarnation = incarnation;
  peer.replies = peer.requests_released = 0;
  peer.granules_of.clear();
  const std::uint64_t session = session_of(self_, {slot, incarnation});
  memory_.store(own(slot, RequestWords::kSession), session);
  peer.is_new = true;
  // Release: a write() that finds this session finds its lanes empty.
  peer.session.store(session, std::memory_order_release);
  events_.opened(slot, session);
}

template <class Memory>
void Requests<Memory>::close(Slot slot) {
  const std::uint64_t session = peers_[slot.value].session.exchange(0, std::memory_order_acq_rel);
  if (session != 0) events_.gone(slot, session);
}

template <class Memory>
bool Requests<Memory>::step(Effects& effects) {
  bool moved = false;
  for (Slot slot{}; slot.value < words_.nodes; ++slot.value) {
    Peer& peer = peers_[slot.value];
    if (peer.session.load(std::memory_order_relaxed) == 0) continue;
    if (!violation_) moved |= look(slot, peer);
    moved |= say(slot, peer, effects);
  }
  return moved;
}

// Pushes bytes first, then the words that guard them (F-order).
template <class Memory>
bool Requests<Memory>::say(Slot slot, Peer& peer, Effects& effects) {
  bool moved = std::exchange(peer.is_new, false);
  for (const Lane lane : kLanes) {
    Out& out = peer.out[static_cast<std::size_t>(lane)];
    // Acquire: pairs with write(), which stored the bytes before.
    const std::uint64_t written = out.written.load(std::memory_order_acquire);
    if (written == out.sent) continue;
    push_lane(slot, lane, out.sent, written, effects);
    out.sent = written;
    memory_.store(own(slot, RequestWords::kSent[static_cast<std::size_t>(lane)]), written);
    moved = true;
  }
  const std::uint64_t released = peer.released.load(std::memory_order_relaxed);
  In& requests = peer.in[static_cast<std::size_t>(Lane::requests)];
  for (; peer.requests_released != released; ++peer.requests_released) {
    TUTTI_ASSERT(!peer.granules_of.empty(), slot, self_.slot, released);  // each once, by the owner
    requests.taken += peer.granules_of.front();
    peer.granules_of.pop_front();
  }
  for (const Lane lane : kLanes) {
    const auto at = static_cast<std::size_t>(lane);
    std::byte* const word = own(slot, RequestWords::kTaken[at]);
    if (NativeMemory::load(word) == peer.in[at].taken) continue;
    memory_.store(word, peer.in[at].taken);
    moved = true;
  }
  if (!moved) return false;
  effects.publish(slot, words_.words(self_.slot, slot),
                  {own(slot, RequestWords::kSession), RequestWords::kWordsBytes});
  return true;
}

template <class Memory>
void Requests<Memory>::push_lane(Slot slot, Lane lane, std::uint64_t from, std::uint64_t to,
                                 Effects& effects) {
  const std::uint64_t length = words_.lane_granules();
  TUTTI_ASSERT(to - from <= length, from, to, length);  // RQ3
  const std::size_t offset = words_.lane(self_.slot, slot, lane);
  while (from != to) {
    const std::uint64_t at = from % length;
    const std::uint64_t piece = std::min(to - from, length - at);
    effects.write(slot, {offset + 8 * at, static_cast<std::uint32_t>(8 * piece)});
    from += piece;
  }
}

template <class Memory>
void Requests<Memory>::violate(Slot slot, const char* what) {
  if (!violation_) violation_ = Violation{.what = what, .slot = slot};
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Requests<NativeMemory>;
#endif

}  // namespace tutti
