/// Hand-made histories with writes that should have been fenced, zombies, and waste: F1 to F3, B1.
#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

void write_at_end(Story& s, LifeId to, LifeId from, std::uint64_t epoch, WriteClass what) {
  const Write write{.source = s.ref(from), .epoch = epoch, .offset = 0, .length = 8, .what = what};
  s.insert(to, end_of(s, to), make_write(EventKind::write_landed, {.view = 5}, write));
}

TEST(BadBounds, F1WritesThatShouldNotLand) {
  expect_rejected(
      Property::F1,
      {{"of the view before", [](Story& s) { write_at_end(s, kA, kD, 4, WriteClass::row); }},
       {"of the first view", [](Story& s) { write_at_end(s, kC2, kA, 1, WriteClass::row); }},
       {"of one that left", [](Story& s) { write_at_end(s, kA, kB, 5, WriteClass::row); }},
       {"of one that crashed", [](Story& s) { write_at_end(s, kD, kC, 5, WriteClass::row); }},
       {"what was rejected",
        [](Story& s) { s.get(kA, EventKind::write_rejected).kind = EventKind::write_landed; }},
       {"of one that is out, though the application does not know yet",
        [](Story& s) {
          const Write write{.source = s.ref(kC), .epoch = 2, .offset = 0, .length = 8};
          s.insert(kA, s.find(kA, EventKind::install, 2),
                   make_write(EventKind::write_landed, {.view = 3}, write));
        }},
       {"after the next view",
        [](Story& s) {
          s.move(kB, s.find(kB, EventKind::write_landed), s.find(kB, EventKind::deliver, -1));
        }},
       {"of a stranger", [](Story& s) { s.get(kB, EventKind::write_landed).peer = 99; }}});
}

TEST(BadBounds, F1AWriteOfTheNextViewMayBeEarly) {
  Story story = good_story();
  const Write write{.source = story.ref(kC2), .epoch = 4, .offset = 0, .length = 8};
  story.insert(kA, story.find(kA, EventKind::install, 3),
               make_write(EventKind::write_landed, {.view = 3}, write));
  EXPECT_TRUE(story.check().good());
}

TEST(BadBounds, F2ZombiesGoOn) {
  expect_rejected(
      Property::F2,
      {{"E delivers after it knows",
        [](Story& s) { s.move(kE, last_delivery(s, kE, kAtomic, 2), end_of(s, kE) - 1); }},
       {"E is told of a delivery after it knows",
        [](Story& s) {
          s.insert(kE, s.find(kE, EventKind::evicted) + 1,
                   make_send_ok({.view = 2, .group = kAtomic}, Ticket{2}));
        }},
       {"E delivers after it heard the decision that it is out",
        [](Story& s) {
          s.insert(kE, last_delivery(s, kE, kAtomic, 2),
                   make_event(EventKind::decide, {.view = 2}));
        }},
       {"E delivers more than was agreed",
        [](Story& s) {
          for (int i = 0; i < 3; ++i) deliver_more(s, kE, kAtomic, 2);
        }},
       {"C delivers more than was agreed",
        [](Story& s) {
          for (int i = 0; i < 2; ++i) deliver_more(s, kC, kAtomic, 2);
        }},
       {"E delivers long after",
        [](Story& s) {
          s.lives[kE].events[last_delivery(s, kE, kAtomic, 2)].time_ns += 100 * Story::kMs;
        }},
       {"E goes on to the next view", [](Story& s) { copy_install(s, kA, 2, kE); }}});
}

/// E's last delivery comes so long after the others went on without it.
void deliver_late(Story& s, std::uint64_t ms) {
  s.lives[kE].events[last_delivery(s, kE, kAtomic, 2)].time_ns =
      s.get(kA, EventKind::install, 2).time_ns + ms * Story::kMs;
}

void pause(Story& s, std::uint16_t node, std::uint64_t from_ns, std::uint64_t to_ns) {
  for (const auto& [kind, at_ns] :
       {std::pair(EventKind::fault_begin, from_ns), std::pair(EventKind::fault_end, to_ns)}) {
    Event event = make_fault(kind, {}, FaultKind::pause, node);
    event.time_ns = at_ns;
    s.note_harness(event);
    s.lives[Story::kHarness].events.back().time_ns = at_ns;
  }
}

TEST(BadBounds, F2TheTimeOfAPauseDoesNotCount) {
  Story late = good_story();
  deliver_late(late, 60);
  EXPECT_TRUE(late.check().found(Property::F2));
  Story paused = good_story();
  deliver_late(paused, 60);
  const std::uint64_t installed_ns = paused.get(kA, EventKind::install, 2).time_ns;
  pause(paused, 4, installed_ns, installed_ns + 20 * Story::kMs);
  EXPECT_FALSE(paused.check().found(Property::F2));
}

TEST(BadBounds, F3StaleWords) {
  expect_rejected(
      Property::F3,
      {{"session", [](Story& s) { write_at_end(s, kA, kD, 4, WriteClass::session); }},
       {"sequencer", [](Story& s) { write_at_end(s, kA, kD, 3, WriteClass::sequencer); }},
       {"token", [](Story& s) { write_at_end(s, kC2, kA, 4, WriteClass::token); }},
       {"leader", [](Story& s) { write_at_end(s, kD, kA, 2, WriteClass::leader); }},
       {"a session of one that left",
        [](Story& s) { write_at_end(s, kA, kB, 5, WriteClass::session); }},
       {"a token of before", [](Story& s) { --s.get(kA, EventKind::write_landed, 0).extra; }}});
}

TEST(BadBounds, B1MoreThanTheLimit) {
  expect_rejected(
      Property::B1,
      {{"memory", [](Story& s) { s.get(kA, EventKind::resources, 0).number = 1001; }},
       {"descriptors", [](Story& s) { s.get(kD, EventKind::resources, 1).number = 13; }},
       {"threads", [](Story& s) { s.get(kC2, EventKind::resources, 2).number = 3; }},
       {"queue", [](Story& s) { s.get(kA, EventKind::resources, 3).number = 65; }},
       {"a lower limit", [](Story& s) { s.get(kD, EventKind::resources, 0).position = 999; }}});
}

}  // namespace
}  // namespace tutti::history::testing
