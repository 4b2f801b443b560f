/// Hand-made histories with wrong deliveries: D1 to D7.
#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

Event& delivery(Story& s, LifeId life, int nth, std::uint16_t group) {
  return s.get(life, EventKind::deliver, nth, group);
}

/// Delivers the n-th once more, right behind it.
void twice(Story& s, LifeId life, int nth, std::uint16_t group) {
  const std::size_t at = s.find(life, EventKind::deliver, nth, group);
  s.insert(life, at + 1, s.lives[life].events[at]);
}

TEST(BadDelivery, D1NotWhatWasSent) {
  expect_rejected(
      Property::D1,
      {{"crc", [](Story& s) { delivery(s, kB, 2, kAtomic).crc ^= 1; }},
       {"crc, unordered", [](Story& s) { delivery(s, kD, 2, kUnordered).crc ^= 1; }},
       {"length", [](Story& s) { ++delivery(s, kC, 3, kAgreed).length; }},
       {"never sent", [](Story& s) { s.erase(kA, s.find(kA, EventKind::send, 1, kAtomic)); }},
       {"sent with other bytes", [](Story& s) { s.get(kC, EventKind::send, 0, kAtomic).crc ^= 1; }},
       {"by nobody known", [](Story& s) { delivery(s, kA, 4, kAtomic).peer = 77; }},
       {"by another incarnation",
        [](Story& s) { ++delivery(s, kC2, 4, kAtomic).peer_incarnation; }},
       {"no such ticket", [](Story& s) { delivery(s, kA, -1, kUnordered).number = 1'000'000; }},
       {"ticket 0", [](Story& s) { delivery(s, kA, 3, kAgreed).number = 0; }},
       {"before it sends it",
        [](Story& s) {
          s.move(kA, s.find(kA, EventKind::send, 0, kAtomic),
                 s.find(kA, EventKind::deliver, 4, kAtomic));
        }},
       {"by one that is not in the view", [](Story& s) {
          Event& event = s.lives[kA].events[last_delivery(s, kA, kAtomic, 5)];
          event.peer = 2;
          event.peer_incarnation = fold(s.ref(kC).incarnation);
          event.number = 1;
        }}});
}

TEST(BadDelivery, D2Twice) {
  expect_rejected(Property::D2, {{"atomic", [](Story& s) { twice(s, kA, 3, kAtomic); }},
                                 {"agreed", [](Story& s) { twice(s, kC, -1, kAgreed); }},
                                 {"unordered", [](Story& s) { twice(s, kD, 0, kUnordered); }},
                                 {"at the next place",
                                  [](Story& s) {
                                    twice(s, kB, -1, kAtomic);
                                    ++delivery(s, kB, -1, kAtomic).position;
                                  }},
                                 {"in the next view",
                                  [](Story& s) {
                                    const std::size_t at = last_delivery(s, kB, kAtomic, 1);
                                    Event again = s.lives[kB].events[at];
                                    again.view = 2;
                                    s.insert(kB, s.find(kB, EventKind::deliver, 8, kAtomic), again);
                                  }},
                                 {"much later", [](Story& s) {
                                    s.insert(kA, end_of(s, kA), delivery(s, kA, 0, kUnordered));
                                  }}});
}

TEST(BadDelivery, D3InTheWrongView) {
  expect_rejected(
      Property::D3,
      {{"view + 1", [](Story& s) { ++delivery(s, kB, 2, kAtomic).view; }},
       {"view - 1", [](Story& s) { --delivery(s, kC2, 2, kAgreed).view; }},
       {"before any view",
        [](Story& s) {
          s.move(kA, s.find(kA, EventKind::deliver, 0, kAtomic), s.find(kA, EventKind::install));
        }},
       {"delivered and failed",
        [](Story& s) {
          s.insert(
              kA, end_of(s, kA),
              make_send_fail({.view = 5, .group = kAtomic}, Ticket{3}, FailReason::view_change));
        }},
       {"told both",
        [](Story& s) {
          s.insert(kB, end_of(s, kB),
                   make_send_ok({.view = 4, .group = kAtomic},
                                Ticket{s.get(kB, EventKind::send_fail).number}));
        }},
       {"one delivers it a view later",
        [](Story& s) {
          const std::size_t at = last_delivery(s, kB, kAtomic, 1);
          s.lives[kB].events[at].view = 2;
          s.move(kB, at, s.find(kB, EventKind::deliver, 8, kAtomic) - 1);
        }},
       {"sent in an earlier view",
        [](Story& s) { delivery(s, kA, -1, kAtomic).detail += 1 << kLevelBits; }}});
}

TEST(BadDelivery, D4DifferentSetsInAView) {
  expect_rejected(
      Property::D4,
      {{"B lacks one", [](Story& s) { erase_last_delivery(s, kB, kAtomic, 1); }},
       {"B lacks one, agreed", [](Story& s) { erase_last_delivery(s, kB, kAgreed, 3); }},
       {"D lacks all",
        [](Story& s) {
          std::erase_if(s.lives[kD].events, [](const Event& e) {
            return e.kind == EventKind::deliver && e.view == 2 && e.group == kAgreed;
          });
        }},
       {"A has one more", [](Story& s) { deliver_more(s, kA, kAgreed, 2); }},
       {"of a part of the members", [](Story& s) { erase_last_delivery(s, kB, kSome, 2); }},
       {"the first one of the view",
        [](Story& s) { s.erase(kD, s.find(kD, EventKind::deliver, 0, kAgreed)); }}});
}

TEST(BadDelivery, D5OneDeliversWhatSurvivorsLack) {
  expect_rejected(
      Property::D5,
      {{"D lacks what the others have", [](Story& s) { erase_last_delivery(s, kD, kAtomic, 2); }},
       {"all lack what C has",
        [](Story& s) {
          for (const LifeId life : {kA, kB, kD}) {
            erase_last_delivery(s, life, kAtomic, 2);
            erase_last_delivery(s, life, kAtomic, 2);
          }
        }},
       {"C has one more",
        [](Story& s) {
          deliver_more(s, kC, kAtomic, 2);
          deliver_more(s, kC, kAtomic, 2);
        }},
       {"E has more",
        [](Story& s) {
          for (int i = 0; i < 3; ++i) deliver_more(s, kE, kAtomic, 2);
        }},
       {"of a part of the members", [](Story& s) { erase_last_delivery(s, kA, kSome, 3); }},
       {"C delivered as safe what nobody else has",
        [](Story& s) { s.get(kC, EventKind::deliver, -1, kAgreed).detail ^= 3; }},
       {"C2 delivered nothing of view 4", [](Story& s) {
          std::erase_if(s.lives[kC2].events, [](const Event& e) {
            return e.kind == EventKind::deliver && e.view == 4 && e.group == kAtomic;
          });
        }}});
}

TEST(BadDelivery, D6DifferentOrders) {
  expect_rejected(
      Property::D6,
      {{"atomic", [](Story& s) { swap_messages(s, kB, kAtomic, 0, 1); }},
       {"agreed", [](Story& s) { swap_messages(s, kE, kAgreed, 1, 2); }},
       {"at the one that crashed", [](Story& s) { swap_messages(s, kC, kAtomic, -1, -2); }},
       {"late", [](Story& s) { swap_messages(s, kD, kAtomic, -1, -2); }},
       {"of a part of the members", [](Story& s) { swap_messages(s, kB, kSome, 2, 3); }},
       {"at the first, not at the others", [](Story& s) { swap_messages(s, kA, kAgreed, 4, 5); }},
       {"C, which crashed at agreed", [](Story& s) { swap_messages(s, kC, kAgreed, -2, -3); }},
       {"C delivers more of one that goes on",
        [](Story& s) {
          Event& more = s.get(kC, EventKind::deliver, -1, kAgreed);
          const Event& other = s.get(kC, EventKind::deliver, -2, kAgreed);
          more.peer = s.ref(kA).node;
          more.peer_incarnation = fold(s.ref(kA).incarnation);
          more.number = other.number + 1;
        }},
       {"C lacks one of those who go on, agreed",
        [](Story& s) {
          const std::size_t at = s.find(kC, EventKind::deliver, -3, kAgreed);
          s.erase(kC, at);
          for (int i = -1; i >= -2; --i) --s.get(kC, EventKind::deliver, i, kAgreed).position;
        }},
       {"another message", [](Story& s) { ++delivery(s, kD, 3, kAtomic).number; }},
       {"another sender", [](Story& s) {
          Event& event = delivery(s, kD, 3, kAtomic);
          event.peer = 1 - event.peer % 2;
          event.peer_incarnation = fold(s.ref(event.peer == 0 ? kA : kB).incarnation);
        }}});
}

// Behind a message of its own that no survivor has, the one that crashed has one of a survivor,
// which that one sends again in the next view.
TEST(BadDelivery, D6AViewThatEndsWithOneNumber) {
  Story story = good_story();
  const std::size_t hole = story.find(kC, EventKind::deliver, -1, kAgreed);
  Event more = story.lives[kC].events[hole];
  std::uint64_t last = 0;  // of A, that all have in that view
  for (const Event& event : story.lives[kA].events) {
    const bool of_a = event.kind == EventKind::deliver && event.group == kAgreed &&
                      event.view == more.view && event.peer == story.ref(kA).node;
    if (of_a) last = event.number;
  }
  ++more.position;
  more.peer = story.ref(kA).node;
  more.peer_incarnation = fold(story.ref(kA).incarnation);
  more.number = last + 1;
  story.insert(kC, hole + 1, more);
  const auto has_d6 = [&] {
    return to_string(story.check()).find("does not go on from view") != std::string::npos;
  };
  EXPECT_TRUE(has_d6());
  story.options.groups[kAgreed].one_number = true;
  EXPECT_FALSE(has_d6());
  story.get(kC, EventKind::deliver, -1, kAgreed).number =
      last;  // survivors have it before the hole
  EXPECT_TRUE(has_d6());
}

TEST(BadDelivery, D7GapsAndTheWrongOrder) {
  expect_rejected(
      Property::D7,
      {{"a gap", [](Story& s) { s.erase(kA, s.find(kA, EventKind::deliver, 5, kAtomic)); }},
       {"all later by one",
        [](Story& s) {
          for (int i = 4; i < 8; ++i) ++delivery(s, kB, i, kAgreed).position;
        }},
       {"two have changed places",
        [](Story& s) { std::swap(delivery(s, kC, 2, kAtomic), delivery(s, kC, 3, kAtomic)); }},
       {"a round that goes back", [](Story& s) { delivery(s, kA, 5, kAtomic).extra = 0; }},
       {"two of a sender in a round",
        [](Story& s) {
          for_all(
              s, EventKind::deliver,
              [](const Event& e) { return e.group == kAgreed && e.view == 1; },
              [](Event& e) { e.extra = 0; });
        }},
       {"a joiner begins late",
        [](Story& s) { s.erase(kD, s.find(kD, EventKind::deliver, 0, kAgreed)); }},
       {"a joiner begins early", [](Story& s) { --delivery(s, kC2, 0, kAgreed).position; }},
       {"all begin with ordinal 5", [](Story& s) {
          for_all(
              s, EventKind::deliver, [](const Event& e) { return e.group == kAgreed; },
              [](Event& e) { e.position += 5; });
        }}});
}

}  // namespace
}  // namespace tutti::history::testing
