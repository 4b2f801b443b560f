#include "tutti/indexed_by.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/types.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ByRank = IndexedBy<Rank, std::string>;

template <class List, class At>
concept Gives = requires(List list, At at) { list[at]; };
static_assert(Gives<ByRank, Rank>);
static_assert(!Gives<ByRank, MemberIndex>, "the index in a group is no rank in a view");
static_assert(!Gives<ByRank, std::uint32_t>);

TEST(IndexedBy, IsAskedByItsPositions) {
  const ByRank names{"a", "b", "c"};
  std::vector<std::string> seen;
  for (const Rank rank : names.indices()) seen.push_back(names[rank]);
  EXPECT_THAT(seen, ElementsAre("a", "b", "c"));
}

TEST(IndexedBy, HasNoPositionsWhereItIsEmpty) {
  for (const Rank rank : ByRank{}.indices()) FAIL() << rank.value;
}

TEST(IndexedBy, BeginsWithSoManyElements) {
  IndexedBy<Rank, int> counts(2);
  counts[Rank{1}] = 7;
  EXPECT_THAT(counts, ElementsAre(0, 7));
  IndexedBy<Rank, bool> flags(2);
  flags[Rank{1}] = true;
  EXPECT_FALSE(flags[Rank{0}]);
  EXPECT_TRUE(flags[Rank{1}]);
}

// What comes while it is gone through is not visited.
TEST(IndexedBy, GoesThroughThePositionsThatWereThere) {
  IndexedBy<Rank, int> counts(2);
  for (const Rank rank : counts.indices()) counts.push_back(static_cast<int>(rank.value));
  EXPECT_THAT(counts, ElementsAre(0, 0, 0, 1));
}

}  // namespace
}  // namespace tutti
