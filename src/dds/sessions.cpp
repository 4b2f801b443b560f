#include "dds/sessions.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/bytes.hpp"

namespace tutti::dds {

std::optional<std::uint64_t> Session::position_of(std::uint64_t request) const {
  const std::optional<std::uint64_t> kept = kept_of(request);
  if (!kept) return std::nullopt;
  return *kept & ~kDroppedBit;
}

bool Session::was_dropped(std::uint64_t request) const {
  return (kept_of(request).value_or(0) & kDroppedBit) != 0;
}

std::optional<std::uint64_t> Session::kept_of(std::uint64_t request) const {
  if (request == 0 || request > last || last - request >= positions.size()) return std::nullopt;
  return positions[positions.size() - 1 - (last - request)];
}

SessionOutcome SessionTable::deliver(std::uint64_t position, const SessionRecord& record,
                                     bool has_topic) {
  return std::visit([&](const auto& one) { return apply(position, one, has_topic); }, record);
}

SessionOutcome SessionTable::apply(std::uint64_t position, const SessionOpen& record, bool) {
  SessionOutcome outcome{.status = SessionStatus::opened,
                         .session = position,
                         .nonce = record.nonce,
                         .client = record.client};
  if (const std::optional<std::uint64_t> there = find(record)) {
    Session& session = sessions_.at(*there);
    session.touched = position;
    outcome.session = *there;
    outcome.last = session.last;
    return outcome;
  }
  if (!has_room_for(record.client)) {
    outcome.status = SessionStatus::full;
    return outcome;
  }
  TUTTI_ASSERT(!sessions_.contains(position), position);  // SE1
  const bool added = add(position, {.opened = record, .touched = position});
  TUTTI_ASSERT(added, position);
  return outcome;
}

// SE3.
bool SessionTable::has_room_for(const ClientId& client) const {
  if (sessions_.size() >= sessions_max_) return false;
  std::size_t own = 0;
  for (auto at = numbers_.lower_bound({client, 0});
       at != numbers_.end() && at->first.first == client; ++at) {
    if (++own == kSessionsOfClientMax) return false;
  }
  return true;
}

SessionOutcome SessionTable::apply(std::uint64_t position, const ClientSample& record,
                                   bool has_topic) {
  SessionOutcome outcome{.status = SessionStatus::expired,
                         .session = record.session,
                         .nonce = record.nonce,
                         .request = record.request};
  const auto found = sessions_.find(record.session);
  if (found == sessions_.end() || found->second.opened.nonce != record.nonce) return outcome;
  Session& session = found->second;
  session.touched = position;
  outcome.client = session.opened.client;
  outcome.last = session.last;
  if (record.request <= session.last) {
    outcome.status = SessionStatus::duplicate;
    outcome.position = session.position_of(record.request);
    outcome.dropped = session.was_dropped(record.request);
    return outcome;
  }
  if (record.request - session.last != 1) {
    outcome.status = SessionStatus::go_back;
    return outcome;
  }
  session.last = outcome.last = record.request;  // SE2
  // What only takes its turn is dropped: whoever repeats it must not hear that it was delivered.
  outcome.dropped = !has_topic || record.topic == kNoTopic;
  session.positions.push_back(outcome.dropped ? position | Session::kDroppedBit : position);
  if (session.positions.size() > kPositionsKept) session.positions.pop_front();  // SE3
  outcome.status = SessionStatus::delivered;
  outcome.position = position;
  return outcome;
}

SessionOutcome SessionTable::apply(std::uint64_t, const SessionClose& record, bool) {
  SessionOutcome outcome{
      .status = SessionStatus::expired, .session = record.session, .nonce = record.nonce};
  const auto found = sessions_.find(record.session);
  if (found == sessions_.end() || found->second.opened.nonce != record.nonce) return outcome;
  outcome.status = SessionStatus::closed;
  outcome.client = found->second.opened.client;
  outcome.last = found->second.last;
  erase(record.session);
  return outcome;
}

SessionOutcome SessionTable::apply(std::uint64_t, const SessionExpire& record, bool) {
  SessionOutcome outcome{.status = SessionStatus::kept, .session = record.session};
  const auto found = sessions_.find(record.session);
  if (found == sessions_.end()) return outcome;
  outcome.nonce = found->second.opened.nonce;
  outcome.client = found->second.opened.client;
  outcome.last = found->second.last;
  if (found->second.last != record.last) return outcome;
  outcome.status = SessionStatus::expired;
  erase(record.session);
  return outcome;
}

const Session* SessionTable::find(std::uint64_t number) const {
  const auto found = sessions_.find(number);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> SessionTable::find(const SessionOpen& opened) const {
  const auto found = numbers_.find({opened.client, opened.nonce});
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

void SessionTable::erase(std::uint64_t number) {
  const auto found = sessions_.find(number);
  numbers_.erase({found->second.opened.client, found->second.opened.nonce});
  sessions_.erase(found);
}

bool SessionTable::add(std::uint64_t number, Session session) {
  const bool is_new =
      numbers_.emplace(std::pair(session.opened.client, session.opened.nonce), number).second;
  return is_new && sessions_.emplace(number, std::move(session)).second;
}

std::vector<std::byte> SessionTable::encode() const {
  Encoder encoder;
  encoder.list(sessions_, [](Encoder& into, const auto& entry) {
    const auto& [number, session] = entry;
    into.number(number);
    into.number(session.opened.client.high);
    into.number(session.opened.client.low);
    into.number(session.opened.nonce);
    into.number(session.last);
    into.number(session.touched);
    into.list(session.positions, [](Encoder& list, std::uint64_t one) { list.number(one); });
  });
  return encoder.take();
}

Result<SessionTable> SessionTable::decode(std::span<const std::byte> bytes,
                                          std::size_t sessions_max) {
  SessionTable table(sessions_max);
  Decoder decoder(bytes);
  const auto count = decoder.number<std::uint32_t>();
  decoder.check(count <= sessions_max);
  for (std::uint32_t i = 0; i < count && decoder.good(); ++i) {
    const auto number = decoder.number<std::uint64_t>();
    Session session;
    session.opened.client.high = decoder.number<std::uint64_t>();
    session.opened.client.low = decoder.number<std::uint64_t>();
    session.opened.nonce = decoder.number<std::uint64_t>();
    session.last = decoder.number<std::uint64_t>();
    session.touched = decoder.number<std::uint64_t>();
    const auto kept = decoder.number<std::uint32_t>();
    decoder.check(kept == std::min(session.last, kPositionsKept));
    std::uint64_t before = number;
    for (std::uint32_t k = 0; k < kept && decoder.good(); ++k) {
      session.positions.push_back(decoder.number<std::uint64_t>());
      const std::uint64_t at = session.positions.back() & ~Session::kDroppedBit;
      decoder.check(at > before);
      before = at;
    }
    decoder.check(session.touched >= before);
    decoder.check(table.sessions_.empty() || number > table.sessions_.rbegin()->first);
    if (decoder.good()) decoder.check(table.add(number, std::move(session)));
  }
  if (!decoder.done()) {
    return fail(ErrorCode::damaged,
                "the session table in the state of a bundle is not one of at most " +
                    std::to_string(sessions_max) +
                    " sessions; the members run different versions, or with different limits");
  }
  return table;
}

}  // namespace tutti::dds
