/// \file forged_ring.hpp
/// Members of a token ring over one forged table, in which all words land at once, and the token
/// words that a test writes in place of a member.
#pragma once
#include <deque>

#include "ring/token/token.hpp"
#include "sst/token_words.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {

class ForgedRing {
 public:
  static ForgedOptions token_ring(Level level = Level::atomic) {
    return {.level = level, .order = Order::token_ring};
  }

  explicit ForgedRing(const ForgedOptions& options = token_ring())
      : table(options), words_(options.sender_ranks.size()) {
    for (std::uint32_t m = 0; m < options.members; ++m) members_.emplace_back(table, m);
  }

  [[nodiscard]] ForgedMember& operator[](std::uint32_t rank) { return members_[rank]; }

  /// Steps all in the order of ranks, so often. True if anything moved in the last round.
  bool step(std::size_t rounds = 1) {
    bool moved = false;
    for (std::size_t i = 0; i < rounds; ++i) {
      moved = false;
      for (ForgedMember& member : members_) moved |= member.step();
    }
    return moved;
  }

  /// The token as it left that member the last time; Token{} if it never did.
  [[nodiscard]] Token token(std::uint32_t member) {
    if (word(member, words_.visit()) == 0) return {};
    Token token{.visit = word(member, words_.visit()),
                .seq = word(member, words_.seq()),
                .aru = word(member, words_.aru())};
    unpack_turn(word(member, words_.turn()), token);
    return token;
  }
  void post(std::uint32_t member, const Token& token) {
    store_cell(table.control(member) + words_.visit(), token.visit);
    store_cell(table.control(member) + words_.seq(), token.seq);
    store_cell(table.control(member) + words_.aru(), token.aru);
    store_cell(table.control(member) + words_.turn(), pack_turn(token));
    store_cell(table.control(member) + words_.check(), check_of(token, 0));
  }
  void set(std::uint32_t member, TokenWords::Word at, std::uint64_t value) {
    store_cell(table.control(member) + at, value);
  }
  [[nodiscard]] std::uint64_t word(std::uint32_t member, TokenWords::Word at) {
    return NativeMemory::load(table.control(member) + at);
  }
  [[nodiscard]] const TokenWords& words() const { return words_; }
  /// As it was sent: records and the number behind the last one.
  [[nodiscard]] SentState sent(std::uint32_t member) {
    SentState state;
    static_cast<void>(advance(state, table.sent_word(member), ~0U));
    return state;
  }

  ForgedTable table;

 private:
  const TokenWords words_;
  std::deque<ForgedMember> members_;
};

}  // namespace tutti::testing
