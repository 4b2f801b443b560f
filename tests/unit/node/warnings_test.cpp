// One kind of warning hides no other, and what is held back is said in the end, with a count.
#include "node/bootstrap/warnings.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

using namespace std::chrono_literals;

class WarningsTest : public ::testing::Test {
 protected:
  std::vector<std::string> said;
  Warnings warnings{[this](const std::string& text) { said.push_back(text); }};
  Warnings::Time now{1h};
};

TEST_F(WarningsTest, TheFirstOfEachKindIsSaidAtOnce) {
  warnings.warn("stranger", "one", now);
  warnings.warn("stranger", "two", now);
  warnings.warn("refused b", "three", now);
  EXPECT_EQ(said, (std::vector<std::string>{"one", "three"}));
}

TEST_F(WarningsTest, WhatIsHeldBackIsSaidWithItsCountThoughNoMoreCome) {
  EXPECT_FALSE(warnings.due());
  for (int i = 1; i <= 20; ++i) warnings.warn("refused", std::to_string(i), now);
  EXPECT_EQ(warnings.due(), now + 1s);
  warnings.flush(now + 999ms);
  EXPECT_EQ(said.size(), 1U);
  warnings.flush(now + 1s);
  EXPECT_EQ(said.back(), "20 (and 18 more like it before)");
  EXPECT_FALSE(warnings.due());
}

TEST_F(WarningsTest, AfterAQuietSecondTheNextIsSaidAtOnce) {
  warnings.warn("stranger", "one", now);
  warnings.warn("stranger", "two", now + 1s);
  EXPECT_EQ(said, (std::vector<std::string>{"one", "two"}));
}

TEST_F(WarningsTest, OneThatWasHeldBackAloneHasNoCount) {
  warnings.warn("stranger", "one", now);
  warnings.warn("stranger", "two", now);
  warnings.flush(now + 1s);
  EXPECT_EQ(said.back(), "two");
}

}  // namespace
}  // namespace tutti
