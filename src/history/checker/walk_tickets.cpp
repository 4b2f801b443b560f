// Each sender's messages at one member: sent, unchanged, in order, once (D1 D2 D3 D8 D10 D12).
#include <algorithm>

#include "history/checker/walk.hpp"
#include "history/text.hpp"

namespace tutti::history {

/// The first ticket that this member expects of the sender: 1 if this member was in the group when
/// the sender joined.
std::uint64_t Walk::first_expected(const Step& step) const {
  if (life_.installs.empty() || step.sender.life == nullptr) return step.event.number;
  if (step.in.group->at_run_time) {
    const std::uint64_t began = run_.first_view_in(number_, *step.in.group);
    const bool was_there = began <= run_.first_view_in(*step.sender.life, *step.in.group);
    return was_there ? 1 : step.event.number;
  }
  const std::vector<Installation>& theirs = run_.lives[*step.sender.life].installs;
  const bool was_there = !theirs.empty() && life_.installs.front().view <= theirs.front().view;
  return was_there ? 1 : step.event.number;
}

void Walk::check_ticket(const Step& step) {
  Sender& sender = step.sender;
  const std::uint64_t ticket = step.event.number;
  if (sender.next == 0) {
    sender.first = sender.next = first_expected(step);
  }
  if (ticket >= sender.next) {
    if (ticket > sender.next) check_gap(step, sender.next);
    sender.next = ticket + 1;
    return;
  }
  const bool skipped =
      ticket < sender.first ||
      std::ranges::any_of(
          sender.gaps, [&](auto& gap) { return gap.first <= ticket && ticket < gap.second; });
  if (skipped) {
    add(Property::D8, step.ref, "delivers a message of a sender after later messages of it");
  } else {
    add(Property::D2, step.ref, "delivers a message twice");
  }
}

/// A ticket may be missing if its claim was abandoned or its sender was told that it failed.
void Walk::check_gap(const Step& step, std::uint64_t expected) {
  Sender& sender = step.sender;
  if (sender.log == nullptr || run_.lives[*sender.life].gaps() || life_.gaps()) return;
  const std::uint64_t end = std::min(step.event.number, sender.log->end + 1);
  for (std::uint64_t ticket = expected; ticket < end; ++ticket) {
    if (sender.log->sent.get(ticket - 1).time == 0 || sender.log->failed.contains(ticket)) continue;
    sender.gaps.emplace_back(expected, step.event.number);
    return add(Property::D8, step.ref,
               "skips messages of a sender: ticket " + std::to_string(ticket) +
                   " was sent and did not fail");
  }
}

void Walk::check_sent(const Step& step) {
  const Sender& sender = step.sender;
  const bool whole = sender.life != nullptr && !run_.lives[*sender.life].gaps();
  if (step.sent.time == 0) {
    if (whole || (sender.life == nullptr && run_.options.complete)) {
      add(Property::D1, step.ref, "delivers a message that its sender did not send");
    }
    return;
  }
  if (step.event.length != step.sent.length || step.event.crc != step.sent.crc) {
    add(Property::D1, step.ref,
        "delivers other bytes than were sent: those were " + std::to_string(step.sent.length) +
            " bytes with another crc or length");
  }
  if (!step.in.group->ordered()) return;
  const auto sent_in = static_cast<std::uint32_t>(send_view(step.event));
  const bool far = step.event.detail >> kLevelBits == kViewsLateMax;
  if (!far && static_cast<std::int32_t>(sent_in - step.sent.view) < 0) {
    add(Property::D3, step.ref,
        "says that a message was sent in an earlier view than the one it was sent in, view " +
            std::to_string(step.sent.view));
  }
  const auto failed = sender.log->failed.find(step.event.number);
  if (failed != sender.log->failed.end()) {
    run_.findings.add(
        Property::D3,
        run_.name(number_) + " delivers a message that its sender was told had failed",
        {step.ref, EventRef{*sender.life, failed->second}});
  }
}

void Walk::deliver_end(const Event& event, std::uint64_t index) {
  const Sender& sender = sender_of(in_group(event.group), event);
  const Sent sent =
      sender.log != nullptr && event.number > 0 ? sender.log->sent.get(event.number - 1) : Sent{};
  if (sent.time != 0 && sent.crc == event.crc) return;
  add(Property::D12, {number_, index}, "saw a payload change during the delivery callback");
}

void Walk::send_ok(const Event& event, std::uint64_t index) {
  const SendLog* log = run_.sent_by(number_, event.group);
  const bool was_sent =
      log != nullptr && event.number > 0 && log->sent.get(event.number - 1).time != 0;
  if (!was_sent && !life_.gaps()) {
    add(Property::D10, {number_, index}, "is told of a delivery of a message that it did not send");
    return;
  }
  if (log != nullptr && log->failed.contains(event.number)) {
    run_.findings.add(Property::D3,
                      run_.name(number_) +
                          " is told both that a message was delivered"
                          " and that it failed",
                      {EventRef{number_, index}, EventRef{number_, log->failed.at(event.number)}});
  }
  const std::uint64_t self = Run::name_key(life_.who.node, fold(life_.who.incarnation));
  const Sender* own = in_group(event.group).senders.find(self);
  if ((own == nullptr || own->next <= event.number) && !life_.gaps()) {
    add(Property::D10, {number_, index},
        "is told that its message was delivered, but has not delivered it itself");
  }
}

}  // namespace tutti::history
