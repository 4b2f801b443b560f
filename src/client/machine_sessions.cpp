// What is published: numbers, repeats, outcomes.
#include <algorithm>
#include <utility>
#include <vector>

#include "client/machine.hpp"

namespace tutti::client {

using relay::kNone;
using relay::Status;

namespace {

// In the place of a topic's number: the request takes its turn, and no reader gets it.
constexpr std::uint32_t kNoTopic = ~std::uint32_t{0};

}  // namespace

void Machine::publish(const std::string& topic, std::uint64_t publication,
                      std::uint64_t timestamp_ns, std::span<const std::byte> bytes) {
  const Topic& found = topics_[topic];
  Publication one{.publication = publication,
                  .topic = topic,
                  .timestamp_ns = timestamp_ns,
                  .bytes = {bytes.begin(), bytes.end()}};
  if (found.info.service == relay::Service::unordered) {
    if (std::string why = why_empty(one, found.info.bundle); found.number && !why.empty()) {
      if (found.info.sample_bytes_max == 0) events_.on_no_session(why);
      return events_.on_answer(publication, {.status = Status::unfit, .refused = std::move(why)});
    }
    if (!found.number) {
      return events_.on_answer(publication, {.status = Status::expired,
                                             .refused = "not connected: a topic without order "
                                                        "repeats nothing"});
    }
    one.request = ++sends_;
    say(relay::Publish{*found.number, kNone, one.request, timestamp_ns, bytes});
    unordered_.emplace(one.request, std::move(one));
    return;
  }
  Session& session = sessions_[found.info.bundle];
  session.unanswered.push_back(std::move(one));
  advance(found.info.bundle, session);
}

// Opens the session where there is something to publish, and sends what may be sent.
void Machine::advance(const std::string& bundle, Session& session) {
  if (!welcome_ || session.unanswered.empty()) return;
  if (!session.open) return open(bundle, session);
  std::uint32_t sent = 0;
  for (Publication& one : session.unanswered) {  // CL2
    if (sent++ == kUnansweredMax) return;
    if (one.sent != 0) continue;
    if (awaits_number(one, bundle)) return;
    const std::uint64_t oldest = session.unanswered.front().request;
    if (one.request == 0 && oldest != 0 && session.next_request - oldest >= kUnansweredMax) return;
    if (one.request == 0) one.request = session.next_request++;
    send(bundle, session, one);
  }
}

// The number of its topic on this connection is to come.
bool Machine::awaits_number(const Publication& one, const std::string& bundle) {
  if (one.given_up) return false;
  const Topic& topic = topics_[one.topic];
  return !topic.number && !topic.gone && topic.info.bundle == bundle;
}

void Machine::open(const std::string& bundle, Session& session) {
  if (session.opening || session.busy) return;
  const auto topic = std::ranges::find_if(topics_, [&](const auto& entry) {
    return entry.second.number && entry.second.info.bundle == bundle;
  });
  if (topic == topics_.end()) return abandon(bundle, session);
  if (session.nonce == 0) session.nonce = random_();
  session.opening = true;
  session.opens_by = *topic->second.number;
  say(relay::Open{session.opens_by, session.number, session.nonce});
}

void Machine::on(const relay::Opened& frame) {
  const auto found = std::ranges::find_if(sessions_, [&](const auto& entry) {
    return entry.second.opening && entry.second.nonce == frame.nonce;
  });
  if (found == sessions_.end()) return;
  Session& session = found->second;
  session.opening = false;
  session.open = true;
  session.number = frame.session;
  session.opened_last = frame.last;
  for (Publication& one : session.unanswered) one.sent = 0;  // all are repeated, CL1
  advance(found->first, session);
}

// Why it only takes its turn; empty: it goes with its bytes.
std::string Machine::why_empty(const Publication& one, const std::string& bundle) {
  const Topic& topic = topics_[one.topic];
  if (one.given_up || !topic.number || topic.info.bundle != bundle) {
    return "the topic " + one.topic + " is gone";
  }
  // Each relay has a limit of its own; more than that would end the connection.
  if (one.bytes.size() <= topic.info.sample_bytes_max) return {};
  return "a sample of " + std::to_string(one.bytes.size()) + " bytes; this relay takes at most " +
         std::to_string(topic.info.sample_bytes_max) + " of the topic " + one.topic;
}

void Machine::send(const std::string& bundle, Session& session, Publication& one) {
  const Topic& topic = topics_[one.topic];
  one.sent = ++sends_;
  one.empty = !why_empty(one, bundle).empty();
  say(relay::Publish{.topic = one.empty ? kNoTopic : *topic.number,
                     .nonce = session.nonce,
                     .request = one.request,
                     .timestamp_ns = one.timestamp_ns,
                     .bytes = one.empty ? std::span<const std::byte>() : one.bytes});
}

void Machine::on(const relay::Published& frame) {
  if (frame.nonce == kNone) {
    const auto one = unordered_.find(frame.request);
    if (one == unordered_.end()) return;
    const std::uint64_t publication = one->second.publication;
    unordered_.erase(one);
    return events_.on_answer(publication, {.status = frame.status});
  }
  const auto found = session_of(frame.nonce);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  const auto one = std::ranges::find(session.unanswered, frame.request, &Publication::request);
  if (one == session.unanswered.end()) return;  // the answer to a repeat
  Answer answer{frame.status, frame.position, {}};
  // Without its bytes it is never delivered: then it was before, by another relay.
  if (one->empty && frame.status == Status::unfit) {
    answer.refused = why_empty(*one, found->first);
    if (answer.refused.empty()) answer.refused = "the topic " + one->topic + " was gone";
  }
  const std::uint64_t publication = one->publication;
  const bool was_answered = one->given_up;
  session.unanswered.erase(one);
  if (!was_answered) events_.on_answer(publication, answer);
  advance(found->first, session);
}

// What was sent before that request was refused may have been refused, too; what was sent again
// since then was not. Where one waits for the number of its topic, those behind it keep their turn:
// advance() sends them.
void Machine::on(const relay::GoBack& frame) {
  const auto found = session_of(frame.nonce);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  const auto refused = std::ranges::find(session.unanswered, frame.request, &Publication::request);
  if (refused == session.unanswered.end()) return;
  const std::uint64_t until = refused->sent;
  bool waits = false;
  for (Publication& one : session.unanswered) {
    if (one.request == 0 || one.request > frame.request) break;
    if (one.request <= frame.last || one.sent > until) continue;
    waits = waits || one.sent == 0 || awaits_number(one, found->first);
    if (waits) {
      one.sent = 0;
    } else {
      send(found->first, session, one);
    }
  }
}

// While the connection has the session, its relay tells each outcome in the bundle's order, also of
// what went through others. So what has none when the session ends took no turn, unless it had
// taken it when this connection opened the session, and gets a number of the next one. What had
// taken its turn by then was delivered or dropped: only the answer to its repeat would have said
// which. If the session ended before this connection had it, the same holds of all that had a
// number.
void Machine::expire(const std::string& bundle, Session& session) {
  std::vector<std::uint64_t> unknown;
  std::deque<Publication> rest;
  for (Publication& one : session.unanswered) {
    if (one.given_up) continue;
    if (one.request != 0 && (!session.open || one.request <= session.opened_last)) {
      unknown.push_back(one.publication);
    } else {
      one.request = one.sent = 0;
      rest.push_back(std::move(one));
    }
  }
  session = {};
  session.unanswered = std::move(rest);
  for (const std::uint64_t publication : unknown) {
    events_.on_answer(publication, {.status = Status::expired});
  }
  advance(bundle, sessions_[bundle]);
}

// All topics of the bundle are gone, so that nothing can be asked of it any more. The session
// stays, for what was sent may still come from a relay before (CL2).
void Machine::abandon(const std::string& bundle, Session& session) {
  const bool all_gone = std::ranges::all_of(topics_, [&](const auto& entry) {
    return entry.second.info.bundle != bundle || entry.second.gone;
  });
  if (!all_gone) return;
  std::vector<std::pair<std::uint64_t, Answer>> answers;
  for (Publication& one : std::exchange(session.unanswered, {})) {
    if (!one.given_up) {
      answers.push_back({one.publication, {.status = Status::expired}});
      if (one.request == 0) answers.back().second.refused = "the topic " + one.topic + " is gone";
    }
    if (one.request == 0) continue;
    one.given_up = true;
    one.bytes = {};
    session.unanswered.push_back(std::move(one));
  }
  for (const auto& [publication, answer] : answers) events_.on_answer(publication, answer);
}

void Machine::close() {
  for (const auto& [bundle, session] : sessions_) {
    if (session.open && session.unanswered.empty()) say(relay::Close{session.nonce});
  }
  if (welcome_) say(relay::Bye{relay::Code::stopped, {}});
}

std::size_t Machine::unanswered() const {
  std::size_t all = unordered_.size();
  for (const auto& [bundle, session] : sessions_) {
    all += static_cast<std::size_t>(
        std::ranges::count(session.unanswered, false, &Publication::given_up));
  }
  return all;
}

std::map<std::string, Machine::Session>::iterator Machine::session_of(std::uint64_t nonce) {
  return std::ranges::find_if(sessions_, [&](const auto& entry) {
    return entry.second.open && entry.second.nonce == nonce;
  });
}

}  // namespace tutti::client
