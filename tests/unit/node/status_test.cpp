/// \file status_test.cpp
/// What a node says to who looks at it, as bytes and back; hostile bytes.
#include "node/bootstrap/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "hellos.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kPrefix = 12;

Status in_view_of(std::vector<std::string> members) {
  Status status{.state = NodeState::in_view, .view = 7, .members = std::move(members)};
  status.incarnations.assign(status.members.size(), 0xffffffffffffffffU);
  return status;
}

std::string status_body(const Status& status) {
  return encode_status(status).value().substr(kPrefix);
}

TEST(Status, IsReadBack) {
  for (const NodeState state : {NodeState::joining, NodeState::in_view, NodeState::stopped}) {
    Status status = in_view_of({"c", "a"});
    status.state = state;
    status.why = "lost 'b'";
    const Result<Status> read = decode_status(status_body(status), hello("a", 1));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->state, state);
    EXPECT_EQ(read->view, 7);
    EXPECT_EQ(read->members, status.members);
    EXPECT_EQ(read->incarnations, status.incarnations);
    EXPECT_EQ(read->why, "lost 'b'");
  }
}

TEST(Status, TellsWhoIsBehind) {
  Status status = in_view_of({"c", "a"});
  MemberLag lag{.member = "c", .messages = 7, .bytes = 700, .holds_window = true};
  lag.behind = std::chrono::milliseconds(1234);
  status.lags = {{"log", lag}};
  const Result<Status> read = decode_status(status_body(status), hello("a", 1));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->lags.size(), 1U);
  EXPECT_EQ(read->lags[0].group, "log");
  EXPECT_EQ(read->lags[0].lag.member, "c");
  EXPECT_EQ(read->lags[0].lag.messages, 7U);
  EXPECT_EQ(read->lags[0].lag.bytes, 700U);
  EXPECT_EQ(read->lags[0].lag.behind, lag.behind);
  EXPECT_TRUE(read->lags[0].lag.holds_window);
}

TEST(Status, WithoutAViewHasNoMembers) {
  const Result<Status> read = decode_status(status_body({}), hello("a", 1));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->state, NodeState::waiting);
  EXPECT_EQ(read->view, 0);
  EXPECT_TRUE(read->members.empty());
}

TEST(Status, OfTheLargestViewFitsAFrame) {
  std::vector<std::string> members;
  for (int i = 0; i < 256; ++i) members.push_back(std::string(252, 'n') + std::to_string(i));
  EXPECT_TRUE(encode_status(in_view_of(members)));
}

TEST(Status, AFailureOfAnyLengthAndBytesIsCutAndMadePrintable) {
  Status status{.state = NodeState::stopped};
  status.why = "\x1b[2J" + std::string(100'000, '\xff');
  const Result<Status> read = decode_status(status_body(status), hello("a", 1));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->why.starts_with("?[2J?")) << read->why;
  EXPECT_LE(read->why.size(), kVerdictMax + 3);
}

TEST(Status, IsRefusedUnlessItCanBeThatNodes) {
  const auto why = [](const Status& status) {
    const Result<Status> read = decode_status(status_body(status), hello("a", 1));
    EXPECT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::mismatch);
    return read.error().message;
  };
  EXPECT_THAT(why(in_view_of({"b", "c"})), HasSubstr("its view is without it"));
  EXPECT_THAT(why(in_view_of({"a", "z"})), HasSubstr("not in its member list"));
  EXPECT_THAT(why(in_view_of({"a", "a"})), HasSubstr("stands twice"));
  EXPECT_THAT(why(in_view_of({"a", "b", "c", "a"})), HasSubstr("list of at most 3"));
  EXPECT_THAT(why(in_view_of({})), HasSubstr("no members"));
  Status none = in_view_of({"a"});
  none.view = 0;
  EXPECT_THAT(why(none), HasSubstr("no members"));
}

TEST(Status, OfWrongTypesOrFieldsIsRefused) {
  for (const std::string_view text :
       {"", "x", "[]", "{}", R"({"state":"in_view","view":-1,"members":[],"why":""})",
        R"({"state":"asleep","view":0,"members":[],"why":""})",
        R"({"state":"waiting","view":0,"members":[7],"why":""})",
        R"({"state":"waiting","view":0,"members":[{"name":"a"}],"why":""})",
        R"({"state":"waiting","view":0,"members":[],"why":7})"}) {
    const Result<Status> read = decode_status(text, hello("a", 1));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::mismatch);
  }
}

TEST(Status, ThatIsDamagedNeverCrashesTheReader) {
  const std::string good = status_body(in_view_of({"a", "b"}));
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint64_t n = random() % 4 + 1; n-- > 0;) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    text.resize(random() % (text.size() + 1));
    static_cast<void>(decode_status(text, hello("a", 1)));
  }
}

TEST(Question, IsOneTextAndNoHello) {
  const std::string body = encode_question().substr(kPrefix);
  EXPECT_TRUE(is_question(body));
  EXPECT_FALSE(is_question(body + " "));
  EXPECT_FALSE(is_question(""));
  EXPECT_FALSE(decode_hello(body));
}

}  // namespace
}  // namespace tutti
