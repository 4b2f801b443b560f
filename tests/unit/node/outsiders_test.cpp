/// \file outsiders_test.cpp
/// Nodes that are connected to an incarnation and in no view with it: how long it bears with them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/tcp/tcp_fabric.hpp"
#include "members.hpp"
#include "membership/view_words.hpp"
#include "node/incarnation.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

/// An incarnation of a member, passed by the test, which notes when it closed whose connection.
class Watcher final : public IncarnationEvents, public RequestEvents {
 public:
  explicit Watcher(const TestMember& as, bool may_create = true)
      : node_(as.node), groups_(as.resolved()), closed_at_(as.node.members.size()) {
    node_.log = [this, note = as.node.log](LogLevel level, std::string_view text) {
      note(level, text);
      if (text.find("shown no sign of life") == std::string_view::npos) return;
      for (std::size_t slot = 0; slot < closed_at_.size(); ++slot) {
        if (text.starts_with("'" + node_.members[slot].name + "'")) closed_at_[slot] = Clock::now();
      }
    };
    auto opened = Incarnation::open(node_, groups_, *this, *this, {.may_create = may_create});
    EXPECT_TRUE(opened) << opened.error().message;
    incarnation_ = std::move(*opened);
  }
  ~Watcher() override { incarnation_->hang_up(); }

  void pass() { incarnation_->pass(Calls::allowed); }
  [[nodiscard]] std::optional<Clock::time_point> closed_at(std::size_t slot) const {
    return closed_at_[slot];
  }

  [[nodiscard]] bool in_view() const { return incarnation_->view().id != 0; }
  [[nodiscard]] bool sees_group() const { return incarnation_->sees_group(); }

  void installed(const ViewChange&) override {}
  DeliveryCallback joins(const OpenGroup&, std::uint64_t, CallMark&) override { return {}; }
  void ended(StopReason) override {}
  void no_state(const Error&) override {}
  void distrusted(const Error&) override {}
  [[nodiscard]] bool failed() const override { return false; }
  [[nodiscard]] bool ends() const override { return false; }
  void calls_ended() override {}
  void delivery_may_move(std::size_t /*group*/) override {}
  void lend() override {}
  void take_back() override {}

  // Its members have no requests.
  void opened(Slot, std::uint64_t) override {}
  void request(Slot, std::uint64_t, std::uint64_t, std::uint32_t,
               std::span<const std::byte>) override {}
  void reply(Slot, std::uint64_t, std::uint64_t, bool, std::span<const std::byte>) override {}
  void gone(Slot, std::uint64_t) override {}
  void space(Slot) override {}

 private:
  NodeOptions node_;
  const std::vector<GroupOptions> groups_;
  std::vector<std::optional<Clock::time_point>> closed_at_;  // by slot
  std::unique_ptr<Incarnation> incarnation_;
};

class Outsiders : public ::testing::Test {
 protected:
  Outsiders() {
    for (std::size_t slot = 0; slot < addresses.size(); ++slot) {
      TestMember& member = *members.emplace_back(std::make_unique<TestMember>(addresses, slot));
      member.row = Segment::create(std::size_t{1} << 24).value();
      member.node.suspect_after = 10ms;
    }
  }

  // Until it goes, it is connected with all who run, and says nothing.
  TestMember& silent(std::size_t slot) {
    members[slot]->start();
    return *members[slot];
  }

  void try_paths() {
    for (const auto& member : members) member->node.litmus_rounds = 3;
  }

  std::vector<MemberAddress> addresses = loopback_members(5);
  std::vector<std::unique_ptr<TestMember>> members;
};

TEST_F(Outsiders, AreGivenASecondHoweverShortSuspectAfterIs) {
  Watcher a(*members[0]);
  const Clock::time_point before = Clock::now();
  silent(1);
  while (!a.closed_at(1)) a.pass();
  EXPECT_GE(*a.closed_at(1) - before, 1s);
}

TEST_F(Outsiders, ThatAreSilentOnAPathThatIsTriedAreClosedAsWell) {
  try_paths();
  Watcher a(*members[0]);
  silent(1);
  while (!a.closed_at(1)) a.pass();
}

TEST_F(Outsiders, WhoseBeatsWaitBehindTheirDataAreHeard) {
  for (const auto& member : members) member->node.fabric = FabricChoice::tcp;
  Watcher a(*members[0]);
  TestMember& b = silent(1);
  const auto* const made = made_by<TcpConnection>(b.await(0));
  ASSERT_NE(made, nullptr);
  const auto sleeper = Sleeper::create().value();
  const auto fabric = TcpFabric::create(*sleeper, b.row.data(), b.row.size()).value();
  ASSERT_TRUE(fabric->attach({.peer = made->peer,
                              .socket = UniqueFd(::dup(made->socket.get())),
                              .row_bytes = made->row_bytes,
                              .epoch = made->epoch}));
  const Clock::time_point before = Clock::now();
  while (Clock::now() - before < 2s) {
    if (fabric->drained()) fabric->write(made->peer, {4096, 32768});
    fabric->flush();
    fabric->poll();
    a.pass();
    ASSERT_FALSE(a.closed_at(1));
  }
  while (!a.closed_at(1)) a.pass();
}

TEST_F(Outsiders, ThatAgreedToFoundAGroupBeforeAreNamedWithTheCause) {
  const Watcher b(*members[1], false);
  silent(0).await(1);
  members[0]->await_log(LogLevel::info,
                        "; b is connected but founds no group: earlier in its start it agreed to "
                        "found one, which may exist, and lost the others; if no member runs, start "
                        "it again");
}

TEST_F(Outsiders, WhoseRowCannotBeMappedAreNamedInAWarningNotEachTime) {
  Watcher a(*members[0]);
  TestMember& b = *members[1];
  const UniqueFd no_memory_file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_GE(::dup2(no_memory_file.get(), b.row.read_only_fd().get()), 0);
  b.start();
  for (int attempts = 0; attempts < 4;) {
    a.pass();
    b.collect();
    if (b.connection(0) == nullptr || b.alive(0)) continue;
    ++attempts;
    b.release(0);
  }
  const auto warnings = members[0]->logged(LogLevel::warning);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0],
              AllOf(StartsWith("cannot connect to 'b': "),
                    EndsWith("; until that works, 'b' is in no group with this node")));
}

// A founder that came late: of the others, one is in a group, as its row says, and one only joins.
TEST_F(Outsiders, ThatOnlyJoinAreNotNamedOnceThereIsAGroup) {
  members[2]->node.suspect_after = 60s;
  members[1]->founding = Founding::join_only;
  const std::uint64_t in_a_view = 1;
  std::memcpy(members[0]->row.data() + ViewWords::kInstalled, &in_a_view, sizeof in_a_view);
  Watcher c(*members[2]);
  for (const std::size_t slot : {0, 1, 3, 4}) silent(slot).await(2);
  while (!c.sees_group()) c.pass();
  const auto lines = [&] { return members[2]->logged(LogLevel::info); };
  const std::size_t before = lines().size();
  while (lines().size() < before + 2) c.pass();  // the first may have been begun before
  EXPECT_EQ(lines().back(), "waiting for the group to admit this node");
}

// The trial between a and d stands still until a has closed the silent e, longer than d bears with
// silence. Over TCP, for in a row that is shared all is seen that its owner writes.
TEST_F(Outsiders, OfATrialThatAnotherHoldsUpSeeThatTheOtherLives) {
  try_paths();
  for (const auto& member : members) member->node.fabric = FabricChoice::tcp;
  std::vector<std::unique_ptr<Watcher>> nodes;
  const auto pass = [&] {
    for (const auto& node : nodes) node->pass();
  };
  const auto are_in_view = [&] { return std::ranges::all_of(nodes, &Watcher::in_view); };
  for (std::size_t slot = 0; slot < 3; ++slot) {
    members[slot]->node.founders = 3;
    members[slot]->node.suspect_after = 3s;
    nodes.push_back(std::make_unique<Watcher>(*members[slot]));
  }
  while (!are_in_view()) pass();
  silent(4).await(0);
  nodes.push_back(std::make_unique<Watcher>(*members[3]));
  while (!nodes[0]->closed_at(4)) pass();
  for (std::size_t slot = 0; slot < 3; ++slot) {
    EXPECT_FALSE(nodes[slot]->closed_at(3));
    EXPECT_FALSE(nodes[3]->closed_at(slot)) << slot;
  }
  while (!are_in_view()) pass();
}

}  // namespace
}  // namespace tutti
