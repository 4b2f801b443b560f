#include "membership/suspicion.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Suspicion<Memory>::Suspicion(ViewRows<Memory>& rows, const Quorum& quorum, std::size_t nodes,
                             std::uint64_t suspect_after_ns, Suspect suspect, Heard heard)
    : rows_(rows),
      quorum_(quorum),
      suspect_after_ns_(suspect_after_ns),
      suspect_(std::move(suspect)),
      heard_(std::move(heard)),
      suspected_(rows.view().members.size()),
      said_(rows.words().suspected_words()),
      detector_(static_cast<std::uint32_t>(nodes), suspect_after_ns) {}

template <class Memory>
Rank Suspicion<Memory>::leader() const {
  const auto first = std::ranges::find(suspected_, false);
  return {static_cast<std::uint32_t>(first - suspected_.begin())};
}

template <class Memory>
std::uint32_t Suspicion<Memory>::unsuspected() const {
  return static_cast<std::uint32_t>(std::ranges::count(suspected_, false));
}

template <class Memory>
bool Suspicion<Memory>::may_go_on() const {
  return quorum_.may_go_on(unsuspected(), rows_.view().members.size());
}

template <class Memory>
void Suspicion<Memory>::watch_heartbeats(std::uint64_t now_ns) {
  detector_.look(now_ns);
  const View& view = rows_.view();
  for (const Rank rank : view.ranks()) {
    if (rank == rows_.rank() || of(rank)) continue;
    const Slot slot = view.members[rank].slot;
    // Both only grow, as long as it is connected. A beat may wait behind much data of its own.
    detector_.heard(slot, rows_.life(slot, ViewWords::kHeartbeat) + heard_(slot));
    if (detector_.silent(slot)) suspect_(rank);
  }
}

// J1. In rank order: of two members that suspect each other, all that hear both believe the lower.
template <class Memory>
void Suspicion<Memory>::hear_others() {
  for (const Rank rank : rows_.view().ranks()) {
    if (rank == rows_.rank() || of(rank)) continue;
    if (!hear(rank)) return;
  }
}

// False: to look no further.
template <class Memory>
bool Suspicion<Memory>::hear(Rank rank) {
  const View& view = rows_.view();
  std::size_t many = 0;
  for (std::size_t i = 0; i < said_.size(); ++i) {
    said_[i] = rows_.word(rank, ViewWords::kSuspected[i]);
    many += static_cast<std::size_t>(std::popcount(said_[i]));
  }
  const std::size_t members = view.members.size();
  if (many == 0 || !quorum_.may_go_on(members - std::min(many, members), members)) return true;
  for (const Rank other : view.ranks()) {
    const Slot slot = view.members[other].slot;
    const bool says = (said_[slot.value / 64] >> slot.value % 64 & 1) != 0;
    if (says && other != rows_.rank() && !suspect_(other)) return false;
  }
  return true;
}

template <class Memory>
void Suspicion<Memory>::add(Rank rank) {
  TUTTI_ASSERT(rank != rows_.rank() && rank.value < suspected_.size() && !of(rank), rank.value,
               rows_.rank().value, rows_.view().id);
  suspected_[rank] = true;
  rows_.say_suspected(rows_.view().members[rank].slot);
}

// In the end the members that go on trust each other, and the others hear so.
template <class Memory>
bool Suspicion<Memory>::is_alone() {
  const View& view = rows_.view();
  std::size_t together = 1;
  for (const Rank rank : view.ranks()) {
    if (rank == rows_.rank() || of(rank)) continue;
    if (!rows_.says_suspected(rank, rows_.self().slot)) ++together;
  }
  if (quorum_.may_go_on(together, view.members.size())) {
    alone_ = false;
    alone_since_ns_.reset();
    return false;
  }
  // Since the next pass: this one may have begun long before it saw so.
  if (!std::exchange(alone_, true)) return false;
  if (!alone_since_ns_) alone_since_ns_ = detector_.watched_ns();
  return detector_.watched_ns() - *alone_since_ns_ >= suspect_after_ns_;
}

template <class Memory>
void Suspicion<Memory>::begin_view() {
  suspected_.assign(rows_.view().members.size(), false);
  alone_ = false;
  alone_since_ns_.reset();
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Suspicion<NativeMemory>;
#endif

}  // namespace tutti
