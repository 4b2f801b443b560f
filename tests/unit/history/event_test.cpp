#include "history/event.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "history/make_event.hpp"
#include "history/text.hpp"
#include "unit/history/files.hpp"

namespace tutti::history::testing {
namespace {

TEST(Event, LiesAsTheFormatSays) {
  EXPECT_EQ(offsetof(Event, kind), 0U);
  EXPECT_EQ(offsetof(Event, detail), 1U);
  EXPECT_EQ(offsetof(Event, node), 2U);
  EXPECT_EQ(offsetof(Event, group), 4U);
  EXPECT_EQ(offsetof(Event, peer), 6U);
  EXPECT_EQ(offsetof(Event, incarnation), 8U);
  EXPECT_EQ(offsetof(Event, view), 16U);
  EXPECT_EQ(offsetof(Event, time_ns), 24U);
  EXPECT_EQ(offsetof(Event, number), 32U);
  EXPECT_EQ(offsetof(Event, position), 40U);
  EXPECT_EQ(offsetof(Event, peer_incarnation), 48U);
  EXPECT_EQ(offsetof(Event, length), 52U);
  EXPECT_EQ(offsetof(Event, crc), 56U);
  EXPECT_EQ(offsetof(Event, extra), 60U);
}

TEST(Event, DeliverCarriesItsSendView) {
  for (const std::uint64_t late : {0, 1, 5, 63}) {
    Delivery delivery;
    delivery.level = Level::agreed;
    delivery.send_view = 100 - late;
    const Event event = make_deliver({.view = 100, .time_ns = 0, .group = 0}, delivery);
    EXPECT_EQ(send_view(event), 100 - late);
    EXPECT_EQ(event.detail & 3, static_cast<int>(Level::agreed));
  }
}

TEST(Event, LateBeyondMeasureIsTheMost) {
  Delivery delivery;
  delivery.send_view = 1;
  EXPECT_EQ(send_view(make_deliver({.view = 100, .time_ns = 0, .group = 0}, delivery)), 37U);
}

TEST(EventText, NamesWhatMatters) {
  Delivery delivery;
  delivery.sender = {.node = 2, .incarnation = 0x1f3a};
  delivery.ticket = Ticket{5};
  delivery.ordinal = SeqNo{17};
  delivery.length = 64;
  delivery.crc = 0xabc;
  delivery.send_view = 3;
  const std::string text =
      to_string(make_deliver({.view = 3, .time_ns = 1'500'000'000, .group = 4}, delivery));
  EXPECT_EQ(text,
            "deliver of group 4 in view 3 at 1.500000 s: ordinal 17 is ticket 5 of 2:1f3a sent in "
            "view 3, round 0, 64 bytes, crc abc, atomic");
  EXPECT_EQ(to_string(make_view_left({.view = 2, .time_ns = 0, .group = 0}, {1, 0xa},
                                     LeftReason::suspected)),
            "view_left of group 0 in view 2 at 0.000000 s: 1:a, suspected");
}

TEST(EventText, AnyBytesHaveSome) {
  Prng random(1);
  for (int i = 0; i < 10'000; ++i) {
    Event event = random_event(random);
    event.kind = static_cast<EventKind>(random.below(256));
    EXPECT_FALSE(to_string(event).empty());
  }
}

}  // namespace
}  // namespace tutti::history::testing
