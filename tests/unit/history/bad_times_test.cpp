/// Hand-made histories of members that are late, loud, or do not stop: V1 to V6.
#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

constexpr std::uint64_t kMs = Story::kMs;

void delay(Story& s, LifeId life, std::uint16_t group, std::uint64_t ms) {
  s.lives[life].events[last_delivery(s, life, group, 5)].time_ns += ms * kMs;
}

TEST(BadTimes, V1LateAfterHealing) {
  expect_rejected(Property::V1,
                  {{"atomic", [](Story& s) { delay(s, kD, kAtomic, 200); }},
                   {"agreed", [](Story& s) { delay(s, kA, kAgreed, 200); }},
                   {"unordered", [](Story& s) { delay(s, kC2, kUnordered, 150); }},
                   {"never at its sender",
                    [](Story& s) {
                      Event send = s.get(kD, EventKind::send, -1, kAtomic);
                      ++send.number;
                      s.insert(kD, s.find(kD, EventKind::send, -1, kAtomic) + 1, send);
                    }},
                   {"never at another", [](Story& s) { erase_last_delivery(s, kC2, kAgreed, 5); }},
                   {"sent before, late after healing", [](Story& s) {
                      Event& heal = s.get(0, EventKind::heal);
                      heal.time_ns =
                          s.lives[kA].events[last_delivery(s, kA, kAgreed, 5)].time_ns + kMs;
                      for (int i = 0; i < 3; ++i)
                        s.get(0, EventKind::heal_core, i).time_ns = heal.time_ns;
                      delay(s, kA, kAgreed, 200);
                    }}});
}

TEST(BadTimes, V2LoudWhenQuiet) {
  expect_rejected(
      Property::V2,
      {{"nulls",
        [](Story& s) {
          s.insert(kA, end_of(s, kA), make_count(EventKind::nulls, {.view = 5}, 1));
        }},
       {"pushes",
        [](Story& s) {
          s.insert(kC2, end_of(s, kC2), make_count(EventKind::data_pushes, {.view = 5}, 1));
        }},
       {"heartbeats", [](Story& s) { s.get(kD, EventKind::heartbeats, 3).number = 100; }},
       {"nulls answer nulls", [](Story& s) { s.get(kA, EventKind::nulls).number = 1000; }},
       {"nulls of one alone",
        [](Story& s) {
          s.insert(kC, end_of(s, kC), make_count(EventKind::nulls, {.view = 2, .group = 9}, 50));
        }},
       {"quiet by its own word", [](Story& s) {
          s.insert(kB, s.find(kB, EventKind::wedge, 2),
                   make_event(EventKind::quiet_begin, {.view = 3}));
          Event null = make_count(EventKind::nulls, {.view = 4}, 1);
          null.time_ns = s.lives[kB].events.back().time_ns + kMs;
          s.insert(kB, end_of(s, kB), null);
        }}});
}

Event at_time(Event event, std::uint64_t time_ns) {
  event.time_ns = time_ns;
  return event;
}

TEST(BadTimes, V3GoesOnWithoutAMajority) {
  expect_rejected(
      Property::V3,
      {{"E does not stop",
        [](Story& s) {
          s.erase_all(kE, EventKind::stopped);
          s.erase_all(kE, EventKind::evicted);
        }},
       {"E stops late",
        [](Story& s) {
          s.get(kE, EventKind::stopped).time_ns += 100 * kMs;
          s.get(kE, EventKind::evicted).time_ns += 100 * kMs;
        }},
       {"E delivers after it stopped",
        [](Story& s) {
          deliver_more(s, kE, kAtomic, 2);
          s.move(kE, last_delivery(s, kE, kAtomic, 2), end_of(s, kE) - 1);
        }},
       {"E is told of a delivery after it stopped",
        [](Story& s) {
          s.insert(kE, end_of(s, kE), make_send_ok({.view = 2, .group = kAtomic}, Ticket{1}));
        }},
       {"E installs a view after it stopped", [](Story& s) { copy_install(s, kA, 2, kE); }},
       {"A had lost it",
        [](Story& s) {
          const std::uint64_t heal_ns = s.get(0, EventKind::heal).time_ns;
          s.note_harness(make_fault(EventKind::fault_begin, {}, FaultKind::minority, 0));
          s.get(0, EventKind::fault_begin, -1).time_ns = heal_ns - 60 * kMs;
        }},
       {"A delivers long after", [](Story& s) {
          s.note_harness(make_fault(EventKind::fault_begin, {}, FaultKind::minority, 0));
          Event& fault = s.get(0, EventKind::fault_begin, -1);
          fault.time_ns = s.get(0, EventKind::heal).time_ns + kMs;
          s.insert(
              kA, end_of(s, kA),
              at_time(make_stopped({.view = 5}, StopReason::minority), fault.time_ns + 2 * kMs));
          delay(s, kA, kAtomic, 300);
        }}});
}

TEST(BadTimes, V4DoesNotStopInTime) {
  expect_rejected(
      Property::V4,
      {{"B has left and goes on for ever", [](Story& s) { s.erase_all(kB, EventKind::stopped); }},
       {"B leaves too slowly",
        [](Story& s) { s.get(kB, EventKind::stopped).time_ns += 100 * kMs; }},
       {"E is evicted and goes on for ever", [](Story& s) { s.erase_all(kE, EventKind::stopped); }},
       {"A never leaves",
        [](Story& s) {
          s.insert(kA, s.find(kA, EventKind::heartbeats),
                   make_event(EventKind::leave, {.view = 5}));
        }},
       {"B delivers after it stopped",
        [](Story& s) { s.move(kB, last_delivery(s, kB, kAgreed, 4), end_of(s, kB) - 1); }},
       {"B installs a view after it stopped", [](Story& s) { copy_install(s, kA, 4, kB); }}});
}

/// A doorbell to the life is lost just before its last delivery of the group, of `sender`'s
/// message.
void lose_doorbell(Story& s, LifeId life, std::uint16_t group) {
  const Event& last = s.lives[life].events[last_delivery(s, life, group, 5)];
  Event fault =
      make_fault(EventKind::fault_begin, {}, FaultKind::doorbell_lost, s.lives[life].identity.node);
  s.insert(0, end_of(s, 0), at_time(fault, last.time_ns));
  delay(s, life, group, 50);
}

TEST(BadTimes, V5ALostDoorbellStalls) {
  expect_rejected(Property::V5,
                  {{"late", [](Story& s) { delay(s, kD, kAtomic, 50); }},
                   {"never", [](Story& s) { erase_last_delivery(s, kD, kAtomic, 5); }},
                   {"A, agreed", [](Story& s) { lose_doorbell(s, kA, kAgreed); }},
                   {"C2, unordered", [](Story& s) { lose_doorbell(s, kC2, kUnordered); }},
                   {"A, atomic", [](Story& s) { lose_doorbell(s, kA, kAtomic); }}});
}

/// A short pause of node 3 that ends just before that view is installed by A. Who left in view 5
/// was removed.
void pause_before(Story& s, int nth) {
  for_all(
      s, EventKind::view_left, [](const Event& e) { return e.view == 5; },
      [](Event& e) { e.detail = static_cast<std::uint8_t>(LeftReason::suspected); });
  const std::uint64_t at_ns = s.get(kA, EventKind::install, nth).time_ns;
  for (const auto& [kind, before] :
       {std::pair(EventKind::fault_begin, 8), std::pair(EventKind::fault_end, 1)}) {
    s.insert(0, end_of(s, 0),
             at_time(make_fault(kind, {}, FaultKind::pause, 3),
                     at_ns - static_cast<std::uint64_t>(before) * kMs));
  }
}

TEST(BadTimes, V6PausesAndViews) {
  expect_rejected(
      Property::V6,
      {{"a short one removes another", [](Story& s) { pause_before(s, 4); }},
       {"a short one is suspected",
        [](Story& s) {
          const std::uint64_t at_ns = s.get(0, EventKind::fault_begin, 2).time_ns + kMs;
          s.insert(kA, s.find(kA, EventKind::wedge, 2),
                   at_time(make_suspect({.view = 3}, s.ref(kD), SuspectReason::heartbeat), at_ns));
        }},
       {"a long one removes nobody",
        [](Story& s) {
          s.options.pause_harmless_ns = 0;
          s.options.pause_fatal_ns = 5 * kMs;
        }},
       {"a short one removes it",
        [](Story& s) {
          pause_before(s, 4);
          for_all(
              s, EventKind::view_left, [](const Event& e) { return e.view == 5; },
              [&](Event& e) {
                e.peer = 3;
                e.number = s.ref(kD).incarnation;
              });
        }},
       {"a long one removes another", [](Story& s) {
          s.options.pause_harmless_ns = 0;
          s.options.pause_fatal_ns = 5 * kMs;
          pause_before(s, 4);
        }}});
}

void long_pause(Story& s) {
  s.options.pause_harmless_ns = 0;
  s.options.pause_fatal_ns = 5 * kMs;
}

TEST(BadTimes, V6LossesThatFollowAPauseDoNotExcuseIt) {
  Story story = good_story();
  long_pause(story);
  const std::uint64_t begin_ns = story.get(0, EventKind::fault_begin, 2).time_ns;
  story.insert(
      0, end_of(story, 0),
      at_time(make_fault(EventKind::fault_begin, {}, FaultKind::lost, 3, 0), begin_ns + kMs));
  EXPECT_TRUE(story.check().found(Property::V6));
}

TEST(BadTimes, V6WhoHasNotLivedThroughThePauseIsNotMissed) {
  Story story = good_story();
  long_pause(story);
  const std::uint64_t end_ns = story.get(0, EventKind::fault_end, 2).time_ns;
  std::erase_if(story.lives[kD].events, [&](const Event& e) { return e.time_ns >= end_ns; });
  EXPECT_FALSE(story.check().found(Property::V6));
}

}  // namespace
}  // namespace tutti::history::testing
