/// \file check_lives_test.cpp
/// The check of `tutti demo --kill-all` finds what it is there to find.
#include "cli/demo/check_lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tutti::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckLives : public ::testing::Test {
 protected:
  CheckLives() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-lives-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CheckLives() override { std::filesystem::remove_all(folder_); }

  // What a and b printed in a life.
  std::string add(const std::string& a, const std::string& b, bool all_caught_up = true) {
    const Result<LifeFound> found = known_.add(files(a, b), all_caught_up);
    if (!found) return found.error().message;
    return std::to_string(found->known_lines) + "+" + std::to_string(found->new_lines);
  }
  std::string check_lines(std::uint64_t last_life, std::uint64_t last) {
    const Result<void> good = known_.check_lines(last_life, last, files("", ""));
    return good ? "good" : good.error().message;
  }
  std::vector<MemberFiles> files(const std::string& a, const std::string& b) {
    std::vector<MemberFiles> out;
    for (const auto& [name, text] : {std::pair("a", a), std::pair("b", b)}) {
      out.push_back({.member = name, .input = {}, .output = folder_ / name, .log = {}});
      std::ofstream(out.back().output) << text;
    }
    return out;
  }

  std::filesystem::path folder_;
  KnownSequence known_;
};

const std::string kOne = "0 a a.1 0\n1 b b.1 0\n";
const std::string kTwo = kOne + "2 b b.2 0\n3 a a.2 0\n";

TEST_F(CheckLives, LivesThatGoOnAreGood) {
  EXPECT_EQ(add(kOne, kOne + "2 b b.2"), "0+2") << "killed within a line";
  EXPECT_EQ(add(kTwo, kTwo), "2+2");
  EXPECT_EQ(add("", kOne, false), "4+0") << "killed while they started";
  EXPECT_EQ(add(kTwo, kTwo), "4+0");
  EXPECT_EQ(known_.bytes(), kTwo.size());
  EXPECT_EQ(check_lines(2, 1), "good");
}

TEST_F(CheckLives, WhatIsLostIsFound) {
  EXPECT_EQ(add(kTwo, kOne), "0+4");
  EXPECT_THAT(add(kTwo, kOne), AllOf(HasSubstr("b, line 3"), HasSubstr("2 b b.2 0"),
                                     HasSubstr("delivered now: (the end)")));
}

TEST_F(CheckLives, WhatIsChangedIsFound) {
  EXPECT_EQ(add(kOne, kOne), "0+2");
  EXPECT_THAT(add("0 b b.1 0\n1 a a.1 0\n", kOne), HasSubstr("a, line 1: not what was delivered"));
  EXPECT_THAT(add(kTwo, kOne + "2 a a.2 0\n"), HasSubstr("b, line 3")) << "in the same life";
  EXPECT_THAT(add("", "0 b", false), HasSubstr("b, line 1")) << "also of one that was killed early";
}

TEST_F(CheckLives, WhatIsDeliveredTwiceOrLeftOutIsFound) {
  EXPECT_EQ(add(kOne + "2 a a.1 0\n", kOne), "0+3");
  EXPECT_THAT(check_lines(1, 1), HasSubstr("line 3: a message is missing before it, or comes"));
  known_ = {};
  EXPECT_EQ(add(kOne + "2 a a.1 2\n", kOne), "0+3");
  EXPECT_THAT(check_lines(1, 1), HasSubstr("line 3"));
  known_ = {};
  EXPECT_EQ(add(kOne + "3 a a.1 1\n", kOne), "0+3");
  EXPECT_THAT(check_lines(1, 1), HasSubstr("line 3")) << "a gap in the numbers";
  known_ = {};
  EXPECT_EQ(add(kOne + "2 a b.1 1\n", kOne), "0+3");
  EXPECT_THAT(check_lines(1, 1), HasSubstr("line 3")) << "another sender's";
}

TEST_F(CheckLives, LinesThatAreMissingInTheLastLifeAreFound) {
  EXPECT_EQ(add(kTwo, kTwo), "0+4");
  EXPECT_THAT(check_lines(2, 2), HasSubstr("has 1 of the 2 lines that a sent in the last life"));
  EXPECT_THAT(check_lines(3, 1), HasSubstr("has 0 of the 1 lines"));
}

}  // namespace
}  // namespace tutti::cli
