// What comes to this member along the chain.
#include "ring/lcr/chain.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/assert.hpp"
#include "sst/memory.hpp"
#include "sst/rounds_ahead.hpp"

namespace tutti {
namespace {

// Bytes of one sender that go into the lane before another one has its turn.
constexpr std::uint32_t kQuantumGranules = 16 * 1024 / kGranule;

}  // namespace

template <class Memory>
Chain<Memory>::Chain(ViewState<Memory>& state, MulticastCounters& counters)
    : Dissemination<Memory>(state, counters),
      words_(state.shape.senders()),
      ring_{.self = state.shape.self, .members = state.shape.members()},
      quantum_(std::min(kQuantumGranules, state.shape.lane_granules / 8)),
      courses_(state.shape.senders()) {
  TUTTI_ASSERT(state.shape.members() == 0 || quantum_ != 0, state.shape.lane_granules,
               state.shape.view, state.shape.self);
}

// Where we have a sender's own row before us, nobody needs to hand us its bytes.
template <class Memory>
void Chain<Memory>::tell_needs() {
  const GroupShape& shape = state_.shape;
  has_told_needs_ = true;
  std::uint64_t bits = LaneWords::kTold;
  for (const SenderIndex s : shape.sender_indices()) {
    if (shape.sender_replicas[s] != nullptr) bits |= LaneWords::needs_bit(s);
    if (s.value % 63 != 62 && s.value + 1 != shape.senders()) continue;
    state_.blocks.say(words_.needs(s), bits);
    bits = LaneWords::kTold;
  }
}

template <class Memory>
bool Chain<Memory>::receive(const IndexedBy<SenderIndex, bool>& /*ignored*/) {
  const GroupShape& shape = state_.shape;
  if (shape.members() < 2) return false;
  if (!has_told_needs_) tell_needs();
  const Rank last = ring_.last();
  const std::uint64_t end = state_.blocks.count(last, words_.lane());
  if (end <= taken_) return false;
  if (end - taken_ > shape.lane_granules) {
    state_.violation = {last, kImpossibleFrame};
    return false;
  }
  const std::uint64_t before = taken_;
  std::uint64_t records = 0;
  for (const SentState& sent : state_.sent) records += sent.records;
  while (taken_ != end) {
    const std::optional<Frame> frame = look(end);
    if (!frame) break;
    copy(*frame);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!state_.blocks.in_view(last) || !take(*frame)) break;  // CN3
  }
  std::uint64_t records_now = 0;
  for (const SentState& sent : state_.sent) records_now += sent.records;
  this->count_received(records_now - records);
  // LW2: the member before us has most of its lane at any time.
  if (taken_ - told_taken_ >= shape.lane_granules / 4) {
    told_taken_ = taken_;
    state_.blocks.say_to_last(words_.taken(), taken_);
  }
  return taken_ != before;
}

// The next frame of the lane before `end`. Nothing: it is of a sender whose base we do not know
// yet, or it cannot be.
template <class Memory>
std::optional<Frame> Chain<Memory>::look(std::uint64_t end) {
  const GroupShape& shape = state_.shape;
  const Rank last = ring_.last();
  const std::byte* const lane = shape.member_lanes[last];
  std::array<std::uint64_t, kFrameHeader> header{};
  const bool whole = end - taken_ >= kFrameHeader;
  for (std::uint32_t i = 0; i < kFrameHeader && whole; ++i) {
    header[i] = state_.memory.load(lane + ((taken_ + i) & (shape.lane_granules - 1)) * kGranule);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!state_.blocks.in_view(last)) return {};  // CN3
  const Frame frame = unpack_frame(header);
  if (!whole || !is_possible(frame) || frame.bytes_granules() > end - taken_ - kFrameHeader) {
    state_.violation = {last, kImpossibleFrame};
    return {};
  }
  if (!state_.met[frame.sender]) return {};
  return frame;
}

// What we have not handed on is not delivered by the member behind us, so its sender has not used
// the space again: it is no more than a ring.
template <class Memory>
bool Chain<Memory>::is_possible(const Frame& frame) const {
  const GroupShape& shape = state_.shape;
  if (frame.sender.value >= shape.senders() || frame.sender == shape.own_sender) return false;
  const Course& course = courses_[frame.sender];
  const bool has_bytes = frame.with_bytes || frame.granules == 0 ||
                         shape.sender_ranks[frame.sender] == ring_.last() ||
                         shape.sender_replicas[frame.sender] == nullptr;
  const std::uint64_t waiting = goes_on(frame.sender) ? course.here - course.handed : 0;
  return has_bytes && frame.begin == course.here && waiting + frame.granules <= shape.ring_granules;
}

// False: its word cannot be, or would look so to the member behind us. As to records, see
// is_possible(); rounds run ahead of what is delivered, here and at the member behind us, by the
// windows of the senders.
template <class Memory>
bool Chain<Memory>::take(const Frame& frame) {
  const GroupShape& shape = state_.shape;
  Course& course = courses_[frame.sender];
  SentState sent = state_.sent[frame.sender];
  const SentChange change = advance(sent, frame.sent, shape.window_records);
  const bool far =
      sent.rounds > state_.delivered / shape.senders() + kChainAheadMax ||
      (goes_on(frame.sender) && (sent.records - course.told.records > shape.window_records ||
                                 sent.rounds - course.told.rounds > kChainAheadMax));
  if (change == SentChange::impossible || far) {
    state_.violation = {ring_.last(), kImpossibleFrame};
    return false;
  }
  course.here += frame.granules;
  taken_ += kFrameHeader + frame.bytes_granules();
  if (change == SentChange::none) return true;
  state_.sent[frame.sender] = sent;
  if (goes_on(frame.sender)) course.milestones.add(course.here, sent);
  return true;
}

// To the same offset of our replica as in the sender's ring. Both wrap around.
template <class Memory>
void Chain<Memory>::copy(const Frame& frame) {
  const GroupShape& shape = state_.shape;
  std::byte* const replica = shape.sender_replicas[frame.sender];
  if (replica == nullptr || !frame.with_bytes) return;
  const std::byte* const lane = shape.member_lanes[ring_.last()];
  const std::uint64_t from = taken_ + kFrameHeader;
  const std::uint64_t to = state_.base[frame.sender] + frame.begin;
  for (std::uint32_t done = 0; done < frame.granules;) {
    const std::uint64_t source = (from + done) & (shape.lane_granules - 1);
    const std::uint64_t target = (to + done) & (shape.ring_granules - 1);
    const std::uint64_t length = std::min<std::uint64_t>(
        {frame.granules - done, shape.lane_granules - source, shape.ring_granules - target});
    std::memcpy(replica + target * kGranule, lane + source * kGranule, length * kGranule);
    done += static_cast<std::uint32_t>(length);
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Chain<NativeMemory>;
#endif

}  // namespace tutti
