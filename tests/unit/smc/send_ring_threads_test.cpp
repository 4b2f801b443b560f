/// Threads that claim, fill and commit while another takes and releases; meant for ThreadSanitizer
/// too.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "support/effort.hpp"
#include "support/payload.hpp"
#include "unit/smc/ring_fixture.hpp"

namespace tutti::testing {
namespace {

using Outcome = SendRing::Outcome;

// A message of a thread: 16 bytes that say which one it is, then contents made from that.
struct Mark {
  std::uint64_t thread;
  std::uint64_t number;
};

std::uint32_t size_of(const Mark& mark, std::uint32_t max) {
  std::uint64_t state = payload_seed(1, static_cast<std::uint32_t>(mark.thread), mark.number);
  return static_cast<std::uint32_t>(sizeof mark + splitmix64(state) % (max - sizeof mark + 1));
}

void fill(std::byte* payload, std::uint32_t size, const Mark& mark) {
  std::memcpy(payload, &mark, sizeof mark);
  fill_payload({payload + sizeof mark, size - sizeof mark},
               payload_seed(2, static_cast<std::uint32_t>(mark.thread), mark.number));
}

/// The predicate thread's side: checks all that comes and releases it, some of it late.
class Taker {
 public:
  Taker(RingFixture& fixture, std::uint32_t threads, std::uint32_t max_bytes)
      : fixture_(fixture), next_(threads), max_bytes_(max_bytes) {}

  /// Returns false when nothing was ready.
  bool turn() {
    const SendRing::Batch batch = fixture_.take();
    if (batch.count != 0) pending_.push_back(batch);
    if (!pending_.empty() && (batch.count == 0 || random_.one_in(2))) {
      check(pending_.front());
      fixture_.ring.release(pending_.front().first + pending_.front().count);
      pending_.erase(pending_.begin());
    }
    return batch.count != 0;
  }

  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void check(const SendRing::Batch& batch) {
    std::uint32_t records = 0;
    const std::uint32_t length = batch.end - batch.begin;
    for (std::uint32_t at = batch.begin; at - batch.begin < length && wrong_ == 0;) {
      const RecordHeader header = fixture_.header_at(at);
      if (header.pad()) {
        at += fixture_.granules - at % fixture_.granules;
        continue;
      }
      ++records;
      check_record(header, at % fixture_.granules);
      at += record_granules(header.length());
    }
    if (wrong_ == 0 && records != batch.count) ++wrong_;
  }

  void check_record(RecordHeader header, std::uint32_t granule) {
    const std::byte* payload = fixture_.memory.data() + (granule + 1) * kGranule;
    const std::uint32_t size = header.length();
    if (size < sizeof(Mark) || granule + record_granules(size) > fixture_.granules) {
      ++wrong_;
      return;
    }
    Mark mark{};
    std::memcpy(&mark, payload, sizeof mark);
    if (mark.thread >= next_.size() || mark.number != next_[mark.thread]++ ||
        size != size_of(mark, max_bytes_) ||
        !payload_is({payload + sizeof mark, size - sizeof mark},
                    payload_seed(2, static_cast<std::uint32_t>(mark.thread), mark.number))) {
      ++wrong_;
    }
    ++messages_;
  }

  RingFixture& fixture_;
  std::vector<std::uint64_t> next_;  // by thread: which message must come next
  std::uint32_t max_bytes_;
  std::vector<SendRing::Batch> pending_;  // taken, not released
  Prng random_{1};
  std::uint64_t messages_ = 0;
  std::uint64_t wrong_ = 0;
};

// Sends `count` messages, or until the ring is closed; returns how many were granted.
std::uint64_t send_many(RingFixture& fixture, std::uint64_t thread, std::uint64_t count,
                        std::uint32_t max_bytes, const std::atomic<bool>& give_up,
                        std::uint64_t yield_one_in = 1) {
  Prng random(thread);
  for (std::uint64_t number = 0; number < count && !give_up.load(); ++number) {
    const Mark mark{thread, number};
    const std::uint32_t size = size_of(mark, max_bytes);
    SendRing::Space space;
    Outcome outcome = Outcome::full;
    while (outcome == Outcome::full && !give_up.load()) {
      outcome = fixture.ring.claim(size, space);
      if (outcome == Outcome::full && random.one_in(yield_one_in)) sched_yield();
    }
    if (outcome != Outcome::ok) return number;
    fill(space.payload, size, mark);
    if (random.one_in(50)) sched_yield();  // a commit that is late
    fixture.ring.commit(space);
  }
  return count;
}

struct Load {
  std::uint32_t threads;
  std::uint32_t granules;
  std::uint32_t records;
  std::uint32_t max_bytes;
  std::uint64_t messages;  // per thread
};

void run(const Load& load) {
  RingFixture fixture(load.granules, load.records);
  Taker taker(fixture, load.threads, load.max_bytes);
  std::atomic<bool> give_up{false};
  std::vector<std::thread> threads;
  threads.reserve(load.threads);
  for (std::uint32_t thread = 0; thread < load.threads; ++thread) {
    threads.emplace_back(
        [&, thread] { send_many(fixture, thread, load.messages, load.max_bytes, give_up); });
  }
  const std::uint64_t all = load.threads * load.messages;
  const Effort effort;
  while (taker.messages() < all && taker.wrong() == 0 && !effort.spent()) {
    if (!taker.turn()) sched_yield();
  }
  give_up.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taker.wrong(), 0U) << "after " << taker.messages() << " messages";
}

TEST(SendRingThreads, OneThreadSendsWhileAnotherTakes) {
  run({.threads = 1, .granules = 256, .records = 16, .max_bytes = 256, .messages = 50'000});
}

TEST(SendRingThreads, ManyThreadsSendWithAWindowOfRecords) {
  run({.threads = 4, .granules = 1024, .records = 8, .max_bytes = 128, .messages = 20'000});
}

TEST(SendRingThreads, ManyThreadsSendInLittleSpace) {
  run({.threads = 8, .granules = 64, .records = 1024, .max_bytes = 120, .messages = 10'000});
}

// A signal holds up the thread it interrupts, at whatever instruction, until it is let go.
std::atomic<bool> g_held{false};
std::atomic<bool> g_let_go{false};

void hold_up(int) {
  g_held.store(true);
  while (!g_let_go.load()) sched_yield();
  g_held.store(false);
}

// Lets the others send more than the ring holds, if they can, and then fill it up.
void lap(Taker& taker) {
  constexpr std::uint64_t kLap = 64;  // messages of several granules
  constexpr int kTurns = 300;
  const std::uint64_t enough = taker.messages() + kLap;
  for (int turn = 0; turn < kTurns && taker.messages() < enough; ++turn) {
    if (!taker.turn()) sched_yield();
  }
  for (int turn = 0; turn < kTurns / 10; ++turn) sched_yield();
}

// SR3 for a thread that is held up between its look at what is released and its claim, while others
// claim more than the whole ring. ThreadSanitizer delivers signals elsewhere; then this finds less.
TEST(SendRingThreads, ClaimsNoSpaceInUseHoweverLongItIsHeldUp) {
  constexpr std::uint32_t kMaxBytes = 40;
  constexpr int kHoldUps = 3'000;
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = hold_up;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  RingFixture fixture(64, 1024);
  Taker taker(fixture, 2, kMaxBytes);
  std::atomic<bool> give_up{false};
  std::vector<std::thread> threads;
  for (const std::uint64_t thread : {0, 1}) {
    threads.emplace_back([&, thread] {
      send_many(fixture, thread, 1 << 30, kMaxBytes, give_up, thread == 0 ? 1U << 30 : 1);
    });
  }
  const Effort effort;
  for (int i = 0; i < kHoldUps && taker.wrong() == 0 && !effort.spent(); ++i) {
    g_let_go.store(false);
    pthread_kill(threads[0].native_handle(), SIGUSR1);
    // ThreadSanitizer puts the signal off until the thread fills a message: that needs space.
    while (!g_held.load()) {
      if (!taker.turn()) sched_yield();
    }
    lap(taker);
    g_let_go.store(true);
    while (g_held.load()) sched_yield();
    for (int turn = 0; turn < 20; ++turn) sched_yield();
    for (int turn = 0; turn < 20; ++turn) taker.turn();
  }
  give_up.store(true);
  for (std::thread& thread : threads) thread.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(taker.wrong(), 0U) << "after " << taker.messages() << " messages";
}

// SR4.
TEST(SendRingThreads, TakesExactlyWhatWasGrantedBeforeClose) {
  constexpr std::uint32_t kThreads = 3;
  constexpr std::uint32_t kMaxBytes = 100;
  const Effort effort;
  for (std::uint64_t seed = 1; seed <= 50 && !effort.spent(); ++seed) {
    SCOPED_TRACE(seed);
    RingFixture fixture(256, 64);
    Taker taker(fixture, kThreads, kMaxBytes);
    std::atomic<bool> give_up{false};
    std::array<std::uint64_t, kThreads> granted{};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        granted[thread] = send_many(fixture, thread, 1'000'000, kMaxBytes, give_up);
      });
    }
    const std::uint64_t until = Prng(seed).below(1000);
    while (taker.messages() < until) taker.turn();
    std::thread closer([&] { fixture.ring.close(); });
    while (!fixture.ring.closed_and_empty() || !taker.empty()) {
      if (!taker.turn()) sched_yield();
    }
    closer.join();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taker.messages(), granted[0] + granted[1] + granted[2]);
    EXPECT_EQ(taker.wrong(), 0U);
  }
}

// The ring passes from owner to owner until two want it at the same time (ClaimBias).
TEST(SendRingThreads, PassesFromItsFirstThreadToManyAtAnyMoment) {
  const Effort effort;
  for (std::uint64_t seed = 1; seed <= 100 && !effort.spent(); ++seed) {
    SCOPED_TRACE(seed);
    RingFixture fixture(256, 64);
    Taker taker(fixture, 3, 64);
    std::atomic<bool> give_up{false};
    std::vector<std::thread> threads;
    const std::uint64_t second_at = Prng(seed).below(400);
    threads.emplace_back([&] { send_many(fixture, 0, 500, 64, give_up); });
    while (taker.messages() < second_at) taker.turn();
    for (const std::uint64_t thread : {1, 2}) {
      threads.emplace_back([&, thread] { send_many(fixture, thread, 500, 64, give_up); });
    }
    while (taker.messages() < 1500 && taker.wrong() == 0) {
      if (!taker.turn()) sched_yield();
    }
    give_up.store(true);
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(taker.wrong(), 0U);
  }
}

}  // namespace
}  // namespace tutti::testing
