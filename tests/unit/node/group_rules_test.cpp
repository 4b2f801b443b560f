/// \file group_rules_test.cpp
#include "node/group_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NodeOptions node() {
  NodeOptions options;
  options.name = "b";
  options.members = {{"a", "h:1"}, {"b", "h:2"}, {"c", "h:3"}};
  return options;
}

GroupOptions group_with(std::vector<std::string> members, std::vector<std::string> senders = {}) {
  GroupOptions options;
  options.name = "log";
  options.members = std::move(members);
  options.senders = std::move(senders);
  return options;
}

std::string error_of(const GroupOptions& options, std::span<const GroupOptions> joined = {},
                     const NodeOptions& node = tutti::node()) {
  std::vector<const GroupOptions*> before;
  for (const GroupOptions& other : joined) before.push_back(&other);
  const Result<void> r = check_group(node, before, options);
  return r ? "accepted" : r.error().message;
}

TEST(GroupRules, AcceptsAnySubsetWithThisNodeOrWithoutIt) {
  EXPECT_EQ(error_of(group_with({})), "accepted");
  EXPECT_EQ(error_of(group_with({"a", "c"})), "accepted");
  EXPECT_EQ(error_of(group_with({"a", "c"}, {"c"})), "accepted");
  EXPECT_EQ(error_of(group_with({"c", "b"}, {"c"})), "accepted");
  EXPECT_EQ(error_of(group_with({}, {"a"})), "accepted");
}

TEST(GroupRules, MembersAreTheNodes) {
  EXPECT_EQ(error_of(group_with({"b", "z"})),
            "group 'log': members: 'z' is not a member of the node; known: a, b, c");
  EXPECT_THAT(error_of(group_with({}, {"z"})), HasSubstr("senders: 'z' is not a member"));
}

TEST(GroupRules, OfAGroupThatIsLoggedAllNodesAreMembersAndHaveAFolder) {
  NodeOptions with_folder = node();
  with_folder.state_dir = "/state";
  GroupOptions logged = group_with({});
  logged.logged = true;
  EXPECT_THAT(error_of(logged), HasSubstr("group 'log': logged: the node has no state_dir"));
  EXPECT_EQ(error_of(logged, {}, with_folder), "accepted");
  logged.members = {"c", "a", "b"};
  EXPECT_EQ(error_of(logged, {}, with_folder), "accepted");
  logged.members = {"b"};
  EXPECT_THAT(error_of(logged, {}, with_folder),
              HasSubstr("group 'log': logged: all nodes must be members, for each of them may be "
                        "needed to begin again from its log, and 'a', 'c' cannot; leave "
                        "members empty"));
}

TEST(GroupRules, NamesAreUniqueInTheNode) {
  const std::vector<GroupOptions> joined{group_with({})};
  EXPECT_THAT(error_of(group_with({"b"}), joined), HasSubstr("group 'log': name is taken"));
}

TEST(GroupRules, AllGroupsFitOneHello) {
  NodeOptions on_shm = node();
  on_shm.fabric = FabricChoice::shm;
  std::vector<GroupOptions> joined(4095, group_with({"b"}));
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i].name = "g" + std::to_string(i);
  EXPECT_EQ(error_of(group_with({"b"}), joined, on_shm), "accepted");
  joined.push_back(group_with({"b"}));
  joined.back().name = "the last";
  EXPECT_EQ(error_of(group_with({"b"}), joined, on_shm),
            "group 'log': a node joins at most 4096 groups");
}

TEST(GroupRules, TheControlWordsOfAllGroupsFitOneFrame) {
  NodeOptions many = node();
  for (std::size_t i = many.members.size(); i < 256; ++i) {
    many.members.push_back({"m" + std::to_string(i), "h:" + std::to_string(i)});
  }
  std::vector<GroupOptions> joined(121, group_with({}));
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i].name = "g" + std::to_string(i);
  EXPECT_EQ(error_of(group_with({}), joined, many), "accepted");
  joined.push_back(group_with({}));
  joined.back().name = "the last";
  EXPECT_THAT(error_of(group_with({}), joined, many), HasSubstr("the control words of all groups"));
  EXPECT_EQ(error_of(group_with({}, {"a"}), joined, many), "accepted");
  many.fabric = FabricChoice::shm;
  EXPECT_EQ(error_of(group_with({}), joined, many), "accepted");
}

// Rounds run ahead of a member by the windows of all senders, and the words that tell of rounds by
// so many that a reader can tell how many they are.
TEST(GroupRules, TheWindowsOfAllSendersAreLimitedTogether) {
  NodeOptions many = node();
  for (std::size_t i = many.members.size(); i < 256; ++i) {
    many.members.push_back({"m" + std::to_string(i), "h:" + std::to_string(i)});
  }
  struct Limit {
    Order order;
    std::size_t senders;  // with the largest window
  };
  for (const Limit& limit : {Limit{Order::round_robin, 127}, Limit{Order::lcr, 63}}) {
    SCOPED_TRACE(to_string(limit.order));
    GroupOptions group = group_with({});
    group.order = limit.order;
    group.window_messages = 1U << 22;
    for (std::size_t i = 0; i < limit.senders; ++i) group.senders.push_back(many.members[i].name);
    EXPECT_EQ(error_of(group, {}, many), "accepted");
    group.senders.push_back(many.members[limit.senders].name);
    EXPECT_THAT(error_of(group, {}, many),
                HasSubstr("group 'log': window_messages is 4194304 with " +
                          std::to_string(limit.senders + 1) + " senders and order '" +
                          std::string(to_string(limit.order)) + "'"));
    EXPECT_THAT(error_of(group, {}, many), HasSubstr("legal: a power of two, 2 .. 2097152, or"));
    group.window_messages = 1U << 21;
    EXPECT_EQ(error_of(group, {}, many), "accepted");
    group.window_messages = 1U << 22;
    group.senders.clear();
    EXPECT_THAT(error_of(group, {}, many), HasSubstr("with 256 senders")) << "all are";
    group.members = {"a", "b", "c"};
    EXPECT_EQ(error_of(group, {}, many), "accepted");
  }
}

TEST(GroupRules, TheWindowsAreNotLimitedTogetherWhereRoundsCountOtherwise) {
  NodeOptions many = node();
  for (std::size_t i = many.members.size(); i < 256; ++i) {
    many.members.push_back({"m" + std::to_string(i), "h:" + std::to_string(i)});
  }
  GroupOptions group = group_with({});
  group.window_messages = 1U << 22;
  group.order = Order::token_ring;
  EXPECT_EQ(error_of(group, {}, many), "accepted");
  group.order = Order::none;
  group.level = Level::unordered;
  EXPECT_EQ(error_of(group, {}, many), "accepted");
}

TEST(GroupRules, WhatIsWrongByItselfIsWrongHere) {
  GroupOptions options = group_with({});
  options.window_messages = 3;
  EXPECT_THAT(error_of(options), HasSubstr("window_messages is 3"));
}

TEST(GroupRules, ResolvingLeavesNothingImplicit) {
  GroupOptions options = group_with({});
  options.window_bytes = 5000;
  const GroupOptions full = resolve_group(node(), options);
  EXPECT_THAT(full.members, ElementsAre("a", "b", "c"));
  EXPECT_THAT(full.senders, ElementsAre("a", "b", "c"));
  EXPECT_EQ(full.window_bytes, 8192U);
  EXPECT_THAT(resolve_group(node(), group_with({"c", "b"})).senders, ElementsAre("c", "b"));
  EXPECT_THAT(resolve_group(node(), group_with({"c", "a"})).senders, ElementsAre("c", "a"));
}

}  // namespace
}  // namespace tutti
