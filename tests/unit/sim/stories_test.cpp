/// The stories of docs/stories are what members really do. After a change that is meant,
///
///     TUTTI_RETELL=1 build/release/bin/unit_sim
///
/// writes them anew, and `git diff docs/stories` shows what is told otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/story/story.hpp"

namespace tutti::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> stories() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(TUTTI_STORIES)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".md" && name != "README") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string first_difference(const std::string& written, const std::string& told) {
  std::istringstream before(written);
  std::istringstream now(told);
  std::string was;
  std::string is;
  for (std::size_t line = 1; before || now; ++line) {
    if (!std::getline(before, was)) was.clear();
    if (!std::getline(now, is)) is.clear();
    if (was == is) continue;
    return ("line " + std::to_string(line))
        .append(" says\n")
        .append(was)
        .append("\nand should\n" + is);
  }
  return {};
}

class Stories : public ::testing::TestWithParam<std::string> {};

TEST_P(Stories, AreTrue) {
  const fs::path path = fs::path(TUTTI_STORIES) / (GetParam() + ".md");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const Result<std::string> told = sim::retell(text.str());
  ASSERT_TRUE(told.has_value()) << path << ": " << told.error().message;
  if (std::getenv("TUTTI_RETELL") != nullptr) {
    std::ofstream(path) << *told;
    return;
  }
  const std::string difference = first_difference(text.str(), *told);
  EXPECT_TRUE(difference.empty()) << difference << "\nif this is meant: TUTTI_RETELL=1 unit_sim";
}

std::string story_name(const ::testing::TestParamInfo<std::string>& story) {
  std::string name = story.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Stories, ::testing::ValuesIn(stories()), story_name);

}  // namespace
}  // namespace tutti::testing
