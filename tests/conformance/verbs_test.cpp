/// What holds of RDMA alone: each way of fencing by itself, what is signalled, who is let in.
#include "conformance/conformance.hpp"
#include "fabric/verbs/meeting.hpp"

namespace tutti::testing {
namespace {

class FabricVerbs : public FabricConformance {};
// Without RDMA there is none to test: see verbs_kinds().
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FabricVerbs);
INSTANTIATE_TEST_SUITE_P(All, FabricVerbs, ::testing::ValuesIn(verbs_kinds()), kind_name);

/// Writes on and on, to a peer that has done with it, until its own fabric says that this is over.
/// The peer does not look, so that nothing but the fence keeps it out.
void write_as_a_zombie(World& world, std::uint64_t& word) {
  const Deadline deadline;
  while (world[0].losses.empty()) {
    ASSERT_FALSE(deadline.passed());
    fill(world[0], {kData, 4000}, static_cast<std::uint8_t>(word));
    if (world[0].fabric->drained()) world[0].fabric->write(kSecond, {kData, 4000});
    world[0].send(kSecond, kWord, ++word);
    world[0].poll();
  }
}

class FabricVerbsFence : public FabricVerbs {
 protected:
  /// Fences the first node by that means, while it writes: from then on its row stands still.
  void test(void (VerbsFabric::*means)(Slot)) {
    World& world = start_writing();
    // Nothing under way: whatever lands now was posted after the fence.
    ASSERT_TRUE(world.eventually([&] { return world[0].fabric->drained(); }));
    (world[1].verbs->*means)(kFirst);
    const std::uint64_t last = world[1].load(kFirst, kWord);
    ASSERT_NO_FATAL_FAILURE(write_as_a_zombie(world, word_));
    EXPECT_EQ(world[1].load(kFirst, kWord), last);
    EXPECT_TRUE(shows_zeros(world[1], kFirst, kData));
    EXPECT_FALSE(world[0].losses[0].reason.empty());
  }

  /// The same with its queue pair full: what is in that lands neither, nor what waits behind it.
  void test_queued(void (VerbsFabric::*means)(Slot)) {
    World& world = start_writing();
    ASSERT_NO_FATAL_FAILURE(fill_queue_pair(world[0]));
    (world[1].verbs->*means)(kFirst);
    const std::uint64_t last = world[1].load(kFirst, kWord);
    EXPECT_LT(last, word_) << "which waits until we post or poll again";
    ASSERT_NO_FATAL_FAILURE(write_as_a_zombie(world, word_));
    EXPECT_EQ(world[1].load(kFirst, kWord), last);
    EXPECT_FALSE(world[0].losses[0].reason.empty());
  }

 private:
  static constexpr std::uint32_t kLarge = 256 * 1024;

  World& start_writing() {
    World& world = start(2, kData + kLarge);
    EXPECT_TRUE(world.eventually([&] {
      world[0].send(kSecond, kWord, ++word_);
      return world[1].load(kFirst, kWord) > 100;
    }));
    return world;
  }

  /// Posts until there is no room for more: writes of many packets each, so that most are not sent.
  void fill_queue_pair(Node& node) {
    const Deadline deadline;
    std::uint64_t handed_over = 0;
    do {
      ASSERT_FALSE(deadline.passed());
      handed_over = node.fabric->counters().writes;
      node.fabric->write(kSecond, {kData, kLarge});
      node.send(kSecond, kWord, ++word_);
    } while (node.fabric->counters().writes != handed_over);
  }

  std::uint64_t word_ = 0;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FabricVerbsFence);
INSTANTIATE_TEST_SUITE_P(All, FabricVerbsFence, ::testing::ValuesIn(verbs_kinds()), kind_name);

TEST_P(FabricVerbsFence, TheQueuePairInErrorAloneKeepsAZombieOut) {
  test(&VerbsFabric::fence_queue_pair);
}

TEST_P(FabricVerbsFence, TheDeregisteredRegionAloneKeepsAZombieOut) {
  test(&VerbsFabric::fence_region);
}

TEST_P(FabricVerbsFence, BothAndTheCopyKeepAZombieOut) { test(&VerbsFabric::fence); }

TEST_P(FabricVerbsFence, TheQueuePairInErrorAloneKeepsOutWhatWasQueued) {
  test_queued(&VerbsFabric::fence_queue_pair);
}

TEST_P(FabricVerbsFence, TheDeregisteredRegionAloneKeepsOutWhatWasQueued) {
  test_queued(&VerbsFabric::fence_region);
}

TEST_P(FabricVerbs, OneCompletionInManyIsAskedFor) {
  World& world = start(2, kSmallRow);
  for (std::uint64_t i = 1; i <= 4000; ++i) {
    world[0].fabric->write(kSecond, {kData + (i % 64) * 64, 60});
    world[0].send(kSecond, kWord, i);
    if (i % 16 == 0) world[0].poll();
  }
  ASSERT_TRUE(world.eventually([&] { return world[0].fabric->drained(); }));
  const FabricCounters counters = world[0].fabric->counters();
  EXPECT_EQ(world[1].load(kFirst, kWord), 4000U);
  EXPECT_LE(counters.signalled, counters.writes / VerbsFabric::kPostsPerSignal + 2);
}

TEST_P(FabricVerbs, WordsTooLongToBeInlineArriveInOrder) {
  constexpr std::size_t kWords = 1500;  // several copies
  World& world = start(2, kData + kWords * 8);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    for (std::size_t i = 0; i < kWords; ++i) world[0].store(kData + 8 * i, round * 10'000 + i);
    world[0].publish(kSecond, kData, kWords);
    for (std::size_t i = 0; i < kWords; ++i) world[0].store(kData + 8 * i, 0);
    world[0].send(kSecond, kWord, round);
    ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == round; }));
    for (std::size_t i = 0; i < kWords; ++i) {
      ASSERT_EQ(world[1].load(kFirst, kData + 8 * i), round * 10'000 + i);
    }
  }
}

/// A meeting of the first node with the second, which expects somebody else, or something else.
class FabricVerbsMeeting : public FabricVerbs {
 protected:
  Error meet_wrongly(verbs::Acquaintance caller, verbs::Acquaintance called) {
    World& world = open(2, kSmallRow);
    auto call = verbs::Meeting::call(world[0].device, caller, world[1].device->address());
    if (!call) return call.error();
    std::unique_ptr<verbs::Meeting> answer;
    const Deadline deadline;
    while (!deadline.passed()) {
      auto came = world[1].device->next_call();
      if (!came) return came.error();
      if (*came) {
        auto begun = verbs::Meeting::answer(world[1].device, called, std::move(**came));
        if (!begun) return begun.error();
        answer = std::move(*begun);
      }
      for (verbs::Meeting* meeting : {call->get(), answer.get()}) {
        if (meeting == nullptr) continue;
        if (auto step = meeting->step(); !step) return step.error();
      }
    }
    return {ErrorCode::timed_out, "no end"};
  }

  static constexpr verbs::Acquaintance kCaller{
      .slot = 0, .incarnation = 5, .peer_incarnation = 6, .peer_row_bytes = kSmallRow};
  static constexpr verbs::Acquaintance kCalled{
      .slot = 1, .incarnation = 6, .peer_incarnation = 5, .peer_row_bytes = kSmallRow};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FabricVerbsMeeting);
INSTANTIATE_TEST_SUITE_P(All, FabricVerbsMeeting, ::testing::ValuesIn(verbs_kinds()), kind_name);

TEST_P(FabricVerbsMeeting, WithAnotherIncarnationIsRefused) {
  verbs::Acquaintance called = kCalled;
  called.peer_incarnation = 7;
  const Error error = meet_wrongly(kCaller, called);
  EXPECT_EQ(error.code, ErrorCode::mismatch) << error.message;
}

TEST_P(FabricVerbsMeeting, WithTooLittleRoomForARowIsRefused) {
  verbs::Acquaintance caller = kCaller;
  caller.peer_row_bytes = kSmallRow / 2;
  const Error error = meet_wrongly(caller, kCalled);
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_NE(error.message.find("room for 8192 bytes"), std::string::npos) << error.message;
}

TEST_P(FabricVerbsMeeting, WithNobodyFailsInTime) {
  World& world = open(2, kSmallRow);
  const std::string nobody = world[1].device->address();
  world.kill(1);
  world[1].device.reset();
  auto call = verbs::Meeting::call(world[0].device, kCaller, nobody);
  const Deadline deadline;
  while (call) {
    ASSERT_FALSE(deadline.passed());
    auto step = (*call)->step();
    if (!step) call = std::unexpected(step.error());
  }
  EXPECT_EQ(call.error().code, ErrorCode::peer_lost) << call.error().message;
}

TEST_P(FabricVerbsMeeting, ADeviceThatIsNotThereIsNamed) {
  const Segment row = Segment::create(kSmallRow).value();
  const auto device = verbs::Device::open("mlx5_77", "", {row.data(), row.size()});
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("'mlx5_77'"), std::string::npos);
  EXPECT_NE(device.error().message.find("rxe0"), std::string::npos) << device.error().message;
}

}  // namespace
}  // namespace tutti::testing
