#include "heard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tutti {

ClusterOptions with_places(std::size_t members, std::size_t reserved) {
  return {.members = members,
          .groups = {small_group()},
          .reserved = std::vector<GroupOptions>(reserved, small_group())};
}

Group joined(TestCluster& cluster, std::size_t member, const GroupOptions& options) {
  Result<Group> group = cluster.node(member).join(options, kPatience);
  if (!group) throw std::runtime_error(group.error().message);
  return *group;
}

void send(Group& group, const std::string& text) {
  const Result<Ticket> sent = group.send(text, kPatience);
  EXPECT_TRUE(sent) << sent.error().message;
}

void leave(Group& group) {
  const Result<void> left = group.leave(kPatience);
  EXPECT_TRUE(left) << left.error().message;
}

}  // namespace tutti
