// Requests as a program in C makes and answers them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "tutti/tutti.h"

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kAnswerPatience = 60'000'000'000;

int answer(const char* from, const void* bytes, std::size_t size, tutti_answer_t* to, void* user) {
  const std::string text(static_cast<const char*>(bytes), size);
  if (text == "nothing") return 7;
  tutti_answer_write(to, user, std::strlen(static_cast<const char*>(user)));
  tutti_answer_write(to, from, std::strlen(from));
  tutti_answer_write(to, bytes, size);
  return text == "fail" ? 1 : 0;
}

void note_reply(const void* bytes, std::size_t size, const tutti_error_t* failed, void* user) {
  static_cast<std::promise<std::string>*>(user)->set_value(
      failed != nullptr ? failed->message : std::string(static_cast<const char*>(bytes), size));
}

class CRequests : public ::testing::Test {
 protected:
  CRequests() {
    const auto addresses = tutti::loopback_members(2);
    std::vector<tutti_member_address_t> members;
    for (const auto& one : addresses) members.push_back({one.name.c_str(), one.address.c_str()});
    for (std::size_t i = 0; i < 2; ++i) {
      tutti_node_options_t options;
      EXPECT_EQ(tutti_node_options_init(&options, sizeof options), 0);
      options.name = members[i].name;
      options.members = members.data();
      options.member_count = members.size();
      options.request_max_bytes = 256;
      options.suspect_after_ns = 20'000'000'000;  // nobody dies here
      options.on_request = answer;
      options.user = const_cast<char*>("to ");
      EXPECT_EQ(tutti_node_create(&options, &node[i], &error), 0) << error.message;
      tutti_group_options_t group;
      EXPECT_EQ(tutti_group_options_init(&group, sizeof group), 0);
      group.name = "log";
      EXPECT_EQ(tutti_node_join(node[i], &group, &of[i], &error), 0) << error.message;
    }
    std::jthread other([this] { EXPECT_EQ(tutti_node_start(node[1], nullptr), 0); });
    EXPECT_EQ(tutti_node_start(node[0], &error), 0) << error.message;
  }
  ~CRequests() override {
    for (std::size_t i = 0; i < 2; ++i) {
      tutti_node_destroy(node[i]);
      tutti_group_destroy(of[i]);
    }
  }

  int ask(const char* member, const std::string& text) {
    tutti_reply_t* reply = nullptr;
    const int status = tutti_node_send_to(node[0], member, text.data(), text.size(),
                                          kAnswerPatience, &reply, &error);
    EXPECT_EQ(reply != nullptr, status == 0);
    got.assign(static_cast<const char*>(tutti_reply_bytes(reply)), tutti_reply_size(reply));
    tutti_reply_destroy(reply);
    return status;
  }

  tutti_node_t* node[2]{};
  tutti_group_t* of[2]{};
  tutti_error_t error{};
  std::string got;
};

TEST_F(CRequests, GetRepliesAndErrors) {
  EXPECT_EQ(ask("b", "x"), 0) << error.message;
  EXPECT_EQ(got, "to ax");
  EXPECT_EQ(ask("b", "fail"), TUTTI_E_REFUSED);
  EXPECT_STREQ(error.message, "to afail");
  EXPECT_EQ(ask("b", "nothing"), TUTTI_E_REFUSED);
  EXPECT_STREQ(error.message, "on_request returned 7");
  EXPECT_EQ(ask("a", "x"), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(ask("b", std::string(257, 'x')), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_STREQ(tutti_code_name(TUTTI_E_REFUSED), "refused");
  EXPECT_STREQ(tutti_code_name(TUTTI_E_NO_SPACE), "no_space");
}

TEST_F(CRequests, CallAHandler) {
  std::promise<std::string> reply;
  ASSERT_EQ(
      tutti_node_send_to_async(node[1], "a", "y", 1, kAnswerPatience, note_reply, &reply, &error),
      0);
  EXPECT_EQ(reply.get_future().get(), "to by");
  std::promise<std::string> refused;
  ASSERT_EQ(tutti_node_send_to_async(node[1], "a", "fail", 4, kAnswerPatience, note_reply, &refused,
                                     &error),
            0);
  EXPECT_EQ(refused.get_future().get(), "to bfail");
}

TEST_F(CRequests, WithNullAreErrors) {
  tutti_reply_t* reply = nullptr;
  EXPECT_EQ(tutti_node_send_to(nullptr, "b", "x", 1, 1, &reply, &error), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_node_send_to(node[0], nullptr, "x", 1, 1, &reply, &error),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_node_send_to(node[0], "b", nullptr, 1, 1, &reply, &error),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_node_send_to(node[0], "b", "x", 1, 1, nullptr, &error), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_node_send_to_async(node[0], "b", "x", 1, 1, nullptr, nullptr, &error),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("the handler is NULL"));
  tutti_reply_destroy(nullptr);
  EXPECT_EQ(tutti_reply_size(nullptr), 0U);
}

}  // namespace
