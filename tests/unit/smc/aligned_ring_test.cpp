/// \file aligned_ring_test.cpp
/// A ring whose records' data is aligned (SR5): where they lie, and that readers see no difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "base/prng.hpp"
#include "multicast/ring_cursor.hpp"
#include "smc/send_ring.hpp"
#include "sst/memory.hpp"

namespace tutti::testing {
namespace {

using Outcome = SendRing::Outcome;

/// A ring that begins a granule before an aligned address.
struct AlignedRing {
  AlignedRing(std::uint32_t granule_count, std::uint32_t records, std::uint32_t unit)
      : granules(granule_count),
        alignment(unit),
        bytes((1 + (granule_count * kGranule + kPage - 1) / kPage) * kPage),
        memory(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)), &std::free),
        begin(memory.get() + alignment - kGranule),
        ring(begin, granule_count, records, alignment) {
    std::memset(memory.get(), 0, bytes);
  }
  [[nodiscard]] bool is_aligned(const SendRing::Space& space) const {
    return reinterpret_cast<std::uintptr_t>(space.payload) % alignment == 0;
  }

  static constexpr std::size_t kPage = 4096;

  std::uint32_t granules;
  std::uint32_t alignment;
  std::size_t bytes;  // whole pages, as aligned_alloc wants them
  std::unique_ptr<std::byte, void (*)(void*)> memory;
  std::byte* begin;
  SendRing ring;
};

// R6: its space is that of its data, whatever its length field says.
TEST(AlignedRing, IsWalkedOverTicksAsOverOtherRecords) {
  for (const std::uint32_t unit : {8U, 64U}) {
    AlignedRing fixture(512, 16, unit);
    SendRing::Space message;
    SendRing::Space tick;
    ASSERT_EQ(fixture.ring.claim(8, message), Outcome::ok);
    fixture.ring.commit(message);
    ASSERT_EQ(fixture.ring.claim(kTickBytes, tick), Outcome::ok);
    fixture.ring.commit_tick(tick);
    ASSERT_EQ(fixture.ring.claim(8, message), Outcome::ok);
    fixture.ring.commit(message);
    EXPECT_EQ(fixture.ring.take(1 << 20).count, 3U);
    const NativeMemory memory;
    RingWalk walk(memory, RingExtent{fixture.begin, 512, 8}, RingCursor{}, 1);
    EXPECT_EQ(walk.pass_run(3), 1U) << "up to the tick";
    ASSERT_TRUE(walk.look() && walk.pass());
    EXPECT_EQ(walk.cursor().messages, 2U) << "it is delivered, and has a number";
    ASSERT_TRUE(walk.look() && walk.pass());
    EXPECT_EQ(walk.cursor().records, 3U);
    EXPECT_EQ(walk.cursor().offset, message.end);
    fixture.ring.release(3);
    EXPECT_EQ(fixture.ring.released(), 3U);
    EXPECT_EQ(fixture.ring.rebase(3, 2), message.end);
  }
}

TEST(AlignedRing, PadsWhatARecordLeavesOfItsUnits) {
  AlignedRing fixture(512, 16, 64);
  SendRing::Space first;
  SendRing::Space second;
  SendRing::Space third;
  ASSERT_EQ(fixture.ring.claim(56, first), Outcome::ok) << "exactly a unit, with its header";
  ASSERT_EQ(fixture.ring.claim(57, second), Outcome::ok);
  ASSERT_EQ(fixture.ring.claim(0, third), Outcome::ok);
  EXPECT_TRUE(fixture.is_aligned(first) && fixture.is_aligned(second) && fixture.is_aligned(third));
  EXPECT_EQ(second.payload - first.payload, 64);
  EXPECT_EQ(third.payload - second.payload, 128);
  EXPECT_EQ(second.end, 8U + 9U) << "its pad goes with the next record";
  const auto header = unpack_header(NativeMemory::load(fixture.begin + second.end * kGranule));
  EXPECT_EQ(header.length_and_flags, kPadBit | 7U);
}

TEST(AlignedRing, GivesUpWholeUnitsOfAShorterMessage) {
  AlignedRing fixture(512, 16, 64);
  SendRing::Space claimed;
  SendRing::Space next;
  ASSERT_EQ(fixture.ring.claim(300, claimed), Outcome::ok);
  fixture.ring.commit(fixture.ring.shrink(claimed, 100));
  ASSERT_EQ(fixture.ring.claim(8, next), Outcome::ok);
  EXPECT_EQ(next.payload - claimed.payload, 128);
}

TEST(AlignedRing, ReturnsWholeUnitsToLaterClaims) {
  AlignedRing fixture(64, 16, 128);
  SendRing::Space space;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(fixture.ring.has_space_for(8));
    ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
    fixture.ring.commit(space);
  }
  EXPECT_FALSE(fixture.ring.has_space_for(0));
  EXPECT_EQ(fixture.ring.claim(0, space), Outcome::full);
  ASSERT_EQ(fixture.ring.take(1 << 20).count, 4U);
  fixture.ring.release(2);
  EXPECT_EQ(fixture.ring.claim(8, space), Outcome::ok);
  EXPECT_TRUE(fixture.is_aligned(space));
}

// As Shrink.LeavesARingThatCanBeWalked, with each record on its alignment, also after a wrap, and
// behind claims of which only a part was used.
TEST(AlignedRing, CanBeWalkedAsAnyOther) {
  struct Open {
    SendRing::Space space{};
    std::uint32_t claimed = 0;
    std::uint32_t used = 0;
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    AlignedRing fixture(1024, 16, 16U << seed % 7);
    std::deque<Open> open;
    std::deque<std::uint32_t> sent;  // the sizes of what is committed and not released
    RingCursor cursor{};
    for (int step = 0; step < 400; ++step) {
      Open one{.claimed = static_cast<std::uint32_t>(random.below(1500))};
      one.used = random.one_in(2) ? one.claimed
                                  : static_cast<std::uint32_t>(random.below(one.claimed + 1));
      if (open.size() < 3 && fixture.ring.claim(one.claimed, one.space) == Outcome::ok) {
        ASSERT_TRUE(fixture.is_aligned(one.space));
        open.push_back(one);
      }
      if (!open.empty() && (open.size() == 3 || random.one_in(2))) {
        fixture.ring.commit(fixture.ring.shrink(open.front().space, open.front().used));
        sent.push_back(open.front().used);
        open.pop_front();
      }
      const SendRing::Batch batch = fixture.ring.take(1 << 20);
      RingWalk<NativeMemory> walk(NativeMemory{},
                                  {.ring = fixture.begin, .granules = fixture.granules}, cursor, 1);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        ASSERT_TRUE(walk.look() && walk.pass());
      }
      cursor = walk.cursor();
      ASSERT_EQ(cursor.offset, batch.end % fixture.granules);
      if (random.one_in(3)) fixture.ring.release(fixture.ring.taken());
    }
    EXPECT_GT(sent.size(), 50U);
  }
}

}  // namespace
}  // namespace tutti::testing
