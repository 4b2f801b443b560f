// What the owner's threads do: they write frames, and say that a request was handled.
#include <cstring>

#include "base/assert.hpp"
#include "requests/requests.hpp"
#include "sst/memory.hpp"

namespace tutti {

// The bytes mean nothing before `sent` covers them, which the predicate thread raises.
template <class Memory>
auto Requests<Memory>::write(Slot to, std::uint64_t session, FrameKind kind, std::uint64_t id,
                             std::span<const std::byte> bytes, std::uint32_t patience_ms)
    -> Written {
  TUTTI_ASSERT(to.value < words_.nodes && to != self_.slot && id != 0, to, self_.slot, id);
  TUTTI_ASSERT(bytes.size() <= bytes_max(kind), bytes.size(), bytes_max(kind));
  Peer& peer = peers_[to.value];
  // Acquire: pairs with open().
  if (session == 0 || peer.session.load(std::memory_order_acquire) != session) {
    return Written::gone;
  }
  const Lane lane = kind == FrameKind::request ? Lane::requests : Lane::replies;
  Out& out = peer.out[static_cast<std::size_t>(lane)];
  const std::uint64_t length = words_.lane_granules();
  const std::uint64_t granules = RequestFrame::granules(bytes.size());
  const std::uint64_t written = out.written.load(std::memory_order_relaxed);
  std::uint64_t at = written % length;
  const std::uint64_t pad = at + granules > length ? length - at : 0;
  // Acquire: the peer has read what we overwrite; pairs with look().
  const std::uint64_t in_use = written - out.taken.load(std::memory_order_acquire);
  if (in_use + pad + granules > length) return Written::full;  // RQ3
  std::byte* const begin = own_row_ + words_.lane(self_.slot, to, lane);
  if (pad != 0) {
    store_cell(begin + 8 * at, RequestFrame::header(RequestFrame::kPad, pad));
    at = 0;
  }
  store_cell(begin + 8 * at,
             RequestFrame::header(static_cast<std::uint64_t>(kind), bytes.size(), patience_ms));
  store_cell(begin + 8 * (at + 1), id);
  std::byte* cell = begin + 8 * (at + RequestFrame::kHeaderGranules);
  for (std::size_t done = 0; done < bytes.size(); done += 8, cell += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + done, std::min<std::size_t>(8, bytes.size() - done));
    store_cell(cell, word);
  }
  if (kind == FrameKind::request) {
    peer.requests.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t before = peer.id_max.load(std::memory_order_relaxed);
    peer.id_max.store(std::max(before, id), std::memory_order_relaxed);
  }
  // Release: with the bytes and the ids; pairs with say().
  out.written.store(written + pad + granules, std::memory_order_release);
  return Written::ok;
}

template <class Memory>
void Requests<Memory>::release(Slot from, std::uint64_t session) {
  TUTTI_ASSERT(from.value < words_.nodes && from != self_.slot, from, self_.slot);
  Peer& peer = peers_[from.value];
  if (session == 0 || peer.session.load(std::memory_order_acquire) != session) return;
  peer.released.fetch_add(1, std::memory_order_relaxed);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Requests<NativeMemory>;
#endif

}  // namespace tutti
