/// \file tick_test.cpp
/// GroupOptions::tick_every: all members deliver the same ticks at the same place, among messages;
/// another member goes on where the group's clock has finished or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>

#include "cluster.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

struct Seen {
  std::uint64_t seq;
  std::uint32_t sender;
  std::uint64_t time_ns;  // 0: a message
  friend bool operator==(const Seen&, const Seen&) = default;
};

class Sequence {
 public:
  void add(std::span<const Message> batch) {
    const std::lock_guard lock(mutex_);
    for (const Message& message : batch) {
      const std::optional<Tick> tick = message.tick();
      seen_.push_back({message.seq.value, message.sender.value, tick ? tick->time_ns : 0});
      if (tick ? message.size != 8 || message.ticket != kTickTicket : message.text() != "8 bytes!")
        wrong_ = true;
    }
  }
  [[nodiscard]] std::vector<Seen> all() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  [[nodiscard]] std::size_t ticks(std::optional<std::uint32_t> of = {}) const {
    const std::vector<Seen> seen = all();
    return static_cast<std::size_t>(std::ranges::count_if(
        seen, [&](const Seen& each) { return each.time_ns != 0 && (!of || each.sender == *of); }));
  }
  [[nodiscard]] bool wrong() const { return wrong_; }

 private:
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  std::atomic<bool> wrong_ = false;
};

struct Case {
  FabricChoice fabric;
  Order order;
  Level level;
};

class Ticks : public ::testing::TestWithParam<Case> {
 protected:
  Ticks()
      : sequences_(3),
        cluster_({.members = 3,
                  .fabric = GetParam().fabric,
                  .groups = {GroupOptions{.name = "log",
                                          .order = GetParam().order,
                                          .level = GetParam().level,
                                          .tick_every = 2ms}},
                  .adjust_group = [this](std::size_t member, GroupOptions& group) {
                    group.on_delivery = [this, member](std::span<const Message> batch) {
                      sequences_[member].add(batch);
                    };
                  }}) {}

  void await_ticks(std::size_t count, std::optional<std::uint32_t> of = {}) {
    for (const Sequence& each : sequences_) {
      ASSERT_TRUE(until([&] { return each.ticks(of) >= count; }));
    }
  }
  // The shorter of two is the beginning of the other.
  void expect_one_sequence() const {
    const std::vector<Seen> first = sequences_[0].all();
    std::uint64_t time_ns = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].seq, i);
      if (first[i].time_ns == 0) continue;
      EXPECT_GT(first[i].time_ns, time_ns);
      time_ns = first[i].time_ns;
    }
    for (const Sequence& each : sequences_) {
      EXPECT_FALSE(each.wrong());
      const std::vector<Seen> other = each.all();
      const std::size_t both = std::min(first.size(), other.size());
      EXPECT_TRUE(std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(both),
                             other.begin()));
    }
  }

  std::vector<Sequence> sequences_;
  TestCluster cluster_;
};

TEST_P(Ticks, AreDeliveredAtOnePlaceAmongMessages) {
  cluster_.start();
  for (std::size_t n = 0; n < 300; ++n) {
    const Result<Ticket> sent = cluster_.group(n % 3).send("8 bytes!", kPatience);
    ASSERT_TRUE(sent) << sent.error().message;
    EXPECT_NE(*sent, kTickTicket);
  }
  await_ticks(5);
  for (const auto& one : sequences_[0].all()) {
    EXPECT_TRUE(one.time_ns == 0 || one.sender == 0) << "the first sender is the clock";
  }
  const Result<Ticket> last = cluster_.group(0).send("8 bytes!", kPatience);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_TRUE(cluster_.group(0).wait(*last, kPatience)) << "behind ticks that have numbers, too";
  expect_one_sequence();
}

TEST_P(Ticks, GoOnOnceTheClockHasFinishedAndEndWithTheLastSender) {
  cluster_.start();
  await_ticks(2);
  cluster_.group(0).finish();
  await_ticks(2, 1);
  cluster_.group(1).finish();
  cluster_.group(2).finish();
  for (std::size_t member = 0; member < 3; ++member) {
    EXPECT_TRUE(cluster_.group(member).wait_complete(kPatience));
  }
  EXPECT_EQ(sequences_[0].all(), sequences_[1].all());
  EXPECT_EQ(sequences_[0].all(), sequences_[2].all());
  expect_one_sequence();
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Ticks,
    ::testing::Values(Case{FabricChoice::shm, Order::round_robin, Level::atomic},
                      Case{FabricChoice::shm, Order::token_ring, Level::agreed},
                      Case{FabricChoice::tcp, Order::round_robin, Level::agreed},
                      Case{FabricChoice::tcp, Order::lcr, Level::atomic}));

// Nobody sends, and each application takes what comes.
TEST(TicksOfAnIdleGroup, ComeToWhoTakesThem) {
  TestCluster cluster(
      {.members = 2,
       .groups = {GroupOptions{
           .name = "log", .tick_every = 5ms, .delivery = DeliveryThread::application}}});
  cluster.start();
  std::uint64_t last_ns = 0;
  for (std::size_t ticks = 0; ticks < 5;) {
    Result<Batch> batch = cluster.group(1).take(1, kPatience);
    ASSERT_TRUE(batch) << batch.error().message;
    for (const Message& message : *batch) {
      ASSERT_TRUE(message.tick());
      EXPECT_GT(message.tick()->time_ns, last_ns);
      last_ns = message.tick()->time_ns;
      ++ticks;
    }
    batch->release();
    Result<Batch> other = cluster.group(0).take(1, kPatience);  // the clock puts no more before
    ASSERT_TRUE(other) << other.error().message;
  }
}

TEST(TicksOfAGroup, GoOnWhenTheClockIsLost) {
  std::vector<Sequence> sequences(3);
  TestCluster cluster({.members = 3,
                       .groups = {GroupOptions{.name = "log", .tick_every = 2ms}},
                       .adjust_group = [&](std::size_t member, GroupOptions& group) {
                         group.on_delivery = [&, member](std::span<const Message> batch) {
                           sequences[member].add(batch);
                         };
                       }});
  cluster.start();
  for (std::size_t member = 0; member < 3; ++member) {
    ASSERT_TRUE(until([&] { return sequences[member].ticks(0) >= 2; }));
  }
  cluster.kill(0);
  for (std::size_t member = 1; member < 3; ++member) {
    ASSERT_TRUE(until([&] { return sequences[member].ticks(1) >= 2; }));
  }
  const std::vector<Seen> one = sequences[1].all();
  const std::vector<Seen> two = sequences[2].all();
  const std::size_t both = std::min(one.size(), two.size());
  EXPECT_TRUE(
      std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(both), two.begin()));
}

// What it adds up is due with the first tick that comes after it.
struct TickingSum : Sum {
  void on_tick(const Tick& tick) {
    EXPECT_GT(tick.time_ns, last_ns);
    last_ns = tick.time_ns;
    if (value != due) ++changes;
    due = value;
  }
  std::uint64_t last_ns = 0;
  std::uint64_t due = 0;
  std::uint64_t changes = 0;
};
static_assert(TakesTicks<TickingSum> && !TakesTicks<Sum>);

template <class Machine>
void add_among_ticks(Machine machine, const std::function<bool(const Machine&)>& holds,
                     std::uint64_t ticks = 0) {
  auto node = Node::create({.name = "a", .members = loopback_members(1)});
  ASSERT_TRUE(node);
  GroupOptions options = small_group();
  options.tick_every = 1ms;
  auto sum = Replicated<Machine>::join(*node, options, std::move(machine));
  ASSERT_TRUE(sum) << sum.error().message;
  ASSERT_TRUE(node->start());
  for (std::uint64_t n = 1; n <= 3; ++n) {
    EXPECT_TRUE(until([&] { return sum->group().statistics().delivered_messages >= n * ticks; }));
    const Result<std::uint64_t> added = sum->execute({.add = 1}, kPatience);
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(*added, n);
    EXPECT_TRUE(until([&] { return sum->query(holds); }));
  }
  EXPECT_TRUE(node->stop(kPatience));
}

TEST(TicksOfAMachine, ComeToItBetweenCommands) {
  add_among_ticks<TickingSum>({}, [](const TickingSum& sum) { return sum.due == sum.value; });
}

// Takes each message for a command; a tick would be an empty one.
struct Counts : Sum {
  struct Command {
    void encode(std::vector<std::byte>& /*out*/) const {}
    static std::optional<Command> decode(std::span<const std::byte> /*in*/) { return Command{}; }
    std::uint64_t add = 0;
  };
  Reply apply(const Command& /*command*/) { return ++value; }
};

TEST(TicksOfAMachine, AreNoCommandsToOneThatTakesNone) {
  add_among_ticks<Counts>({}, [](const Counts&) { return true; }, 10);
}

// The clock claims all space that it is given, in each pass.
TEST(TicksOfAGroup, ComeToOneWhoseWindowIsAlwaysFull) {
  Sequence sequence;
  auto node = Node::create({.name = "a", .members = loopback_members(1), .drive = Drive::caller});
  ASSERT_TRUE(node);
  auto group = node->join({.name = "log",
                           .message_max_bytes = 8,
                           .window_bytes = 4096,
                           .window_messages = 4,
                           .tick_every = 1ms,
                           .on_delivery = [&](auto batch) { sequence.add(batch); }});
  ASSERT_TRUE(group);
  ASSERT_TRUE(node->start());
  EXPECT_TRUE(until([&] {
    for (;;) {
      Claim claim = group->try_claim(8);
      if (claim.outcome() != ClaimOutcome::ok) break;
      std::memcpy(claim.data(), "8 bytes!", 8);
      group->commit(std::move(claim));
    }
    node->poll();
    return sequence.ticks() >= 5;
  }));
  EXPECT_TRUE(node->stop(kPatience));
}

}  // namespace
}  // namespace tutti
