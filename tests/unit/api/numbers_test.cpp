/// \file numbers_test.cpp
/// Message::seq at Level::unordered, where it counts the messages of one sender.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace tutti {
namespace {

class Numbers : public ::testing::TestWithParam<DeliveryThread> {};

INSTANTIATE_TEST_SUITE_P(Of, Numbers,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& how) {
                           return how.param == DeliveryThread::own ? "own_thread" : "predicate";
                         });

// A talker's texts end with their number.
std::uint64_t number_in(const std::string& text) {
  return std::stoull(text.substr(text.rfind(' ') + 1));
}

TEST_P(Numbers, OfOneSenderGoOnOverViews) {
  GroupOptions group = small_group(Level::unordered);
  group.delivery = GetParam();
  TestCluster cluster({.groups = {group}});
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  cluster.renew(2);
  cluster.start({2});
  cluster.talk(2);
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  for (const std::size_t member : {0U, 1U}) {
    ASSERT_GE(cluster.journal(member).stretches().size(), 3U);
    for (const Told& told : cluster.journal(member).sequence()) {
      ASSERT_EQ(told.seq, number_in(told.text)) << told.text << " at member " << member;
    }
  }
  std::map<std::uint32_t, std::uint64_t> heard;
  for (const Told& told : cluster.journal(2).sequence()) {
    ASSERT_EQ(told.seq, heard[told.sender]++) << told.text << " at the one that came later";
  }
  EXPECT_FALSE(heard.empty());
}

}  // namespace
}  // namespace tutti
