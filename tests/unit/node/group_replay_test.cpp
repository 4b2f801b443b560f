// What a group's log has comes first: to a callback, which it waits for and ends with the group,
// and to an application that takes.
#include "node/group_replay.hpp"
#include "node/group_sends.hpp"

#include <gtest/gtest.h>

#include <poll.h>

#include <thread>
#include <vector>

#include "node/node_core.hpp"
#include "support/forged_table.hpp"
#include "unit/node/sample_replay.hpp"
#include "unit/predicates/mock_fabric.hpp"

namespace tutti::testing {
namespace {

class HandedReplay : public ::testing::Test {
 protected:
  void hand() {
    result_ = replay_.hand(
        [this](std::span<const Message> batch) {
          EXPECT_TRUE(replay_.is_handing());
          EXPECT_EQ(call_.changes() % 2, 1U) << "the call is marked";
          for (const Message& message : batch) EXPECT_EQ(number_in(message), handed_++);
          if (handed_ == halts_at_) halted_ = true;
          seen_.store(handed_);
        },
        halted_, moved_);
    EXPECT_FALSE(replay_.is_handing());
  }

  SampleReplay log_{};
  GroupReplay replay_{};
  CallMark call_{};
  Signal moved_{};
  std::atomic<bool> halted_{false};
  std::uint64_t handed_ = 0;
  std::uint64_t halts_at_ = 100;
  std::atomic<std::uint64_t> seen_{0};
  Result<void> result_{};
};

TEST_F(HandedReplay, IsAllOfIt) {
  replay_.open({.replay = log_.make()}, call_);
  EXPECT_TRUE(replay_.is_pending());
  hand();
  EXPECT_TRUE(result_);
  EXPECT_EQ(handed_, 10U);
  EXPECT_EQ(replay_.replayed(), 10U);
  EXPECT_FALSE(replay_.is_pending());
}

TEST_F(HandedReplay, ComesBehindTheSnapshot) {
  auto load = std::make_shared<SnapshotLoad>(0, 10);
  replay_.open({.replay = log_.make(), .load = load}, call_);
  EXPECT_TRUE(replay_.is_pending());
  const auto nothing = replay_.next(10);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->empty());
  EXPECT_TRUE(replay_.is_pending());
  handed_ = 4;
  load->finish(4);
  hand();
  EXPECT_TRUE(result_);
  EXPECT_EQ(handed_, 10U);
  EXPECT_EQ(replay_.replayed(), 6U);
  EXPECT_FALSE(replay_.is_pending());
}

TEST_F(HandedReplay, WaitsForTheSnapshot) {
  auto load = std::make_shared<SnapshotLoad>(0, 10);
  replay_.open({.replay = log_.make(), .load = load}, call_);
  handed_ = 10;
  std::jthread later([&] {
    load->finish(10);
    moved_.notify();
  });
  hand();
  EXPECT_TRUE(result_);
  EXPECT_EQ(replay_.replayed(), 0U) << "it has all of it";
  EXPECT_FALSE(replay_.is_pending());
}

TEST_F(HandedReplay, EndsIfTheSnapshotCannotBeLoaded) {
  auto load = std::make_shared<SnapshotLoad>(0, 10);
  replay_.open({.replay = log_.make(), .load = load}, call_);
  load->finish(fail(ErrorCode::damaged, "bits"));
  hand();
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().message, "bits");
  EXPECT_EQ(handed_, 0U);
}

TEST_F(HandedReplay, IsNothingWithoutOne) {
  replay_.open({}, call_);
  hand();
  EXPECT_TRUE(result_);
  EXPECT_EQ(handed_, 0U);
  EXPECT_EQ(replay_.replayed(), 0U);
}

TEST_F(HandedReplay, WaitsForTheLogAndGoesOn) {
  log_.whole = 7;
  replay_.open({.replay = log_.make()}, call_);
  std::thread thread([this] { hand(); });
  while (seen_.load() != 7) std::this_thread::yield();
  log_.whole = 10;
  moved_.notify();
  thread.join();
  EXPECT_TRUE(result_);
  EXPECT_EQ(handed_, 10U);
}

TEST_F(HandedReplay, EndsWithTheGroup) {
  log_.whole = 7;
  halts_at_ = 5;  // between two batches
  replay_.open({.replay = log_.make()}, call_);
  hand();
  EXPECT_EQ(handed_, 5U);
  halts_at_ = 100;
  halted_ = false;
  std::thread thread([this] { hand(); });
  while (seen_.load() != 7) std::this_thread::yield();
  halted_ = true;
  moved_.notify();
  thread.join();
  EXPECT_TRUE(result_);
  EXPECT_TRUE(replay_.is_pending());
}

TEST_F(HandedReplay, SaysWhatIsWrongWithTheLog) {
  log_.whole = 12;
  replay_.open({.replay = log_.make(12)}, call_);
  hand();
  EXPECT_FALSE(result_);
  EXPECT_EQ(handed_, 10U);
}

// A group whose application takes messages, of a node that was not started, over a forged table.
class TakenReplay : public ::testing::Test {
 protected:
  TakenReplay() {
    NodeOptions node;
    node.name = "a";
    node.members = {{"a", "127.0.0.1:7101"}};
    core_ = std::make_shared<NodeCore>(node);
    GroupOptions options;
    options.name = "g";
    options.delivery = DeliveryThread::application;
    const Result<GroupCore*> joined = core_->join(options);
    EXPECT_TRUE(joined);
    group_ = std::shared_ptr<GroupCore>(core_, *joined);
  }

  void open() { group_->open(subgroup_, asleep_, nullptr, {.replay = log_.make()}, call_); }
  void send(std::uint64_t number) {
    Claim claim = group_->try_claim(sizeof number);
    ASSERT_TRUE(claim);
    std::memcpy(claim.data(), &number, sizeof number);
    group_->commit(claim);
    step();
  }
  void step() {
    for (int i = 0; i < 4; ++i) subgroup_.step(effects_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    group_->after_pass();
  }
  // The numbers of the next batch, which is of that view.
  std::vector<std::uint64_t> take(std::uint64_t view, std::size_t max = 100) {
    const Result<Batch> batch = group_->take(group_, max, {});
    EXPECT_TRUE(batch) << batch.error().message;
    std::vector<std::uint64_t> numbers;
    if (!batch) return numbers;
    EXPECT_EQ(batch->view(), view);
    EXPECT_TRUE(batch->intact());
    for (const Message& message : *batch) numbers.push_back(number_in(message));
    return numbers;
  }
  [[nodiscard]] static bool readable(int descriptor) {
    pollfd poll{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, 0) == 1;
  }

  using Numbers = std::vector<std::uint64_t>;
  SampleReplay log_{};
  ForgedTable table_{{.members = 1, .sender_ranks = {0}}};
  ::testing::NiceMock<MockFabric> fabric_{};
  Effects effects_{fabric_};
  Subgroup<NativeMemory> subgroup_{
      table_.shape(0), {.self = Slot{0}, .peers = {}, .delivered_elsewhere = true}, {}};
  std::atomic<std::uint64_t> asleep_{0};
  CallMark call_{};
  std::shared_ptr<NodeCore> core_{};
  std::shared_ptr<GroupCore> group_{};
};

TEST_F(TakenReplay, ComesBeforeWhatIsNew) {
  open();
  send(77);
  EXPECT_TRUE(group_->leaves_untaken());
  EXPECT_EQ(take(1, 2), (Numbers{0, 1}));
  EXPECT_EQ(take(1), (Numbers{2, 3, 4})) << "a batch is of one view";
  EXPECT_EQ(take(2), (Numbers{5, 6, 7, 8, 9}));
  EXPECT_EQ(take(0), (Numbers{77}));
  EXPECT_FALSE(group_->leaves_untaken());
  EXPECT_EQ(take(0), Numbers{});
  const GroupStatistics statistics = group_->statistics();
  EXPECT_EQ(statistics.replayed, 10U);
  EXPECT_EQ(statistics.delivered_messages, 1U);
}

TEST_F(TakenReplay, IsLentLikeAnyBatch) {
  open();
  Result<Batch> batch = group_->take(group_, 1, {});
  ASSERT_TRUE(batch);
  EXPECT_FALSE(group_->take(group_, 1, {})) << "one batch is held at a time";
  group_->pass_nulls();
  EXPECT_EQ(number_in((*batch)[0]), 0U);
  batch->release();
  EXPECT_EQ(take(1), (Numbers{1, 2, 3, 4}));
}

// What pass_nulls() finds is new.
TEST_F(TakenReplay, ComesBeforeWhatWasFoundMeanwhile) {
  open();
  send(77);
  group_->pass_nulls();
  EXPECT_EQ(take(1), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(take(2), (Numbers{5, 6, 7, 8, 9}));
  EXPECT_EQ(take(0), (Numbers{77}));
}

TEST_F(TakenReplay, IsWaitedForByTheDescriptor) {
  log_.whole = 3;
  open();
  const Result<int> descriptor = group_->event_fd();
  ASSERT_TRUE(descriptor);
  EXPECT_TRUE(readable(*descriptor));
  EXPECT_EQ(take(1), (Numbers{0, 1, 2}));
  EXPECT_EQ(take(0), Numbers{});
  EXPECT_FALSE(readable(*descriptor));
  log_.whole = 10;
  group_->log_moved();
  EXPECT_TRUE(readable(*descriptor));
  EXPECT_EQ(take(1), (Numbers{3, 4}));
  EXPECT_EQ(take(2), (Numbers{5, 6, 7, 8, 9}));
  EXPECT_EQ(take(0), Numbers{});
  EXPECT_FALSE(readable(*descriptor));
}

TEST_F(TakenReplay, OfADamagedLogEndsTheNode) {
  auto bytes = log_.disk.contents("/state/g/00000000000000000000.log");
  bytes[4200] ^= std::byte{1};
  log_.disk.put("/state/g/00000000000000000000.log", bytes);
  open();
  const Result<Batch> batch = group_->take(group_, 10, {});
  ASSERT_FALSE(batch);
  EXPECT_NE(batch.error().message.find("group 'g'"), std::string::npos) << batch.error().message;
  EXPECT_TRUE(core_->failed());
}

}  // namespace
}  // namespace tutti::testing
