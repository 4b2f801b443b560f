/// \file state_test.cpp
/// What members that join take over, and what comes of callbacks that fail and members that die on
/// the way: the others go on, and who failed can come again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::size_t kStateBytes = 1'000'000;  // several times what may be under way at once

std::byte byte_at(std::size_t index) { return static_cast<std::byte>(index * 131 / 7); }

class State : public ::testing::TestWithParam<FabricChoice> {
 protected:
  using Failure = std::function<Result<void>()>;  // what a callback does instead of its work

  ClusterOptions options(std::size_t members, std::uint32_t founders) {
    GroupOptions group = small_group();
    group.stateful = true;
    group.save_state = [this](const StateSink& write) { return save(0, write); };
    group.load_state = [this](const StatePiece& piece) { return load(piece); };
    return {.members = members,
            .fabric = GetParam(),
            .groups = {group},
            .founders = founders,
            .adjust_group = [this](std::size_t member, GroupOptions& of) {
              if (of.save_state)
                of.save_state = [this, member](const StateSink& write) {
                  return save(member, write);
                };
            }};
  }

  // In two pieces, of which a failure follows the first.
  Result<void> save(std::size_t member, const StateSink& write) {
    saving_ = true;
    while (holds_saves_) std::this_thread::yield();
    std::vector<std::byte> state(kStateBytes);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = byte_at(i);
    write(std::span(state).first(1000));
    const Failure fails = failure(save_fails_);
    if (fails && !(only_a_fails_ && member != 0)) {
      if (Result<void> r = fails(); !r) return r;
    }
    write(std::span(state).subspan(1000));
    return {};
  }

  Result<void> load(const StatePiece& piece) {
    if (piece.first) {
      ++begun_;
      loaded_ = 0;
    }
    for (const std::byte byte : piece.bytes) {
      if (byte != byte_at(loaded_++)) ++wrong_;
    }
    if (piece.last) ++whole_;
    half_way_ = true;
    while (holds_) std::this_thread::yield();
    if (const Failure fails = failure(load_fails_)) return fails();
    return {};
  }

  Failure failure(const Failure& of) {
    const std::lock_guard lock(mutex_);
    return of;
  }
  void set(Failure& which, Failure to) {
    const std::lock_guard lock(mutex_);
    which = std::move(to);
  }

  TestCluster::Adjust with_log() {
    return [this](std::size_t, NodeOptions& node) {
      addresses_ = node.members;
      node.log = [this](LogLevel level, std::string_view text) {
        const std::lock_guard lock(mutex_);
        if (level != LogLevel::error) logged_.emplace_back(text);  // that comes back as a value
      };
    };
  }

  // Whether one of the nodes says something with that in it.
  [[nodiscard]] bool hears(const std::string& part) {
    return until([&] {
      const std::lock_guard lock(mutex_);
      return std::ranges::any_of(logged_, [&](auto& text) { return text.contains(part); });
    });
  }

  // c joins while `which` fails: it says `part`. The others say `logged`, if anything, and go on.
  void expect_failure(Failure& which, const Failure& fails, ErrorCode code, const std::string& part,
                      const std::string& logged = {}) {
    TestCluster cluster(options(3, 2), with_log());
    cluster.start({0, 1});
    cluster.talk({0, 1});
    ASSERT_TRUE(cluster.hear_more({0, 1}));
    set(which, fails);
    const Result<void> started = cluster.node(2).start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, code);
    EXPECT_THAT(started.error().message,
                AllOf(HasSubstr("joined, but did not get the group's state: " + part),
                      HasSubstr("start this node again")));
    EXPECT_TRUE(cluster.journal(2).stretches().empty());
    EXPECT_TRUE(logged.empty() || hears(logged));
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
    ASSERT_TRUE(cluster.hear_more({0, 1}));

    set(which, {});
    cluster.renew(2);
    cluster.start({2});
    EXPECT_EQ(loaded_, kStateBytes);
    cluster.talk(2);
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    expect_ok(cluster.stop());
    cluster.expect_one_story();
    EXPECT_EQ(wrong_, 0);
  }

  Failure save_fails_, load_fails_;
  bool only_a_fails_ = false;             // of those that save
  std::atomic<bool> holds_saves_{false};  // save() does not return
  std::atomic<bool> saving_{false};       // it was called
  std::atomic<bool> holds_{false};        // load() does not return
  std::atomic<bool> half_way_{false};     // it was called
  std::atomic<std::size_t> loaded_{0}, begun_{0}, whole_{0}, wrong_{0};
  std::vector<MemberAddress> addresses_;
  std::mutex mutex_;
  std::vector<std::string> logged_;
};

INSTANTIATE_TEST_SUITE_P(On, State,
                         ::testing::Values(FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(State, ThatCannotBeSavedEndsTheStartOfWhoJoinsOnly) {
  expect_failure(
      save_fails_, [] { return fail(ErrorCode::system, "out of ink"); }, ErrorCode::peer_lost,
      "no member that gives it could save it",
      "group 'log': cannot save the state for members that join: save_state: out of ink");
}

TEST_P(State, WhoseSavingThrowsEndsTheStartOfWhoJoinsOnly) {
  expect_failure(
      save_fails_, []() -> Result<void> { throw std::runtime_error("no paper"); },
      ErrorCode::peer_lost, "no member that gives it could save it",
      "group 'log': cannot save the state for members that join: save_state: it threw: no paper");
}

TEST_P(State, WhoseSavingThrowsAnythingEndsTheStartOfWhoJoinsOnly) {
  expect_failure(
      save_fails_, []() -> Result<void> { throw 7; }, ErrorCode::peer_lost,
      "no member that gives it could save it", "it threw what is no std::exception");
}

TEST_P(State, ThatCannotBeLoadedEndsTheStartAndTheOthersGoOn) {
  expect_failure(
      load_fails_, [] { return fail(ErrorCode::invalid_argument, "no room"); },
      ErrorCode::invalid_argument, "group 'log': no room");
}

TEST_P(State, WhoseLoadingThrowsEndsTheStartAndTheOthersGoOn) {
  expect_failure(
      load_fails_, []() -> Result<void> { throw std::runtime_error("no shelf"); },
      ErrorCode::system, "group 'log': it threw: no shelf");
}

TEST_P(State, IsSeenToComeByWhoLooks) {
  TestCluster cluster(options(3, 2), with_log());
  cluster.start({0, 1});
  holds_ = true;
  std::jthread joiner([&] { cluster.start({2}); });
  EXPECT_TRUE(until([&] { return half_way_.load(); }));
  const Result<NodeLook> on_its_way = look_at(addresses_[2].address, kPatience);
  ASSERT_TRUE(on_its_way) << on_its_way.error().message;
  EXPECT_EQ(on_its_way->state, NodeState::joining);
  EXPECT_EQ(on_its_way->view, 2);
  ASSERT_EQ(on_its_way->members.size(), 3);
  EXPECT_EQ(on_its_way->members[2].name, "c");
  EXPECT_EQ(on_its_way->members[2].incarnation, on_its_way->incarnation);
  holds_ = false;
  joiner.join();
  const Result<NodeLook> there = look_at(addresses_[2].address, kPatience);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->state, NodeState::in_view);
  expect_ok(cluster.stop());
}

TEST_P(State, ComesFromAnotherIfTheFirstCannotSaveIt) {
  TestCluster cluster(options(3, 2), with_log());
  cluster.start({0, 1});
  cluster.talk({0, 1});
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  ASSERT_EQ(cluster.node(1).view().members[Rank{0}], "a") << "the first in rank gives";
  only_a_fails_ = true;
  set(save_fails_, [] { return fail(ErrorCode::system, "out of ink"); });
  cluster.start({2});
  EXPECT_TRUE(hears("out of ink"));
  EXPECT_EQ(loaded_, kStateBytes);
  EXPECT_EQ(wrong_, 0);
  cluster.talk(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// It holds the first piece while a goes: what comes then is of b, from the beginning.
TEST_P(State, ComesFromAnotherIfWhoGivesItDiesHalfWay) {
  TestCluster cluster(options(4, 3), with_log());
  cluster.start({0, 1, 2});
  ASSERT_EQ(cluster.node(1).view().members[Rank{0}], "a") << "the first in rank gives";
  cluster.talk({1, 2});
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  holds_ = true;
  std::jthread joiner([&] { cluster.start({3}); });
  EXPECT_TRUE(until([&] { return half_way_.load(); }));
  EXPECT_EQ(begun_, 1);
  cluster.kill(0);
  holds_ = false;
  joiner.join();
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(whole_, 1);
  EXPECT_EQ(wrong_, 0);
  EXPECT_EQ(loaded_, kStateBytes);
  cluster.talk(3);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2, 3}); }));
  ASSERT_TRUE(cluster.hear_more({1, 2, 3}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// Both givers save, and a majority needs one of them.
TEST_P(State, ThatIsSavedForLongRemovesNobodyAndHoldsUpNoView) {
  TestCluster cluster(options(5, 4), with_log());
  cluster.start({0, 1, 2, 3});
  cluster.talk({0, 1, 2, 3});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  cluster.hush();
  holds_saves_ = true;
  std::jthread joiner([&] { cluster.start({4}); });
  ASSERT_TRUE(until([&] { return saving_.load(); }));
  expect_ok({cluster.leave(3)});
  EXPECT_TRUE(until([&] { return cluster.node(2).view().left.size() == 1; }));
  EXPECT_EQ(cluster.node(2).view().members, (std::vector<std::string>{"a", "b", "c", "e"}));
  EXPECT_EQ(cluster.node(0).view().members.size(), 4) << "told of no view before it has saved";
  EXPECT_EQ(loaded_, 0);
  holds_saves_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kStateBytes);
  cluster.talk(4);
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 4}));
  EXPECT_TRUE(cluster.are_in_view_of({0, 1, 2, 4})) << "nobody was removed";
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

TEST_P(State, ThatIsSavedForLongIsNamedWhereItIsAndByWhoWaits) {
  TestCluster cluster(options(3, 2), [this](std::size_t member, NodeOptions& node) {
    with_log()(member, node);
    node.slow_after = 10ms;
    if (member == 2) node.start_timeout = 8s;
  });
  cluster.start({0, 1});
  holds_saves_ = true;
  const Result<void> started = cluster.node(2).start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message,
              AllOf(HasSubstr("has not got all of the group's state from member 'a' yet"),
                    HasSubstr("or raise start_timeout")));
  EXPECT_TRUE(hears("save_state of group 'log' has been running for "));
  holds_saves_ = false;
  EXPECT_TRUE(hears("save_state of group 'log' is over: it ran for "));
}

TEST_P(State, ThatIsLoadedForLongRemovesNobodyAndHoldsUpNoView) {
  TestCluster cluster(options(4, 3), with_log());
  cluster.start({0, 1, 2});
  holds_ = true;
  std::jthread joiner([&] { cluster.start({3}); });
  ASSERT_TRUE(until([&] { return half_way_.load(); }));
  expect_ok({cluster.leave(2)});
  EXPECT_TRUE(until([&] {
    return cluster.node(0).view().left.size() == 1 && cluster.node(1).view().left.size() == 1;
  })) << "two of four: the joiner votes";
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kStateBytes);
  cluster.talk({0, 1, 3});
  ASSERT_TRUE(cluster.hear_more({0, 1, 3}));
  EXPECT_TRUE(cluster.are_in_view_of({0, 1, 3})) << "nobody was removed";
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// Takes a snapshot in no time and no memory, of any size.
class Snapshots : public State {
 protected:
  static constexpr std::size_t kBytes = 8'000'000;

  ClusterOptions options(std::size_t members, std::uint32_t founders) {
    ClusterOptions out = State::options(members, founders);
    out.groups[0].save_state = nullptr;
    out.groups[0].snapshot = [] { return Result<ReadSnapshot>(); };
    out.adjust_group = [this](std::size_t member, GroupOptions& of) {
      of.snapshot = [this, member]() -> Result<ReadSnapshot> {
        ++snapshots_;
        return [this, member, held = held_](std::uint64_t offset, std::span<std::byte> into) {
          return read(member, offset, into);
        };
      };
    };
    return out;
  }

  Result<std::size_t> read(std::size_t member, std::uint64_t offset, std::span<std::byte> into) {
    const std::size_t size = std::min<std::size_t>(into.size(), kBytes - offset);
    for (std::size_t i = 0; i < size; ++i) into[i] = byte_at(offset + i);
    read_[member] += size;
    const std::size_t ahead = offset + size - std::min<std::size_t>(loaded_, offset + size);
    most_ahead_ = std::max(most_ahead_.load(), ahead);
    return size;
  }

  std::atomic<std::size_t> snapshots_{0};
  std::array<std::atomic<std::size_t>, 4> read_{};  // bytes, by member
  std::atomic<std::size_t> most_ahead_{0};          // of what is loaded; one reads at a time
  std::shared_ptr<int> held_ = std::make_shared<int>();
};

INSTANTIATE_TEST_SUITE_P(On, Snapshots, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(Snapshots, OfAnySizeComeThroughLittleMemory) {
  TestCluster cluster(options(3, 2), with_log());
  cluster.start({0, 1});
  cluster.talk({0, 1});
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  holds_ = true;  // else it may have all before the second giver takes its snapshot
  std::jthread joiner([&] { cluster.start({2}); });
  EXPECT_TRUE(until([&] { return snapshots_ == 2; }));
  holds_ = false;
  joiner.join();
  EXPECT_EQ(loaded_, kBytes);
  EXPECT_EQ(read_[0], kBytes);
  EXPECT_EQ(read_[1], 0) << "one gives at a time";
  EXPECT_LE(most_ahead_, 1024 * 1024) << "rings and pieces under way, not the state";
  EXPECT_TRUE(until([&] { return held_.use_count() == 1; })) << "snapshots are given up";
  cluster.talk(2);
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
  EXPECT_EQ(wrong_, 0);
}

TEST_P(Snapshots, GoOnInTheMiddleIfWhoGivesThemDies) {
  TestCluster cluster(options(4, 3), with_log());
  cluster.start({0, 1, 2});
  ASSERT_EQ(cluster.node(1).view().members[Rank{0}], "a") << "the first in rank gives";
  cluster.talk({1, 2});
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  std::jthread joiner([&] { cluster.start({3}); });
  EXPECT_TRUE(until([&] { return loaded_ > kBytes / 2; }));
  holds_ = true;
  const std::size_t before = loaded_;
  cluster.kill(0);
  holds_ = false;
  joiner.join();
  EXPECT_EQ(begun_, 1) << "what was loaded is not void";
  EXPECT_EQ(whole_, 1);
  EXPECT_EQ(wrong_, 0);
  EXPECT_EQ(loaded_, kBytes);
  EXPECT_LE(read_[1], kBytes - before + 100'000) << "but for one piece, which is compared";
  cluster.talk(3);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2, 3}); }));
  ASSERT_TRUE(cluster.hear_more({1, 2, 3}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

}  // namespace
}  // namespace tutti
