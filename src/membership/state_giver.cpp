#include "membership/state_giver.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "membership/state_frame.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
StateGiver<Memory>::StateGiver(const StateWords& words, StateJobs& jobs, std::byte* own_row,
                               RowOf row_of, Memory memory)
    : words_(words), jobs_(jobs), own_row_(own_row), row_of_(std::move(row_of)), memory_(memory) {
  TUTTI_ASSERT(words.ring_bytes == 0 || jobs.piece_bytes() == words.piece_bytes(), words.ring_bytes,
               jobs.piece_bytes());
}

template <class Memory>
void StateGiver<Memory>::begin(const View& view, std::size_t giver) {
  TUTTI_ASSERT(giver < view.survivors && view.survivors < view.members.size(), giver,
               view.survivors, view.members.size(), view.id);
  TUTTI_ASSERT(offers_.empty() || offers_.back().view < view.id, offers_.back().view, view.id);
  Offer offer;
  offer.view = view.id;
  offer.giver = giver;
  for (Rank rank{view.survivors}; rank.value < view.members.size(); ++rank.value) {
    offer.takers.push_back({.slot = view.members[rank].slot});
  }
  for (std::uint64_t group = 0; group < jobs_.groups().size(); ++group) {
    if (has_state(group)) offer.unsaved.push_back(group);
  }
  offers_.push_back(std::move(offer));
}

template <class Memory>
void StateGiver<Memory>::gone(Slot slot) {
  for (Offer& offer : offers_)
    std::erase_if(offer.takers, [slot](const Taker& taker) { return taker.slot == slot; });
}

template <class Memory>
bool StateGiver<Memory>::holds() const {
  return std::ranges::any_of(offers_, [](const Offer& offer) { return !offer.unsaved.empty(); });
}

template <class Memory>
std::vector<Slot> StateGiver<Memory>::takers() const {
  std::vector<Slot> slots;
  for (const Offer& offer : offers_) {
    for (const Taker& taker : offer.takers) slots.push_back(taker.slot);
  }
  return slots;
}

template <class Memory>
bool StateGiver<Memory>::step(Effects& effects) {
  bool moved = end_untaken();
  if (offers_.empty()) return moved;
  for (Offer& offer : offers_) moved |= ask_to_save(offer);
  Offer& offer = offers_.front();
  if (offer.takers.empty() || !offer.unsaved.empty()) return moved;
  if (!offer.begun) {
    open(offer, effects);
    moved = true;
  }
  if (offer.failed) return moved;
  moved |= look_at_wanted(offer);
  return ask_to_read(offer) || moved;
}

// Of several groups as many as there are jobs free, the others later.
template <class Memory>
bool StateGiver<Memory>::ask_to_save(Offer& offer) {
  bool asked = false;
  while (offer.saving < offer.unsaved.size()) {
    StateJob* job = jobs_.free();
    if (job == nullptr) break;
    job->kind = StateJob::Kind::save;
    job->view = offer.view;
    job->at = {offer.unsaved[offer.saving++], 0};
    jobs_.ask();
    asked = true;
  }
  return asked;
}

// Offers of which nobody takes any more, not only the first: each keeps a snapshot. What is being
// saved still holds.
template <class Memory>
bool StateGiver<Memory>::end_untaken() {
  const std::size_t before = offers_.size();
  for (auto offer = offers_.begin(); offer != offers_.end();) {
    std::erase_if(offer->takers, [&](const Taker& taker) {
      return load(taker.slot, StateWords::kTaken[offer->giver]) == StateWords::kTakenAll;
    });
    if (!offer->takers.empty()) {
      ++offer;
      continue;
    }
    TUTTI_ASSERT(offer->saving <= offer->unsaved.size(), offer->saving, offer->unsaved.size(),
                 offer->view);
    offer->unsaved.resize(offer->saving);
    StateJob* job = offer->saving == 0 ? jobs_.free() : nullptr;
    if (job == nullptr) {
      ++offer;
      continue;
    }
    job->kind = StateJob::Kind::drop;
    job->view = offer->view;
    jobs_.ask();
    offer = offers_.erase(offer);
  }
  return offers_.size() != before;
}

// L7: each of the three steps lands before the next.
template <class Memory>
void StateGiver<Memory>::open(Offer& offer, Effects& effects) {
  TUTTI_ASSERT(!offer.begun && offer.sent == 0 && &offer == &offers_.front(), offer.sent,
               offer.view);
  TUTTI_ASSERT(!holds() || offer.unsaved.empty(), offer.unsaved.size(), offer.view);  // M9
  offer.begun = true;
  memory_.store(own(StateWords::kView), 0);
  publish_words(offer, effects);
  memory_.store(own(StateWords::kSent), 0);
  memory_.store(own(StateWords::kFailed), offer.failed ? 1 : 0);
  publish_words(offer, effects);
  memory_.store(own(StateWords::kView), offer.view);
  publish_words(offer, effects);
}

// A joiner that comes to us from another giver, or finds that our state is not that one's, may want
// an earlier piece than the next.
template <class Memory>
bool StateGiver<Memory>::look_at_wanted(Offer& offer) {
  bool moved = false;
  for (Taker& taker : offer.takers) {
    const std::uint64_t wanted = load(taker.slot, StateWords::kWanted[offer.giver]);
    if (wanted == taker.wanted) continue;
    taker.wanted = wanted;
    const PieceAt at = PieceAt::from(wanted - 1);
    if (wanted == 0 || !has_state(at.group) || (offer.next && *offer.next <= at)) continue;
    offer.next = offer.reading = at;
    moved = true;
  }
  return moved;
}

template <class Memory>
bool StateGiver<Memory>::ask_to_read(Offer& offer) {
  bool asked = false;
  const std::uint64_t largest = StateWords::kFrameHeaderBytes + words_.piece_bytes();
  while (offer.next && has_state(offer.reading.group) && (reads_ + 1) * largest <= room(offer)) {
    // No state has so many pieces: the word of the joiner is false.
    if (offer.reading.index >> PieceAt::kIndexBits != 0) break;
    StateJob* job = jobs_.free();
    if (job == nullptr) break;
    job->kind = StateJob::Kind::read;
    job->view = offer.view;
    job->at = offer.reading;
    jobs_.ask();
    ++reads_;
    ++offer.reading.index;
    TUTTI_ASSERT(reads_ * largest <= words_.ring_bytes, reads_, largest, offer.view);
    asked = true;
  }
  return asked;
}

template <class Memory>
void StateGiver<Memory>::finished(const StateJob& job, Effects& effects) {
  const auto offer = std::ranges::find(offers_, job.view, &Offer::view);
  if (job.kind == StateJob::Kind::save) {
    TUTTI_ASSERT(offer != offers_.end(), job.view, job.at.group);
    TUTTI_ASSERT(offer->saving != 0 && offer->saving <= offer->unsaved.size() &&
                     offer->unsaved.front() == job.at.group,
                 offer->saving, offer->unsaved.size(), job.at.group, job.view);
    offer->unsaved.erase(offer->unsaved.begin());
    --offer->saving;
    if (job.result) return;
    offer->failed = true;
    offer->unsaved.resize(offer->saving);
    return;
  }
  if (job.kind != StateJob::Kind::read) return;
  TUTTI_ASSERT(reads_ != 0, job.view, job.at.group, job.at.index);
  --reads_;
  // Asked for before the ring went back, or for joiners that are gone: no joiner waits for it.
  if (offer == offers_.end() || offer->failed || offer->next != job.at) return;
  if (!job.result) {
    offer->failed = true;
    memory_.store(own(StateWords::kFailed), 1);
    publish_words(*offer, effects);
    return;
  }
  put(*offer, job, effects);
  if (job.last) {
    offer->next = offer->reading = begin_of_next(job.at.group);
  } else {
    ++offer->next->index;
  }
}

template <class Memory>
void StateGiver<Memory>::put(Offer& offer, const StateJob& job, Effects& effects) {
  TUTTI_ASSERT(offer.begun && &offer == &offers_.front(), offer.begun, offer.view);
  TUTTI_ASSERT(job.size <= words_.piece_bytes() && padded(job.size) <= job.bytes.size(), job.size,
               job.bytes.size(), offer.view);
  TUTTI_ASSERT(StateFrame::from(job.header).at == job.at, job.at.group, job.at.index, offer.view);
  const auto header = std::as_bytes(std::span(job.header));
  put_bytes(offer, offer.sent, header, effects);
  put_bytes(offer, offer.sent + header.size(), std::span(job.bytes).first(padded(job.size)),
            effects);
  offer.sent += header.size() + padded(job.size);
  memory_.store(own(StateWords::kSent), offer.sent);
  publish_words(offer, effects);
}

template <class Memory>
void StateGiver<Memory>::put_bytes(const Offer& offer, std::uint64_t at,
                                   std::span<const std::byte> bytes, Effects& effects) {
  TUTTI_ASSERT(at % 8 == 0 && bytes.size() % 8 == 0 && bytes.size() <= words_.ring_bytes, at,
               bytes.size(), words_.ring_bytes, offer.view);
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t begin = (at + done) % words_.ring_bytes;
    const std::uint64_t piece = std::min(bytes.size() - done, words_.ring_bytes - begin);
    for (std::uint64_t i = 0; i < piece; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + done + i, sizeof word);
      memory_.store(own_row_ + words_.offset + StateWords::kRing + begin + i, word);
    }
    for (const Taker& taker : offer.takers) {
      effects.write(taker.slot,
                    {words_.offset + StateWords::kRing + begin, static_cast<std::uint32_t>(piece)});
    }
    done += piece;
  }
}

template <class Memory>
void StateGiver<Memory>::publish_words(const Offer& offer, Effects& effects) {
  TUTTI_ASSERT(&offer == &offers_.front(), offer.view, offer.giver);  // the words are its
  for (const Taker& taker : offer.takers) {
    effects.publish(taker.slot, words_.offset, {own(StateWords::kView), StateWords::kGiverBytes});
  }
}

template <class Memory>
std::uint64_t StateGiver<Memory>::room(const Offer& offer) const {
  std::uint64_t least = offer.sent;
  for (const Taker& taker : offer.takers) {
    least = std::min(least, load(taker.slot, StateWords::kTaken[offer.giver]));
  }
  return words_.ring_bytes - std::min(offer.sent - least, words_.ring_bytes);
}

template <class Memory>
bool StateGiver<Memory>::has_state(std::uint64_t group) const {
  return group < jobs_.groups().size() && jobs_.groups()[group].load != nullptr;
}

template <class Memory>
PieceAt StateGiver<Memory>::begin_of_next(std::uint64_t group) const {
  do {
    ++group;
  } while (group < jobs_.groups().size() && !has_state(group));
  return {group, 0};
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class StateGiver<NativeMemory>;
#endif

}  // namespace tutti
