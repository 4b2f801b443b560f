// What a member does with the token, in the order of [Accelerated Ring, III-B].
#include <algorithm>

#include "base/assert.hpp"
#include "ring/token/token_ring.hpp"
#include "smc/send_ring.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void TokenRing<Memory>::visit(Token token, const SendRing* own) {
  TUTTI_ASSERT(token.visit >= next_visit_ && !parked_token_, token.visit, next_visit_,
               state_.shape.view, state_.shape.self);  // TK6
  next_visit_ = token.visit + 1;
  counters_.token_visits.add(1);
  const std::uint64_t before = token.seq;
  const std::uint32_t count = own == nullptr ? 0 : own->ready(kSendBatchBytes, window_left(token));
  give_numbers(token, count);
  turn_aru(token, before);
  token.fcc = token.fcc - last_count_ + count;
  last_count_ = count;
  state_.safe = std::max(state_.safe, std::min(token.aru, last_aru_));
  last_aru_ = token.aru;
  last_seq_ = token.seq;
  TUTTI_ASSERT(count == 0 || token.seq - state_.safe <= state_.shape.windows.gap, token.seq,
               state_.safe, count, state_.shape.view, state_.shape.self);
  TUTTI_ASSERT(state_.safe <= state_.here, state_.safe, state_.here, token.visit, state_.shape.view,
               state_.shape.self);  // TK7
  // Not as soon as aru = seq: who lowered aru sets it to its own again while others lack as much.
  const bool all_have_all = count == 0 && state_.safe == token.seq;
  if (all_have_all || state_.shape.members() == 1) {
    park(token);
    parks_ = true;
    counters_.token_rests.add(1);
    return;
  }
  ++token.visit;
  leaves_ = token;
}

// Messages that this visit may give numbers to.
template <class Memory>
std::uint32_t TokenRing<Memory>::window_left(const Token& token) const {
  const TokenWindows& windows = state_.shape.windows;
  const std::uint64_t of_rotation = token.fcc - last_count_;
  const std::uint64_t of_gap = token.seq - state_.safe;
  const auto left = [](std::uint64_t window, std::uint64_t used) {
    return window - std::min(window, used);
  };
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {windows.personal, left(windows.global, of_rotation), left(windows.gap, of_gap)}));
}

// The last of them wait until the token has left: accelerated_window many.
template <class Memory>
void TokenRing<Memory>::give_numbers(Token& token, std::uint32_t count) {
  if (count == 0) {
    // A reader counts our word on from where it was (sent_word.hpp), so it must not stay far
    // behind.
    if (token.seq > state_.own_sent.rounds + state_.shape.windows.gap) passed_over_ = token.seq;
    return;
  }
  first_ = token.seq;
  token.seq += count;
  end_ = token.seq;
  now_end_ = end_ - std::min(count, state_.shape.windows.accelerated);
}

// Our own messages of this visit count as here: they are sent before our next one (TK9).
template <class Memory>
void TokenRing<Memory>::turn_aru(Token& token, std::uint64_t before) const {
  const Rank self = state_.shape.self;
  const std::uint64_t local = state_.here >= before ? token.seq : state_.here;
  if (local < token.aru) {
    token.aru = local;
    token.aru_id = self;
  } else if (token.aru_id == self) {
    token.aru = local;
    if (token.aru == token.seq) token.aru_id = kNoAruId;
  } else if (token.aru == before) {
    token.aru = token.seq;
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class TokenRing<NativeMemory>;
#endif

}  // namespace tutti
