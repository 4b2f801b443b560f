// What two members ask each other over a network whose words land between any two loads.
#include "requests/requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "unit/requests/pair.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Written = Ask::Written;

class RequestsTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  RequestsTest() : net_({bytes_of_row(), bytes_of_row()}, {.seed = GetParam()}) {
    for (const std::uint32_t slot : {0U, 1U}) {
      std::unique_ptr<Fabric> fabric = net_.fabric(Slot{slot}, rows_[slot].data());
      const Fabric* const seen = fabric.get();
      members_.push_back(std::make_unique<Asker>(
          slot, 100 + slot, rows_[slot], [seen](Slot peer) { return seen->row(peer); },
          std::move(fabric), &net_));
    }
  }
  static std::size_t bytes_of_row() { return 64 + words_of_two().bytes(); }

  Asker& a() { return *members_[0]; }
  Asker& b() { return *members_[1]; }
  void enter(std::uint64_t id = 1) {
    for (const auto& member : members_) member->ask.enter(view_of(id, 100, 101));
  }
  void run(int passes = 200) {
    for (int i = 0; i < passes; ++i) {
      for (const auto& member : members_) member->pass();
    }
    for (const auto& member : members_) ASSERT_FALSE(member->ask.violation());
  }

  std::array<AlignedRow, 2> rows_{AlignedRow(bytes_of_row()), AlignedRow(bytes_of_row())};
  LandingNet net_;
  std::vector<std::unique_ptr<Asker>> members_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, RequestsTest, ::testing::Range(std::uint64_t{1}, std::uint64_t{9}));

TEST_P(RequestsTest, ArriveWholeAndAreAnswered) {
  enter();
  const std::uint64_t session = a().told.sessions.back();
  EXPECT_EQ(session, b().told.sessions.back());
  EXPECT_EQ(a().write({1}, FrameKind::request, 7, "how many?"), Written::ok);
  run();
  EXPECT_THAT(b().told.requests, ElementsAre(Told::Message{session, 7, "how many?"}));
  EXPECT_EQ(b().write({0}, FrameKind::failed, 7, "nobody counts"), Written::ok);
  b().ask.release({0}, session);
  run();
  EXPECT_THAT(a().told.replies, ElementsAre(Told::Message{session, 7, "nobody counts", true}));
}

TEST_P(RequestsTest, SayForHowLongTheirCallersWait) {
  constexpr std::uint32_t kMost = RequestFrame::kPatienceMax;
  EXPECT_EQ(RequestFrame::patience_ms(0), 1);
  EXPECT_EQ(RequestFrame::patience_ms(1'000'001), 2);
  EXPECT_EQ(RequestFrame::patience_ms(kMost * 1'000'000ULL), kMost);
  EXPECT_EQ(RequestFrame::patience_ms(kMost * 1'000'000ULL + 1), 0);
  EXPECT_EQ(RequestFrame::patience_ms(~0ULL), 0);
  enter();
  const std::uint64_t session = a().told.sessions.back();
  const auto bytes = std::as_bytes(std::span("?", 1));
  EXPECT_EQ(a().ask.write({1}, session, FrameKind::request, 1, bytes, kMost), Written::ok);
  EXPECT_EQ(a().ask.write({1}, session, FrameKind::request, 2, bytes), Written::ok);
  run();
  EXPECT_THAT(b().told.requests, ElementsAre(Told::Message{session, 1, "?", false, kMost},
                                             Told::Message{session, 2, "?", false, 0}));
}

TEST_P(RequestsTest, OfNoBytesArriveToo) {
  enter();
  EXPECT_EQ(a().write({1}, FrameKind::request, 1, ""), Written::ok);
  run();
  EXPECT_THAT(b().told.requests, SizeIs(1));
}

// Sizes of all kinds, so that frames end at the lane's end, and pads are of one granule and more.
TEST_P(RequestsTest, OfAllSizesWrapInOrderInBothDirections) {
  enter();
  Prng random(GetParam());
  std::vector<std::string> asked;
  std::vector<std::string> answered;
  std::size_t handled = 0;
  while (answered.size() < 400) {
    const std::string text(random.one_in(3) ? kAskMax : random.below(200),
                           char('a' + asked.size() % 26));
    if (a().write({1}, FrameKind::request, asked.size() + 1, text) == Written::ok) {
      asked.push_back(text);
    }
    (random.one_in(2) ? a() : b()).pass();
    while (handled < b().told.requests.size()) {
      const Told::Message& request = b().told.requests[handled];
      ASSERT_EQ(request.id, handled + 1);
      ASSERT_EQ(request.text, asked[handled]);
      const std::string reply(random.below(kAskMax), 'r');
      if (b().write({0}, FrameKind::reply, request.id, reply) != Written::ok) break;
      b().ask.release({0}, request.session);
      answered.push_back(reply);
      ++handled;
    }
  }
  run();
  ASSERT_EQ(a().told.replies.size(), answered.size());
  for (std::size_t i = 0; i < answered.size(); ++i) {
    EXPECT_EQ(a().told.replies[i].id, i + 1);
    EXPECT_EQ(a().told.replies[i].text, answered[i]);
  }
}

// RQ4: a slow handler fills the lane of its caller, and not that of replies.
TEST_P(RequestsTest, FillALaneUntilTheyAreReleased) {
  enter();
  std::uint64_t id = 0;
  while (a().write({1}, FrameKind::request, id + 1, std::string(kAskMax, 'x')) == Written::ok) ++id;
  EXPECT_EQ(id, 4);
  run();
  EXPECT_THAT(b().told.requests, SizeIs(4));
  EXPECT_EQ(a().told.spaces, 0);
  EXPECT_EQ(a().write({1}, FrameKind::request, 5, std::string(kAskMax, 'x')), Written::full);
  EXPECT_EQ(b().write({0}, FrameKind::request, 1, "mine"), Written::ok);
  EXPECT_EQ(a().write({1}, FrameKind::reply, 1, "early"), Written::ok);
  run();
  EXPECT_THAT(b().told.replies, SizeIs(1));
  b().ask.release({0}, b().told.sessions.back());
  run();
  EXPECT_GT(a().told.spaces, 0);
  EXPECT_EQ(a().write({1}, FrameKind::request, 5, "small"), Written::ok);
  run();
  EXPECT_THAT(b().told.requests, SizeIs(5));
}

// RQ5.
TEST_P(RequestsTest, RepliesNeedNoRelease) {
  enter();
  for (std::uint64_t id = 1; id <= 40; ++id) {
    ASSERT_EQ(a().write({1}, FrameKind::request, id, "?"), Written::ok);
    run(20);
    ASSERT_EQ(b().write({0}, FrameKind::reply, id, std::string(kAskMax, 'x')), Written::ok);
    b().ask.release({0}, b().told.sessions.back());
    run(200);
  }
  EXPECT_THAT(a().told.replies, SizeIs(40));
}

TEST_P(RequestsTest, LastOverViews) {
  enter();
  ASSERT_EQ(a().write({1}, FrameKind::request, 1, "before"), Written::ok);
  enter(2);
  run();
  EXPECT_THAT(a().told.sessions, SizeIs(1));
  EXPECT_THAT(b().told.requests, SizeIs(1));
}

// The one may install the view long before the other.
TEST_P(RequestsTest, ThatComeBeforeTheViewAreTakenInIt) {
  a().ask.enter(view_of(1, 100, 101));
  ASSERT_EQ(a().write({1}, FrameKind::request, 1, "early"), Written::ok);
  run();
  EXPECT_THAT(b().told.requests, IsEmpty());
  b().ask.enter(view_of(1, 100, 101));
  run();
  EXPECT_THAT(b().told.requests, SizeIs(1));
}

TEST_P(RequestsTest, EndWithAMemberThatEndedInOrderAndDoNotBeginAgain) {
  enter();
  const std::uint64_t session = a().told.sessions.back();
  a().ask.gone({1});
  a().ask.gone({1});
  a().ask.enter(view_of(2, 100, 101));
  EXPECT_THAT(a().told.over, ElementsAre(session));
  EXPECT_THAT(a().told.sessions, SizeIs(1));
  EXPECT_EQ(a().write({1}, FrameKind::request, 1, "?"), Written::gone);
}

TEST_P(RequestsTest, EndWithThisMember) {
  enter();
  a().ask.end();
  a().ask.enter(view_of(2, 100, 999));
  EXPECT_THAT(a().told.over, SizeIs(1));
  EXPECT_THAT(a().told.sessions, SizeIs(1));
}

}  // namespace
}  // namespace tutti::testing
