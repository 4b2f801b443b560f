#include "fabric/sleeper.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <thread>

namespace tutti {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

// Longer than the watchdog of the tests: a sleep that was not woken fails by that.
constexpr auto kPastTheWatchdog = 1h;

TEST(Sleeper, ReturnsAtOnceIfItWasWokenBefore) {
  const auto sleeper = Sleeper::create().value();
  sleeper->wake();
  sleeper->sleep(kPastTheWatchdog);
  sleeper->wake();
  sleeper->wake();
  sleeper->sleep(kPastTheWatchdog);
}

TEST(Sleeper, ReturnsAfterItsTimeOut) {
  const auto sleeper = Sleeper::create().value();
  const auto start = steady_clock::now();
  sleeper->sleep(5ms);
  EXPECT_GE(steady_clock::now() - start, 5ms);
}

TEST(Sleeper, DoesNotSleepWithoutATimeOut) {
  const auto sleeper = Sleeper::create().value();
  sleeper->sleep(0ns);
  sleeper->sleep(-1s);
}

TEST(Sleeper, ForgetsAWakeItHasReturnedFor) {
  const auto sleeper = Sleeper::create().value();
  sleeper->wake();
  sleeper->sleep(kPastTheWatchdog);
  const auto start = steady_clock::now();
  sleeper->sleep(5ms);
  EXPECT_GE(steady_clock::now() - start, 5ms);
}

TEST(Sleeper, KeepsAWakeThatAPolledContextHasSeen) {
  const auto sleeper = Sleeper::create().value();
  sleeper->wake();
  while (sleeper->context().poll() == 0) {  // as a fabric does that looks after its sockets
  }
  sleeper->sleep(kPastTheWatchdog);
}

TEST(Sleeper, IsWokenThroughItsDescriptorAsByAnotherProcess) {
  const auto sleeper = Sleeper::create().value();
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(sleeper->doorbell_fd(), &one, sizeof one), ssize_t{sizeof one});
  sleeper->sleep(kPastTheWatchdog);
}

TEST(Sleeper, IsWokenEachTimeByAnotherThread) {
  const auto ping = Sleeper::create().value();
  const auto pong = Sleeper::create().value();
  constexpr int kRounds = 500;
  std::atomic<int> answered = 0;
  std::thread other([&] {
    for (int round = 1; round <= kRounds; ++round) {
      ping->sleep(kPastTheWatchdog);
      answered = round;
      pong->wake();
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    ping->wake();
    pong->sleep(kPastTheWatchdog);
    ASSERT_EQ(answered, round);
  }
  other.join();
}

}  // namespace
}  // namespace tutti
