// What this member hands on along the chain.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "ring/lcr/chain.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Chain<Memory>::sent(const SendRing::Batch& batch, Outbox& /*out*/) {
  courses_[state_.shape.own_sender].here += batch.end - batch.begin;
}

template <class Memory>
bool Chain<Memory>::has_posted_all() const {
  const GroupShape& shape = state_.shape;
  if (shape.members() < 2 || shape.senders() == 0) return true;
  if (needs_bytes_.empty()) return false;
  for (const SenderIndex s : shape.sender_indices()) {
    if (is_pending(s)) return false;
  }
  return true;
}

template <class Memory>
bool Chain<Memory>::post(Outbox& out) {
  const GroupShape& shape = state_.shape;
  if (shape.members() < 2 || shape.senders() == 0) return false;
  if (shape.own_sender != kNoSender && state_.own_sent != own_known_) {
    own_known_ = state_.own_sent;
    courses_[shape.own_sender].milestones.add(courses_[shape.own_sender].here, own_known_);
  }
  if (!knows_needs()) return false;
  const Rank next = ring_.next();
  const std::uint64_t taken = state_.blocks.load(next, words_.taken());
  if (!state_.blocks.in_view(next)) return false;
  if (taken > written_ || written_ - taken > shape.lane_granules) {
    state_.violation = {next, kImpossibleTaken};
    return false;
  }
  room_ = shape.lane_granules - (written_ - taken);
  const std::uint64_t before = written_;
  const std::uint64_t own_before =
      shape.own_sender == kNoSender ? 0 : courses_[shape.own_sender].handed;
  for (std::uint32_t idle = 0; idle < shape.senders();) {
    if (!is_pending(turn_)) {
      next_turn();
      ++idle;
      continue;
    }
    idle = 0;
    if (!has_turn_) courses_[turn_].credit += quantum_;
    has_turn_ = true;
    if (!hand_on(turn_)) break;  // CN2
    next_turn();
  }
  if (written_ == before) return false;
  const auto length = static_cast<std::uint32_t>(written_ - before);
  out.lane = Outbox::Pieces::of(static_cast<std::uint32_t>(before), length, shape.lane_granules);
  if (shape.own_sender != kNoSender) {
    const Course& own = courses_[shape.own_sender];
    const std::uint64_t from = state_.base[shape.own_sender] + own_before;
    out.data = Outbox::Pieces::of(static_cast<std::uint32_t>(from),
                                  static_cast<std::uint32_t>(own.handed - own_before),
                                  shape.ring_granules);
    if (own.handed == own_before) out.data.count = 0;
  }
  state_.blocks.say_to_next(words_.lane(), written_);
  return true;
}

// What the member behind us has said of all senders.
template <class Memory>
bool Chain<Memory>::knows_needs() {
  const GroupShape& shape = state_.shape;
  if (!needs_bytes_.empty()) return true;
  IndexedBy<SenderIndex, bool> needs(shape.senders());
  for (const SenderIndex s : shape.sender_indices()) {
    const std::uint64_t word = state_.blocks.count(ring_.next(), words_.needs(s));
    if ((word & LaneWords::kTold) == 0) return false;
    needs[s] = (word & LaneWords::needs_bit(s)) != 0;
  }
  needs_bytes_ = std::move(needs);
  return true;
}

template <class Memory>
void Chain<Memory>::next_turn() {
  if (!is_pending(turn_)) courses_[turn_].credit = 0;
  turn_ = next_in_turn(turn_, state_.shape.senders());
  has_turn_ = false;
}

template <class Memory>
bool Chain<Memory>::is_pending(SenderIndex sender) const {
  const Course& course = courses_[sender];
  return goes_on(sender) && (course.handed != course.here || !course.milestones.empty());
}

// Puts into the lane what the sender's credit allows. False: there was no room for it, or its bytes
// are no longer what it sent.
template <class Memory>
bool Chain<Memory>::hand_on(SenderIndex sender) {
  Course& course = courses_[sender];
  const bool is_own = sender == state_.shape.own_sender;
  while (is_pending(sender)) {
    Frame frame{.sender = sender, .begin = course.handed};
    const std::uint64_t left = course.here - course.handed;
    if (room_ < kFrameHeader) return false;
    std::uint64_t some = left;
    if (left != 0 && needs_bytes_[sender]) {
      if (course.credit == 0) return true;
      some = std::min(left, std::uint64_t{course.credit});
      if (!is_own) {
        if (room_ == kFrameHeader) return false;
        some = std::min(some, room_ - kFrameHeader);
        frame.with_bytes = true;
      }
      course.credit -= static_cast<std::uint32_t>(some);
    }
    frame.granules = static_cast<std::uint32_t>(some);
    const SentState told = course.milestones.covered_by(course.handed + some).value_or(course.told);
    frame.sent = pack(told);
    if (!put(frame)) return false;
    course.handed += some;
    course.told = told;
    course.milestones.drop(course.handed);
    if (is_own) continue;
    counters_.frames_handed_on.add(1);
    counters_.bytes_handed_on.add(frame.bytes_granules() * kGranule);
  }
  return true;
}

// False: where rows are shared, the sender has gone on to a later view, and may have used the space
// again (Y5). What was written counts for nobody then.
template <class Memory>
bool Chain<Memory>::put(const Frame& frame) {
  const GroupShape& shape = state_.shape;
  const auto at = [&](std::uint64_t granule) {
    return shape.own_lane + (granule & (shape.lane_granules - 1)) * kGranule;
  };
  std::uint64_t end = written_;
  for (const std::uint64_t word : pack_frame(frame)) state_.memory.store(at(end++), word);
  const std::uint64_t from = state_.base[frame.sender] + frame.begin;
  const std::byte* const ring = shape.sender_rings[frame.sender];
  for (std::uint32_t done = 0; done < frame.bytes_granules();) {
    const std::uint64_t source = (from + done) & (shape.ring_granules - 1);
    const std::uint64_t target = end & (shape.lane_granules - 1);
    const std::uint64_t length = std::min<std::uint64_t>(
        {frame.granules - done, shape.ring_granules - source, shape.lane_granules - target});
    std::memcpy(at(end), ring + source * kGranule, length * kGranule);
    done += static_cast<std::uint32_t>(length);
    end += length;
  }
  if (frame.with_bytes && shape.sender_replicas[frame.sender] == nullptr) {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (state_.memory.load(shape.sender_reclaimed[frame.sender]) > shape.view) return false;
  }
  written_ = end;
  room_ -= kFrameHeader + frame.bytes_granules();
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Chain<NativeMemory>;
#endif

}  // namespace tutti
