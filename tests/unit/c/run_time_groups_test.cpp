// Groups that are joined and left after the start, as a program in C has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "support/loopback.hpp"
#include "tutti/tutti.h"

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kPatienceNs = 60'000'000'000;

void count(const tutti_message_t* /*batch*/, std::size_t messages, void* user) {
  *static_cast<std::atomic<std::size_t>*>(user) += messages;
}

TEST(CRunTimeGroups, AreReservedJoinedAndLeft) {
  const auto addresses = tutti::loopback_members(1);
  const tutti_member_address_t member{addresses[0].name.c_str(), addresses[0].address.c_str()};
  tutti_error_t error;
  tutti_node_options_t options;
  ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
  options.name = member.name;
  options.members = &member;
  options.member_count = 1;
  tutti_node_t* node = nullptr;
  ASSERT_EQ(tutti_node_create(&options, &node, &error), 0) << error.message;

  std::atomic<std::size_t> heard{0};
  tutti_group_options_t of_group;
  ASSERT_EQ(tutti_group_options_init(&of_group, sizeof of_group), 0);
  of_group.name = "room";
  of_group.window_bytes = 8192;
  of_group.message_max_bytes = 256;
  of_group.on_delivery = count;
  of_group.user = &heard;
  ASSERT_EQ(tutti_node_reserve(node, &of_group, 2, &error), 0) << error.message;
  EXPECT_EQ(tutti_node_reserve(node, nullptr, 2, &error), TUTTI_E_INVALID_ARGUMENT);
  ASSERT_EQ(tutti_node_start(node, &error), 0) << error.message;
  EXPECT_EQ(tutti_node_reserve(node, &of_group, 1, &error), TUTTI_E_INVALID_ARGUMENT);

  for (std::size_t round = 1; round <= 3; ++round) {
    tutti_group_t* group = nullptr;
    ASSERT_EQ(tutti_node_join_within(node, &of_group, kPatienceNs, &group, &error), 0)
        << error.message;
    ASSERT_EQ(
        tutti_group_send(group, "hello", 5, TUTTI_SERVICE_OF_LEVEL, kPatienceNs, nullptr, &error),
        0)
        << error.message;
    ASSERT_EQ(tutti_group_leave(group, kPatienceNs, &error), 0) << error.message;
    EXPECT_EQ(heard, round);
    EXPECT_EQ(
        tutti_group_send(group, "more", 4, TUTTI_SERVICE_OF_LEVEL, kPatienceNs, nullptr, &error),
        TUTTI_E_STOPPED);
    EXPECT_THAT(error.message, HasSubstr("has left it"));
    tutti_group_destroy(group);
  }
  of_group.message_max_bytes = 255;
  tutti_group_t* other = nullptr;
  EXPECT_EQ(tutti_node_join_within(node, &of_group, kPatienceNs, &other, &error),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(tutti_node_join_within(nullptr, &of_group, 0, &other, &error),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_group_leave(nullptr, 0, &error), TUTTI_E_INVALID_ARGUMENT);
  tutti_node_destroy(node);
}

}  // namespace
