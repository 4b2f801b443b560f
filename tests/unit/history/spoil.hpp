/// \file spoil.hpp
/// Ways to make a right story wrong.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "history/checker/report.hpp"
#include "history/make_event.hpp"
#include "unit/history/story.hpp"

namespace tutti::history::testing {

struct Bad {
  const char* what;
  void (*spoil)(Story&);
};

/// Each of them, done to the good story, must be rejected as a violation of the property.
inline void expect_rejected(Property property, std::initializer_list<Bad> bads) {
  EXPECT_GE(bads.size(), 5U);
  for (const Bad& bad : bads) {
    SCOPED_TRACE(bad.what);
    Story story = good_story();
    bad.spoil(story);
    const history::Report report = story.check();
    EXPECT_TRUE(report.found(property))
        << to_string(property) << " not found: " << to_string(report);
  }
}

/// Does it to each event of the story that fits.
template <class Fits, class Do>
void for_all(Story& story, EventKind kind, Fits fits, Do act) {
  for (Story::Life& life : story.lives) {
    for (Event& event : life.events) {
      if (event.kind == kind && fits(event)) act(event);
    }
  }
}

template <class Fits>
void erase_everywhere(Story& story, EventKind kind, Fits fits) {
  for (Story::Life& life : story.lives) {
    std::erase_if(life.events, [&](const Event& e) { return e.kind == kind && fits(e); });
  }
}

/// Where a life's last delivery of the group in that view is.
inline std::size_t last_delivery(const Story& story, LifeId life, std::uint16_t group,
                                 std::uint64_t view) {
  const std::vector<Event>& events = story.lives[life].events;
  for (std::size_t i = events.size(); i-- > 0;) {
    if (events[i].kind == EventKind::deliver && events[i].group == group &&
        events[i].view == view) {
      return i;
    }
  }
  ADD_FAILURE() << "nothing delivered in that view";
  return 0;
}

inline void erase_last_delivery(Story& story, LifeId life, std::uint16_t group,
                                std::uint64_t view) {
  story.erase(life, last_delivery(story, life, group, view));
}

/// Delivers one more message at the end of a view: as if of the sender of the one before.
inline void deliver_more(Story& story, LifeId life, std::uint16_t group, std::uint64_t view) {
  const std::size_t last = last_delivery(story, life, group, view);
  Event event = story.lives[life].events[last];
  ++event.position;
  ++event.number;
  ++event.extra;
  story.insert(life, last + 1, event);
}

/// The n-th and m-th delivery of the group change their messages but keep their places.
inline void swap_messages(Story& story, LifeId life, std::uint16_t group, int n, int m) {
  Event& one = story.get(life, EventKind::deliver, n, group);
  Event& other = story.get(life, EventKind::deliver, m, group);
  std::swap(one.peer, other.peer);
  std::swap(one.peer_incarnation, other.peer_incarnation);
  std::swap(one.number, other.number);
  std::swap(one.length, other.length);
  std::swap(one.crc, other.crc);
}

struct Listed {
  LifeId life;
  std::uint8_t flags = history::kMemberSends;
};

/// Has a life install a view at that place of its history.
inline void install_at(Story& story, LifeId life, std::size_t index, std::uint64_t view,
                       const std::vector<Listed>& members, const std::vector<LifeId>& lefts) {
  const history::At at{.view = view, .time_ns = 0, .group = 0};
  const auto count = static_cast<std::uint32_t>(members.size());
  story.insert(life, index++, make_install(at, view * 77 + 1, count, 0));
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    story.insert(life, index++,
                 make_view_member(at, story.ref(members[i].life), i, members[i].flags));
  }
  for (const LifeId left : lefts) {
    story.insert(life, index++,
                 make_view_left(at, story.ref(left), history::LeftReason::suspected));
  }
}

/// Takes the n-th installation out of a life's history, with its lists.
inline void erase_install(Story& story, LifeId life, int nth) {
  const std::size_t begin = story.find(life, EventKind::install, nth);
  const std::uint64_t view = story.lives[life].events[begin].view;
  story.erase(life, begin);
  std::erase_if(story.lives[life].events, [&](const Event& event) {
    return event.view == view &&
           (event.kind == EventKind::view_member || event.kind == EventKind::view_left ||
            event.kind == EventKind::group_member);
  });
}

/// Has `to` install, at the end of its history, the view that is the n-th of `from`.
inline void copy_install(Story& story, LifeId from, int nth, LifeId to) {
  const std::size_t begin = story.find(from, EventKind::install, nth);
  const std::uint64_t view = story.lives[from].events[begin].view;
  std::vector<Event> copied;
  for (const Event& event : story.lives[from].events) {
    const bool list = event.kind == EventKind::view_member || event.kind == EventKind::view_left ||
                      event.kind == EventKind::group_member || event.kind == EventKind::install;
    if (list && event.view == view) copied.push_back(event);
  }
  for (const Event& event : copied) story.insert(to, story.lives[to].events.size(), event);
}

/// Where a life's history ends.
inline std::size_t end_of(const Story& story, LifeId life) {
  return story.lives[life].events.size();
}

}  // namespace tutti::history::testing
