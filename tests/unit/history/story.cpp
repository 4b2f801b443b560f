#include "unit/history/story.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.hpp"

namespace tutti::history::testing {

Story::Story() {
  lives.push_back({.identity = {.name = "harness", .node = kHarnessNode, .incarnation = 1}});
  options = {.strict_wedge = true,
             .suspicion_views = 1,
             .deliver_bound_ns = 100 * kMs,
             .view_bound_ns = 50 * kMs,
             .stop_bound_ns = 50 * kMs,
             .leave_bound_ns = 50 * kMs,
             .wake_bound_ns = 20 * kMs,
             .suspect_after_ns = 20 * kMs,
             .pause_harmless_ns = 30 * kMs,
             .evict_bound_ns = 50 * kMs,
             .heartbeat_interval_ns = 10 * kMs,
             .nulls_slack = 4};
}

LifeId Story::begin(const std::string& name, std::uint16_t node) {
  std::uint64_t state = lives.size();
  lives.push_back({.identity = {.name = name, .node = node, .incarnation = splitmix64(state)}});
  return lives.size() - 1;
}

void Story::add_group(std::uint16_t id, Level level, std::vector<LifeId> members) {
  groups_[id].level = level;
  groups_[id].members = std::move(members);
  options.groups[id] = {.level = level, .round_robin = level != Level::unordered};
}

void Story::note(LifeId life, Event event) {
  event.node = lives[life].identity.node;
  event.incarnation = lives[life].identity.incarnation;
  event.time_ns = now_ns;
  lives[life].events.push_back(event);
}

bool Story::is_member(const Group& group, LifeId life) const {
  return group.members.empty() || std::ranges::count(group.members, life) > 0;
}

std::vector<LifeId> Story::members_of(const Group& group) const {
  std::vector<LifeId> members = present;
  std::erase_if(members, [&](LifeId life) { return !is_member(group, life); });
  return members;
}

std::size_t Story::rank(const Group& group, LifeId life) const {
  const std::vector<LifeId> members = members_of(group);
  return static_cast<std::size_t>(std::ranges::find(members, life) - members.begin());
}

std::uint64_t Story::send(LifeId life, std::uint16_t id) {
  Group& group = groups_[id];
  std::uint64_t state = id * 1'000'003 + life * 1009 + group.sent[life].size();
  Message message{.sender = life,
                  .ticket = group.sent[life].size() + 1,
                  .length = static_cast<std::uint32_t>(splitmix64(state) % 1000),
                  .crc = static_cast<std::uint32_t>(splitmix64(state)),
                  .sent_view = view};
  note(life, make_send(at(id), Ticket{message.ticket}, message.length, message.crc));
  group.sent[life].push_back(message);
  group.waiting[life].push_back(message);
  wait(1);
  return message.ticket;
}

bool Story::order(std::uint16_t id, LifeId sender) {
  Group& group = groups_[id];
  std::deque<Message>& waiting = group.waiting[sender];
  if (waiting.empty() || group.level == Level::unordered) return false;
  const std::size_t own = rank(group, sender);
  if (group.last_rank && own <= *group.last_rank) ++group.round;
  group.last_rank = own;
  Message message = waiting.front();
  waiting.pop_front();
  message.ordinal = group.sequence.size();
  message.round = group.round;
  group.sequence.push_back(message);
  return true;
}

void Story::note_delivery(LifeId life, std::uint16_t id, const Message& message) {
  note(life, make_deliver(at(id), {.sender = ref(message.sender),
                                   .ticket = Ticket{message.ticket},
                                   .ordinal = SeqNo{message.ordinal},
                                   .length = message.length,
                                   .crc = message.crc,
                                   .level = groups_[id].level,
                                   .send_view = message.sent_view,
                                   .round = message.round}));
  if (message.sender == life && message.ticket % 2 == 0) {
    note(life, make_send_ok(at(id), Ticket{message.ticket}));
  }
}

bool Story::deliver(LifeId life, std::uint16_t id, LifeId sender) {
  Group& group = groups_[id];
  if (!is_member(group, life)) return false;
  if (group.level != Level::unordered) {
    std::size_t& next = group.next[life];
    if (next >= group.sequence.size()) return false;
    note_delivery(life, id, group.sequence[next++]);
    return true;
  }
  std::size_t& next = group.heard[{life, sender}];
  if (next >= group.sent[sender].size()) return false;
  Message message = group.sent[sender][next];
  message.ordinal = next++;
  message.sent_view = view;
  note_delivery(life, id, message);
  return true;
}

void Story::settle() {
  for (auto& [id, group] : groups_) {
    for (bool more = true; more;) {
      more = false;
      for (const LifeId sender : present) more = order(id, sender) || more;
    }
    for (const LifeId life : present) {
      for (const LifeId sender : present) {
        while (deliver(life, id, sender)) {
        }
      }
    }
  }
  wait(1);
}

void Story::deliver_tail(LifeId life, std::uint16_t id) {
  Group& group = groups_[id];
  while (order(id, life)) {
  }
  while (deliver(life, id)) {
  }
  send(life, id);
  Message message = group.waiting[life].back();
  group.waiting[life].pop_back();
  message.ordinal = group.sequence.size();
  message.round = group.round + 1;
  note_delivery(life, id, message);
}

void Story::first_view(const std::vector<LifeId>& members) {
  view = 1;
  present = members;
  install({.joins = members}, {});
}

void Story::change_view(const Change& change) {
  std::vector<LifeId> staying = present;
  std::erase_if(staying, [&](LifeId life) { return std::ranges::count(change.fails, life) > 0; });
  for (const LifeId life : change.leaves) note(life, make_event(EventKind::leave, at()));
  for (const LifeId failed : change.fails) {
    note(staying.front(), make_suspect(at(), ref(failed), SuspectReason::heartbeat));
    if (staying.size() > 2) {
      note(staying.back(), make_suspect(at(), ref(failed), SuspectReason::told));
    }
  }
  wait(1);
  close(change, staying);
  const std::vector<LifeId> before = present;
  present = staying;
  std::erase_if(present, [&](LifeId life) { return std::ranges::count(change.leaves, life) > 0; });
  present.insert(present.end(), change.joins.begin(), change.joins.end());
  for (const LifeId left : change.leaves) note(left, make_stopped(at(), StopReason::left));
  ++view;
  install(change, before);
}

/// Wedge, cut, and what is left up to the cut.
void Story::close(const Change& change, const std::vector<LifeId>& staying) {
  for (const LifeId life : staying) note(life, make_event(EventKind::wedge, at(kAllGroups)));
  wait(1);
  for (auto& [id, group] : groups_) {
    if (group.level == Level::unordered) {
      for (const LifeId gone : change.leaves) {
        while (deliver(gone, id, gone)) {
        }
      }
      continue;
    }
    for (const LifeId life : staying) {
      if (!is_member(group, life)) continue;
      note(life, make_cut(at(id), view * 1000 + id, group.sequence.size()));
      while (deliver(life, id)) {
      }
    }
    for (const LifeId gone : change.fails) group.waiting[gone].clear();
    for (const LifeId gone : change.leaves) {  // one learns of each that misses the view
      for (const Message& message : group.waiting[gone]) {
        note(gone, make_send_fail(at(id), Ticket{message.ticket}, FailReason::view_change));
      }
      group.waiting[gone].clear();
    }
  }
  wait(1);
}

void Story::install(const Change& change, const std::vector<LifeId>& before) {
  for (const LifeId life : present) {
    note(life, make_install(at(), view * 77, static_cast<std::uint32_t>(present.size()), 0));
    for (std::uint32_t i = 0; i < present.size(); ++i) {
      const bool joins = std::ranges::count(before, present[i]) == 0;
      note(life,
           make_view_member(at(), ref(present[i]), i,
                            static_cast<std::uint8_t>(kMemberSends | (joins ? kMemberJoined : 0))));
    }
    for (const LifeId left : change.leaves) {
      note(life, make_view_left(at(), ref(left), LeftReason::leave));
    }
    for (const LifeId failed : change.fails) {
      note(life, make_view_left(at(), ref(failed), LeftReason::suspected));
    }
    for (const auto& [id, group] : groups_) {
      if (group.members.empty()) continue;
      const std::vector<LifeId> members = members_of(group);
      for (std::uint32_t i = 0; i < members.size(); ++i) {
        note(life, make_group_member(at(id), ref(members[i]), i, kMemberSends));
      }
    }
  }
  for (const LifeId life : change.joins) lives[life].first_view = view;
  for (auto& [id, group] : groups_) {
    group.round = 0;
    group.last_rank.reset();
    for (auto& [sender, waiting] : group.waiting) {
      for (Message& message : waiting) message.sent_view = view;  // sent again
    }
    for (const LifeId life : change.joins) {
      group.next[life] = group.sequence.size();
      for (auto& [sender, sent] : group.sent) group.heard[{life, sender}] = sent.size();
    }
    if (before.empty() || change.joins.empty() || group.level != Level::atomic) continue;
    if (members_of(group).size() != present.size()) continue;
    const std::uint64_t ordinal = group.sequence.size();
    note(present.front(), make_snapshot(EventKind::snapshot_out, at(id), 5000 + view, ordinal));
    for (const LifeId life : change.joins) {
      note(life, make_snapshot(EventKind::snapshot_in, at(id), 5000 + view, ordinal));
    }
  }
  wait(1);
}

void Story::heal() {
  note_harness(make_count(EventKind::heal, at(), present.size()));
  for (const LifeId life : present) note_harness(make_heal_core(at(), ref(life)));
  wait(1);
}

void Story::fault(EventKind kind, FaultKind fault, std::uint16_t node) {
  note_harness(make_fault(kind, at(), fault, node));
  wait(1);
}

std::size_t Story::find(LifeId life, EventKind kind, int nth,
                        std::optional<std::uint16_t> group) const {
  std::vector<std::size_t> found;
  const std::vector<Event>& events = lives[life].events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == kind && (!group || events[i].group == *group)) found.push_back(i);
  }
  const auto index = static_cast<std::size_t>(nth < 0 ? static_cast<int>(found.size()) + nth : nth);
  if (index >= found.size()) {
    ADD_FAILURE() << "the story has no such event";
    return 0;
  }
  return found[index];
}

void Story::erase(LifeId life, std::size_t index) {
  lives[life].events.erase(lives[life].events.begin() + static_cast<std::ptrdiff_t>(index));
}

void Story::insert(LifeId life, std::size_t index, Event event) {
  std::vector<Event>& events = lives[life].events;
  event.node = lives[life].identity.node;
  event.incarnation = lives[life].identity.incarnation;
  if (event.time_ns == 0 && index > 0) event.time_ns = events[index - 1].time_ns;
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(index), event);
}

void Story::move(LifeId life, std::size_t from, std::size_t to) {
  const Event event = lives[life].events[from];
  erase(life, from);
  insert(life, to, event);
}

void Story::erase_all(LifeId life, EventKind kind, std::optional<std::uint16_t> group) {
  std::erase_if(lives[life].events, [&](const Event& event) {
    return event.kind == kind && (!group || event.group == *group);
  });
}

Report Story::check() const {
  std::vector<History> histories;
  histories.reserve(lives.size());
  for (const Life& life : lives) {
    histories.push_back({.identity = life.identity,
                         .events = life.events,
                         .source = life.identity.name,
                         .crashed = life.crashed});
  }
  auto report = history::check(histories, options);
  if (report) return *report;
  ADD_FAILURE() << report.error().message;
  return {};
}

}  // namespace tutti::history::testing
