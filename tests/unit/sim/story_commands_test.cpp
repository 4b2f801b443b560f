/// What a story may not say, and that the error names the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/story/story.hpp"

namespace tutti::testing {
namespace {

using ::testing::HasSubstr;

std::string block(const std::string& commands) { return "```\n" + commands + "----\n```\n"; }

std::string refused(const std::string& story) {
  const Result<std::string> told = sim::retell(story);
  return told ? "it was told:\n" + *told : told.error().message;
}

TEST(StoryCommands, ProseAndCommandsStayAndWhatWasToldIsReplaced) {
  const std::string story =
      "# A title\n\n```\nnodes a b\nfound a b\nsend b\nrun 1\n----\nsomething else\n```\n\nThe "
      "end.\n";
  const Result<std::string> told = sim::retell(story);
  ASSERT_TRUE(told.has_value()) << told.error().message;
  EXPECT_EQ(*told,
            "# A title\n\n```\nnodes a b\nfound a b\nsend b\nrun 1\n----\n"
            "+0   b's application sends b1\n"
            "     b pushes to a: b1; sent 1 message; received[b] = 1\n"
            "+1   a pushes to b: sent 1 null; received[a] = 1; received[b] = 1\n"
            "     a delivers b1\n"
            "     a pushes to b: delivered 2 positions\n"
            "```\n\nThe end.\n");
}

TEST(StoryCommands, AnUnknownCommandIsNamedWithItsLineAndTheKnownOnes) {
  const std::string error = refused("# A title\n\n" + block("nodes a b\ndance a\n"));
  EXPECT_THAT(error, HasSubstr("line 5, 'dance a'"));
  EXPECT_THAT(error, HasSubstr("run [30]"));
}

TEST(StoryCommands, ACommandWithTooFewWordsSaysHowItIsUsed) {
  EXPECT_THAT(refused(block("nodes a b\nfound a b\npause a\n")), HasSubstr("pause a 50"));
}

TEST(StoryCommands, WhatNoGroupCanBeIsRefused) {
  EXPECT_THAT(refused(block("nodes a a\n")), HasSubstr("a name twice"));
  EXPECT_THAT(refused(block("nodes a b\ngroup window 3\nfound a b\n")),
              HasSubstr("window_messages"));
  EXPECT_THAT(refused(block("nodes a b\nfound a b\nrun 1000000\n")),
              HasSubstr("'1000000' is no number from 0 to 100000"));
}

TEST(StoryCommands, HalfOfTheNodesFoundNoGroup) {
  EXPECT_THAT(refused(block("nodes a b c d\nfound a b\n")), HasSubstr("more than half"));
}

TEST(StoryCommands, OnlyWhatRunsCanSend) {
  EXPECT_THAT(refused(block("nodes a b c\nfound a b\nsend c\n")), HasSubstr("c does not run"));
  EXPECT_THAT(refused(block("nodes a b\nfound a b\nsend z\n")), HasSubstr("no node z"));
  EXPECT_THAT(refused(block("nodes a b\nstart a b\nsend a\n")), HasSubstr("in no view yet"));
  EXPECT_THAT(refused(block("nodes a b\nfound a b\nstop a\nsend a\n")),
              HasSubstr("has stopped sending"));
  EXPECT_THAT(refused(block("nodes a b\nfound a b\nsend a safe\n")),
              HasSubstr("only in a token_ring group at agreed"));
  EXPECT_THAT(refused(block("nodes a b\nfound a b\nsend a 1 2\n")), HasSubstr("or both"));
}

TEST(StoryCommands, ANodeIsNotStartedAgainBeforeTheOthersHaveLetItGo) {
  EXPECT_THAT(refused(block("nodes a b c\nfound a b c\nkill c\nstart c\n")),
              HasSubstr("have not let go of the last c"));
}

TEST(StoryCommands, ARunWithHeartbeatsHasAnEnd) {
  EXPECT_THAT(refused(block("nodes a b\ntell heartbeats\nfound a b\nrun\n")),
              HasSubstr("for how long"));
}

}  // namespace
}  // namespace tutti::testing
