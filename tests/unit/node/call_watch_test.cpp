/// Which calls a person is told of, where groups come and go.
#include "node/call_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kSecond = 1'000'000'000;

class CallsThatComeAndGo : public ::testing::Test {
 protected:
  static CallWatch::Passing handler(const std::shared_ptr<CallMark>& mark) {
    return {mark, "a handler", "others wait"};
  }

  std::vector<std::string> told;
  LogCallback log = [this](LogLevel, std::string_view text) { told.emplace_back(text); };
  CallWatch watch{1s, log};
  std::shared_ptr<CallMark> mark = std::make_shared<CallMark>();
};

TEST_F(CallsThatComeAndGo, AreToldOfFromTheLookAfterTheyCame) {
  watch.exchange(1, {handler(mark)});
  EXPECT_EQ(watch.version(), 1U);
  mark->begin();
  EXPECT_EQ(watch.going_on(), "a handler");
  watch.look(1 * kSecond);
  watch.look(3 * kSecond);
  EXPECT_THAT(told, ElementsAre("a handler has been running for 2.000 s; others wait"));
  mark->end();
}

TEST_F(CallsThatComeAndGo, AreTheSameWhileTheyAreThere) {
  mark->begin();
  watch.exchange(1, {handler(mark)});
  watch.look(1 * kSecond);
  watch.exchange(2, {handler(std::make_shared<CallMark>()), handler(mark)});
  watch.look(3 * kSecond);
  EXPECT_THAT(told, ElementsAre("a handler has been running for 2.000 s; others wait"));
  mark->end();
}

TEST_F(CallsThatComeAndGo, AreLetGoOf) {
  CallMark stays;
  watch.add(stays, "the view callback", "nothing is delivered");
  watch.exchange(1, {handler(mark)});
  const std::weak_ptr<CallMark> gone = mark;
  mark->begin();
  mark.reset();
  EXPECT_FALSE(gone.expired());
  watch.exchange(2, {});
  EXPECT_TRUE(gone.expired());
  EXPECT_THAT(watch.going_on(), IsEmpty());
  stays.begin();
  EXPECT_EQ(watch.going_on(), "the view callback");
  stays.end();
}

}  // namespace
}  // namespace tutti
