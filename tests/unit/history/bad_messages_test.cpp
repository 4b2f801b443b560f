/// Hand-made histories with wrong deliveries: D8 to D14.
#include <algorithm>
#include <set>
#include <utility>

#include "history/text.hpp"
#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

bool of_atomic(const Event& event) { return event.group == kAtomic; }

/// Where the n-th delivery of that sender to the group is.
std::size_t heard(Story& s, LifeId life, LifeId sender, int nth, std::uint16_t group) {
  const std::vector<Event>& events = s.lives[life].events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.kind != EventKind::deliver || event.group != group) continue;
    if (event.peer != s.lives[sender].identity.node) continue;
    if (nth-- == 0) return i;
  }
  ADD_FAILURE() << "not heard so often";
  return 0;
}

TEST(BadMessages, D8NotInItsSendersOrder) {
  expect_rejected(
      Property::D8,
      {{"skips one, unordered", [](Story& s) { s.erase(kB, heard(s, kB, kA, 1, kUnordered)); }},
       {"skips the first, unordered",
        [](Story& s) { s.erase(kE, heard(s, kE, kC, 0, kUnordered)); }},
       {"two changed, unordered",
        [](Story& s) {
          std::swap(s.lives[kD].events[heard(s, kD, kB, 0, kUnordered)],
                    s.lives[kD].events[heard(s, kD, kB, 1, kUnordered)]);
        }},
       {"skips one, agreed", [](Story& s) { s.erase(kA, heard(s, kA, kD, 1, kAgreed)); }},
       {"skips one, atomic", [](Story& s) { s.erase(kC, heard(s, kC, kE, 1, kAtomic)); }},
       {"two changed, atomic",
        [](Story& s) {
          std::swap(s.lives[kB].events[heard(s, kB, kB, 0, kAtomic)].number,
                    s.lives[kB].events[heard(s, kB, kB, 1, kAtomic)].number);
        }},
       {"the last before the first", [](Story& s) {
          s.move(kA, heard(s, kA, kC, 3, kUnordered), heard(s, kA, kC, 0, kUnordered));
        }}});
}

/// The sender had delivered later messages when it sent this one.
void send_late(Story& s, LifeId life, std::uint16_t group, int nth) {
  const std::size_t send = s.find(life, EventKind::send, nth, group);
  const std::uint64_t ticket = s.lives[life].events[send].number;
  const std::vector<Event>& events = s.lives[life].events;
  const auto own = std::ranges::find_if(events, [&](const Event& event) {
    return event.kind == EventKind::deliver && event.group == group &&
           event.peer == s.lives[life].identity.node && event.number == ticket;
  });
  s.move(life, send, static_cast<std::size_t>(own - events.begin()));
}

TEST(BadMessages, D9BeforeItsCause) {
  expect_rejected(Property::D9, {{"B", [](Story& s) { send_late(s, kB, kAtomic, 0); }},
                                 {"C", [](Story& s) { send_late(s, kC, kAgreed, 1); }},
                                 {"D", [](Story& s) { send_late(s, kD, kAtomic, 2); }},
                                 {"B to A", [](Story& s) { send_late(s, kB, kSome, 1); }},
                                 {"C2", [](Story& s) { send_late(s, kC2, kAtomic, -1); }},
                                 {"E", [](Story& s) { send_late(s, kE, kAgreed, 0); }}});
}

TEST(BadMessages, D10AcceptedAndNeverDelivered) {
  expect_rejected(
      Property::D10,
      {{"D lacks the last", [](Story& s) { erase_last_delivery(s, kD, kAtomic, 5); }},
       {"A's message nowhere",
        [](Story& s) {
          const Event last = s.get(kA, EventKind::send, -1, kAgreed);
          s.insert(kA, end_of(s, kA),
                   make_send({.view = 5, .group = kAgreed}, Ticket{last.number + 1}, 1, 2));
        }},
       {"C2 lacks one, unordered", [](Story& s) { erase_last_delivery(s, kC2, kUnordered, 5); }},
       {"C2 delivers nothing", [](Story& s) { s.erase_all(kC2, EventKind::deliver, kAgreed); }},
       {"nobody delivers the last",
        [](Story& s) {
          for (const LifeId life : {kA, kD, kC2}) erase_last_delivery(s, life, kAtomic, 5);
        }},
       {"told before it is delivered",
        [](Story& s) {
          s.move(kB, s.find(kB, EventKind::send_ok, 0, kAtomic),
                 s.find(kB, EventKind::deliver, 0, kAtomic));
        }},
       {"told of what it never sent",
        [](Story& s) {
          s.insert(kA, end_of(s, kA), make_send_ok({.view = 5, .group = kAtomic}, Ticket{999}));
        }},
       {"one that leaves is not told", [](Story& s) { s.erase_all(kB, EventKind::send_fail); }}});
}

TEST(BadMessages, D11AnotherEndOfTheView) {
  expect_rejected(
      Property::D11,
      {{"B has another cut", [](Story& s) { ++s.get(kB, EventKind::cut, 0, kAtomic).position; }},
       {"agreed", [](Story& s) { --s.get(kE, EventKind::cut, 0, kAgreed).position; }},
       {"all deliver more",
        [](Story& s) { for_all(s, EventKind::cut, of_atomic, [](Event& e) { --e.position; }); }},
       {"all deliver less",
        [](Story& s) { for_all(s, EventKind::cut, of_atomic, [](Event& e) { ++e.position; }); }},
       {"C delivers more",
        [](Story& s) {
          deliver_more(s, kC, kAtomic, 2);
          deliver_more(s, kC, kAtomic, 2);
        }},
       {"D delivers more", [](Story& s) { deliver_more(s, kD, kAgreed, 4); }},
       {"B delivers less", [](Story& s) { erase_last_delivery(s, kB, kSome, 3); }},
       {"B delivers less before it leaves",
        [](Story& s) { erase_last_delivery(s, kB, kAtomic, 4); }}});
}

void end_otherwise(Story& s, LifeId life, int nth, std::uint16_t group) {
  const std::size_t at = s.find(life, EventKind::deliver, nth, group);
  Event end = s.lives[life].events[at];
  end.kind = EventKind::deliver_end;
  end.crc ^= 0x100;
  s.insert(life, at + 1, end);
}

TEST(BadMessages, D12ChangedDuringTheCallback) {
  expect_rejected(Property::D12,
                  {{"atomic", [](Story& s) { end_otherwise(s, kA, 3, kAtomic); }},
                   {"agreed", [](Story& s) { end_otherwise(s, kD, 0, kAgreed); }},
                   {"unordered", [](Story& s) { end_otherwise(s, kB, -1, kUnordered); }},
                   {"at the one that crashed", [](Story& s) { end_otherwise(s, kC, -1, kAgreed); }},
                   {"of a part of the members", [](Story& s) { end_otherwise(s, kB, 1, kSome); }},
                   {"of nothing sent", [](Story& s) {
                      end_otherwise(s, kA, 3, kAtomic);
                      s.get(kA, EventKind::deliver_end).number = 12345;
                    }}});
}

TEST(BadMessages, D13InAGroupThatIsNotItsOwn) {
  expect_rejected(Property::D13,
                  {{"D delivers",
                    [](Story& s) {
                      Event event = s.lives[kA].events[last_delivery(s, kA, kSome, 2)];
                      s.insert(kD, last_delivery(s, kD, kAtomic, 2), event);
                    }},
                   {"C delivers",
                    [](Story& s) {
                      Event event = s.get(kA, EventKind::deliver, 0, kSome);
                      s.insert(kC, s.find(kC, EventKind::deliver, 2, kAtomic), event);
                    }},
                   {"D's message",
                    [](Story& s) {
                      Event& event = s.get(kA, EventKind::deliver, 5, kSome);
                      event.peer = 2;
                      event.peer_incarnation = fold(s.ref(kC).incarnation);
                    }},
                   {"B is no sender of the group",
                    [](Story& s) {
                      for_all(
                          s, EventKind::group_member, [](const Event& e) { return e.peer == 1; },
                          [](Event& e) { e.detail = 0; });
                    }},
                   {"C is no sender",
                    [](Story& s) {
                      for_all(
                          s, EventKind::view_member, [](const Event& e) { return e.peer == 2; },
                          [](Event& e) { e.detail &= kMemberJoined; });
                    }},
                   {"A is no member", [](Story& s) {
                      erase_everywhere(s, EventKind::group_member,
                                       [](const Event& e) { return e.peer == 0; });
                    }}});
}

void set_level(Event& event, int level) {
  event.detail = static_cast<std::uint8_t>((event.detail & ~3) | level);
}

TEST(BadMessages, D14AnotherLevel) {
  expect_rejected(Property::D14,
                  {{"atomic as agreed",
                    [](Story& s) { set_level(s.get(kA, EventKind::deliver, 3, kAtomic), 1); }},
                   {"atomic as unordered",
                    [](Story& s) { set_level(s.get(kC, EventKind::deliver, 0, kAtomic), 0); }},
                   {"agreed as unordered",
                    [](Story& s) { set_level(s.get(kD, EventKind::deliver, -1, kAgreed), 0); }},
                   {"unordered as atomic",
                    [](Story& s) { set_level(s.get(kB, EventKind::deliver, 0, kUnordered), 2); }},
                   {"safe at one of them",
                    [](Story& s) { set_level(s.get(kA, EventKind::deliver, 3, kAgreed), 2); }},
                   {"safe at the one that crashed",
                    [](Story& s) { set_level(s.get(kC, EventKind::deliver, 3, kAgreed), 2); }},
                   {"no such level",
                    [](Story& s) { set_level(s.get(kE, EventKind::deliver, 1, kSome - 2), 3); }},
                   {"all that B does", [](Story& s) {
                      for (Event& event : s.lives[kB].events) {
                        if (event.kind == EventKind::deliver && of_atomic(event))
                          set_level(event, 1);
                      }
                    }}});
}

// D5: among messages at agreed some may be safe, if they are so at each member.
TEST(BadMessages, SafeMessagesAmongOthersAreGood) {
  Story story = good_story();
  const auto delivers = [](const Event& event) {
    return event.kind == EventKind::deliver && event.group == kAgreed;
  };
  std::set<std::pair<std::uint64_t, std::uint64_t>> of_a;  // C has one that A lacks
  for (const Event& event : story.lives[kA].events) {
    if (delivers(event)) of_a.emplace(event.position, event.crc);
  }
  std::size_t safe = 0;
  for (auto& life : story.lives) {
    for (Event& event : life.events) {
      if (!delivers(event) || event.position % 3 != 0) continue;
      if (!of_a.contains({event.position, event.crc})) continue;
      set_level(event, 2);
      ++safe;
    }
  }
  ASSERT_GE(safe, 6U);
  history::Report report = story.check();
  EXPECT_TRUE(report.good()) << to_string(report);
  story.options.groups[kAgreed].one_service = true;
  report = story.check();
  EXPECT_FALSE(report.good());
  EXPECT_NE(to_string(report).find("D14"), std::string::npos) << to_string(report);
  story.options.groups.erase(kAgreed);
  report = story.check();
  EXPECT_TRUE(report.good()) << "the level is as recorded: " << to_string(report);
}

// D14: senders may be interleaved in any way, and nothing holds across views.
TEST(BadMessages, UnorderedGroupsNeedNoCommonOrder) {
  Story story = good_story();
  std::vector<Event>& events = story.lives[kB].events;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const bool both = events[i].kind == EventKind::deliver && events[i].group == kUnordered &&
                      events[i + 1].kind == EventKind::deliver && events[i + 1].group == kUnordered;
    if (both && events[i].peer != events[i + 1].peer) std::swap(events[i], events[i + 1]);
  }
  std::uint64_t ordinal = 17;
  for_all(
      story, EventKind::deliver, [](const Event& e) { return e.group == kUnordered; },
      [&](Event& event) { event.position = ++ordinal * 7; });
  const Report report = story.check();
  EXPECT_TRUE(report.good()) << to_string(report);
}

}  // namespace
}  // namespace tutti::history::testing
