#include "cli/member_list.hpp"

#include <gtest/gtest.h>

namespace tutti::cli {
namespace {

TEST(SplitList, AnEmptyTextHasNoParts) { EXPECT_TRUE(split_list("").empty()); }

TEST(SplitList, KeepsTheOrder) {
  EXPECT_EQ(split_list("c,a,b"), (std::vector<std::string>{"c", "a", "b"}));
}

TEST(SplitList, KeepsPartsThatWereLeftOutForTheLibraryToRefuse) {
  EXPECT_EQ(split_list("a,,b,"), (std::vector<std::string>{"a", "", "b", ""}));
}

TEST(MemberList, ReadsNamesAndAddresses) {
  const auto members = members_from("a=127.0.0.1:7001,b=[::1]:7002");
  ASSERT_TRUE(members.has_value());
  ASSERT_EQ(members->size(), 2U);
  EXPECT_EQ((*members)[0].name, "a");
  EXPECT_EQ((*members)[0].address, "127.0.0.1:7001");
  EXPECT_EQ((*members)[1].address, "[::1]:7002");
}

TEST(MemberList, IsWhatItPrints) {
  const std::string text = "a=host:1,b=other:2";
  EXPECT_EQ(to_text(*members_from(text)), text);
}

TEST(MemberList, NamesThePartThatIsWrong) {
  for (const char* text : {"a=h:1,b", "a=h:1,=h:2", "a=h:1,c=", "a=h:1,", ""}) {
    const auto members = members_from(text);
    ASSERT_FALSE(members.has_value()) << text;
    EXPECT_EQ(members.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(members.error().message.starts_with("--members: ")) << members.error().message;
  }
  EXPECT_NE(members_from("a=h:1,b").error().message.find("'b'"), std::string::npos);
}

}  // namespace
}  // namespace tutti::cli
