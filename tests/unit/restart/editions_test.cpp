// What is an older copy of a state directory, and what is not.
#include "restart/editions.hpp"

#include <gtest/gtest.h>

namespace tutti::restart {
namespace {

constexpr std::uint32_t kSlot = 2;

Editions heard_of(const std::vector<Edition>& told) {
  Editions editions;
  for (const Edition& one : told) editions.note(kSlot, one);
  return editions;
}

TEST(Editions, AreOldOnceALaterSaveOfTheDirectoryWasHeardOf) {
  const Editions editions = heard_of({{7, 3}, {7, 5}});
  EXPECT_EQ(newer_than({7, 4}, kSlot, editions.heard()), (Edition{7, 5}));
  EXPECT_FALSE(newer_than({7, 5}, kSlot, editions.heard()));
  EXPECT_FALSE(newer_than({7, 6}, kSlot, editions.heard()));
}

// It says again what it said over another link.
TEST(Editions, ThatWereHeardBeforeChangeNothing) {
  const Editions editions = heard_of({{7, 5}, {7, 3}});
  EXPECT_EQ(editions.heard(), heard_of({{7, 5}}).heard());
}

TEST(Editions, OfANewDirectoryAreNewHoweverFewItsSaves) {
  const Editions editions = heard_of({{7, 30}});
  EXPECT_FALSE(newer_than({8, 1}, kSlot, editions.heard()));
}

TEST(Editions, OfADirectoryThatWasGivenUpAreOldHoweverManyItsSaves) {
  const Editions editions = heard_of({{7, 30}, {8, 1}});
  EXPECT_EQ(newer_than({7, 40}, kSlot, editions.heard()), (Edition{8, 1}));
  EXPECT_FALSE(newer_than({8, 1}, kSlot, editions.heard()));
}

TEST(Editions, OfOneNodeSayNothingOfAnother) {
  const Editions editions = heard_of({{7, 30}});
  EXPECT_FALSE(newer_than({7, 4}, kSlot + 1, editions.heard()));
}

TEST(Editions, AreSavedOneByOneWithWhatWasHeard) {
  Editions editions = heard_of({{7, 3}});
  editions.note(0, {9, 1});
  const Views next = editions.next({.edition = {5, 8}});
  EXPECT_EQ(next.edition, (Edition{5, 9}));
  EXPECT_EQ(next.heard, (std::vector<HeardOf>{{0, {{9, 1}}}, {kSlot, {{7, 3}}}}));
}

// ED3.
TEST(Editions, AreBoundedWhateverIsTold) {
  Editions editions;
  for (std::uint64_t directory = 1; directory <= 1000; ++directory) {
    editions.note(kSlot, {directory, 1});
  }
  ASSERT_EQ(editions.heard().size(), 1U);
  EXPECT_EQ(editions.heard()[0].editions.size(), Editions::kDirectoriesMax);
  EXPECT_EQ(editions.heard()[0].editions.back(), (Edition{1000, 1}));
}

}  // namespace
}  // namespace tutti::restart
