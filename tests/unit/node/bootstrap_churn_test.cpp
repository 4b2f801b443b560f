/// \file bootstrap_churn_test.cpp
/// Members start and stop at random; in the end all that run are connected, each pair by the two
/// ends of one connection.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "members.hpp"

namespace tutti {
namespace {

class Churn : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    for (std::size_t slot = 0; slot < 4; ++slot) {
      members.push_back(std::make_unique<TestMember>(addresses, slot));
      if (random() % 2 == 0) members.back()->node.fabric = FabricChoice::tcp;
    }
  }

  // What a node does: takes what came, and releases what its fabric finds dead.
  void serve(TestMember& member) {
    member.collect();
    for (std::uint32_t slot = 0; slot < members.size(); ++slot) {
      if (member.connection(slot) != nullptr && !member.alive(slot)) member.release(slot);
    }
  }

  void step() {
    TestMember& member = *members[random() % members.size()];
    if (!member.started()) {
      member.start();
    } else if (random() % 2 == 0) {
      member.stop();
    }
    for (auto& other : members) {
      if (other->started() && random() % 3 != 0) serve(*other);
    }
    if (random() % 2 == 0) std::this_thread::yield();
  }

  bool all_connected() {
    for (std::uint32_t slot = 0; slot < members.size(); ++slot) {
      for (const auto& other : members) {
        if (other == members[slot]) continue;
        const Arrival* connection = other->connection(slot);
        if (connection == nullptr || connection->incarnation != members[slot]->incarnation) {
          return false;
        }
      }
    }
    return true;
  }

  std::mt19937 random{GetParam()};
  std::vector<MemberAddress> addresses = loopback_members(4);
  std::vector<std::unique_ptr<TestMember>> members;
};

TEST_P(Churn, EndsWithAllConnected) {
  for (int i = 0; i < 100; ++i) step();
  for (auto& member : members) {
    if (!member->started()) member->start();
  }
  while (!all_connected()) {
    for (auto& member : members) serve(*member);
    std::this_thread::yield();
  }
  for (auto& member : members) {
    EXPECT_EQ(member->outcome(), "met");
    EXPECT_FALSE(member->bootstrap().failure());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Churn, ::testing::Range(1U, 9U));

}  // namespace
}  // namespace tutti
