/// Members join and leave groups while they run: what they deliver, and what becomes of a space.
#include <gtest/gtest.h>

#include <algorithm>

#include "membership/wish_words.hpp"
#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using Texts = std::vector<std::string>;

GroupOptions space(const std::string& name) {
  GroupOptions group = forged_group();
  group.name = name;
  return group;
}

/// Of `count` founders, with one group that all have and two spaces, the groups 1 and 2.
struct Cluster : ForgedCluster {
  explicit Cluster(std::uint32_t count, std::uint32_t joining = 0)
      : ForgedCluster(
            sim::make_plan(count, {forged_group(), space("s1"), space("s2")}, false, 0, 2), joining,
            {}, true) {
    for (std::uint32_t slot = 0; slot < count - joining; ++slot) all.push_back(slot);
  }
  using Wished = Membership<NativeMemory>::Wished;

  Wished wish(std::uint32_t node, const std::string& name) {
    return nodes[node].membership->wish({name, 1});
  }
  void join(std::uint32_t node, const std::string& name) {
    ASSERT_EQ(wish(node, name), Wished::yes);
    run(all);
  }
  /// Closes its ring in the group, and leaves once that may be.
  void leave(std::uint32_t node, const std::string& name) {
    const OpenGroup* const open = find_name(nodes[node].engine->view().groups, name);
    ASSERT_NE(open, nullptr);
    nodes[node].engine->subgroup(open->group).ring()->close();
    for (int i = 0; i < 20 && !nodes[node].membership->withdraw(name); ++i) run(all, 1);
    ASSERT_FALSE(nodes[node].membership->wishes().has(name));
    run(all);
  }
  /// The words of its list of wishes in its row, which the others read. They begin with the digest.
  [[nodiscard]] std::uint64_t* wish_words(std::uint32_t node) {
    return reinterpret_cast<std::uint64_t*>(rows[node].data() + plan.rows.words.wishes());
  }
  [[nodiscard]] const View& view(std::uint32_t node) const { return nodes[node].engine->view(); }

  std::vector<std::uint32_t> all;
};

TEST(RunTimeGroups, OpenInAViewThatAllEnter) {
  Cluster cluster(3);
  ASSERT_EQ(cluster.view(0).id, 1U);
  cluster.join(1, "x");
  for (const std::uint32_t node : cluster.all) {
    EXPECT_EQ(cluster.view(node).id, 2U);
    EXPECT_EQ(cluster.view(node).groups, (OpenGroups{{"x", 1, 2, {Slot{1}}}}));
  }
  EXPECT_EQ(cluster.nodes[1].joined, cluster.view(1).groups);
  EXPECT_TRUE(cluster.nodes[0].joined.empty());
  cluster.run(cluster.all, 50);
  EXPECT_EQ(cluster.view(0).id, 2U) << "no wish is left (GR3)";
}

TEST(RunTimeGroups, DeliverToMembersFromTheViewOnInWhichTheyAre) {
  Cluster cluster(3);
  cluster.join(1, "x");
  ASSERT_TRUE(cluster.nodes[1].send("before", 1));
  cluster.run(cluster.all);
  cluster.join(2, "x");
  ASSERT_TRUE(cluster.nodes[1].send("after", 1));
  ASSERT_TRUE(cluster.nodes[2].send("too", 1));
  EXPECT_FALSE(cluster.nodes[0].send("not", 1)) << "it is not in the group";
  cluster.run(cluster.all);
  EXPECT_EQ(cluster.nodes[1].delivered, (Texts{"before", "after", "too"}));
  EXPECT_EQ(cluster.nodes[2].delivered, (Texts{"after", "too"}));
  EXPECT_TRUE(cluster.nodes[0].delivered.empty());
}

TEST(RunTimeGroups, GoOnWithoutAMemberThatLeaves) {
  Cluster cluster(3);
  cluster.join(1, "x");
  cluster.join(2, "x");
  ASSERT_TRUE(cluster.nodes[1].send("last", 1));
  cluster.leave(1, "x");
  EXPECT_EQ(cluster.view(0).groups, (OpenGroups{{"x", 1, 2, {Slot{2}}}}));
  EXPECT_FALSE(cluster.nodes[1].send("more", 1));
  ASSERT_TRUE(cluster.nodes[2].send("more", 1));
  cluster.run(cluster.all);
  EXPECT_EQ(cluster.nodes[1].delivered, (Texts{"last"}));
  EXPECT_EQ(cluster.nodes[2].delivered, (Texts{"last", "more"}));
}

TEST(RunTimeGroups, DoNotLetGoOfAMemberBeforeAllItSentIsDelivered) {
  Cluster cluster(3);
  cluster.join(1, "x");
  cluster.join(2, "x");
  cluster.nodes[2].stuck = true;  // its application does not come back
  ASSERT_TRUE(cluster.nodes[1].send("late", 1));
  EXPECT_FALSE(cluster.nodes[1].membership->withdraw("x")) << "its ring is not closed";
  cluster.nodes[1].engine->subgroup(1).ring()->close();
  cluster.run(cluster.all);
  EXPECT_FALSE(cluster.nodes[1].membership->withdraw("x"));
  cluster.nodes[2].stuck = false;
  cluster.run(cluster.all);
  EXPECT_TRUE(cluster.nodes[1].membership->withdraw("x"));
  cluster.run(cluster.all);
  EXPECT_EQ(cluster.nodes[2].delivered, (Texts{"late"}));
  EXPECT_EQ(cluster.view(1).groups, (OpenGroups{{"x", 1, 2, {Slot{2}}}}));
}

// GR4: it begins anew in its ring, which has records of the group before.
TEST(RunTimeGroups, GiveUpTheirSpaceForOthers) {
  Cluster cluster(2);
  for (int round = 0; round < 40; ++round) {
    const std::string name = "x" + std::to_string(round);
    cluster.join(1, name);
    if (round % 2 == 1) cluster.join(0, name);
    const OpenGroup* const open = find_name(cluster.view(1).groups, name);
    ASSERT_NE(open, nullptr) << round;
    for (int i = 0; i <= round % 7; ++i) {
      ASSERT_TRUE(cluster.nodes[1].send(name + "." + std::to_string(i), open->group));
      cluster.run(cluster.all, 3);
    }
    cluster.run(cluster.all);
    EXPECT_EQ(cluster.nodes[1].delivered.size(), static_cast<std::size_t>(round % 7) + 1) << round;
    for (std::size_t i = 0; i < cluster.nodes[1].delivered.size(); ++i) {
      EXPECT_EQ(cluster.nodes[1].delivered[i], name + "." + std::to_string(i));
    }
    if (round % 2 == 1) {
      EXPECT_EQ(cluster.nodes[0].delivered, cluster.nodes[1].delivered) << round;
      cluster.leave(0, name);
    }
    cluster.leave(1, name);
    EXPECT_TRUE(cluster.view(0).groups.empty()) << round;
    for (const std::uint32_t node : cluster.all) cluster.nodes[node].delivered.clear();
    if (HasFailure()) return;
  }
}

TEST(RunTimeGroups, AreRefusedBeyondTheSpaces) {
  Cluster cluster(2);
  cluster.join(1, "x");
  cluster.join(1, "y");
  EXPECT_EQ(cluster.wish(1, "x"), Cluster::Wished::already);
  EXPECT_EQ(cluster.wish(1, "z"), Cluster::Wished::too_many);
  ASSERT_EQ(cluster.wish(0, "z"), Cluster::Wished::yes) << "it does not know yet";
  const std::uint64_t before = cluster.view(0).id;
  cluster.run(cluster.all, 50);
  EXPECT_EQ(cluster.view(0).id, before) << "there is no space, so nothing changes (GR3)";
  cluster.leave(1, "x");
  cluster.run(cluster.all);
  EXPECT_NE(find_name(cluster.view(0).groups, "z"), nullptr);
}

TEST(RunTimeGroups, LoseAMemberThatIsLost) {
  Cluster cluster(3);
  cluster.join(1, "x");
  cluster.join(2, "x");
  for (const std::uint32_t node : {0U, 1U}) cluster.nodes[node].membership->lost(Slot{2});
  cluster.run({0, 1});
  EXPECT_EQ(cluster.view(0).groups, (OpenGroups{{"x", 1, 2, {Slot{1}}}}));
  ASSERT_TRUE(cluster.nodes[1].send("on", 1));
  cluster.run({0, 1});
  EXPECT_EQ(cluster.nodes[1].delivered, (Texts{"on"}));
}

// A leader may act on a wish that is taken back at that moment.
TEST(RunTimeGroups, LetGoOfAMemberThatTookItsWishBack) {
  Cluster cluster(3);
  ASSERT_EQ(cluster.wish(1, "x"), Cluster::Wished::yes);
  for (int i = 0; i < 20 && !cluster.nodes[0].membership->has_decided(); ++i) {
    cluster.run(cluster.all, 1);
    if (cluster.nodes[1].membership->changing()) break;
  }
  ASSERT_EQ(cluster.view(1).id, 1U);
  ASSERT_TRUE(cluster.nodes[1].membership->withdraw("x"));
  cluster.run(cluster.all, 60);
  EXPECT_TRUE(cluster.view(0).groups.empty());
  EXPECT_TRUE(cluster.view(1).groups.empty());
  EXPECT_FALSE(cluster.nodes[1].send("not", 1));
}

// GR5: a leader that took the list before for all there is would take its member out of the group,
// which the member does not accept: no view would follow.
TEST(RunTimeGroups, AreNotProposedWhileWordsOfWishesHaveYetToLand) {
  Cluster cluster(3);
  ASSERT_EQ(cluster.wish(2, "x"), Cluster::Wished::yes);
  std::uint64_t& digest = cluster.wish_words(2)[0];
  const std::uint64_t whole = digest;
  for (int i = 0; i < 20; ++i) {
    cluster.run({0, 2}, 1);
    digest = 0;  // at member 1 they have not landed when all enter the view that is made of them
    cluster.run({1}, 1);
    digest = whole;
  }
  const OpenGroups open{{"x", 1, 2, {Slot{2}}}};
  ASSERT_EQ(cluster.view(1).groups, open);
  ASSERT_TRUE(cluster.nodes[2].send("under way", 1));
  digest = whole + 1;  // by now member 2 writes them over
  for (const std::uint32_t node : {1U, 2U}) cluster.nodes[node].membership->lost(Slot{0});
  cluster.run({1, 2});
  EXPECT_EQ(cluster.view(1).id, 2U);
  digest = whole;
  cluster.run({1, 2});
  EXPECT_EQ(cluster.view(1).id, 3U);
  EXPECT_EQ(cluster.view(1).groups, open);
  EXPECT_EQ(cluster.nodes[2].delivered, (Texts{"under way"}));
}

// GR5: no correct leader proposes that.
TEST(RunTimeGroups, KeepAMemberThatACorruptLeaderWouldTakeOut) {
  Cluster cluster(3);
  cluster.join(1, "x");
  ASSERT_TRUE(cluster.nodes[1].send("under way", 1));
  std::ranges::copy(encode(std::vector<GroupWish>{}), cluster.wish_words(1));
  ASSERT_EQ(cluster.wish(2, "y"), Cluster::Wished::yes) << "so that the leader looks";
  cluster.run(cluster.all);
  EXPECT_TRUE(cluster.nodes[0].membership->changing()) << "it proposes a view without the group";
  EXPECT_EQ(cluster.view(1).id, 2U);
  EXPECT_EQ(cluster.view(1).groups, (OpenGroups{{"x", 1, 2, {Slot{1}}}}));
  EXPECT_FALSE(cluster.nodes[1].why_stopped);
}

// It is told nothing of what they wished for before: it leads none of them (GR5).
TEST(RunTimeGroups, AreKnownToANodeThatJoinsTheCluster) {
  Cluster cluster(4, 1);
  cluster.join(1, "x");
  for (const std::uint32_t node : cluster.all) {
    cluster.nodes[node].membership->ready(Slot{3}, 103);
    cluster.nodes[3].membership->ready(Slot{node}, 100 + node);
  }
  cluster.all.push_back(3);
  cluster.run(cluster.all, 60);
  ASSERT_EQ(cluster.view(3).members.size(), 4U);
  EXPECT_EQ(cluster.view(3).groups, (OpenGroups{{"x", 1, 2, {Slot{1}}}}));
  cluster.join(3, "x");
  ASSERT_TRUE(cluster.nodes[1].send("to both", 1));
  cluster.run(cluster.all);
  EXPECT_EQ(cluster.nodes[3].delivered, (Texts{"to both"}));
}

}  // namespace
}  // namespace tutti::testing
