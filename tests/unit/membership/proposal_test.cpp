#include "membership/proposal.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace tutti {
namespace {

Proposal some(Prng& random) {
  Proposal proposal;
  proposal.next.id = random.next();
  for (std::uint64_t n = random.below(8); n > 0; --n) {
    proposal.next.members.push_back({static_cast<std::uint32_t>(n), random.next()});
  }
  proposal.next.survivors = static_cast<std::uint32_t>(proposal.next.members.size() / 2);
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    proposal.left.push_back({static_cast<std::uint32_t>(20 + n), random.next()});
  }
  proposal.in_order = static_cast<std::uint32_t>(proposal.left.size() / 2);
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    Cut& cut = proposal.cuts.emplace_back();
    for (std::uint64_t s = random.below(9); s > 0; --s) cut.words.push_back(random.next());
  }
  return proposal;
}

TEST(Proposal, ComesBackAsItWas) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Prng random(seed);
    const Proposal proposal = some(random);
    std::vector<std::uint64_t> words = encode(proposal);
    EXPECT_EQ(decode(words), proposal);
    words.resize(words.size() + 7, 0xdead);
    EXPECT_EQ(decode(words), proposal) << "what lies behind it does not matter";
  }
}

// L5: a proposal that is not whole yet, or is being overwritten, is none.
TEST(Proposal, IsRefusedUnlessEveryWordIsThere) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const std::vector<std::uint64_t> words = encode(some(random));
    const std::vector<std::uint64_t> other = encode(some(random));
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::vector<std::uint64_t> torn = words;
      torn[i] = i < other.size() && other[i] != words[i] ? other[i] : words[i] ^ 1;
      EXPECT_EQ(decode(torn), std::nullopt) << "word " << i;
      EXPECT_EQ(decode(std::span(words).first(i)), std::nullopt) << "cut at " << i;
    }
  }
}

// As a member that lies would sign it.
std::vector<std::uint64_t> forged(std::vector<std::uint64_t> words, std::size_t at,
                                  std::uint64_t value) {
  words[at] = value;
  std::uint64_t digest = 0x9E3779B97F4A7C15 + words.size() - 1;
  for (const std::uint64_t word : std::span(words).subspan(1)) {
    digest = (digest ^ word) * 0x9FB21C651E98DF25;
    digest ^= digest >> 29;
  }
  words[0] = digest | 1;
  return words;
}

TEST(Proposal, IsRefusedIfItContradictsItself) {
  const std::vector<std::uint64_t> words =
      encode({.next = {.id = 7, .members = {{Slot{1}, 10}, {Slot{2}, 20}}, .survivors = 1},
              .left = {{Slot{3}, 30}},
              .in_order = 1,
              .cuts = {Cut{{4, 1, 4, 5}, 30}}});
  ASSERT_EQ(words.size(), 20U);
  ASSERT_NE(decode(forged(words, 2, 8)), std::nullopt) << "so it is signed";
  EXPECT_EQ(decode(forged(words, 2, 0)), std::nullopt) << "no view has the number 0";
  EXPECT_EQ(decode(forged(words, 3, 3)), std::nullopt) << "more survivors than members";
  EXPECT_EQ(decode(forged(words, 9, 2)), std::nullopt) << "more leave in order than leave";
  EXPECT_EQ(decode(forged(forged(words, 11, 2), 12, 20)), std::nullopt) << "2 leaves and stays";
  EXPECT_EQ(decode(forged(words, 14, ~0ULL)), std::nullopt) << "a cut of more words than there are";
}

TEST(Proposal, IsNotZeroedMemory) {
  const std::vector<std::uint64_t> zeros(32);
  EXPECT_EQ(decode(zeros), std::nullopt);
  EXPECT_EQ(decode({}), std::nullopt);
}

TEST(Proposal, FitsIntoTheWordsThatAreReserved) {
  Proposal proposal;
  proposal.next.id = 1;
  for (std::uint32_t slot = 0; slot < 5; ++slot) {
    proposal.next.members.push_back({Slot{slot}, slot});
    proposal.left.push_back({Slot{slot}, slot + 10});
  }
  proposal.cuts = {Cut{{0, 0, 1, 2, 3}}, Cut{{0, 0, 1, 2, 3, 4, 5}}};
  const std::vector<std::uint32_t> senders{3, 5};
  EXPECT_EQ(encode(proposal).size(), proposal_words(5, senders));
}

TEST(Proposal, KnowsWhoLeavesInOrder) {
  const Proposal proposal{.left = {{Slot{1}, 10}, {Slot{2}, 20}, {Slot{3}, 30}}, .in_order = 2};
  EXPECT_TRUE(proposal.leaves_in_order({Slot{1}, 10}));
  EXPECT_TRUE(proposal.leaves_in_order({Slot{2}, 20}));
  EXPECT_FALSE(proposal.leaves_in_order({Slot{3}, 30}));
  EXPECT_FALSE(proposal.leaves_in_order({Slot{2}, 21})) << "another incarnation";
  EXPECT_FALSE(proposal.leaves_in_order({Slot{9}, 90}));
}

}  // namespace
}  // namespace tutti
