// What comes from the peers. All of it is input: nothing is used before it was checked, and nothing
// is judged before the session was looked at again (RQ1).
#include <utility>

#include "base/assert.hpp"
#include "requests/requests.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool Requests<Memory>::look(Slot slot, Peer& peer) {
  const std::uint64_t session = peer.session.load(std::memory_order_relaxed);
  if (load(slot, RequestWords::kSession) != session) return false;
  Said said;
  for (std::size_t at = 0; at < kLanes.size(); ++at) {
    said.sent[at] = load(slot, RequestWords::kSent[at]);
    said.taken[at] = load(slot, RequestWords::kTaken[at]);
  }
  if (load(slot, RequestWords::kSession) != session) return false;
  if (!is_possible(peer, said, words_.lane_granules())) {
    violate(slot, kImpossibleRequests);
    return true;
  }
  bool freed = false;
  for (std::size_t at = 0; at < kLanes.size(); ++at) {
    Out& out = peer.out[at];
    freed |= said.taken[at] != out.taken.load(std::memory_order_relaxed);
    out.taken.store(said.taken[at], std::memory_order_release);  // pairs with write()
    peer.in[at].sent = said.sent[at];
  }
  if (freed) events_.space(slot);
  const bool replied = take(slot, peer, Lane::replies);
  return take(slot, peer, Lane::requests) || replied || freed;
}

// RQ2, RQ3.
template <class Memory>
bool Requests<Memory>::is_possible(const Peer& peer, const Said& said, std::uint64_t lane) {
  for (std::size_t at = 0; at < kLanes.size(); ++at) {
    const std::uint64_t taken_before = peer.out[at].taken.load(std::memory_order_relaxed);
    if (said.taken[at] < taken_before || said.taken[at] > peer.out[at].sent) return false;
    if (said.sent[at] < peer.in[at].sent || said.sent[at] - peer.in[at].taken > lane) return false;
  }
  return true;
}

// No more than a lane at a time, however fast the peer writes: what our row says of `taken` moves
// after that.
template <class Memory>
bool Requests<Memory>::take(Slot slot, Peer& peer, Lane lane) {
  const std::uint64_t session = peer.session.load(std::memory_order_relaxed);
  In& in = peer.in[static_cast<std::size_t>(lane)];
  bool moved = false;
  while (in.read != in.sent && !violation_) {
    const std::optional<Frame> frame = read(slot, lane, in.read, in.sent);
    if (load(slot, RequestWords::kSession) != session) break;
    if (!frame || !hand(slot, peer, lane, *frame)) violate(slot, kImpossibleRequest);
    moved = true;
  }
  return moved;
}

// Copies the frame that begins there; nothing if there is none that a member can write.
template <class Memory>
auto Requests<Memory>::read(Slot slot, Lane lane, std::uint64_t from, std::uint64_t sent)
    -> std::optional<Frame> {
  const std::byte* const begin = row_of_(slot) + words_.lane(slot, self_.slot, lane);
  const std::uint64_t length = words_.lane_granules();
  const std::uint64_t there = sent - from;
  std::uint64_t at = from % length;
  std::uint64_t header = memory_.load(begin + 8 * at);
  std::uint64_t pad = 0;
  if (RequestFrame::kind_in(header) == RequestFrame::kPad) {
    pad = length - at;
    if (header != RequestFrame::header(RequestFrame::kPad, pad) || pad >= there) return {};
    at = 0;
    header = memory_.load(begin);
  }
  const std::uint64_t kind = RequestFrame::kind_in(header);
  const std::uint64_t bytes = RequestFrame::length_in(header);
  const bool fits_lane = lane == Lane::requests
                             ? kind == static_cast<std::uint64_t>(FrameKind::request)
                             : kind == static_cast<std::uint64_t>(FrameKind::reply) ||
                                   kind == static_cast<std::uint64_t>(FrameKind::failed);
  if (!fits_lane || bytes > bytes_max(static_cast<FrameKind>(kind))) return {};
  const std::uint32_t patience = RequestFrame::patience_in(header);
  if (lane == Lane::replies && patience != 0) return {};
  const std::uint64_t granules = RequestFrame::granules(bytes);
  if (granules > there - pad || at + granules > length) return {};
  const std::uint64_t id = memory_.load(begin + 8 * (at + 1));
  for (std::uint64_t i = RequestFrame::kHeaderGranules; i < granules; ++i) {
    copy_[i] = memory_.load(begin + 8 * (at + i));
  }
  return Frame{
      .kind = kind, .id = id, .granules = pad + granules, .patience = patience, .length = bytes};
}

// False if no member sends it.
template <class Memory>
bool Requests<Memory>::hand(Slot slot, Peer& peer, Lane lane, const Frame& frame) {
  const std::uint64_t session = peer.session.load(std::memory_order_relaxed);
  In& in = peer.in[static_cast<std::size_t>(lane)];
  TUTTI_ASSERT(frame.granules <= in.sent - in.read, frame.granules, in.sent, in.read);
  const auto bytes =
      std::as_bytes(std::span(copy_)).subspan(8 * RequestFrame::kHeaderGranules, frame.length);
  if (frame.id == 0) return false;
  in.read += frame.granules;
  if (lane == Lane::requests) {
    peer.granules_of.push_back(frame.granules);
    events_.request(slot, session, frame.id, frame.patience, bytes);
    return true;
  }
  // The peer has seen the request that it replies to, so we have, too.
  if (frame.id > peer.id_max.load(std::memory_order_relaxed)) return false;
  if (peer.replies == peer.requests.load(std::memory_order_relaxed)) return false;
  in.taken += frame.granules;  // RQ5
  ++peer.replies;
  const bool failed = frame.kind == static_cast<std::uint64_t>(FrameKind::failed);
  events_.reply(slot, session, frame.id, failed, bytes);
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Requests<NativeMemory>;
#endif

}  // namespace tutti
