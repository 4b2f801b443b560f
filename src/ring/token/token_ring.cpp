// How the token comes to this member, and rests.
#include "ring/token/token_ring.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "multicast/neighbours.hpp"
#include "smc/send_ring.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool TokenRing<Memory>::step(const SendRing* own) {
  const GroupShape& shape = state_.shape;
  note_here();
  if (state_.violation) return false;
  if (turn().round < end_) {  // TK9
    now_end_ = end_;
    return false;
  }
  hear_parked();
  if (state_.violation) return false;
  const bool has_ready = own != nullptr && own->ready(kSendBatchBytes, 1) != 0;
  if (parked_token_) {
    if (!has_ready) return hand_over();
    Token token = unpark();
    token.visit += shape.members();  // as if it had gone round
    visit(token, own);
    return true;
  }
  const Rank before = Neighbours{.self = shape.self, .members = shape.members()}.last();
  if (take_from(before, own)) return true;
  // From elsewhere comes only a token that was parked, and only to a member that wanted it.
  for (const Rank m : shape.ranks()) {
    if (wanted_ <= next_visit_) break;
    if (m != before && m != shape.self && take_from(m, own)) return true;
  }
  return has_ready && want();
}

template <class Memory>
bool TokenRing<Memory>::take_from(Rank member, const SendRing* own) {
  const std::optional<Token> token = token_of(member);
  if (!token) return false;
  if (!is_possible(*token)) {
    state_.violation = {member, kImpossibleToken};
    return false;
  }
  taken_ns_ = counters_.now_ns();
  visit(*token, own);
  return true;
}

// TK1, TK6.
template <class Memory>
std::optional<Token> TokenRing<Memory>::token_of(Rank member) const {
  const ControlBlocks<Memory>& blocks = state_.blocks;
  Token token;
  token.visit = blocks.count(member, words_.visit());
  if (token.visit < std::max<std::uint64_t>(next_visit_, 1)) return {};
  if (token.visit % state_.shape.members() != state_.shape.self.value) return {};
  token.seq = blocks.load(member, words_.seq());
  token.aru = blocks.load(member, words_.aru());
  unpack_turn(blocks.load(member, words_.turn()), token);
  const std::uint64_t check = blocks.load(member, words_.check());
  if (!blocks.in_view(member) || check != check_of(token, state_.shape.view)) return {};
  return token;
}

// A correct member posts no other token to us: it gives numbers once, and what is safe is with all,
// us included. Its windows are ours.
template <class Memory>
bool TokenRing<Memory>::is_possible(const Token& token) const {
  if (is_far(token.visit) || token.seq < last_seq_ ||
      token.seq > state_.here + state_.shape.windows.gap)
    return false;
  return token.aru <= token.seq && token.fcc >= last_count_ &&
         token.fcc <= std::min<std::uint64_t>(token.seq, state_.shape.windows.global) &&
         token.aru >= state_.safe &&
         (token.aru_id.value < state_.shape.members() || token.aru_id == kNoAruId);
}

template <class Memory>
void TokenRing<Memory>::post(const Token& token) {
  ControlBlocks<Memory>& blocks = state_.blocks;
  blocks.say(words_.visit(), token.visit);
  blocks.say(words_.seq(), token.seq);
  blocks.say(words_.aru(), token.aru);
  blocks.say(words_.turn(), pack_turn(token));
  blocks.say(words_.check(), check_of(token, state_.shape.view));
}

template <class Memory>
void TokenRing<Memory>::tell_parked() {
  state_.blocks.say(words_.parked_seq(), parked_token_->seq);
  state_.blocks.say(words_.parked(), parked_token_->visit + 1);
}

// All have all that was given numbers before a token was parked, whenever that was (TK8).
template <class Memory>
void TokenRing<Memory>::hear_parked() {
  for (const Rank m : state_.shape.ranks()) {
    if (m == state_.shape.self) continue;
    const std::uint64_t parked = state_.blocks.count(m, words_.parked());
    if (parked == 0) continue;
    if (is_far(parked)) {
      state_.violation = {m, kImpossibleToken};
      return;
    }
    parked_ = std::max(parked_, parked);
    const std::uint64_t seq = state_.blocks.count(m, words_.parked_seq());
    if (seq <= state_.here) state_.safe = std::max(state_.safe, seq);
  }
}

// To a member that wants the token that is parked here, and to no other: members in between are
// passed over, which is sound only because all have all. True if the token left.
template <class Memory>
bool TokenRing<Memory>::hand_over() {
  const GroupShape& shape = state_.shape;
  const std::uint64_t parked = parked_token_->visit + 1;
  for (std::uint32_t step = 1; step < shape.members(); ++step) {
    const Rank m{(shape.self.value + step) % shape.members()};
    if (state_.blocks.count(m, words_.want()) != parked) continue;
    leaves_ = unpark();
    leaves_->visit += step;
    return true;
  }
  return false;
}

// A token that moves comes by itself; one that is parked is asked for, once.
template <class Memory>
bool TokenRing<Memory>::want() {
  if (parked_ <= next_visit_ || wanted_ == parked_) return false;
  wanted_ = parked_;
  state_.blocks.say(words_.want(), parked_);
  return true;
}

// What a visit gave is sent in order, its last part in a later pass than the token.
template <class Memory>
Turn TokenRing<Memory>::turn() const {
  const std::uint64_t next = std::max(first_, std::min(end_, state_.own_sent.rounds));
  return {.round = next,
          .records = static_cast<std::uint32_t>(now_end_ - std::min(now_end_, next))};
}

// With whatever is posted next (TK7).
template <class Memory>
void TokenRing<Memory>::note_here() {
  local_aru_.advance();
  if (local_aru_.number() == state_.here) return;
  state_.here = local_aru_.number();
  state_.blocks.note(words_.here(), state_.here | (state_.wedged ? TokenWords::kWedged : 0));
}

// The token comes last: others on this host see each word at once (TK7), and would lower aru for
// messages that are not there yet. Once we have wedged, others wait for `here`.
template <class Memory>
void TokenRing<Memory>::publish_received() {
  const GroupShape& shape = state_.shape;
  note_here();
  if (leaves_ || parks_) let_go();
  if (shape.members() == 1) state_.safe = state_.here;
  for (const SenderIndex s : shape.sender_indices()) {
    if (shape.level != Level::agreed) break;
    state_.received[s] = state_.sent[s].known_rounds();
    state_.blocks.note(ControlWords::kReceived[s], state_.received[s]);
  }
  if (state_.wedged) state_.blocks.ask_for_post();
}

template <class Memory>
void TokenRing<Memory>::let_go() {
  if (leaves_) post(*leaves_);
  leaves_.reset();
  if (std::exchange(parks_, false)) tell_parked();
  counters_.token_held_ns.add(counters_.now_ns() - taken_ns_);
}

template <class Memory>
void TokenRing<Memory>::park(const Token& token) {
  parked_token_ = token;
  counters_.token_parked.begin(counters_.now_ns());
}

template <class Memory>
Token TokenRing<Memory>::unpark() {
  taken_ns_ = counters_.now_ns();
  counters_.token_parked.end(taken_ns_);
  const Token token = *parked_token_;
  parked_token_.reset();
  return token;
}

template <class Memory>
void TokenRing<Memory>::wedge() {
  if (state_.shape.members() == 0) return;
  if (parked_token_) counters_.token_parked.end(counters_.now_ns());
  state_.blocks.say(words_.here(), state_.here | TokenWords::kWedged);
}

template <class Memory>
std::uint64_t TokenRing<Memory>::undelivered() const {
  std::uint64_t newest = 0;
  for (const SentState& sent : state_.sent) newest = std::max(newest, sent.rounds);
  return newest - std::min(newest, state_.delivered);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class TokenRing<NativeMemory>;
#endif

}  // namespace tutti
