// What goes to the member and comes from it.
#include <utility>

#include "relay/conversation.hpp"

namespace tutti::relay {
namespace {

constexpr std::size_t kPulledBytes = 128U << 10;

}  // namespace

void Conversation::post(std::uint32_t bundle, const dds::SessionRecord& record) {
  posted(backend_.post(bundle, record), std::nullopt);
}

void Conversation::posted(Posting posting, std::optional<std::uint64_t> unordered) {
  switch (posting.outcome) {
    case Posted::posted:
      if (unordered) say(Published{kNone, *unordered, Status::sent, kNone});
      return;
    case Posted::waits:
      waiting_ = Waiting{std::move(posting.queued), unordered};
      return;
    case Posted::stopped:
      end(Code::stopped, "the member " + backend_.name() + " stops");
  }
}

void Conversation::look_at_waiting() {
  if (!waiting_) return;
  const Posted now = waiting_->record->state.load(std::memory_order_acquire);
  if (now != Posted::waits) posted({now}, std::exchange(waiting_, std::nullopt)->unordered);
}

void Conversation::outcome(std::uint32_t bundle, const dds::SessionOutcome& outcome) {
  using enum dds::SessionStatus;
  if (ended_) return;
  const std::uint64_t nonce = outcome.nonce;
  const auto opening = opening_.find(nonce);
  if (opening != opening_.end() && opening->second.bundle == bundle) {
    if (outcome.request == 0 && outcome.status != closed) session_opened(outcome);
    return;
  }
  const auto session = sessions_.find(nonce);
  if (session == sessions_.end() || session->second.bundle != bundle ||
      session->second.number != outcome.session) {
    return;
  }
  switch (outcome.status) {
    case delivered:
    case duplicate: {
      if (outcome.request == 0) return;  // another connection asked
      // Of a repeat, too: what was delivered before stays so, though it fits no more.
      if (outcome.dropped) {
        return say(Published{nonce, outcome.request, Status::unfit, kNone});
      }
      return say(Published{nonce, outcome.request,
                           outcome.status == delivered ? Status::delivered : Status::duplicate,
                           outcome.position.value_or(kNone)});
    }
    case go_back:
      return say(GoBack{nonce, outcome.request, outcome.last});
    case expired:
      sessions_.erase(session);
      return refuse(Code::expired, kind_of<Publish>(), nonce, "the session has expired");
    case closed:
      sessions_.erase(session);
      return say(Closed{nonce});
    case opened:
    case full:
    case kept:
      return;
  }
}

void Conversation::session_opened(const dds::SessionOutcome& outcome) {
  using enum dds::SessionStatus;
  const auto found = opening_.find(outcome.nonce);
  const Opening opening = found->second;
  const bool asked = opening.session != kNone;
  // The outcome of another client's open, or of another session, that has the same nonce.
  if (asked ? outcome.session != opening.session : outcome.client != client_) return;
  opening_.erase(found);
  if (outcome.status == full) {
    return refuse(Code::busy, kind_of<Open>(), opening.topic,
                  "the bundle has as many sessions as it may have; idle ones expire");
  }
  if (outcome.status == expired || outcome.client != client_) {  // CV2
    return refuse(Code::expired, kind_of<Open>(), opening.topic, "this client has no such session");
  }
  sessions_[outcome.nonce] = {opening.bundle, outcome.session};
  say(Opened{opening.topic, outcome.session, outcome.nonce, outcome.last});
}

void Conversation::pump() {
  if (ended_) return;
  look_at_waiting();
  find_topic();
  say_topics();
  pull();
}

// One sample of each subscription in turn, so that none keeps the others from the output; and not
// too much, so that other clients have their turn, and what is written is still in the cache.
void Conversation::pull() {
  again_ = false;
  std::size_t idle = 0;
  const std::size_t most = output_.size() + kPulledBytes;
  while (idle < subscriptions_.size() && has_room() && !ended_) {
    if (output_.size() >= most) {
      again_ = true;
      return;
    }
    auto next = subscriptions_.upper_bound(pulled_last_);
    if (next == subscriptions_.end()) next = subscriptions_.begin();
    pulled_last_ = next->first;
    idle = pull(next->first, next->second) ? 0 : idle + 1;
  }
}

bool Conversation::pull(std::uint32_t number, Subscription& subscription) {
  if (subscription.credit == 0) return false;
  const Cursor::Next next = subscription.cursor->next(subscription.credit);
  if (const auto* const sample = std::get_if<Cursor::Taken>(&next)) {
    if (sample->bytes.size() > room()) {  // CV4
      say(Gap{number, sample->position, sample->position + 1});
      return true;
    }
    --subscription.credit;
    say(Sample{number, sample->position, sample->sender, sample->timestamp_ns, sample->bytes});
    return true;
  }
  if (const auto* const missing = std::get_if<Cursor::Missing>(&next)) {
    say(Gap{number, missing->from, missing->to});
    return true;
  }
  if (const auto* const end_of = std::get_if<Cursor::End>(&next)) {
    say(Ended{number, end_of->why});
    subscriptions_.erase(number);
    return true;
  }
  if (std::holds_alternative<Cursor::Again>(next)) again_ = true;
  if (const auto* const stopped = std::get_if<Cursor::Stopped>(&next)) {
    end(Code::stopped, "the member " + backend_.name() + " gives no more: " + stopped->why);
  }
  return false;
}

}  // namespace tutti::relay
