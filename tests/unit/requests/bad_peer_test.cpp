// What no correct member writes, in its words or in a lane, and what one writes that is another
// incarnation: the reader shares its row, so that it changes between any two of its loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "unit/requests/pair.hpp"

namespace tutti::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Has no peers but those whose rows are shared.
class NoFabric final : public Fabric {
 public:
  [[nodiscard]] const std::byte* row(Slot) const override { return nullptr; }
  [[nodiscard]] std::byte* replica(Slot) override { return nullptr; }
  void write(Slot peer, Extent) override { peers.push_back(peer); }
  void publish(Slot peer, std::uint64_t, std::span<const std::byte>) override {
    peers.push_back(peer);
  }
  void flush() override {}
  std::size_t poll() override { return 0; }
  [[nodiscard]] bool drained() const override { return true; }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return {}; }
  void fence(Slot) override {}
  void hang_up(Slot) override {}
  void arm() override {}
  void disarm() override {}
  [[nodiscard]] FabricCounters counters() const override { return {}; }

  std::vector<Slot> peers;
};

class BadPeer : public ::testing::Test, public BetweenLoads {
 protected:
  BadPeer() {
    reader_.ask.enter(view_of(1, 100, 101));
    put(RequestWords::kSession, session());
    EXPECT_EQ(reader_.write({1}, FrameKind::request, 5, "ask"), Ask::Written::ok);
    reader_.pass();
  }

  static constexpr std::size_t kRequests = 0;
  static constexpr std::size_t kReplies = 1;

  [[nodiscard]] std::uint64_t session() const { return reader_.told.sessions.back(); }
  void put(RequestWords::Word word, std::uint64_t value) {
    store_cell(bad_.data() + words_.words({1}, {0}) + word, value);
  }
  void put(Lane lane, std::uint64_t granule, std::uint64_t value) {
    store_cell(bad_.data() + words_.lane({1}, {0}, lane) + 8 * granule, value);
  }
  void put_frame(Lane lane, std::uint64_t granule, std::uint64_t kind, std::uint64_t length,
                 std::uint64_t id) {
    put(lane, granule, RequestFrame::header(kind, length));
    put(lane, granule + 1, id);
  }
  void expect_violation(const char* what) {
    reader_.pass();
    ASSERT_TRUE(reader_.ask.violation());
    EXPECT_STREQ(reader_.ask.violation()->what, what);
    EXPECT_EQ(reader_.ask.violation()->slot, Slot{1});
    EXPECT_THAT(reader_.told.requests, IsEmpty());
    EXPECT_THAT(reader_.told.replies, IsEmpty());
  }
  void before_load(Slot) override {
    if (--loads_left_ == 0) meanwhile_();
  }

  RequestWords words_ = words_of_two();
  AlignedRow own_{64 + words_.bytes()};
  AlignedRow bad_{64 + words_.bytes()};
  int loads_left_ = 0;
  std::function<void()> meanwhile_;
  Asker reader_{0,   100, own_, [this](Slot) { return bad_.data(); }, std::make_unique<NoFabric>(),
                this};
};

constexpr std::uint64_t kRequest = 1;
constexpr std::uint64_t kReply = 2;

TEST_F(BadPeer, TakesMoreThanWasSent) {
  put(RequestWords::kTaken[kRequests], 4);
  expect_violation(kImpossibleRequests);
}

TEST_F(BadPeer, TakesLessThanBefore) {
  put(RequestWords::kTaken[kRequests], 3);
  reader_.pass();
  EXPECT_FALSE(reader_.ask.violation());
  put(RequestWords::kTaken[kRequests], 2);
  expect_violation(kImpossibleRequests);
}

TEST_F(BadPeer, SendsMoreThanALane) {
  put(RequestWords::kSent[kRequests], words_.lane_granules() + 1);
  expect_violation(kImpossibleRequests);
}

TEST_F(BadPeer, SendsMoreRepliesThanALane) {
  put(RequestWords::kSent[kReplies], words_.lane_granules() + 1);
  expect_violation(kImpossibleRequests);
}

struct BadFrame {
  const char* name;
  Lane lane;
  std::uint64_t kind;
  std::uint64_t length;
  std::uint64_t id;
  std::uint64_t sent;
};

class BadFrames : public BadPeer, public ::testing::WithParamInterface<BadFrame> {};

INSTANTIATE_TEST_SUITE_P(
    All, BadFrames,
    ::testing::Values(BadFrame{"NoKind", Lane::requests, 0, 8, 1, 3},
                      BadFrame{"UnknownKind", Lane::requests, 9, 8, 1, 3},
                      BadFrame{"ReplyWithPatience", Lane::replies, 0x102, 8, 5, 3},
                      BadFrame{"ReplyAmongRequests", Lane::requests, 2, 8, 1, 3},
                      BadFrame{"RequestAmongReplies", Lane::replies, 1, 8, 5, 3},
                      BadFrame{"LongerThanAllowed", Lane::requests, 1, kAskMax + 1, 1, 200},
                      BadFrame{"Endless", Lane::requests, 1, 0xffff'ffff, 1, 200},
                      BadFrame{"LongerThanSent", Lane::requests, 1, 9, 1, 3},
                      BadFrame{"ShorterThanAHeader", Lane::requests, 1, 0, 1, 1},
                      BadFrame{"NoId", Lane::requests, 1, 8, 0, 3},
                      BadFrame{"ReplyToNoId", Lane::replies, 2, 8, 0, 3},
                      BadFrame{"ReplyToWhatWasNotAsked", Lane::replies, 2, 8, 6, 3},
                      BadFrame{"PadInTheMiddle", Lane::requests, 4, 3, 1, 3},
                      BadFrame{"PadWithoutAFrame", Lane::requests, 4, 512, 1, 512}),
    [](const auto& one) { return one.param.name; });

TEST_P(BadFrames, AreViolations) {
  const BadFrame& frame = GetParam();
  put_frame(frame.lane, 0, frame.kind, frame.length, frame.id);
  put(RequestWords::kSent[static_cast<std::size_t>(frame.lane)], frame.sent);
  expect_violation(kImpossibleRequest);
}

TEST_F(BadPeer, RepliesTwice) {
  put_frame(Lane::replies, 0, kReply, 0, 5);
  put_frame(Lane::replies, 2, kReply, 0, 5);
  put(RequestWords::kSent[kReplies], 4);
  reader_.pass();
  EXPECT_THAT(reader_.told.replies, SizeIs(1));
  ASSERT_TRUE(reader_.ask.violation());
  EXPECT_STREQ(reader_.ask.violation()->what, kImpossibleRequest);
}

TEST_F(BadPeer, WritesAFrameAcrossTheEnd) {
  std::uint64_t at = 0;
  for (; at < 384; at += 127) put_frame(Lane::requests, at, kRequest, kAskMax, 1);
  put_frame(Lane::requests, 508, kRequest, 80, 1);
  put(RequestWords::kSent[kRequests], 508);
  reader_.pass();
  EXPECT_THAT(reader_.told.requests, SizeIs(4));
  for (int i = 0; i < 4; ++i) reader_.ask.release({1}, session());
  reader_.pass();
  put(RequestWords::kSent[kRequests], 520);
  reader_.pass();
  ASSERT_TRUE(reader_.ask.violation());
  EXPECT_STREQ(reader_.ask.violation()->what, kImpossibleRequest);
}

TEST_F(BadPeer, OfAnotherSessionIsNotRead) {
  put(RequestWords::kSession, session() + 1);
  put(RequestWords::kSent[kRequests], ~0ULL);
  put(RequestWords::kTaken[kReplies], 77);
  reader_.pass();
  EXPECT_FALSE(reader_.ask.violation());
}

// RQ1: the owner goes on to another incarnation of this node between any two loads.
TEST_F(BadPeer, GoesOnToAnotherSessionWhileItIsRead) {
  int taken = 0;
  int loads = 1;
  for (; loads < 40 && taken == 0; ++loads) {
    put(RequestWords::kSession, session());
    put_frame(Lane::requests, 0, kRequest, 16, 9);
    put(RequestWords::kSent[kRequests], 4);
    loads_left_ = loads;
    meanwhile_ = [this] {
      put(RequestWords::kSession, 0);
      put(RequestWords::kSent[kRequests], 0);
      put_frame(Lane::requests, 0, kReply, 0xffff, 0);
      put(Lane::requests, 2, 0xbad);
    };
    put(Lane::requests, 2, 0x600d);
    put(Lane::requests, 3, 0x600d);
    reader_.pass();
    ASSERT_FALSE(reader_.ask.violation()) << loads;
    taken = static_cast<int>(reader_.told.requests.size());
    loads_left_ = 0;
    if (taken == 0) continue;
    const std::uint64_t word = 0x600d;
    EXPECT_EQ(reader_.told.requests[0].text.substr(0, 8),
              std::string(reinterpret_cast<const char*>(&word), 8));
  }
  EXPECT_GT(loads, 10);  // it was hit at each load of a frame before the last look
  EXPECT_EQ(taken, 1);
}

// The session of a node that starts again begins with words and lanes of its own.
TEST_F(BadPeer, StartsAgain) {
  const std::uint64_t before = session();
  const auto own = [this](RequestWords::Word word) {
    return NativeMemory::load(own_.data() + words_.words({0}, {1}) + word);
  };
  EXPECT_EQ(own(RequestWords::kSent[kRequests]), 3);
  reader_.ask.enter(view_of(2, 100, 202));
  EXPECT_THAT(reader_.told.over, SizeIs(1));
  EXPECT_NE(session(), before);
  EXPECT_EQ(own(RequestWords::kSession), session());
  EXPECT_EQ(own(RequestWords::kSent[kRequests]), 0);
  const std::string_view text = "late";
  EXPECT_EQ(reader_.ask.write({1}, before, FrameKind::request, 6, std::as_bytes(std::span(text))),
            Ask::Written::gone);
  reader_.ask.release({1}, before);
  reader_.pass();
  EXPECT_EQ(own(RequestWords::kTaken[kRequests]), 0);
}

TEST(RequestsToOne, ArePushedToThatOneAlone) {
  const RequestWords words{.offset = 64, .bytes_max = 100, .nodes = 3};
  AlignedRow own(64 + words.bytes());
  const AlignedRow empty(64 + words.bytes());
  NoFabric fabric;
  Told told;
  Ask ask(
      {Slot{0}, 100}, words, own.data(), [&](Slot) { return empty.data(); }, told,
      LandingMemory{nullptr, Slot{0}});
  ask.enter({.id = 1, .members = {{Slot{0}, 100}, {Slot{1}, 101}, {Slot{2}, 102}}, .survivors = 3});
  Effects effects(fabric);
  ask.step(effects);
  effects.carry_out();
  fabric.peers.clear();
  const std::string_view text = "for two";
  ASSERT_EQ(ask.write({2}, told.sessions[1], FrameKind::request, 1, std::as_bytes(std::span(text))),
            Ask::Written::ok);
  ask.step(effects);
  effects.carry_out();
  EXPECT_THAT(fabric.peers, SizeIs(2));
  EXPECT_THAT(fabric.peers, ::testing::Each(Slot{2}));
  ask.step(effects);
  EXPECT_TRUE(effects.empty());
}

}  // namespace
}  // namespace tutti::testing
