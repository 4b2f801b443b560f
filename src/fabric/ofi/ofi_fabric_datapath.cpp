// Posting, sending and receiving. Making and ending an OfiFabric is in ofi_fabric_setup.cpp.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "fabric/ofi/ofi_peer.hpp"
#include "fabric/peers.hpp"

namespace tutti {
namespace {

// One write in so many tells that it has landed, and so that those before it have.
constexpr std::uint32_t kWritesPerSignal = 16;

// A peer is told so often how much of its ring is free again: a quarter, so that it never waits.
constexpr std::uint64_t kAcknowledgeBytes = ofi::kRingBytes / 4;

// After so many bytes of data the peer is told that we live: as many as one write carries at most.
constexpr std::uint64_t kAliveBytes = 1024 * 1024;

void* descriptor_of(const ofi::Owned<fid_mr>& region) {
  return region == nullptr ? nullptr : fi_mr_desc(region.get());
}

}  // namespace

const std::byte* OfiFabric::row(Slot peer) const { return peer_at(peer).window.bytes().data(); }

std::byte* OfiFabric::replica(Slot peer) { return peer_at(peer).window.bytes().data(); }

// The word comes behind the data that was posted before it, not behind what still waits there.
std::uint64_t OfiFabric::heard(Slot peer) const {
  return peer_at(peer).words->alive.load(std::memory_order_acquire);
}

void OfiFabric::write(Slot peer, Extent data) {
  TUTTI_ASSERT(data.offset <= own_row_.size() && data.bytes <= own_row_.size() - data.offset,
               data.offset, data.bytes);
  Peer& target = peer_at(peer);
  if (target.alive) target.queue.write(data);
}

void OfiFabric::publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset <= own_row_.size() && words.size() <= own_row_.size() - offset, offset,
               words.size());
  Peer& target = peer_at(peer);
  if (target.alive) target.queue.publish(offset, words);
}

void OfiFabric::flush() {
  for (const auto& owned : peers_) {
    Peer& peer = *owned;
    if (peer.queue.empty()) continue;
    push(peer);
    if (!peer.rings) continue;
    // Pairs with arm(): what says that it sleeps lands by this, or its last poll sees the posts.
    progress(peer);
    if (!peer.queue.empty()) {  // there may be room now
      acknowledge(peer);
      push(peer);
      progress(peer);
    }
    ring_if_asleep(peer);
  }
}

void OfiFabric::push(Peer& peer) {
  if (!peer.opened || !is_usable(peer)) return;
  const auto start = std::chrono::steady_clock::now();
  while (push_next(peer)) {
  }
  counters_.posting_ns += nanoseconds_since(start);
}

// Hands the next write to the provider. False: nothing left, or no room, or it failed.
bool OfiFabric::push_next(Peer& peer) {
  if (peer.signalled == ofi::CompletionQueue::kSignalledMax) return false;
  const std::optional<Extent> data = peer.queue.next_data();
  ofi::Write out{.key = peer.theirs->key};
  std::uint32_t taken = 0;
  ofi::RingWriter::Part part;
  if (data) {
    taken = static_cast<std::uint32_t>(
        std::min<std::size_t>(data->bytes, station_->provider().write_bytes_max()));
    out.from = own_row_.data() + data->offset;
    out.bytes = taken;
    out.descriptor = descriptor_of(peer.own_row_region);
    out.to = peer.theirs->base + data->offset;
  } else {
    const std::span<const std::byte> rest = peer.queue.next_frame(peer.all_acknowledged());
    if (rest.empty()) return false;
    const auto built =
        peer.writer.build(rest, peer.words->consumed.load(std::memory_order_acquire));
    if (!built) return false;
    part = *built;
    out.from = peer.mirror.bytes().data() + part.offset;
    out.bytes = part.bytes;
    out.descriptor = descriptor_of(peer.mirror_region);
    out.to = peer.theirs->base + ofi::window_ring(peer.theirs->row_bytes) + part.offset;
  }
  out.signalled = must_signal() || peer.signalled == 0 || peer.unsignalled + 1 >= kWritesPerSignal;
  out.more = data && taken == data->bytes && frame_follows(peer);
  if (!post(peer, out)) return false;
  if (data) {
    peer.queue.data_sent(taken);
  } else {
    peer.writer.posted(part);
    peer.queue.frame_sent(part.payload);
  }
  count(peer, out.signalled);
  peer.posted = true;
  if (out.signalled) ++counters_.signalled;
  ++counters_.writes;
  counters_.bytes += out.bytes;
  if (data) peer.bytes_since_alive += taken;
  if (!out.more && peer.bytes_since_alive >= kAliveBytes &&
      tell(peer, Word::alive, peer.next_alive)) {
    ++peer.next_alive;
    peer.bytes_since_alive = 0;
  }
  return true;
}

// Whether a frame goes out right behind the data that is next: the peer's ring has room for it, and
// a completion is left. Then only the provider can refuse it, and says so (Outcome::later).
bool OfiFabric::frame_follows(const Peer& peer) {
  const std::span<const std::byte> frame = peer.queue.frame_behind_next_data();
  const std::uint64_t consumed = peer.words->consumed.load(std::memory_order_acquire);
  return !frame.empty() && peer.signalled + 1 < ofi::CompletionQueue::kSignalledMax &&
         peer.writer.has_room(frame.size(), consumed);
}

// Whether only a write's own completion tells that it has landed.
bool OfiFabric::must_signal() const {
  const ofi::Provider& provider = station_->provider();
  return provider.reconnects() || provider.ordering() == Ordering::none;
}

// Words of the window are written on their own: they only grow, and need no order but among
// themselves.
bool OfiFabric::tell(Peer& peer, Word word, std::uint64_t value) {
  // Whether the peer knows that we sleep is waited for only where nothing else tells, nor is it
  // woken for that.
  const bool counts = word != Word::asleep || peer.unnoticed;
  if (counts && peer.signalled == ofi::CompletionQueue::kSignalledMax) return false;
  const std::size_t offset = std::to_underlying(word) * sizeof value;
  std::byte* const copy = peer.mirror.bytes().data() + ofi::kRingBytes + offset;
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(copy))
      .store(value, std::memory_order_relaxed);
  const ofi::Write out{
      .from = copy,
      .bytes = sizeof value,
      .descriptor = descriptor_of(peer.mirror_region),
      .to = peer.theirs->base + ofi::window_control(peer.theirs->row_bytes) + offset,
      .key = peer.theirs->key,
      .signalled = counts && (must_signal() || peer.signalled == 0 || word == Word::asleep),
      .copied = true};
  const bool posted = post(peer, out);
  if (posted && counts) count(peer, out.signalled);
  if (posted && word != Word::asleep) peer.posted = true;
  return posted;
}

bool OfiFabric::post(Peer& peer, const ofi::Write& what) {
  const ofi::Outcome outcome = peer.endpoint->write(what);
  if (outcome == ofi::Outcome::failed) {
    provider_failed(peer, "refused a write: " + peer.endpoint->error());
  }
  // The provider was asked whether we may sleep before this was posted.
  if (armed_ && !peer.rings) sleeper_.wake();
  return outcome == ofi::Outcome::posted;
}

void OfiFabric::count(Peer& peer, bool signalled) {
  if (signalled) {
    ++peer.signalled;
    peer.unsignalled = 0;
  } else {
    ++peer.unsignalled;
  }
}

std::size_t OfiFabric::poll() {
  look_around();
  progress();
  std::size_t landed = 0;
  for (const auto& owned : peers_) {
    Peer& peer = *owned;
    if (!peer.alive) continue;
    if (!peer.opened) [[unlikely]]
      open(peer);
    landed += receive(peer);
    acknowledge(peer);
    if (!peer.queue.empty()) push(peer);
    if (!peer.rings) continue;
    ring_if_asleep(peer);
    // Rung, and not seen why; not told in time for this poll to be the last one; or with posts that
    // wait for room.
    if (armed_ && (peer.bell->has_rung() || !may_sleep(peer))) sleeper_.wake();
  }
  lose_the_failed();
  return landed;
}

void OfiFabric::progress() {
  if (ofi::CompletionQueue* all = station_->completions()) {
    progress(*all);
    return;
  }
  for (const auto& peer : peers_) {
    if (peer->alive) progress(*peer);
  }
}

void OfiFabric::progress(Peer& peer) {
  if (ofi::CompletionQueue* all = station_->completions()) {
    progress(*all);
  } else if (is_usable(peer)) {
    progress(*peer.endpoint->completions());
  }
}

void OfiFabric::progress(ofi::CompletionQueue& queue) {
  for (const ofi::Completion& ended : queue.progress()) {
    Peer* peer = find(ended.attachment);
    if (peer == nullptr) continue;
    if (ended.error.empty()) {
      TUTTI_ASSERT(peer->signalled > 0, peer->slot.value);
      --peer->signalled;
      if (peer->all_acknowledged()) peer->known_asleep = peer->told_asleep;
    } else {
      provider_failed(*peer, "says: " + ended.error);
    }
  }
}

// Whether its endpoint may be touched.
bool OfiFabric::is_usable(Peer& peer) {
  if (peer.fragile) listen_to(peer);
  return peer.alive && peer.failure.empty();
}

std::size_t OfiFabric::receive(Peer& peer) {
  const std::size_t frames = peer.reader.poll();
  if (!peer.reader.error().empty() && peer.failure.empty()) peer.failure = peer.reader.error();
  return frames;
}

// Tells the peer what of its ring is free; also a last signalled write, if the last ones were not.
void OfiFabric::acknowledge(Peer& peer) {
  if (!peer.opened || !peer.failure.empty()) return;
  const std::uint64_t consumed = peer.reader.consumed();
  const bool due = consumed - peer.acknowledged >= kAcknowledgeBytes;
  const bool untold = peer.signalled == 0 && peer.unsignalled > 0 && peer.queue.empty();
  // An older value must not overtake a newer one. Before each frame all is acknowledged for once.
  const bool may = station_->provider().keeps_newer_words() || peer.all_acknowledged();
  if (may && (due || untold) && tell(peer, Word::consumed, consumed)) peer.acknowledged = consumed;
}

void OfiFabric::ring_if_asleep(Peer& peer) {
  if (!peer.alive || !peer.posted) return;
  const std::uint64_t asleep = peer.words->asleep.load(std::memory_order_acquire);
  // It may still fall asleep before it has seen them.
  if (peer.all_acknowledged()) peer.posted = false;
  if (asleep == peer.rung) return;
  peer.bell->ring();
  peer.rung = asleep;
  ++counters_.doorbells;
}

bool OfiFabric::drained() const {
  return std::ranges::all_of(peers_, [](const auto& peer) {
    const bool owes_a_ring = peer->rings && peer->posted;
    return !peer->alive || (peer->queue.empty() && peer->all_acknowledged() && !owes_a_ring);
  });
}

std::vector<PeerLoss> OfiFabric::take_losses() {
  if (losses_.empty()) [[likely]]
    return {};
  return std::exchange(losses_, {});
}

}  // namespace tutti
