/// \file loss_test.cpp
/// Members that die while all send: those who are left go on, and nothing of theirs is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::vector<std::size_t> all_but(std::size_t members, const std::vector<std::size_t>& gone) {
  std::vector<std::size_t> left;
  for (std::size_t member = 0; member < members; ++member) {
    if (std::ranges::find(gone, member) == gone.end()) left.push_back(member);
  }
  return left;
}

struct LossWay {
  FabricChoice fabric;
  Level level;
  DeliveryThread delivery;
};

std::vector<LossWay> ways() {
  std::vector<LossWay> out;
  for (const auto fabric : {FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi}) {
    out.push_back({fabric, Level::atomic, DeliveryThread::predicate});
    out.push_back({fabric, Level::agreed, DeliveryThread::predicate});
#ifdef __SANITIZE_THREAD__
    // A header that is sent again in the next view is received, by memcpy, while the delivery
    // thread may still look at it in this one, where it does not count any more (R4).
    if (fabric != FabricChoice::shm) continue;
#endif
    out.push_back({fabric, Level::atomic, DeliveryThread::own});
  }
  return out;
}

class Loss : public ::testing::TestWithParam<LossWay> {
 protected:
  static ClusterOptions options(std::size_t members) {
    return {.members = members,
            .fabric = GetParam().fabric,
            .groups = {small_group(GetParam().level, GetParam().delivery)}};
  }

  // All send; these die at once; the others send on, and end together.
  static void run(std::size_t members, const std::vector<std::size_t>& victims) {
    TestCluster cluster(options(members));
    cluster.start();
    const std::vector<std::size_t> survivors = all_but(members, victims);
    cluster.talk(all_but(members, {}));
    ASSERT_TRUE(cluster.hear_more(all_but(members, {})));
    for (const std::size_t victim : victims) cluster.kill(victim);
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of(survivors); }));
    ASSERT_TRUE(cluster.hear_more(survivors));
    expect_ok(cluster.stop());
    cluster.expect_one_story();
    for (const std::size_t survivor : survivors) {
      EXPECT_EQ(cluster.journal(survivor).sequence(), cluster.journal(survivors[0]).sequence());
      std::vector<std::string> lost;
      for (const Stretch& stretch : cluster.journal(survivor).stretches()) {
        for (const Departure& gone : stretch.view.left) {
          EXPECT_EQ(gone.reason, LeftReason::suspected);
          lost.push_back(gone.member);
        }
      }
      EXPECT_EQ(lost.size(), victims.size());
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Of, Loss, ::testing::ValuesIn(ways()), [](const auto& how) {
  return std::string(to_string(how.param.fabric)) + "_" + std::string(to_string(how.param.level)) +
         (how.param.delivery == DeliveryThread::own ? "_own" : "");
});

TEST_P(Loss, OfAnyMemberLeavesTheOthersWithOneSequence) {
  for (std::size_t victim = 0; victim < 3; ++victim) {
    SCOPED_TRACE(victim);
    run(3, {victim});
  }
}

TEST_P(Loss, OfTwoOfFiveAtOnceLeavesTheOthersWithOneSequence) {
  run(5, {0, 1});
  run(5, {3, 1});
}

TEST_P(Loss, OfAMemberThatComesAgainAndAgainDisturbsNobody) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kTimes = 3;
#else
  constexpr int kTimes = 10;
#endif
  TestCluster cluster(options(3));
  cluster.start();
  cluster.talk({0, 1, 2});
  for (int i = 0; i < kTimes; ++i) {
    const std::size_t victim = static_cast<std::size_t>(i) % 3;
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    cluster.kill(victim);
    cluster.renew(victim, [](std::size_t, NodeOptions& node) { node.join_only = true; });
    cluster.start({victim});
    cluster.talk(victim);
  }
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// The ring is closed a moment before the node knows why: nobody is told of the first only.
TEST_P(Loss, OfTheMajorityIsWhatWhoSendsIsTold) {
  for (int round = 0; round < 5; ++round) {
    TestCluster cluster(options(3));
    cluster.start();
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}, 20));
    cluster.kill(0);
    cluster.kill(1);
    ASSERT_TRUE(until([&] { return cluster.node(2).failure().has_value(); }));
    cluster.hush(2);
    const std::optional<Error>& told = cluster.life(2).talker->error();
    if (!told) continue;  // it was not sending at that moment
    EXPECT_EQ(told->message, cluster.node(2).failure()->message);
    EXPECT_EQ(told->code, ErrorCode::peer_lost);
  }
}

// Turns two nodes, until told to rest: then they do not see what happens meanwhile.
class Turner {
 public:
  Turner(Node& one, Node& other) : thread_([this, &one, &other] { turn(one, other); }) {}
  ~Turner() {
    over_ = true;
    thread_.join();
  }
  void rest() {
    rests_ = true;
    while (!resting_) std::this_thread::yield();
  }
  void go_on() { rests_ = false; }

 private:
  void turn(Node& one, Node& other) {
    while (!over_) {
      resting_ = rests_.load();
      if (resting_ || one.poll() + other.poll() == 0) std::this_thread::yield();
    }
  }

  std::atomic<bool> over_{false};
  std::atomic<bool> rests_{false};
  std::atomic<bool> resting_{false};
  std::thread thread_;
};

// The two see three losses at once, else there would be time for views of 4, 3 and 2 members.
TEST_P(Loss, OfTheMajorityStopsTheRestWhichDeliversNothingMore) {
  TestCluster cluster(options(5), [](std::size_t member, NodeOptions& node) {
    if (member == 1 || member == 3) node.drive = Drive::caller;
  });
  cluster.start();
  Turner turner(cluster.node(1), cluster.node(3));
  cluster.talk({0, 2, 4});
  ASSERT_TRUE(cluster.hear_more({1, 3}));
  turner.rest();
  for (const std::size_t victim : {0U, 2U, 4U}) cluster.kill(victim);
  turner.go_on();
  for (const std::size_t member : {1U, 3U}) {
    ASSERT_TRUE(until([&] { return cluster.node(member).failure().has_value(); }));
  }
  turner.rest();
  for (const std::size_t member : {1U, 3U}) {
    const Error why = *cluster.node(member).failure();
    EXPECT_EQ(why.code, ErrorCode::peer_lost);
    EXPECT_THAT(why.message, ContainsRegex("lost the majority of view 1: '[a-e]'"));
    EXPECT_THAT(why.message, HasSubstr("nothing more is delivered. Start this member again"));
    const std::size_t messages = cluster.journal(member).messages();
    const Result<Ticket> refused = cluster.group(member).send("late", kPatience);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::peer_lost);
    EXPECT_EQ(cluster.node(member).poll(), 0);
    const Result<void> stopped = cluster.node(member).stop(kPatience);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().message, why.message);
    EXPECT_EQ(cluster.journal(member).messages(), messages);
    EXPECT_EQ(cluster.journal(member).stretches().size(), 1);
  }
  cluster.expect_one_story();
}

// The node hangs up once the majority is lost, but what is being delivered stays where it is.
TEST(LossOfTheMajority, LeavesWhatIsBeingDeliveredInPlace) {
  for (const FabricChoice fabric : {FabricChoice::shm, FabricChoice::tcp}) {
    std::atomic<bool> arrived{false};
    std::atomic<bool> read_on{false};
    std::string text;
    const std::vector<MemberAddress> members = loopback_members(2);
    const auto node_of = [&](const char* name) {
      return Node::create({.name = name,
                           .members = members,
                           .fabric = fabric,
                           .suspect_after = ClusterOptions{}.suspect_after});
    };
    auto created = node_of("b");
    ASSERT_TRUE(created);
    std::optional<Node> b(std::move(*created));
    Group from = *b->join({.name = "log"});
    auto blocked = node_of("a");
    ASSERT_TRUE(blocked);
    Node a = std::move(*blocked);
    GroupOptions group{.name = "log", .delivery = DeliveryThread::own};
    group.on_delivery = [&](std::span<const Message> batch) {
      arrived = true;
      while (!read_on) std::this_thread::yield();
      text = batch[0].text();
    };
    ASSERT_TRUE(a.join(group));
    std::jthread other([&b] { EXPECT_TRUE(b->start()); });
    EXPECT_TRUE(a.start());
    other.join();
    EXPECT_TRUE(from.send("still here", kPatience));
    EXPECT_TRUE(until([&] { return arrived.load(); }));
    b.reset();
    EXPECT_TRUE(until([&] { return a.failure().has_value(); }));
    // Its loop has turned since.
    const std::uint64_t sleeps = a.statistics().sleeps;
    EXPECT_TRUE(until([&] { return a.statistics().sleeps > sleeps + 2; }));
    read_on = true;
    EXPECT_FALSE(a.stop(kPatience));
    EXPECT_EQ(text, "still here");
  }
}

// All that the only sender sent is delivered, so the group counts as complete without it. The two
// that are left wait for others who may join and send, until one of them is lost as well.
TEST(LossOfTheOnlySender, DoesNotHideALaterLossOfTheMajority) {
  GroupOptions group = small_group();
  group.senders = {"a"};
  TestCluster cluster({.groups = {group}});
  cluster.start();
  cluster.kill(0);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  cluster.kill(2);
  EXPECT_TRUE(until([&] { return cluster.node(1).failure().has_value(); }));
}

// Its connections stand: only its silence, and the next view, say that it is gone.
TEST(LossOf, ASilentMemberIsNamedInTheLogOfAllOthers) {
  std::array<LogBook, 3> books;
  TestCluster cluster({.groups = {small_group()}, .suspect_after = 6s},
                      [&](std::size_t member, NodeOptions& node) {
                        if (member == 2) node.drive = Drive::caller;
                        node.log = books[member].callback();
                      });
  cluster.start();
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); })) << "nobody polls the third";
  for (const std::size_t member : {0U, 1U}) {
    EXPECT_TRUE(until([&] { return books[member].with("'c' was removed by view 2: ") == 1; }));
    EXPECT_EQ(books[member].with("was lost"), 0U);
  }
}

}  // namespace
}  // namespace tutti
