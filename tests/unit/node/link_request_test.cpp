/// \file link_request_test.cpp
#include "node/bootstrap/link_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "node/bootstrap/hello.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

std::string body_of(const std::string& frame) { return frame.substr(HelloPrefix{}.size()); }

NodeOptions node_b() {
  NodeOptions node;
  node.name = "b";
  node.members = {{"a", "h:1"}, {"b", "h:2"}, {"c", "h:3"}};
  return node;
}

// If it changes, kProtocolVersion must be raised.
TEST(LinkRequest, IsWhatItWas) {
  EXPECT_EQ(body_of(encode_link_request({.from = "c", .to = "b", .life = 7})),
            R"({"from":"c","life":7,"question":"link","to":"b"})");
}

TEST(LinkRequest, IsReadAsItWasWritten) {
  constexpr std::uint64_t kLife = std::numeric_limits<std::uint64_t>::max();
  const std::string name(255, 'n');
  const auto read =
      decode_link_request(body_of(encode_link_request({.from = name, .to = name, .life = kLife})));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->from, name);
  EXPECT_EQ(read->to, name);
  EXPECT_EQ(read->life, kLife);
}

TEST(LinkRequest, ThatIsMalformedIsNone) {
  for (const std::string body :
       {R"()", R"([])", R"({})", R"("link")", R"({"question":"view"})", R"({"question":"link"})",
        R"({"question":"link","from":"c","to":"b","life":0})",
        R"({"question":"link","from":"c","to":"b","life":18446744073709551616})",
        R"({"question":"link","from":"c","to":["b"],"life":1})",
        R"({"question":"link","from":"c","to":"b","life":1)"}) {
    EXPECT_FALSE(decode_link_request(body)) << body;
  }
  const std::string name(256, 'n');
  EXPECT_FALSE(
      decode_link_request(body_of(encode_link_request({.from = name, .to = "b", .life = 1}))));
  std::string padded = body_of(encode_link_request({.from = "c", .to = "b", .life = 1}));
  EXPECT_TRUE(decode_link_request(padded));
  EXPECT_FALSE(decode_link_request(padded.append(2000, ' ')));
}

TEST(LinkRequest, IsOfANodeOfAHigherSlot) {
  EXPECT_EQ(caller_of({.from = "c", .to = "b", .life = 1}, node_b()).value(), Slot{2});
  const auto why = [](const std::string& from, const std::string& to) {
    const Result<Slot> slot = caller_of({.from = from, .to = to, .life = 1}, node_b());
    return slot ? "none" : slot.error().message;
  };
  EXPECT_THAT(why("c", "a"), HasSubstr("'c' called the address of 'a' but 'b' answered there"));
  EXPECT_THAT(why("x", "b"), HasSubstr("'x' is not in the member list of 'b'"));
  EXPECT_THAT(why("b", "b"), HasSubstr("two processes were started as member 'b'"));
  EXPECT_THAT(why("a", "b"), HasSubstr("'a' stands before 'b' in the member list"));
  EXPECT_THAT(why("\x1b[", "b"), HasSubstr("'?[' is not in the member list"));
}

}  // namespace
}  // namespace tutti
