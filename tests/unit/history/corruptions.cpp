#include "unit/history/corruptions.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "unit/history/spoil.hpp"

namespace tutti::history::testing {
namespace {

struct At {
  LifeId life;
  std::size_t index;
};
using Fits = std::function<bool(const Story&, const Event&, At)>;

/// Any event of a kind that fits.
std::optional<At> any(const Story& s, Prng& random, EventKind kind, const Fits& fits) {
  std::vector<At> found;
  for (LifeId life = 0; life < s.lives.size(); ++life) {
    for (std::size_t i = 0; i < s.lives[life].events.size(); ++i) {
      const Event& event = s.lives[life].events[i];
      if (event.kind == kind && fits(s, event, {life, i})) found.push_back({life, i});
    }
  }
  if (found.empty()) return std::nullopt;
  return found[random.below(found.size())];
}

bool all(const Story&, const Event&, At) { return true; }
bool ordered(const Event& event) {
  return (event.detail & 3) != static_cast<int>(Level::unordered);
}
bool ordered_one(const Story&, const Event& event, At) { return ordered(event); }
bool lives_on(const Story& s, const Event&, At at) { return !s.lives[at.life].crashed; }

/// The life's next (or last) delivery of the same group; its own index if there is none.
std::size_t beside(const Story& s, At at, int step) {
  const std::vector<Event>& events = s.lives[at.life].events;
  const std::uint16_t group = events[at.index].group;
  for (std::size_t i = at.index;;) {
    if (step < 0 ? i == 0 : i + 1 >= events.size()) return at.index;
    i = step < 0 ? i - 1 : i + 1;
    if (events[i].kind == EventKind::deliver && events[i].group == group) return i;
  }
}

bool in_the_middle(const Story& s, const Event& event, At at) {
  return ordered(event) && beside(s, at, 1) != at.index && beside(s, at, -1) != at.index;
}

bool delivered_elsewhere(const Story& s, const Event& event, At at) {
  for (LifeId life = 0; life < s.lives.size(); ++life) {
    for (const Event& other : s.lives[life].events) {
      if (life != at.life && other.kind == EventKind::deliver && other.group == event.group &&
          other.position == event.position && other.number == event.number &&
          other.peer == event.peer) {
        return true;
      }
    }
  }
  return false;
}

/// Of a send: somebody delivers it.
bool delivered(const Story& s, const Event& send, At at) {
  for (const Story::Life& life : s.lives) {
    for (const Event& event : life.events) {
      if (event.kind == EventKind::deliver && event.group == send.group &&
          event.number == send.number && event.peer == s.lives[at.life].identity.node &&
          event.peer_incarnation == fold(s.lives[at.life].identity.incarnation)) {
        return true;
      }
    }
  }
  return false;
}

/// Others have an event of that kind for the same view and group.
bool shared(const Story& s, const Event& event, At at) {
  for (LifeId life = 0; life < s.lives.size(); ++life) {
    for (const Event& other : s.lives[life].events) {
      if (life != at.life && other.kind == event.kind && other.view == event.view &&
          other.group == event.group) {
        return true;
      }
    }
  }
  return false;
}

Event& event_at(Story& s, At at) { return s.lives[at.life].events[at.index]; }

/// Changes one event of a kind that fits.
template <class Change>
bool change(Story& s, Prng& random, EventKind kind, const Fits& fits, Change act) {
  const auto at = any(s, random, kind, fits);
  if (at) act(event_at(s, *at));
  return at.has_value();
}

bool drop(Story& s, Prng& random, EventKind kind, const Fits& fits) {
  const auto at = any(s, random, kind, fits);
  if (at) s.erase(at->life, at->index);
  return at.has_value();
}

bool swap_deliveries(Story& s, Prng& random) {
  const auto at = any(s, random, EventKind::deliver, in_the_middle);
  if (!at) return false;
  std::swap(event_at(s, *at), event_at(s, {at->life, beside(s, *at, 1)}));
  return true;
}

bool swap_contents(Story& s, Prng& random) {
  const auto at =
      any(s, random, EventKind::deliver, [](const Story& story, const Event& e, At where) {
        const std::size_t next = beside(story, where, 1);
        const Event& other = story.lives[where.life].events[next];
        return in_the_middle(story, e, where) && delivered_elsewhere(story, e, where) &&
               other.peer != e.peer;
      });
  if (!at) return false;
  Event& one = event_at(s, *at);
  Event& other = event_at(s, {at->life, beside(s, *at, 1)});
  std::swap(one.position, other.position);
  std::swap(one, other);
  return true;
}

bool duplicate(Story& s, Prng& random) {
  const auto at = any(s, random, EventKind::deliver, all);
  if (at) s.insert(at->life, at->index + 1, event_at(s, *at));
  return at.has_value();
}

bool split_view(Story& s, Prng& random) {
  const auto at = any(s, random, EventKind::install, shared);
  if (!at) return false;
  const std::uint64_t view = event_at(s, *at).view;
  install_at(s, at->life, end_of(s, at->life), view, {{at->life}}, {});
  return true;
}

bool drop_install(Story& s, Prng& random) {
  std::vector<LifeId> fit;
  for (LifeId life = 1; life < s.lives.size(); ++life) {
    const auto installs =
        std::ranges::count(s.lives[life].events, EventKind::install, &Event::kind);
    if (installs > 2) fit.push_back(life);
  }
  if (fit.empty()) return false;
  erase_install(s, fit[random.below(fit.size())], 1);
  return true;
}

bool drop_suspicions(Story& s, Prng&) {
  std::size_t dropped = 0;
  erase_everywhere(s, EventKind::suspect, [&](const Event&) { return ++dropped > 0; });
  return dropped > 0;
}

bool fail_delivered(Story& s, Prng& random) {
  const auto at = any(s, random, EventKind::deliver, ordered_one);
  if (!at) return false;
  const Event event = event_at(s, *at);
  for (LifeId life = 1; life < s.lives.size(); ++life) {
    const Identity& who = s.lives[life].identity;
    if (who.node != event.peer || fold(who.incarnation) != event.peer_incarnation) continue;
    s.insert(life, end_of(s, life),
             make_send_fail({.view = event.view, .group = event.group}, Ticket{event.number},
                            FailReason::too_late));
  }
  return true;
}

bool drop_before_install(Story& s, Prng& random) {
  const auto at =
      any(s, random, EventKind::deliver, [](const Story& story, const Event& e, At where) {
        const std::vector<Event>& events = story.lives[where.life].events;
        const bool goes_on = std::ranges::any_of(events, [&](const Event& other) {
          return other.kind == EventKind::install && other.view == e.view + 1;
        });
        const std::size_t next = beside(story, where, 1);
        return ordered(e) && goes_on && (next == where.index || events[next].view != e.view) &&
               delivered_elsewhere(story, e, where);
      });
  if (at) s.erase(at->life, at->index);
  return at.has_value();
}

bool wedge_before_delivery(Story& s, Prng& random) {
  const auto at =
      any(s, random, EventKind::wedge, [](const Story& story, const Event& e, At where) {
        return std::ranges::any_of(story.lives[where.life].events, [&](const Event& other) {
          return other.kind == EventKind::deliver && other.view == e.view && ordered(other) &&
                 &other - story.lives[where.life].events.data() <
                     static_cast<std::ptrdiff_t>(where.index);
        });
      });
  if (!at) return false;
  const std::uint64_t view = event_at(s, *at).view;
  std::size_t first = 0;
  while (s.lives[at->life].events[first].kind != EventKind::deliver ||
         s.lives[at->life].events[first].view != view ||
         !ordered(s.lives[at->life].events[first])) {
    ++first;
  }
  s.move(at->life, at->index, first);
  return true;
}

bool round_back(Story& s, Prng& random) {
  return change(
      s, random, EventKind::deliver,
      [](const Story& story, const Event& e, At where) {
        const std::size_t last = beside(story, where, -1);
        return ordered(e) && last != where.index &&
               story.lives[where.life].events[last].view == e.view;
      },
      [](Event& e) { e.extra = 0xffffffff; });
}

bool late_after_healing(Story& s, Prng& random) {
  const std::uint64_t healed = s.get(Story::kHarness, EventKind::heal).time_ns;
  return change(
      s, random, EventKind::deliver,
      [&](const Story&, const Event& e, At) { return e.time_ns > healed; },
      [](Event& e) { e.time_ns += 2000 * Story::kMs; });
}

bool change_shared(Story& s, Prng& random, EventKind kind, std::uint64_t Event::* field) {
  return change(s, random, kind, shared, [&](Event& e) { e.*field ^= 1; });
}

bool drop_last_of_core(Story& s, Prng& random) {
  std::vector<LifeId> core = s.present;
  std::erase_if(core, [&](LifeId life) {
    return std::ranges::count_if(s.lives[life].events, [](const Event& e) {
             return e.kind == EventKind::deliver && e.group == kAtomic;
           }) < 2;
  });
  if (core.size() < 2) return false;
  const LifeId life = core[random.below(core.size())];
  s.erase(life, s.find(life, EventKind::deliver, -1, kAtomic));
  return true;
}

bool deliver_after_stop(Story& s, Prng& random) {
  const auto at =
      any(s, random, EventKind::stopped, [](const Story& story, const Event&, At where) {
        return std::ranges::count(story.lives[where.life].events, EventKind::deliver,
                                  &Event::kind) > 0;
      });
  if (!at) return false;
  s.move(at->life, s.find(at->life, EventKind::deliver, -1), end_of(s, at->life) - 1);
  return true;
}

bool null_in_quiet(Story& s, Prng& random) {
  return change(s, random, EventKind::heartbeats, all, [](Event& e) {
    e.kind = EventKind::nulls;
    e.time_ns -= Story::kMs;
  });
}

constexpr auto kDeliver = EventKind::deliver;

constexpr std::array kCorruptions = {
    Corruption{"two deliveries change places", swap_deliveries},
    Corruption{"two messages change ordinals", swap_contents},
    Corruption{"a delivery is missing",
               [](Story& s, Prng& r) { return drop(s, r, kDeliver, in_the_middle); }},
    Corruption{"a delivery is there twice", duplicate},
    Corruption{"crc",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) { e.crc ^= 4; });
               }},
    Corruption{"length",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) { ++e.length; });
               }},
    Corruption{"ordinal",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, in_the_middle,
                               [&](Event& e) { e.position += 1 + r.below(1000); });
               }},
    Corruption{"sender",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) { e.peer ^= 64; });
               }},
    Corruption{"sender's incarnation",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) { e.peer_incarnation ^= 2; });
               }},
    Corruption{"ticket",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) { e.number += 1; });
               }},
    Corruption{"delivered in the view after",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, ordered_one, [](Event& e) { ++e.view; });
               }},
    Corruption{"delivered in the view before",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, ordered_one, [](Event& e) { --e.view; });
               }},
    Corruption{"level",
               [](Story& s, Prng& r) {
                 return change(s, r, kDeliver, all, [](Event& e) {
                   e.detail ^= level_of(e) == 1 ? 1 : 3;  // agreed as atomic: it is safe
                 });
               }},
    Corruption{"the round goes back", round_back},
    Corruption{"a member is missing",
               [](Story& s, Prng& r) { return drop(s, r, EventKind::view_member, lives_on); }},
    Corruption{"a member's incarnation",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::view_member, shared,
                               [](Event& e) { e.number ^= 8; });
               }},
    Corruption{"a member's rank",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::view_member, all, [](Event& e) { ++e.extra; });
               }},
    Corruption{"one that left is missing",
               [](Story& s, Prng& r) { return drop(s, r, EventKind::view_left, all); }},
    Corruption{
        "a view's digest",
        [](Story& s, Prng& r) { return change_shared(s, r, EventKind::install, &Event::number); }},
    Corruption{"a view's id",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::install, all, [](Event& e) { e.view += 10; });
               }},
    Corruption{"a view is missing", drop_install},
    Corruption{"a view is split", split_view},
    Corruption{"a send is missing",
               [](Story& s, Prng& r) { return drop(s, r, EventKind::send, delivered); }},
    Corruption{"other bytes were sent",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::send, delivered, [](Event& e) { e.crc ^= 1; });
               }},
    Corruption{"nobody suspected who was removed", drop_suspicions},
    Corruption{
        "a cut's digest",
        [](Story& s, Prng& r) { return change_shared(s, r, EventKind::cut, &Event::number); }},
    Corruption{
        "a cut's position",
        [](Story& s, Prng& r) { return change_shared(s, r, EventKind::cut, &Event::position); }},
    Corruption{"the wedge comes before a delivery", wedge_before_delivery},
    Corruption{"a delivered message failed", fail_delivered},
    Corruption{"the last of a view is missing", drop_before_install},
    Corruption{"the last of all is missing", drop_last_of_core},
    Corruption{"a state's digest",
               [](Story& s, Prng& r) {
                 return change_shared(s, r, EventKind::snapshot_in, &Event::number) ||
                        change(s, r, EventKind::snapshot_out, all, [](Event& e) { e.number ^= 1; });
               }},
    Corruption{"a state's ordinal",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::snapshot_in, all, [](Event& e) { ++e.position; });
               }},
    Corruption{"a state that nobody gave",
               [](Story& s, Prng& r) { return drop(s, r, EventKind::snapshot_out, all); }},
    Corruption{"a stranger's write",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::write_landed, all, [](Event& e) { e.number ^= 1; });
               }},
    Corruption{"an old write",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::write_landed, all, [](Event& e) { --e.extra; });
               }},
    Corruption{"too much of something",
               [](Story& s, Prng& r) {
                 return change(s, r, EventKind::resources, all, [](Event& e) { e.number = 11; });
               }},
    Corruption{"a payload changes",
               [](Story& s, Prng& r) {
                 const auto at = any(s, r, kDeliver, all);
                 Event end = event_at(s, *at);
                 end.kind = EventKind::deliver_end;
                 end.crc = ~end.crc;
                 s.insert(at->life, at->index + 1, end);
                 return true;
               }},
    Corruption{"a null in quiet times", null_in_quiet},
    Corruption{"late after healing", late_after_healing},
    Corruption{"delivers after it has stopped", deliver_after_stop},
};

}  // namespace

std::span<const Corruption> corruptions() { return kCorruptions; }

}  // namespace tutti::history::testing
