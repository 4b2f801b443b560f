#include "history/checker/walk.hpp"

namespace tutti::history {

Walk::Walk(Run& run, Trace& trace, const Timing& timing, std::uint32_t life)
    : run_(run), trace_(trace), timing_(timing), number_(life), life_(run.lives[life]) {}

void Walk::see(const Event& event, std::uint64_t index) {
  switch (event.kind) {
    case EventKind::deliver:
      check_act(event, index);
      return deliver(event, index);
    case EventKind::deliver_end:
      return deliver_end(event, index);
    case EventKind::send:
      return check_act(event, index);
    case EventKind::send_ok:
      check_act(event, index);
      return send_ok(event, index);
    case EventKind::install:
      check_act(event, index);
      return install(index);
    case EventKind::wedge:
      (event.group == kAllGroups ? wedged_all_ : in_group(event.group).wedged) = event.view + 1;
      return;
    case EventKind::decide:
      return decide(event, index);
    case EventKind::cut:
      in_group(event.group).cut = event.view + 1;
      return;
    case EventKind::write_landed:
      return write_landed(event, index);
    default:
      return;
  }
}

Walk::InGroup& Walk::in_group(std::uint16_t group) {
  InGroup& in = groups_[group];
  if (in.group == nullptr) {
    const auto found = run_.groups.try_emplace(group).first;
    if (!found->second.level) found->second.level = Level::atomic;  // neither a delivery nor rules
    found->second.id = group;
    in.group = &found->second;
    in.trace = &trace_.groups[group];
  }
  return in;
}

Walk::Sender& Walk::sender_of(InGroup& in, const Event& event) {
  const std::uint64_t name = Run::name_key(event.peer, event.peer_incarnation);
  Sender& sender = in.senders[name];
  if (sender.number == 0) {
    sender.number = trace_.sender_number(name);
    sender.life = run_.life_of(event.peer, event.peer_incarnation);
    if (sender.life != nullptr) sender.log = run_.sent_by(*sender.life, event.group);
  }
  return sender;
}

void Walk::add(Property property, EventRef ref, const std::string& what) {
  run_.findings.add(property, run_.name(number_) + " " + what, {ref});
}

void Walk::deliver(const Event& event, std::uint64_t index) {
  InGroup& in = in_group(event.group);
  Sender& sender = sender_of(in, event);
  const Sent sent =
      sender.log != nullptr && event.number > 0 ? sender.log->sent.get(event.number - 1) : Sent{};
  const Step step{event, {number_, index}, in, sender, sent};
  check_in_view(step);
  check_sent(step);
  check_ticket(step);
  if (in.group->ordered()) check_order(step);
  timing_.deliver(step.ref, event, sent, sender.life);
  tally(step);
}

void Walk::tally(const Step& step) {
  InGroup& in = step.in;
  if (in.tally.count > 0 && in.tally.view != step.event.view) {
    in.trace->tallies.push_back(in.tally);
    in.tally = {};
  }
  const std::uint64_t end = step.event.position + 1;
  if (!in.began) {
    in.began = true;
    in.ending = {.life = number_, .first = step.event.position, .first_index = step.ref.index};
  }
  in.ending.next = step.event.position + 1;
  in.ending.last_index = step.ref.index;
  in.tally = {.life = number_,
              .view = step.event.view,
              .count = in.tally.count + 1,
              .end = end,
              .safe_end = is_safe(step.event) ? end : in.tally.safe_end,
              .last_index = step.ref.index,
              .last_ns = step.event.time_ns};
}

void Walk::end() {
  const std::uint64_t self = Run::name_key(life_.who.node, fold(life_.who.incarnation));
  groups_.for_each([&](std::uint64_t, const InGroup& in) {
    if (!in.began) return;
    if (in.tally.count > 0) in.trace->tallies.push_back(in.tally);
    in.trace->endings.push_back(in.ending);
    if (const Sender* own = in.senders.find(self)) in.trace->endings.back().own_next = own->next;
    if (in.group->ordered()) return;
    in.senders.for_each([&](std::uint64_t, const Sender& sender) {
      if (sender.life != nullptr) in.trace->heard.push_back({number_, *sender.life, sender.next});
    });
  });
}

}  // namespace tutti::history
