/// Which groups are open after a change of view, and lists of groups and wishes as words.
#include "membership/open_groups.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "membership/wish_words.hpp"
#include "membership/word_list.hpp"

namespace tutti {
namespace {

// The groups 2, 3 and 5 of a plan are spaces, the first two of a kind.
const GroupSpaces kSpaces{{{2, 2}, {3, 2}, {5, 5}}};

using Wishes = IndexedBy<Slot, std::vector<GroupWish>>;

std::vector<Slot> slots(std::initializer_list<std::uint32_t> values) {
  std::vector<Slot> out;
  for (const std::uint32_t value : values) out.push_back({value});
  return out;
}

OpenGroups follow(const OpenGroups& now, const Wishes& wishes,
                  std::initializer_list<std::uint32_t> stay = {0, 1, 2}, std::uint64_t next = 9) {
  return next_groups(kSpaces, now, next, slots(stay), wishes);
}

TEST(OpenGroups, OpenWithAllWhoWishForThem) {
  const OpenGroups open = follow({}, {{{"a", 2}}, {{"b", 2}, {"c", 5}}, {{"a", 2}}});
  EXPECT_EQ(
      open,
      (OpenGroups{{"a", 2, 9, slots({0, 2})}, {"b", 3, 9, slots({1})}, {"c", 5, 9, slots({1})}}));
}

TEST(OpenGroups, KeepTheirSpaceWhileMembersComeAndGo) {
  const OpenGroups open{{"a", 3, 4, slots({0, 1})}};
  EXPECT_EQ(follow(open, {{}, {{"a", 2}}, {{"a", 2}}}), (OpenGroups{{"a", 3, 4, slots({1, 2})}}));
}

TEST(OpenGroups, LoseMembersThatTheViewLoses) {
  const OpenGroups open{{"a", 3, 4, slots({0, 1})}};
  const Wishes wishes{{{"a", 2}}, {{"a", 2}}, {}};
  EXPECT_EQ(follow(open, wishes, {1, 2}), (OpenGroups{{"a", 3, 4, slots({1})}}));
  EXPECT_EQ(follow(open, wishes, {2}), OpenGroups{});
}

TEST(OpenGroups, AreNotOfAnotherKindThanTheyBegan) {
  const OpenGroups open{{"a", 3, 4, slots({0})}};
  EXPECT_EQ(follow(open, {{{"a", 2}}, {{"a", 5}}, {}}), open);
  EXPECT_EQ(follow({}, {{}, {{"a", 5}}, {{"a", 2}}}), (OpenGroups{{"a", 5, 9, slots({1})}}))
      << "of two who wish for different kinds the lower rank counts";
}

TEST(OpenGroups, DoNotOpenWithoutSpace) {
  const OpenGroups open{{"a", 2, 4, slots({0})}, {"b", 3, 4, slots({0})}};
  EXPECT_EQ(follow(open, {{{"a", 2}, {"b", 2}}, {{"c", 2}}, {}}), open);
}

// GR2.
TEST(OpenGroups, LeaveTheirSpaceFreeForAView) {
  const OpenGroups open{{"a", 2, 4, slots({0})}, {"b", 3, 4, slots({0})}};
  const Wishes wishes{{{"b", 2}}, {{"c", 2}}, {{"d", 2}}};
  const OpenGroups next = follow(open, wishes);
  EXPECT_EQ(next, (OpenGroups{{"b", 3, 4, slots({0})}}));
  EXPECT_EQ(follow(next, wishes, {0, 1, 2}, 10),
            (OpenGroups{{"c", 2, 10, slots({1})}, {"b", 3, 4, slots({0})}}));
}

TEST(OpenGroups, OpenAnewUnderANameOnlyAfterAViewWithoutIt) {
  const OpenGroups open{{"a", 2, 4, slots({0})}};
  EXPECT_EQ(follow(open, {{}, {{"a", 5}}, {}}), OpenGroups{});
}

// GR2, GR3.
TEST(OpenGroups, AreSensibleAndStandStillWhileNoWishChanges) {
  Prng random(7);
  OpenGroups open;
  for (std::uint64_t view = 2; view < 3000; ++view) {
    Wishes wishes(4);
    for (const Slot slot : wishes.indices()) {
      for (const char* name : {"a", "b", "c", "d"}) {
        if (random.one_in(2)) wishes[slot].push_back({name, random.one_in(2) ? 2U : 5U});
      }
    }
    std::vector<Slot> stay;
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      if (!random.one_in(4)) stay.push_back({slot});
    }
    const auto next = [&](const OpenGroups& now) {
      return next_groups(kSpaces, now, view, stay, wishes);
    };
    open = next(open);
    EXPECT_TRUE(is_sensible(kSpaces, open, 4)) << view;
    const OpenGroups settled = next(open);  // a space, or a name, that was given up is free now
    EXPECT_EQ(next(settled), settled) << view;
    if (HasFailure()) return;
  }
}

TEST(OpenGroups, AreRefusedIfNoCorrectLeaderNamesThem) {
  const OpenGroup good{"a", 2, 4, slots({0, 2})};
  ASSERT_TRUE(is_sensible(kSpaces, {good}, 3));
  EXPECT_FALSE(is_sensible(kSpaces, {{"a", 4, 4, slots({0})}}, 3)) << "no space";
  EXPECT_FALSE(is_sensible(kSpaces, {{"a", 2, 4, {}}}, 3)) << "nobody is in it";
  EXPECT_FALSE(is_sensible(kSpaces, {{"", 2, 4, slots({0})}}, 3)) << "no name";
  EXPECT_FALSE(is_sensible(kSpaces, {good, {"b", 2, 4, slots({0})}}, 3)) << "a space twice";
  EXPECT_FALSE(is_sensible(kSpaces, {good, {"a", 3, 4, slots({0})}}, 3)) << "a name twice";
  EXPECT_FALSE(is_sensible(kSpaces, {{"a", 2, 4, slots({2, 0})}}, 3)) << "not in order";
  EXPECT_FALSE(is_sensible(kSpaces, {{"a", 2, 4, slots({3})}}, 3)) << "no such node";
}

TEST(OpenGroups, AreTheSameAfterTheirWords) {
  const OpenGroups open{{"a", 2, 4, slots({0, 2})},
                        {std::string(kOpenNameMax, 'x'), 5, 7, slots({1})}};
  std::vector<std::uint64_t> words;
  put(words, open);
  EXPECT_LE(words.size(), open_groups_words(3, 3));
  WordReader reader(words);
  EXPECT_EQ(take_open_groups(reader), open);
  EXPECT_TRUE(reader.whole());
}

TEST(WishWords, AreTheSameAfterTheirWords) {
  for (const std::vector<GroupWish>& wishes :
       {std::vector<GroupWish>{}, {{"a", 2}}, {{"a", 2}, {"nine letters", 5}}}) {
    const std::vector<std::uint64_t> words = encode(wishes);
    EXPECT_LE(words.size(), wish_words_max(3));
    EXPECT_EQ(decode_wishes(kSpaces, words), wishes);
  }
}

TEST(WishWords, AreRefusedIfOneIsOfAnotherTime) {
  const std::vector<std::uint64_t> words = encode(std::vector<GroupWish>{{"a", 2}, {"b", 5}});
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::vector<std::uint64_t> torn = words;
    torn[i] ^= 2;
    EXPECT_EQ(decode_wishes(kSpaces, torn), std::nullopt) << i;
  }
  EXPECT_EQ(decode_wishes(kSpaces, std::vector<std::uint64_t>(8)), std::nullopt) << "zeroed memory";
}

TEST(WishWords, AreRefusedIfNoCorrectMemberSaysThem) {
  using List = std::vector<GroupWish>;
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{"a", 3}})), std::nullopt) << "3 is of kind 2";
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{"a", 7}})), std::nullopt) << "no space";
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{"", 2}})), std::nullopt) << "no name";
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{"a", 2}, {"a", 5}})), std::nullopt) << "twice";
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{std::string(kOpenNameMax + 1, 'x'), 2}})),
            std::nullopt)
      << "a longer name than may be";
  EXPECT_EQ(decode_wishes(kSpaces, encode(List{{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}})),
            std::nullopt)
      << "more than there are spaces";
}

}  // namespace
}  // namespace tutti
