#include "conformance/stream.hpp"

#include <algorithm>
#include <utility>

#include "base/prng.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kSent = 64;         // the counter that guards the slots
constexpr std::uint64_t kReceived = 72;     // one word per peer: what was received from it
constexpr std::uint64_t kFirstSlot = 4099;  // odd on purpose: data has no alignment

std::uint64_t seed_of(std::uint32_t sender, std::uint64_t index) {
  std::uint64_t state = (std::uint64_t{sender} << 48) + index;
  return splitmix64(state);
}

Extent extent_of(std::uint32_t sender, std::uint64_t index, const StreamOptions& options) {
  const std::uint64_t bytes = 1 + seed_of(sender, index) % options.message_max_bytes;
  const std::uint64_t slot = index % options.slots;
  return {kFirstSlot + slot * options.message_max_bytes, static_cast<std::uint32_t>(bytes)};
}

std::byte byte_of(std::uint64_t seed, std::uint32_t position) {
  return static_cast<std::byte>((seed >> (position % 7)) + position);
}

}  // namespace

Stream::Stream(Node& node, std::size_t nodes, const StreamOptions& options)
    : node_(node), nodes_(nodes), options_(options), received_(nodes), receipts_(nodes) {}

std::size_t Stream::row_bytes(std::size_t nodes, const StreamOptions& options) {
  static_cast<void>(nodes);  // their words lie before the first slot
  return kFirstSlot + options.slots * options.message_max_bytes;
}

bool Stream::step() {
  node_.poll();
  bool worked = false;
  for (std::uint32_t peer = 0; peer < nodes_; ++peer) {
    if (peer != node_.rank.value) worked |= receive_from(peer);
  }
  while (send_one()) worked = true;
  if (worked) {
    publish_counters();
    node_.fabric->flush();
  }
  return worked;
}

bool Stream::send_one() {
  if (sent_ == options_.messages || sent_ - acknowledged() == options_.slots) return false;
  const Extent extent = extent_of(node_.rank.value, sent_, options_);
  const std::uint64_t seed = seed_of(node_.rank.value, sent_);
  for (std::uint32_t i = 0; i < extent.bytes; ++i) {
    node_.row.data()[extent.offset + i] = byte_of(seed, i);
  }
  for (std::uint32_t peer = 0; peer < nodes_; ++peer) {
    if (peer != node_.rank.value) node_.fabric->write(Slot{peer}, extent);
  }
  ++sent_;
  return true;
}

bool Stream::receive_from(std::uint32_t peer) {
  const std::uint64_t receipt = node_.load(Slot{peer}, kReceived + 8 * node_.rank.value);
  if (receipt < receipts_[peer] || receipt > sent_) broken_ = true;
  bool worked = std::exchange(receipts_[peer], receipt) != receipt;
  const std::uint64_t sent = node_.load(Slot{peer}, kSent);
  if (sent < received_[peer] || sent > options_.messages) broken_ = true;
  for (; received_[peer] < sent && !broken_; ++received_[peer]) {
    const Extent extent = extent_of(peer, received_[peer], options_);
    const std::uint64_t seed = seed_of(peer, received_[peer]);
    const std::byte* data = node_.fabric->row(Slot{peer}) + extent.offset;
    for (std::uint32_t i = 0; i < extent.bytes; ++i) broken_ |= data[i] != byte_of(seed, i);
    worked = true;
  }
  return worked;
}

void Stream::publish_counters() {
  node_.store(kSent, sent_);
  for (std::uint32_t i = 0; i < nodes_; ++i) node_.store(kReceived + 8 * i, received_[i]);
  for (std::uint32_t peer = 0; peer < nodes_; ++peer) {
    if (peer == node_.rank.value) continue;
    if (options_.guard_apart) {
      node_.publish(Slot{peer}, kSent);
      node_.publish(Slot{peer}, kReceived, nodes_);
    } else {
      node_.publish(Slot{peer}, kSent, 1 + nodes_);
    }
  }
}

std::uint64_t Stream::acknowledged() const {
  std::uint64_t least = options_.messages;
  for (std::uint32_t peer = 0; peer < nodes_; ++peer) {
    if (peer != node_.rank.value) least = std::min(least, receipts_[peer]);
  }
  return least;
}

bool Stream::done() const {
  if (sent_ != options_.messages || acknowledged() != options_.messages) return false;
  for (std::uint32_t peer = 0; peer < nodes_; ++peer) {
    if (peer != node_.rank.value && received_[peer] != options_.messages) return false;
  }
  return true;
}

}  // namespace tutti::testing
