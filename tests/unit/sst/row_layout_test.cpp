#include "sst/row_layout.hpp"
#include "sst/lane_words.hpp"
#include "sst/pass_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/prng.hpp"

namespace tutti {
namespace {

GroupOptions group(const std::string& name, std::vector<std::string> senders,
                   std::uint64_t window_bytes = 8192) {
  GroupOptions options;
  options.name = name;
  options.members = {"a", "b", "c"};
  options.senders = std::move(senders);
  options.window_bytes = window_bytes;
  return options;
}

constexpr std::size_t kNodes = 5;

struct Span {
  std::size_t begin;
  std::size_t end;
};

// All parts of a row, in order of offset.
std::vector<Span> parts(const RowLayout& layout, const std::string& member,
                        const std::vector<GroupOptions>& groups) {
  std::vector<Span> all{{0, 64}};
  for (const GroupOptions& options : groups) {
    const GroupOffsets offsets = layout.offsets_of(options.name);
    for (const std::size_t control : offsets.control) {
      all.push_back({control, control + block_bytes(options, kNodes)});
    }
    if (options.level == Level::agreed) {
      const std::size_t bytes = pass_area_bytes(ring_bytes(options.window_bytes),
                                                options.message_max_bytes, options.alignment);
      all.push_back({offsets.pass_area, offsets.pass_area + bytes});
    }
    if (options.order == Order::lcr) {  // LW3: those of even and of odd views lie apart
      for (const std::size_t lane : offsets.lane) {
        all.push_back({lane, lane + lane_bytes(ring_bytes(options.window_bytes))});
      }
    }
    if (std::ranges::find(options.senders, member) == options.senders.end()) continue;
    all.push_back({offsets.ring, offsets.ring + ring_bytes(options.window_bytes)});
  }
  std::ranges::sort(all, {}, &Span::begin);
  return all;
}

TEST(RowLayout, IsTheSameWhateverTheOrderOfJoining) {
  std::vector<GroupOptions> groups{group("topic", {"a", "b"}), group("log", {"a"}),
                                   group("x", {"c"}), group("audit", {"b", "c", "a"})};
  const RowLayout first("a", groups, 0, kNodes);
  std::ranges::sort(groups, {}, &GroupOptions::name);
  do {
    const RowLayout other("a", groups, 0, kNodes);
    EXPECT_EQ(other.row_bytes(), first.row_bytes());
    for (const GroupOptions& options : groups) {
      EXPECT_EQ(other.offsets_of(options.name).control, first.offsets_of(options.name).control);
      EXPECT_EQ(other.offsets_of(options.name).ring, first.offsets_of(options.name).ring);
    }
  } while (std::ranges::next_permutation(groups, {}, &GroupOptions::name).found);
}

TEST(RowLayout, HasNoRingWhereTheMemberDoesNotSend) {
  const std::vector<GroupOptions> groups{group("log", {"b"}), group("topic", {"a"})};
  const RowLayout a("a", groups, 0, kNodes);
  EXPECT_EQ(a.offsets_of("log").ring, 0U);
  EXPECT_NE(a.offsets_of("topic").ring, 0U);
  EXPECT_EQ(a.row_bytes(), 4096U + 8192U);
  const RowLayout c("c", groups, 0, kNodes);
  EXPECT_EQ(c.offsets_of("topic").ring, 0U);
  EXPECT_EQ(c.row_bytes(), 4096U) << "control words only";
}

// L1, L2.
TEST(RowLayout, PutsControlBlocksOnCacheLinesAndRingsOnPagesWithoutOverlap) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    std::vector<GroupOptions> groups;
    for (std::uint64_t i = random.below(6) + 1; i > 0; --i) {
      std::vector<std::string> senders;
      for (std::uint64_t s = random.below(70); s > 0; --s) senders.push_back(std::to_string(s));
      if (random.one_in(2)) senders.emplace_back("me");
      if (senders.empty()) senders.emplace_back("1");
      groups.push_back(group("g" + std::to_string(i), senders, 4096 + random.below(100'000)));
      if (random.one_in(3)) {
        groups.back().level = Level::agreed;
      } else if (random.one_in(3)) {
        groups.back().order = Order::lcr;
      }
      if (random.one_in(3)) groups.back().alignment = 8U << random.below(10);
    }
    const RowLayout layout("me", groups, 0, kNodes);
    for (const GroupOptions& options : groups) {
      EXPECT_EQ(layout.offsets_of(options.name).control[0] % 64, 0U);
      const std::size_t ring = layout.offsets_of(options.name).ring;
      if (ring == 0) continue;
      EXPECT_EQ((ring + 8 - options.alignment) % 4096, 0U) << "the first record's data is aligned";
    }
    const std::vector<Span> all = parts(layout, "me", groups);
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i].begin, all[i - 1].end);
      EXPECT_GE(all[i].begin / 64, (all[i - 1].end + 63) / 64) << "a line shared";
    }
    EXPECT_GE(layout.row_bytes(), all.back().end);
    EXPECT_EQ(layout.row_bytes() % 64, 0U);
  }
}

TEST(RowLayout, LeavesSpaceForTheMembershipBetweenTheHeaderAndTheGroups) {
  const std::vector<GroupOptions> groups{group("log", {"b"}), group("topic", {"a"})};
  for (const std::size_t bytes : {0U, 8U, 64U, 65U, 5000U}) {
    const RowLayout layout("a", groups, bytes, kNodes);
    EXPECT_EQ(kMembershipOffset, 64U);
    std::size_t first = layout.row_bytes();
    for (const GroupOptions& options : groups) {
      for (const std::size_t control : layout.offsets_of(options.name).control) {
        EXPECT_EQ(control % 64, 0U);
        first = std::min(first, control);
      }
    }
    EXPECT_GE(first, kMembershipOffset + bytes);
    EXPECT_LT(first, kMembershipOffset + bytes + 64) << "no more than that";
    EXPECT_GT(layout.offsets_of("topic").ring, first);
  }
}

TEST(RowLayout, RoundsWindowsUpToPowersOfTwoAndPages) {
  EXPECT_EQ(ring_bytes(1), 4096U);
  EXPECT_EQ(ring_bytes(4096), 4096U);
  EXPECT_EQ(ring_bytes(4097), 8192U);
  EXPECT_EQ(ring_bytes((1ULL << 30) - 1), 1ULL << 30);
}

TEST(RowLayout, KeepsTheControlWordsOfAGroupTogether) {
  EXPECT_EQ(ControlWords::kEpoch.offset, 0U);
  EXPECT_EQ(ControlWords::kSent.offset, 24U);
  EXPECT_EQ(ControlWords::kDelivered.offset, 32U);
  EXPECT_EQ(ControlWords::kReceived[SenderIndex{1}].offset, 48U);
  EXPECT_EQ(ControlWords::bytes(3), 64U) << "three senders: one cache line";
}

TEST(RowLayoutDeathTest, RefusesAGroupThatWasNotJoined) {
  const RowLayout layout("a", {group("log", {"a"})}, 0, kNodes);
  EXPECT_DEATH((void)layout.offsets_of("other"), "broken invariant");
}

}  // namespace
}  // namespace tutti
