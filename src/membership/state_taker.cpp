#include "membership/state_taker.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "membership/state_frame.hpp"
#include "membership/view_words.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
StateTaker<Memory>::StateTaker(const StateWords& words, StateJobs& jobs, std::byte* own_row,
                               RowOf row_of, std::uint64_t patience_ns, Memory memory)
    : words_(words),
      jobs_(jobs),
      own_row_(own_row),
      row_of_(std::move(row_of)),
      memory_(memory),
      patience_ns_(patience_ns) {}

template <class Memory>
void StateTaker<Memory>::begin(const View& view, std::size_t givers) {
  TUTTI_ASSERT(taking_ == Taking::nothing && givers_.empty(), static_cast<int>(taking_), view.id);
  TUTTI_ASSERT(givers != 0 && givers <= view.survivors, givers, view.survivors, view.id);
  taking_ = Taking::under_way;
  view_ = view.id;
  next_ = begin_from(0);
  for (Rank giver{}; giver.value < givers; ++giver.value) {
    givers_.emplace_back(view.members[giver].slot);
  }
}

template <class Memory>
void StateTaker<Memory>::gone(Slot slot) {
  for (std::size_t giver = 0; giver < givers_.size(); ++giver) {
    if (givers_[giver] != slot) continue;
    givers_[giver].reset();
    if (taking_ != Taking::under_way || has_all_ || giver != giver_) continue;
    giver_ = giver + 1;
    taken_ = 0;
    asked_ = false;
    compares_ = steady_ && last_.has_value();
    if (!compares_) next_.index = 0;
    if (giver_ == givers_.size() || !givers_[giver_]) taking_ = Taking::lost;
  }
  TUTTI_ASSERT(taking_ != Taking::under_way || has_all_ || takes_from_one(), giver_, view_);
}

template <class Memory>
bool StateTaker<Memory>::step(Effects& effects) {
  TUTTI_ASSERT(taking_ == Taking::under_way, static_cast<int>(taking_), view_);
  if (has_all_) return false;
  TUTTI_ASSERT(takes_from_one(), giver_, givers_.size(), view_);
  TUTTI_ASSERT(!compares_ || last_.has_value(), giver_, view_);
  const bool asks = !std::exchange(asked_, true);
  if (asks) want(compares_ ? last_->at : next_, effects);
  awaits_ = false;
  const bool received = receive(effects);
  // While we stood still ourselves, the giver may have, too: a look counts a part of the patience.
  const std::uint64_t passed_ns = now_ns_ - std::exchange(looked_ns_, now_ns_);
  waited_ns_ = asks || !awaits_ ? 0 : waited_ns_ + std::min(passed_ns, patience_ns_ / kLooks);
  if (waited_ns_ >= patience_ns_ && another_is_ready()) {
    left_one_ = true;
    leave_giver(effects);
    return true;
  }
  return received || asks;
}

// It has saved all, gives to our view, and had not asked to leave before it did (J8): the others
// may be about to let it go.
template <class Memory>
bool StateTaker<Memory>::another_is_ready() const {
  if (giver_ + 1 >= givers_.size() || !givers_[giver_ + 1]) return false;
  const std::byte* row = row_of_(*givers_[giver_ + 1]);
  const std::byte* words = row + words_.offset;
  if (memory_.load(words + StateWords::kView) != view_) return false;
  const bool failed = memory_.load(words + StateWords::kFailed) != 0;
  const bool leaves = memory_.load(row + ViewWords::kLeaving) != 0;
  return !failed && !leaves && memory_.load(words + StateWords::kView) == view_;  // L7
}

template <class Memory>
void StateTaker<Memory>::want(const PieceAt& at, Effects& effects) {
  TUTTI_ASSERT(has_state(at.group), at.group, at.index, view_);
  say(StateWords::kWanted[giver_], 1 + at.word(), effects);
}

// A piece in a pass: others wait for our words meanwhile.
template <class Memory>
bool StateTaker<Memory>::receive(Effects& effects) {
  // L7, from both sides: its last words are cleared before it shows our view.
  awaits_ = true;
  if (load(StateWords::kView) != view_) return false;
  const std::uint64_t sent = load(StateWords::kSent);
  const bool failed = load(StateWords::kFailed) != 0;
  if (load(StateWords::kView) != view_) return false;
  awaits_ = !failed && sent == taken_;
  if (failed) {
    leave_giver(effects);
    if (taking_ == Taking::lost && !left_one_)
      fail(ErrorCode::peer_lost, "no member that gives it could save it");
    return true;
  }
  if (sent == taken_) return false;
  if (sent < taken_ || sent - taken_ > words_.ring_bytes) {
    leave_giver(effects);
    return true;
  }
  TUTTI_ASSERT(loads_ <= kLoads, loads_, view_);
  StateJob* job = jobs_.free();
  if (job == nullptr || loads_ == kLoads) return false;
  if (!accept_frame(sent, *job, effects)) leave_giver(effects);
  return true;
}

// False if no giver writes what came.
template <class Memory>
bool StateTaker<Memory>::accept_frame(std::uint64_t sent, StateJob& job, Effects& effects) {
  std::array<std::uint64_t, 3> header{};
  if (sent - taken_ < sizeof header) return false;
  copy_out(taken_, reinterpret_cast<std::byte*>(header.data()), sizeof header);
  const StateFrame frame = StateFrame::from(header);
  if (!has_state(frame.at.group) || frame.size > words_.piece_bytes()) return false;
  if (sent - taken_ < sizeof header + padded(frame.size)) return false;
  job.bytes.resize(padded(frame.size));
  copy_out(taken_ + sizeof header, job.bytes.data(), job.bytes.size());
  if (frame.words({job.bytes.data(), frame.size}) != header) return false;
  taken_ += sizeof header + job.bytes.size();
  job.kind = StateJob::Kind::load;
  job.view = view_;
  job.at = frame.at;
  job.size = frame.size;
  job.last = frame.last;
  const std::size_t giver = giver_;
  use(job, header[2], frame.steady, effects);
  // Release: what was read is done with; pairs with StateGiver::room().
  if (!has_all_) say(StateWords::kTaken[giver], taken_, effects);
  return true;
}

// What is not the piece that is wanted now is skipped: others want it, or it was put into the ring
// before the giver heard what we want.
template <class Memory>
void StateTaker<Memory>::use(StateJob& job, std::uint64_t crc, bool steady, Effects& effects) {
  if (compares_) {
    TUTTI_ASSERT(last_.has_value(), job.at.group, job.at.index, view_);
    if (job.at != last_->at) return;
    compares_ = false;
    if (crc == last_->crc) return;
    // Its state is not the one that came before. Its first piece is the one that came just now, or
    // one that we have not asked for yet: the giver heeds a word that changes.
    last_.reset();
    next_.index = 0;
    if (job.at != next_) return want(next_, effects);
  }
  if (job.at != next_) return;
  TUTTI_ASSERT(job.size <= job.bytes.size() && job.view == view_, job.size, job.bytes.size(),
               job.view, view_);
  last_ = Taken{job.at, crc};
  steady_ = steady;
  if (job.last) {
    next_ = begin_from(job.at.group + 1);
    last_.reset();
  } else {
    ++next_.index;
  }
  ++loads_;
  jobs_.ask();
  TUTTI_ASSERT(next_.group <= jobs_.groups().size(), next_.group, view_);
  if (next_.group != jobs_.groups().size()) return;
  has_all_ = true;
  for (std::size_t giver = 0; giver < givers_.size(); ++giver) {
    if (givers_[giver]) {
      say(*givers_[giver], StateWords::kTaken[giver], StateWords::kTakenAll, effects);
    }
  }
}

template <class Memory>
void StateTaker<Memory>::finished(const StateJob& job) {
  TUTTI_ASSERT(loads_ != 0 && has_state(job.at.group), loads_, job.at.group, view_);
  --loads_;
  if (taking_ != Taking::under_way) return;
  if (!job.result) {
    fail(job.result.error().code,
         "group '" + jobs_.groups()[job.at.group].name + "': " + job.result.error().message);
  } else if (has_all_ && loads_ == 0) {
    taking_ = Taking::done;
  }
}

// What it sends is of no use. It need not wait for us, if it still does.
template <class Memory>
void StateTaker<Memory>::leave_giver(Effects& effects) {
  TUTTI_ASSERT(!has_all_, giver_, view_);
  say(StateWords::kTaken[giver_], StateWords::kTakenAll, effects);
  gone(*givers_[giver_]);
}

// To the giver that is taken from.
template <class Memory>
void StateTaker<Memory>::say(StateWords::Word column, std::uint64_t value, Effects& effects) {
  TUTTI_ASSERT(takes_from_one(), giver_, givers_.size(), column.offset, view_);
  say(*givers_[giver_], column, value, effects);
}

template <class Memory>
void StateTaker<Memory>::say(Slot slot, StateWords::Word column, std::uint64_t value,
                             Effects& effects) {
  std::byte* const word = own_row_ + words_.offset + column;
  memory_.store(word, value);
  effects.publish(slot, words_.offset + column.offset, {word, 8});
}

template <class Memory>
void StateTaker<Memory>::copy_out(std::uint64_t at, std::byte* into, std::uint64_t size) const {
  if (size == 0) return;  // then `into` may be null
  TUTTI_ASSERT(size <= words_.ring_bytes, size, words_.ring_bytes, view_);
  const std::byte* ring = row_of_(*givers_[giver_]) + words_.offset + StateWords::kRing;
  const std::uint64_t begin = at % words_.ring_bytes;
  const std::uint64_t piece = std::min(size, words_.ring_bytes - begin);
  std::memcpy(into, ring + begin, piece);
  std::memcpy(into + piece, ring, size - piece);
}

template <class Memory>
bool StateTaker<Memory>::has_state(std::uint64_t group) const {
  return group < jobs_.groups().size() && jobs_.groups()[group].load != nullptr;
}

template <class Memory>
PieceAt StateTaker<Memory>::begin_from(std::uint64_t group) const {
  while (group < jobs_.groups().size() && !has_state(group)) ++group;
  return {group, 0};
}

template <class Memory>
void StateTaker<Memory>::fail(ErrorCode code, std::string message) {
  taking_ = Taking::failed;
  error_ = {code, std::move(message)};
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class StateTaker<NativeMemory>;
#endif

}  // namespace tutti
