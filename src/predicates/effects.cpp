#include "predicates/effects.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace tutti {
namespace {

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

Effects::Effects(Fabric& fabric, std::size_t effects_max, std::size_t bytes_max)
    : fabric_(fabric), effects_(effects_max), bytes_(bytes_max) {
  TUTTI_ASSERT(effects_max != 0, effects_max);
}

void Effects::push(std::span<const Slot> peers, std::span<const Extent> data,
                   std::span<const Words> words) {
  TUTTI_ASSERT(data.size() <= kExtentsMax && words.size() <= kWordsMax, data.size(), words.size());
  if (peers.empty()) return;
  std::size_t bytes = rounded(peers.size_bytes());
  for (const Words& block : words) bytes += rounded(block.bytes.size());
  TUTTI_ASSERT(bytes <= bytes_.size(), bytes, bytes_.size());
  if (used_ == effects_.size() || bytes > bytes_.size() - bytes_used_) [[unlikely]]
    carry_out();  // W3
  Effect& effect = effects_[used_++];
  effect.flush = false;
  effect.extents = static_cast<std::uint8_t>(data.size());
  effect.words = static_cast<std::uint8_t>(words.size());
  effect.peers = static_cast<std::uint32_t>(peers.size());
  effect.peers_at = keep(std::as_bytes(peers));
  std::ranges::copy(data, effect.data.begin());
  for (std::size_t i = 0; i < words.size(); ++i) {
    effect.block[i] = {words[i].offset, keep(words[i].bytes), words[i].bytes.size()};
  }
}

void Effects::flush() {
  if (used_ == effects_.size()) carry_out();
  effects_[used_++].flush = true;
}

std::size_t Effects::keep(std::span<const std::byte> bytes) {
  const std::size_t at = bytes_used_;
  std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
  bytes_used_ += rounded(bytes.size());
  return at;
}

void Effects::carry_out() {
  for (std::size_t i = 0; i < used_; ++i) carry_out(effects_[i]);
  used_ = bytes_used_ = 0;
}

void Effects::carry_out(const Effect& effect) {
  if (effect.flush) return fabric_.flush();
  const std::byte* const peers = bytes_.data() + effect.peers_at;
  for (std::uint32_t p = 0; p < effect.peers; ++p) {
    Slot peer;
    std::memcpy(&peer, peers + p * sizeof peer, sizeof peer);
    for (std::uint8_t i = 0; i < effect.extents; ++i) fabric_.write(peer, effect.data[i]);
    for (std::uint8_t i = 0; i < effect.words; ++i) {
      const auto& block = effect.block[i];
      fabric_.publish(peer, block.offset, {bytes_.data() + block.at, block.bytes});
    }
  }
}

}  // namespace tutti
