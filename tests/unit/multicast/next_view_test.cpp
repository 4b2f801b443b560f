/// Members come from view k - 2 into view k, or from view k into view k + 2, whose words lie in the
/// same block, while one that is in view k reads them: L3, I6.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/effort.hpp"
#include "support/landing_memory.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kView = 3;

// What the owner of a block does between view k - 2 and its first words of view k, as
// GroupSeat::clear_block and open_block do.
void come_from_two_views_ago(ForgedTable& table, std::uint32_t member) {
  table.epoch(member, 0);
  for (std::uint32_t s = 0; s < 3; ++s) table.received(member, s, 0);
  table.delivered(member, 0);
  table.epoch(member, kView);
}

void say_all_five(ForgedTable& table, std::uint32_t member) {
  for (std::uint32_t s = 0; s < 3; ++s) table.received(member, s, 5);
  table.delivered(member, 15);
}

// The same between views k and k + 2, in which it soon says a lot.
void go_two_views_on(ForgedTable& table, std::uint32_t member) {
  table.epoch(member, 0);
  table.epoch(member, kView + 2);
  say_all_five(table, member);
}

// Of three members the first is in view 3, and the last has received and delivered its five
// rounds. The other one says so in another view only: in view 1, from which it comes into view 3
// before one of the first one's loads, or in view 5, into which it goes then from view 3.
enum class From : std::uint8_t { two_views_ago, this_view };

class NextView final : private BetweenLoads {
 public:
  NextView(From from, std::uint64_t at_load) : from_(from), at_load_(at_load) {
    table_.epoch(2, kView);
    say_all_five(table_, 2);
    table_.epoch(1, from == From::this_view ? kView : kView - 2);
    if (from == From::two_views_ago) say_all_five(table_, 1);
    table_.epoch(0, kView);
    GroupShape shape = table_.shape(0);
    shape.view = kView;
    SendRing ring(shape.own_ring, shape.ring_granules, shape.window_records);
    Bounds bounds(shape.senders());
    MulticastCounters counters;
    Multicast<LandingMemory> multicast(shape, {this, Slot{0}}, &ring, bounds, counters);
    SendRing::Space space;
    for (int i = 0; i < 5; ++i) {
      if (ring.claim(8, space) == SendRing::Outcome::ok) ring.commit(space);
    }
    Outbox out;
    multicast.step(out);
    multicast.set_delivered(15);
    multicast.step(out);
    stable = bounds.get(SenderIndex{0}).stable;
    released = ring.released();
  }

  [[nodiscard]] bool over() const { return loads_ <= at_load_; }
  std::uint64_t stable = 0;
  std::uint64_t released = 0;

 private:
  void before_load(Slot /*reader*/) override {
    if (loads_++ != at_load_) return;
    if (from_ == From::two_views_ago) come_from_two_views_ago(table_, 1);
    if (from_ == From::this_view) go_two_views_on(table_, 1);
  }

  const From from_;
  const std::uint64_t at_load_;
  std::uint64_t loads_ = 0;
  ForgedTable table_{{}};
};

void move_on_before_each_load(From from) {
  std::uint64_t at = 0;
  for (;; ++at) {
    const NextView world(from, at);
    ASSERT_EQ(world.stable, 0U) << "it moved on before load " << at;
    ASSERT_EQ(world.released, 0U) << "it moved on before load " << at;
    if (world.over()) break;
  }
  EXPECT_GT(at, 10U) << "so many loads there were to come between";
}

TEST(NextView, WordsOfTwoViewsAgoNeverCountWheneverTheirOwnerMovesOn) {
  move_on_before_each_load(From::two_views_ago);
}

TEST(NextView, WordsOfTwoViewsOnNeverCountWheneverTheirOwnerMovesOn) {
  move_on_before_each_load(From::this_view);
}

// The same with a thread that moves on, again and again, and one that reads: over shared memory.
TEST(NextView, WordsOfTwoViewsAgoNeverCountWhileAnotherThreadMovesOn) {
  constexpr std::uint64_t kChanges = 30'000;
  ForgedTable table({});
  std::atomic<std::uint64_t> forged{0};  // so many changes of view are prepared
  std::atomic<std::uint64_t> moved{0};   // and over
  const auto wait = [](const std::atomic<std::uint64_t>& turn, std::uint64_t change) {
    while (turn.load(std::memory_order_acquire) < change) std::this_thread::yield();
  };
  const std::jthread owner([&] {
    for (std::uint64_t change = 1; change <= kChanges; ++change) {
      wait(forged, change);
      if (forged.load() > kChanges) return;
      come_from_two_views_ago(table, 1);
      moved.store(change, std::memory_order_release);
    }
  });
  table.epoch(0, kView);
  table.epoch(2, kView);
  table.sent(2, {.records = 5, .rounds = 5});
  table.received(2, 2, 5);
  std::uint64_t wrong = 0;
  const Effort effort;
  for (std::uint64_t change = 1; change <= kChanges && !effort.spent(); ++change) {
    table.epoch(1, kView - 2);
    table.received(1, 2, 5);
    table.received(0, 2, 0);
    ForgedMember member(table, 0, kView);
    forged.store(change, std::memory_order_release);
    for (bool last = false; !last;) {
      last = moved.load(std::memory_order_acquire) == change;
      member.step();
    }
    if (member.bounds(2).stable != 0) ++wrong;
  }
  forged.store(kChanges + 1, std::memory_order_release);
  EXPECT_EQ(wrong, 0U) << "of at most " << kChanges << " changes of view";
}

}  // namespace
}  // namespace tutti::testing
