/// \file token_ring.hpp
/// The order token_ring: a token goes from member to member in the order of ranks. The member that
/// has it gives its next messages the next numbers, and all members deliver in the order of
/// numbers. With accelerated_window 0 this is Totem's ring; with more, the Accelerated Ring: the
/// token leaves before the last messages of the visit do.
///
/// Here the round of a record is its number, so records travel, are passed on and free their space
/// as in every other order. On the table nothing is lost: there is no retransmission, no time-out
/// of the token, and a dead holder is a suspicion like any other.
///
/// Invariants (models/token.pml, docs/token-model.md):
///  TK6  Visit v is for the member of rank v modulo members. A member takes only a token of a later
///       visit than its last one, so there is one token.
///  TK7  Before anybody holds a number for safe, each member has said in `here` that it has all up
///       to it, with the token or with the records. So the least `here` of those that go on is not
///       below what anybody holds for safe.
///  TK8  A member parks the token only once all have all numbers. At first the member of rank 0
///       holds it so, at visit 0.
///  TK9  A member sends what a visit gave numbers to before it takes the next token.
/// Threads: the predicate thread.
/// Source: [Accelerated Ring, III]; the resting token and what lets it go: docs/token-model.md.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/total_order.hpp"
#include "ring/token/local_aru.hpp"
#include "ring/token/token.hpp"
#include "sst/token_words.hpp"

namespace tutti {

template <class Memory>
class TokenRing final : public TotalOrder<Memory> {
 public:
  TokenRing(ViewState<Memory>& state, const Stability<Memory>& stability,
            MulticastCounters& counters)
      : TotalOrder<Memory>(state),
        stability_(stability),
        counters_(counters),
        words_(state.shape.senders()),
        local_aru_(state) {
    if (state.shape.self != Rank{} || state.shape.members() == 0) return;
    park(Token{});  // TK8
    next_visit_ = 1;
  }

  bool step(const SendRing* own) override;
  [[nodiscard]] Turn turn() const override;
  [[nodiscard]] std::uint64_t rounds_owed() const override { return passed_over_; }
  void publish_received() override;
  void wedge() override;

  [[nodiscard]] std::uint64_t undelivered() const override;

  [[nodiscard]] std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on,
                                            const Follower<Memory>& follower) override;
  [[nodiscard]] std::optional<ViewEnd> count_cut(const Cut& cut, std::uint64_t first_seq,
                                                 const Follower<Memory>& follower) const override;
  void set_end(const Cut& cut, const ViewEnd& end) override;
  [[nodiscard]] bool at_cut(const Cut& cut, const ViewEnd& end,
                            const Follower<Memory>& follower) const override;
  [[nodiscard]] bool is_sensible(const Cut& cut) const override;

 private:
  using TotalOrder<Memory>::state_;

  [[nodiscard]] std::uint64_t rounds_before(std::uint64_t position,
                                            SenderIndex /*sender*/) const override {
    return position;
  }

  // Taking the token, and letting it go.
  bool take_from(Rank member, const SendRing* own);
  [[nodiscard]] std::optional<Token> token_of(Rank member) const;
  [[nodiscard]] bool is_possible(const Token& token) const;
  [[nodiscard]] bool is_far(std::uint64_t visit) const {
    constexpr std::uint64_t kVisitsMax = 1ULL << 32;  // while we have none
    return visit > next_visit_ + kVisitsMax;
  }
  void park(const Token& token);
  [[nodiscard]] Token unpark();
  void let_go();
  void post(const Token& token);
  void tell_parked();
  void note_here();
  void hear_parked();
  bool hand_over();
  bool want();

  // A visit, in the order of its steps.
  void visit(Token token, const SendRing* own);
  [[nodiscard]] std::uint32_t window_left(const Token& token) const;
  void give_numbers(Token& token, std::uint32_t count);
  void turn_aru(Token& token, std::uint64_t before) const;

  const Stability<Memory>& stability_;
  MulticastCounters& counters_;
  const TokenWords words_;
  LocalAru<Memory> local_aru_;
  std::optional<Token> parked_token_;  // here
  std::optional<Token> leaves_;        // to be posted in this pass
  bool parks_ = false;                 // in this pass
  std::uint64_t taken_ns_ = 0;         // when the token that leaves or parks came
  std::uint64_t next_visit_ = 0;       // the first one that we have not had
  std::uint64_t parked_ = 1;           // newest visit that a token was parked at, + 1 (TK8)
  std::uint64_t wanted_ = 0;           // as published
  std::uint64_t first_ = 0;            // of the numbers that the last visit gave
  std::uint64_t end_ = 0;              // behind them
  std::uint64_t now_end_ = 0;          // behind those that may be sent in this pass
  std::uint64_t last_count_ = 0;       // messages of the last visit
  std::uint64_t last_aru_ = 0;         // on the token when it left the last time
  std::uint64_t last_seq_ = 0;         // likewise
  std::uint64_t passed_over_ = 0;      // numbers below it are not ours, but for those sent
};

}  // namespace tutti
