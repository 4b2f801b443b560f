/// \file replicated_test.cpp
/// What waits for what in a replicated state machine: queries do not keep deliveries out, nothing
/// waits for itself, and a command has one time-out.
#include "tutti/replicated.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class ReplicatedSum : public ::testing::TestWithParam<DeliveryThread> {
 public:
  ~ReplicatedSum() override { EXPECT_TRUE(node_->stop(kPatience)); }

 protected:
  ReplicatedSum() {
    const std::vector<MemberAddress> alone = loopback_members(1);
    auto node = Node::create({.name = "a", .members = alone});
    EXPECT_TRUE(node);
    node_ = std::move(*node);
    auto joined = Replicated<Sum>::join(*node_, small_group(Level::atomic, GetParam()),
                                        Sum{.while_applying = &while_applying_});
    EXPECT_TRUE(joined);
    sum_ = std::move(*joined);
    EXPECT_TRUE(node_->start());
  }

  Result<std::uint64_t> add(std::uint64_t value) { return sum_->execute({value}, kPatience); }
  std::uint64_t read() {
    return sum_->query([](const Sum& sum) { return sum.value; });
  }

  // A query that goes on until it is released.
  struct LongQuery {
    explicit LongQuery(Replicated<Sum>& of)
        : thread([this, &of] {
            of.query([this](const Sum&) {
              begun = true;
              while (!released) std::this_thread::yield();
            });
          }) {
      EXPECT_TRUE(until([this] { return begun.load(); }));
    }
    void release() {
      released = true;
      thread.join();
    }
    std::atomic<bool> begun{false};
    std::atomic<bool> released{false};
    std::thread thread;
  };

  std::function<void()> while_applying_;
  std::optional<Node> node_;
  std::optional<Replicated<Sum>> sum_;
};

INSTANTIATE_TEST_SUITE_P(On, ReplicatedSum,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& thread) {
                           return thread.param == DeliveryThread::own ? "OwnThread" : "Predicate";
                         });

TEST_P(ReplicatedSum, ADeliveryGoesBeforeTheQueriesThatComeLater) {
  LongQuery first(*sum_);
  EXPECT_FALSE(sum_->held_up());
  std::jthread writer([this] { EXPECT_EQ(add(1), 1); });
  ASSERT_TRUE(until([this] { return sum_->held_up(); })) << "the query holds it up, and says so";
  std::atomic<bool> reads{false};
  std::jthread reader([&] {
    reads = true;
    EXPECT_EQ(read(), 1) << "the reader came after the delivery";
  });
  ASSERT_TRUE(until([&] { return reads.load(); }));
  first.release();
  reader.join();
  EXPECT_FALSE(sum_->held_up());
}

TEST_P(ReplicatedSum, NothingIsExecutedInsideAQuery) {
  const Result<std::uint64_t> inside =
      sum_->query([this](const Sum&) { return sum_->execute({1}, kPatience); });
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, ErrorCode::in_callback);
  EXPECT_THAT(inside.error().message,
              HasSubstr("Replicated::execute was called inside a query of group 'log'"));
  EXPECT_EQ(add(5), 5) << "nothing was sent";
}

TEST_P(ReplicatedSum, NothingIsExecutedInsideApply) {
  std::optional<Result<std::uint64_t>> inside;
  std::uint64_t seen = 0;
  while_applying_ = [&] {
    if (inside) return;
    inside = sum_->execute({1}, kPatience);
    seen = read();
  };
  EXPECT_EQ(add(5), 5);
  ASSERT_TRUE(inside);
  ASSERT_FALSE(*inside);
  EXPECT_EQ(inside->error().code, ErrorCode::in_callback);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(add(1), 6) << "nothing was sent";
}

TEST_P(ReplicatedSum, AQueryInsideAQueryWaitsForNobody) {
  std::jthread writer;
  const std::uint64_t seen = sum_->query([&](const Sum&) {
    writer = std::jthread([this] { EXPECT_EQ(add(1), 1); });
    EXPECT_TRUE(until([this] { return sum_->held_up(); }));
    return read();
  });
  EXPECT_EQ(seen, 0);
  writer.join();
  EXPECT_EQ(read(), 1);
}

// The delivery that waits for the query is what they would wait for.
TEST_P(ReplicatedSum, AQueryIsRefusedCallsThatWait) {
  std::jthread writer;
  sum_->query([&](const Sum&) {
    writer = std::jthread([this] { EXPECT_EQ(add(1), 1); });
    EXPECT_TRUE(until([this] { return sum_->held_up(); }));
    for (const auto& refused : {node_->stop(kPatience), node_->leave(kPatience),
                                sum_->group().wait(Ticket{1'000'000}, kPatience),
                                sum_->group().wait_complete(kPatience)}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::in_callback);
      EXPECT_THAT(refused.error().message, HasSubstr("inside a query of group 'log' of node 'a'"));
    }
  });
  writer.join();
  EXPECT_EQ(add(1), 2) << "nothing was done";
}

TEST_P(ReplicatedSum, ACommandHasOneTimeOut) {
  constexpr auto kTimeout = 10ms;
  const Sum::Command slow{1, [=] {
                            const auto begin = std::chrono::steady_clock::now();
                            while (std::chrono::steady_clock::now() < begin + 2 * kTimeout) {
                              std::this_thread::yield();
                            }
                          }};
  const Result<std::uint64_t> late = sum_->execute(slow, kTimeout);
  ASSERT_FALSE(late) << "encoding took all of it";
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  EXPECT_EQ(add(5), 5) << "nothing was sent";
}

TEST_P(ReplicatedSum, ACommandMayHaveAnyTimeOut) {
  EXPECT_EQ(sum_->execute({5}, std::chrono::nanoseconds::max()).value_or(0), 5);
  for (const auto none : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
    const Result<std::uint64_t> late = sum_->execute({1}, none);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  }
  EXPECT_EQ(add(1), 6) << "nothing else was sent";
}

TEST_P(ReplicatedSum, ThatOutlivesItsNodeSaysSo) {
  std::optional<Replicated<Sum>> outlives;
  {
    auto node = Node::create({.name = "a", .members = loopback_members(1)});
    ASSERT_TRUE(node);
    auto joined = Replicated<Sum>::join(*node, small_group());
    ASSERT_TRUE(joined);
    outlives = std::move(*joined);
    ASSERT_TRUE(node->start());
    EXPECT_EQ(outlives->execute({2}, kPatience), 2);
  }
  const Result<std::uint64_t> late = outlives->execute({1}, kPatience);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::stopped);
  EXPECT_EQ(outlives->query([](const Sum& sum) { return sum.value; }), 2);
}

// Two threads query two machines inside each other, while deliveries wait for both.
TEST(ReplicatedLocks, WhoUsesAnotherMachineDoesNotWaitForAWriterThatWaits) {
  detail::ReadersAndWriter machine;
  machine.lock_shared();
  std::thread writer([&machine] {
    machine.lock();
    machine.unlock();
  });
  while (!machine.held_up()) std::this_thread::yield();
  std::thread reader([&machine] {
    const int another = 0;
    const detail::InUse use(&another);
    machine.lock_shared();
    machine.unlock_shared();
  });
  reader.join();
  EXPECT_TRUE(machine.held_up());
  machine.unlock_shared();
  writer.join();
}

TEST(ReplicatedDrivenByItsCaller, DoesNotDeliverInsideAQuery) {
  LogBook log;
  auto node = Node::create(
      {.name = "a", .members = loopback_members(1), .drive = Drive::caller, .log = log.callback()});
  ASSERT_TRUE(node);
  auto sum = Replicated<Sum>::join(*node, small_group());
  ASSERT_TRUE(sum);
  ASSERT_TRUE(node->start());
  const Result<Ticket> sent = sum->group().send("as long as any command", kPatience);
  ASSERT_TRUE(sent);
  sum->query([&](const Sum&) {
    EXPECT_EQ(node->poll(), 0);
    node->wait(kPatience);
  });
  const std::string refused = "Node::poll was called inside a query of group 'log' of node 'a'";
  EXPECT_TRUE(until([&] { return log.with(refused) == 1; }));
  EXPECT_TRUE(sum->group().wait(*sent, kPatience));
}

TEST_P(ReplicatedSum, AQueryMayDestroyTheNodeWhichThenEnds) {
  const auto held = std::make_shared<int>();
  auto made = Node::create(
      {.name = "a", .members = loopback_members(1), .on_view = [held](const ViewChange&) {}});
  ASSERT_TRUE(made);
  std::optional<Node> node = std::move(*made);
  auto sum = Replicated<Sum>::join(*node, small_group(Level::atomic, GetParam()));
  ASSERT_TRUE(sum);
  ASSERT_TRUE(node->start());
  std::jthread writer;
  sum->query([&](const Sum&) {
    writer = std::jthread([&] { EXPECT_FALSE(sum->execute({1}, kPatience)); });
    EXPECT_TRUE(until([&] { return sum->held_up(); }));
    node.reset();
  });
  EXPECT_TRUE(until([&] { return held.use_count() == 1; })) << "its callbacks are no more";
}

// A sum that gives snapshots, and could save as well.
struct SnapshotSum : Sum {
  Result<ReadSnapshot> snapshot() const {
    return [kept = value](std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
      if (offset >= sizeof kept) return 0;
      const std::size_t size = std::min<std::size_t>(into.size(), sizeof kept - offset);
      std::memcpy(into.data(), reinterpret_cast<const std::byte*>(&kept) + offset, size);
      return size;
    };
  }
  Result<void> save(const StateSink&) const { return fail(ErrorCode::system, "not to be called"); }
  Result<void> load(const StatePiece& piece) {
    return piece.bytes.empty() ? Result<void>() : Sum::load(piece);
  }
};

TEST(ReplicatedSnapshots, AreWhatJoinersGet) {
  const std::vector<MemberAddress> addresses = loopback_members(3);
  std::vector<Node> nodes;
  std::vector<Replicated<SnapshotSum>> sums;
  for (const MemberAddress& own : addresses) {
    auto node = Node::create({.name = own.name,
                              .members = addresses,
                              .founders = 2,
                              .suspect_after = ClusterOptions{}.suspect_after});
    ASSERT_TRUE(node) << node.error().message;
    nodes.push_back(std::move(*node));
    auto joined = Replicated<SnapshotSum>::join(nodes.back(), small_group());
    ASSERT_TRUE(joined) << joined.error().message;
    sums.push_back(std::move(*joined));
  }
  {
    const std::jthread other([&] { EXPECT_TRUE(nodes[1].start()); });
    ASSERT_TRUE(nodes[0].start());
  }
  ASSERT_EQ(sums[0].execute({.add = 5}, kPatience).value_or(0), 5);
  ASSERT_TRUE(nodes[2].start());
  EXPECT_EQ(sums[2].execute({.add = 2}, kPatience).value_or(0), 7);
  for (Node& node : nodes) EXPECT_TRUE(node.leave(kPatience));
}

TEST(Replicated, IsNotForApplicationsThatTake) {
  const auto addresses = loopback_members(1);
  auto node = Node::create({.name = addresses[0].name, .members = addresses});
  ASSERT_TRUE(node);
  const auto joined =
      Replicated<Sum>::join(*node, {.name = "sum", .delivery = DeliveryThread::application});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(joined.error().message, HasSubstr("'sum': set delivery to predicate or own"));
}

}  // namespace
}  // namespace tutti
