/// \file outsiders_test.cpp
/// Nodes that are connected to an incarnation and in no view with it: how long it bears with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "members.hpp"
#include "node/incarnation.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// An incarnation of a member, passed by the test, which notes when it closed whose connection.
class Watcher final : public IncarnationEvents {
 public:
  Watcher(const TestMember& as, std::chrono::nanoseconds suspect_after)
      : node_(as.node), groups_(as.resolved()), closed_at_(as.node.members.size()) {
    node_.suspect_after = suspect_after;
    node_.log = [this](LogLevel, std::string_view text) {
      if (text.find("shown no sign of life") == std::string_view::npos) return;
      for (std::size_t slot = 0; slot < closed_at_.size(); ++slot) {
        if (text.starts_with("'" + node_.members[slot].name + "'")) closed_at_[slot] = Clock::now();
      }
    };
    auto opened = Incarnation::open(node_, groups_, *this, true);
    EXPECT_TRUE(opened) << opened.error().message;
    incarnation_ = std::move(*opened);
  }
  ~Watcher() override { incarnation_->hang_up(); }

  void pass() { incarnation_->pass(Calls::allowed); }
  [[nodiscard]] std::optional<Clock::time_point> closed_at(std::size_t slot) const {
    return closed_at_[slot];
  }

  void installed(const ViewChange&) override {}
  void ended(StopReason) override {}
  void no_state(const Error&) override {}
  void distrusted(const Error&) override {}
  void lend() override {}
  void take_back() override {}

 private:
  NodeOptions node_;
  const std::vector<GroupOptions> groups_;
  std::vector<std::optional<Clock::time_point>> closed_at_;  // by slot
  std::unique_ptr<Incarnation> incarnation_;
};

class Outsiders : public ::testing::Test {
 protected:
  std::vector<MemberAddress> addresses = loopback_members(3);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
};

TEST_F(Outsiders, AreGivenASecondHoweverShortSuspectAfterIs) {
  Watcher watcher(a, 10ms);
  b.row = Segment::create(std::size_t{1} << 24).value();
  const Clock::time_point before = Clock::now();
  b.start();  // it is connected, and says nothing
  while (!watcher.closed_at(1)) watcher.pass();
  EXPECT_GE(*watcher.closed_at(1) - before, 1s);
}

}  // namespace
}  // namespace tutti
