#include "engine/litmus.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kLine = 64;
constexpr std::size_t kGuard = 0;

constexpr std::size_t since(Slot slot) { return kWord * (1 + 2 * std::size_t{slot.value}); }
constexpr std::size_t seen(Slot slot) { return since(slot) + kWord; }

// LI2: rounds are far fewer than 2^32.
constexpr std::uint64_t tagged(std::uint64_t incarnation, std::uint64_t round) {
  return incarnation << 32 | round;
}
// The round of a word that is meant for this incarnation, else 0.
constexpr std::uint64_t round_for(std::uint64_t incarnation, std::uint64_t word) {
  return word >> 32 == (incarnation & 0xFFFFFFFF) ? word & 0xFFFFFFFF : 0;
}

// Different in every round, at every offset.
constexpr std::uint64_t pattern(std::uint64_t round, std::size_t at) {
  return round * 0x9E3779B97F4A7C15 + at + 1;
}

std::size_t words_bytes(std::size_t nodes) {
  return (kWord * (1 + 2 * nodes) + kLine - 1) / kLine * kLine;
}

}  // namespace

template <class Memory>
Litmus<Memory>::Litmus(ViewMember self, std::size_t nodes, std::uint32_t rounds, std::byte* own_row,
                       std::size_t offset, RowOf row_of, Memory memory)
    : self_(self.slot),
      incarnation_(self.incarnation),
      rounds_(rounds),
      own_row_(own_row),
      offset_(offset),
      row_of_(std::move(row_of)),
      memory_(memory),
      paths_(nodes) {
  TUTTI_ASSERT(rounds != 0 && self_.value < nodes, rounds, self_, nodes);
  TUTTI_ASSERT(offset != 0 && offset % kLine == 0, offset, self_);
}

template <class Memory>
std::uint64_t Litmus<Memory>::load(Slot slot, std::size_t word) const {
  return memory_.load(row_of_(slot) + offset_ + word);
}

template <class Memory>
void Litmus<Memory>::store(std::size_t word, std::uint64_t value) {
  memory_.store(own_row_ + offset_ + word, value);
}

template <class Memory>
std::size_t Litmus<Memory>::block_at() const {
  return words_bytes(paths_.size());
}

template <class Memory>
void Litmus<Memory>::begin(Slot slot, std::uint64_t incarnation) {
  TUTTI_ASSERT(slot != self_ && slot.value < paths_.size(), slot, self_, round_);
  paths_[slot] = {.incarnation = incarnation, .since = round_ + 1, .news = true};
  store(since(slot), tagged(incarnation, round_ + 1));
}

template <class Memory>
void Litmus<Memory>::end(Slot slot) {
  paths_[slot] = {};
  store(since(slot), 0);
}

template <class Memory>
std::vector<Slot> Litmus<Memory>::take_good() {
  return std::exchange(good_, {});
}

template <class Memory>
std::uint64_t Litmus<Memory>::seen_by(Slot slot) const {
  return round_for(incarnation_, load(slot, seen(self_)));
}

// Looks at the round that it is in, if we take part.
template <class Memory>
void Litmus<Memory>::hear(Slot slot) {
  Path& path = paths_[slot];
  TUTTI_ASSERT(path.incarnation != 0 && path.checked <= rounds_, slot, path.checked, rounds_,
               self_);
  const std::uint64_t guard = load(slot, kGuard);
  if (guard == path.heard || path.checked == rounds_) return;
  const std::uint64_t from = round_for(incarnation_, load(slot, since(self_)));
  if (from == 0 || guard < from) return;
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t at = 0; at < kBlockBytes; at += kWord) {
    if (load(slot, block_at() + at) == pattern(guard, at)) continue;
    if (wrong++ == 0) first = at;
  }
  // Unless it has given us up: then it goes on without us.
  const bool counts =
      load(slot, kGuard) == guard && round_for(incarnation_, load(slot, since(self_))) == from;
  if (!counts) return;
  if (wrong != 0) {
    finding_ = {slot, "in round " + std::to_string(path.checked + 1) + " of " +
                          std::to_string(rounds_) + " its guard was seen before " +
                          std::to_string(wrong * kWord) + " bytes of its data, from byte " +
                          std::to_string(first) + " of " + std::to_string(kBlockBytes) + " on"};
    return;
  }
  path.heard = guard;
  ++path.checked;
  path.news = true;
  store(seen(slot), tagged(path.incarnation, guard));
}

// LI3.
template <class Memory>
bool Litmus<Memory>::done_with(Slot slot) const {
  const Path& path = paths_[slot];
  const std::uint64_t last = last_round_of(path);
  return path.checked == rounds_ && round_ >= last && seen_by(slot) >= last;  // LI3
}

// LI1: of all nodes that have not seen their last one yet.
template <class Memory>
bool Litmus<Memory>::may_begin_round() const {
  bool wanted = false;
  for (const Slot slot : paths_.indices()) {
    const Path& path = paths_[slot];
    if (path.incarnation == 0) continue;
    TUTTI_ASSERT(path.since != 0 && path.since <= round_ + 1, slot, path.since, round_, self_);
    const std::uint64_t last = last_round_of(path);
    const std::uint64_t seen = std::max(seen_by(slot), path.since - 1);
    if (seen < std::min(round_, last)) return false;
    wanted = wanted || round_ < last;
  }
  return wanted;
}

template <class Memory>
void Litmus<Memory>::begin_round(Effects& effects) {
  ++round_;
  TUTTI_ASSERT(round_ >> 32 == 0, round_, self_);  // LI2
  for (std::size_t at = 0; at < kBlockBytes; at += kWord) {
    store(block_at() + at, pattern(round_, at));
  }
  store(kGuard, round_);
  for (const Slot slot : paths_.indices()) {
    Path& path = paths_[slot];
    if (path.incarnation == 0 || round_ > last_round_of(path)) continue;
    effects.write(slot, {offset_ + block_at(), kBlockBytes});
    path.news = true;
  }
}

template <class Memory>
bool Litmus<Memory>::step(Effects& effects) {
  if (finding_) return false;
  for (const Slot slot : paths_.indices()) {
    if (finding_) break;
    if (paths_[slot].incarnation != 0) hear(slot);
  }
  if (finding_) return true;
  if (may_begin_round()) begin_round(effects);
  bool posted = false;
  for (const Slot slot : paths_.indices()) {
    Path& path = paths_[slot];
    if (!std::exchange(path.news, false)) continue;
    effects.publish(slot, offset_, {own_row_ + offset_, block_at()});
    posted = true;
  }
  for (const Slot slot : paths_.indices()) {
    if (paths_[slot].incarnation == 0 || !done_with(slot)) continue;
    paths_[slot].incarnation = 0;
    good_.push_back(slot);
    posted = true;
  }
  return posted;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
std::size_t litmus_bytes(std::size_t nodes) {
  return words_bytes(nodes) + Litmus<NativeMemory>::kBlockBytes;
}

template class Litmus<NativeMemory>;
#endif

}  // namespace tutti
