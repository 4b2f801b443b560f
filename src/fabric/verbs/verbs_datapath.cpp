// Posting and completions. Making and ending connections is in verbs_setup.cpp.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "fabric/peers.hpp"
#include "fabric/row_header.hpp"
#include "fabric/verbs/verbs_peer.hpp"

namespace tutti {
namespace {

using verbs::kAliveOffset;
using verbs::kReceiveMark;
using verbs::kStagingSlotBytes;
using verbs::kStagingSlots;

constexpr int kCompletionsPerPoll = 32;
// So that copies are free again before all are under way.
constexpr std::size_t kCopiesPerSignal = kStagingSlots / 4;

// After so many bytes of data the peer is told that we live: as many as one write carries at most.
constexpr std::uint64_t kAliveBytes = 1024 * 1024;

[[nodiscard]] std::uint64_t address_of(const std::byte* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

[[nodiscard]] std::string why(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_WR_FLUSH_ERR:
      return "its connection broke";
    case IBV_WC_RETRY_EXC_ERR:
      return "it does not answer: what was sent to it again and again is not acknowledged";
    case IBV_WC_REM_ACCESS_ERR:
      return "it does not let us write into its memory any more";
    default:
      return std::string("its connection failed: ") + ::ibv_wc_status_str(status);
  }
}

}  // namespace

VerbsFabric::Peer& VerbsFabric::peer_at(Slot peer) const {
  TUTTI_ASSERT(peer.value < peer_in_slot_.size() && peer_in_slot_[peer.value] != nullptr,
               peer.value);
  return *peer_in_slot_[peer.value];
}

const std::byte* VerbsFabric::row(Slot peer) const {
  return peer_at(peer).pair->region.bytes().data();
}

std::byte* VerbsFabric::replica(Slot peer) { return peer_at(peer).pair->region.bytes().data(); }

// The word comes behind the data that was posted before it, not behind what still waits there.
std::uint64_t VerbsFabric::heard(Slot peer) const {
  return peer_at(peer).pair->alive().load(std::memory_order_acquire);
}

void VerbsFabric::write(Slot peer, Extent data) {
  const std::size_t row_bytes = device_->own_row().size();
  TUTTI_ASSERT(data.offset >= kRowHeaderBytes && data.offset <= row_bytes &&
                   data.bytes <= row_bytes - data.offset,
               data.offset, data.bytes);
  Peer& target = peer_at(peer);
  if (target.alive) target.queue.write(data);
}

void VerbsFabric::publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) {
  const std::size_t row_bytes = device_->own_row().size();
  TUTTI_ASSERT(
      offset >= kRowHeaderBytes && offset <= row_bytes && words.size() <= row_bytes - offset,
      offset, words.size());
  Peer& target = peer_at(peer);
  if (!target.alive || !target.failure.empty()) return;
  target.queue.publish(offset, words);
  if (target.queue.overflowed()) {
    target.failure =
        "it has not taken " + std::to_string(PostQueue::kRecordsMax) + " posts that wait for it";
  }
}

void VerbsFabric::flush() {
  for (const auto& peer : peers_) {
    if (!peer->queue.empty()) post(*peer);
  }
}

// Hands over as much as there is room for: chains, each behind one doorbell.
void VerbsFabric::post(Peer& peer) {
  while (!peer.queue.empty() && peer.failure.empty()) {
    if (peer.room() == 0) reap(peer);
    const std::size_t count = fill_chain(peer);
    if (count == 0) return;
    hand_over(peer, count);
  }
}

std::size_t VerbsFabric::fill_chain(Peer& peer) {
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kChainMax, peer.room()));
  std::size_t count = 0;
  while (count < most && !peer.queue.empty() && fill(peer, count)) ++count;
  if (count == 0) return 0;
  peer.owed = peer.posted;
  ibv_send_wr& last = peer.chain[count - 1];
  if (owes_ring(peer)) {
    // Landed after all before it, so that who is woken finds it.
    fill_extra(peer, count - 1, Extra::ring);
  } else if (armed_) {
    last.send_flags |= IBV_SEND_SIGNALED;  // VW2: our completion wakes us to look at the bell
  }
  return count;
}

// The next piece as work request; false if it has to wait for a copy's place.
bool VerbsFabric::fill(Peer& peer, std::size_t index) {
  const verbs::Pair& pair = *peer.pair;
  if (peer.bytes_since_alive >= kAliveBytes) {
    fill_alive(peer, index);
    return true;
  }
  if (const std::optional<Extent> data = peer.queue.next_data()) {
    const std::uint32_t bytes = std::min(data->bytes, device_->limits().write_bytes_max);
    const std::byte* const from = device_->own_row().data() + data->offset;
    fill_write(peer, index, {address_of(from), bytes, device_->own_row_key()},
               pair.remote_row + data->offset);
    peer.bytes_since_alive += bytes;
    peer.queue.data_sent(bytes);
    return true;
  }
  const PostQueue::Placed post = peer.queue.next_placed();
  const std::size_t most = std::max(kStagingSlotBytes, pair.inline_bytes);
  const auto bytes = static_cast<std::uint32_t>(std::min(post.words.size(), most));
  const std::byte* from = post.words.data();  // stays there until the next post
  if (bytes > pair.inline_bytes) {
    std::byte* const copy = peer.free_copy();
    if (copy == nullptr) return false;
    std::memcpy(copy, from, bytes);
    from = copy;
    peer.copy_of[peer.next_copy] = peer.posted + 1;
    peer.next_copy = (peer.next_copy + 1) % kStagingSlots;
    ++peer.copies_unsignalled;
  }
  fill_write(peer, index, {address_of(from), bytes, pair.staging_key->lkey},
             pair.remote_row + post.offset);
  peer.queue.placed_sent(bytes);
  return true;
}

// The number lands behind the data posted before it. So the peer hears us, however much data still
// waits before our heartbeat.
void VerbsFabric::fill_alive(Peer& peer, std::size_t index) {
  const verbs::Pair& pair = *peer.pair;
  peer.bytes_since_alive = 0;
  std::uint64_t& value = peer.alive_in[index];
  value = ++peer.alive_said;
  const std::byte* from = reinterpret_cast<const std::byte*>(&value);
  if (pair.inline_bytes < sizeof value) {
    const std::span<std::byte> staging = pair.staging.bytes();
    std::byte* const copy = staging.data() + staging.size() - 2 * sizeof value;
    std::memcpy(copy, from, sizeof value);  // an earlier write may carry the newer value
    from = copy;
  }
  fill_write(peer, index, {address_of(from), sizeof value, pair.staging_key->lkey},
             pair.remote_bell + kAliveOffset);
}

// An inline write ignores the key.
void VerbsFabric::fill_write(Peer& peer, std::size_t index, const ibv_sge& from, std::uint64_t to) {
  ibv_send_wr& request = peer.chain[index];
  peer.pieces[index] = from;
  request.wr_id = ++peer.posted;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = from.length <= peer.pair->inline_bytes ? unsigned{IBV_SEND_INLINE} : 0U;
  request.wr.rdma.remote_addr = to;
  counters_.bytes += from.length;
  if (peer.posted - peer.signalled >= kPostsPerSignal ||
      peer.copies_unsignalled >= kCopiesPerSignal) {
    request.send_flags |= IBV_SEND_SIGNALED;
    peer.signalled = peer.posted;
    peer.copies_unsignalled = 0;
  }
}

// What a work request does besides, or instead.
void VerbsFabric::fill_extra(Peer& peer, std::size_t index, Extra extra) {
  ibv_send_wr& request = peer.chain[index];
  request.send_flags |= IBV_SEND_SIGNALED;
  if (extra == Extra::ring) {
    peer.rung = peer.bell();
    peer.answered = request.wr_id;
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = 0;
    ++counters_.doorbells;
  }
}

// A work request that carries none of the row: a ring, our bell, or nothing but its completion.
void VerbsFabric::post_extra(Peer& peer, Extra extra) {
  if (peer.room() == 0) return;  // then completions are awaited anyway, and it is tried again
  ibv_send_wr& request = peer.chain[0];
  request.wr_id = ++peer.posted;
  request.num_sge = 0;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = 0;
  request.wr.rdma.remote_addr = peer.pair->remote_bell;
  if (extra == Extra::raise) {
    const auto bytes = static_cast<std::uint32_t>(sizeof peer.raised);
    peer.raised += 1;
    peer.is_raised = true;
    std::byte* from = reinterpret_cast<std::byte*>(&peer.raised);
    std::uint32_t key = 0;
    if (peer.pair->inline_bytes >= bytes) {
      request.send_flags = IBV_SEND_INLINE;
    } else {
      from = peer.pair->staging.bytes().data() + peer.pair->staging.bytes().size() - bytes;
      key = peer.pair->staging_key->lkey;
      std::memcpy(from, &peer.raised, bytes);  // the last was rung, so it is not under way
    }
    peer.pieces[0] = {reinterpret_cast<std::uint64_t>(from), bytes, key};
    request.num_sge = 1;
  }
  fill_extra(peer, 0, extra);
  hand_over(peer, 1);
}

void VerbsFabric::hand_over(Peer& peer, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    peer.chain[i].next = i + 1 < count ? &peer.chain[i + 1] : nullptr;
    if ((peer.chain[i].send_flags & IBV_SEND_SIGNALED) == 0) continue;
    ++counters_.signalled;
    peer.signalled = peer.chain[i].wr_id;
  }
  counters_.writes += count;
  ibv_send_wr* refused = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const int error = ::ibv_post_send(peer.pair->id->qp, peer.chain.data(), &refused);
  counters_.posting_ns += nanoseconds_since(start);
  // Some may be under way: their completions say why, if the connection broke.
  if (error != 0) peer.failure = std::string("cannot post a write to it: ") + std::strerror(error);
}

std::size_t VerbsFabric::poll() {
  if (completions_watch_->take_ready()) hear_completions();
  bool hurry = device_watch_->take_ready();
  for (const auto& peer : peers_) {
    if (!peer->alive) continue;
    reap(*peer);
    if (armed_ && !peer->is_raised) post_extra(*peer, Extra::raise);  // a late ring took it down
    if (!peer->queue.empty()) post(*peer);
    answer_bell(*peer);
    if (drain_asked_ && peer->signalled < peer->posted) post_extra(*peer, Extra::confirm);
    hurry = peer->watch.take_ready() || hurry || !peer->failure.empty();
  }
  drain_asked_ = false;
  if (++polls_ % kPollsPerLook == 0 || hurry) [[unlikely]] {
    if (hurry) polls_ = kPollsPerCheck;
    look_around();
  }
  return 0;
}

void VerbsFabric::reap(Peer& peer) {
  ibv_wc completions[kCompletionsPerPoll];
  const int count = ::ibv_poll_cq(peer.pair->completions.get(), kCompletionsPerPoll, completions);
  for (int i = 0; i < count; ++i) {
    const ibv_wc& completion = completions[i];
    if (completion.status != IBV_WC_SUCCESS) {
      if (peer.failure.empty()) peer.failure = why(completion.status);
    } else if (completion.wr_id == kReceiveMark) {
      peer.is_raised = false;  // it was rung
      if (Result<void> r = peer.pair->post_receive(); !r) peer.failure = r.error().message;
    } else {
      peer.completed = completion.wr_id;
    }
  }
  if (count < 0 && peer.failure.empty()) peer.failure = "its completion queue broke";
}

// VW2.
void VerbsFabric::answer_bell(Peer& peer) {
  if (peer.owed <= peer.answered) return;
  if (owes_ring(peer)) {
    post_extra(peer, Extra::ring);
  } else {
    peer.answered = std::max(peer.answered, peer.completed);
  }
}

bool VerbsFabric::owes_ring(const Peer& peer) const {
  return peer.owed > peer.answered && peer.bell() != peer.rung && peer.failure.empty();
}

bool VerbsFabric::drained() const {
  const auto has_all = [](const auto& peer) {
    return !peer->alive || (peer->queue.empty() && peer->completed == peer->posted);
  };
  const bool all = std::ranges::all_of(peers_, has_all);
  drain_asked_ = !all;
  return all;
}

std::vector<PeerLoss> VerbsFabric::take_losses() {
  if (losses_.empty()) [[likely]]
    return {};
  return std::exchange(losses_, {});
}

}  // namespace tutti
