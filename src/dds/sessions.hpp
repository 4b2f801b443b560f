/// \file sessions.hpp
/// The session table of a bundle: which request of which client was delivered last, and where.
///
/// A client that is no member numbers its samples 1, 2, ... within a session, and repeats those
/// that were not answered, through whichever relay it reaches. The table decides, at the delivery
/// of each record, whether it is new. It is a function of the sequence of records alone: no clock,
/// no address, nothing of a relay. So all members have the same table at the same position, and it
/// is part of the bundle's state for members that join and for restarts from logs.
///
/// Invariants:
///  SE1  A session's number is the position of the record that opened it: no two sessions of one
///       sequence have the same number, and one that ended never exists again.
///  SE2  Of a session, exactly the requests 1 to last were delivered, each once, in this order.
///  SE3  There are at most sessions_max sessions, kSessionsOfClientMax of one client id, and
///       kPositionsKept positions for each.
///  SE4  Whether a request was dropped is remembered with its position: a repeat is told the same.
/// Threads: one for each object.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dds/session_record.hpp"
#include "tutti/error.hpp"

namespace tutti::dds {

/// A client has at most so many unanswered samples in a session, and the table remembers the
/// positions of so many: a repeated sample that was delivered is always answered with its position.
inline constexpr std::uint64_t kPositionsKept = 64;

/// So many sessions one client id has at most, so that one client alone does not fill a table.
inline constexpr std::size_t kSessionsOfClientMax = 64;

struct Session {
  SessionOpen opened{};
  std::uint64_t last = 0;     ///< the last request that was delivered; 0: none
  std::uint64_t touched = 0;  ///< position of the last record that changed the session
  /// Of the newest requests, up to `last`; with kDroppedBit where the request was dropped.
  std::deque<std::uint64_t> positions{};
  friend bool operator==(const Session&, const Session&) = default;

  /// Where that request was delivered; empty if it was not, or the table has forgotten it.
  [[nodiscard]] std::optional<std::uint64_t> position_of(std::uint64_t request) const;
  /// The table remembers that it was dropped.
  [[nodiscard]] bool was_dropped(std::uint64_t request) const;

  /// No position has it.
  static constexpr std::uint64_t kDroppedBit = std::uint64_t{1} << 63;

 private:
  [[nodiscard]] std::optional<std::uint64_t> kept_of(std::uint64_t request) const;
};

enum class SessionStatus : std::uint8_t {
  opened,     ///< the session exists: now, or because this open is a repeated one
  full,       ///< not opened: there are as many already as SE3 allows
  delivered,  ///< the sample is the next one of its session: it is to be delivered
  duplicate,  ///< it was delivered earlier, at `position` if the table remembers it
  go_back,    ///< requests before it are missing: not delivered; `last` says which is the last
  expired,    ///< there is no such session of this client (any more): not delivered
  closed,     ///< the session ended by its client's wish
  kept,       ///< not expired: there is no such session, or it went on
};

/// What the delivery of a record means.
struct SessionOutcome {
  SessionStatus status{};
  std::uint64_t session = 0;
  std::uint64_t nonce = 0;    ///< of the session that the record names
  std::uint64_t request = 0;  ///< of a sample
  std::uint64_t last = 0;     ///< after this record
  std::optional<std::uint64_t> position{};
  bool dropped = false;  ///< of a sample: it took its turn, but its topic was deleted before
  ClientId client{};     ///< whose session it is; of a session that is not there: unset
  friend bool operator==(const SessionOutcome&, const SessionOutcome&) = default;
};

class SessionTable {
 public:
  explicit SessionTable(std::size_t sessions_max) : sessions_max_(sessions_max) {}

  /// The record at that position was delivered. Positions rise from call to call. `has_topic`: of a
  /// sample, its topic exists at that position.
  SessionOutcome deliver(std::uint64_t position, const SessionRecord& record,
                         bool has_topic = true);

  /// Null if there is none of that number.
  [[nodiscard]] const Session* find(std::uint64_t number) const;
  /// The session that this client opened with that nonce.
  [[nodiscard]] std::optional<std::uint64_t> find(const SessionOpen& opened) const;
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }
  [[nodiscard]] std::size_t sessions_max() const { return sessions_max_; }
  [[nodiscard]] const std::map<std::uint64_t, Session>& all() const { return sessions_; }

  /// For the bundle's state.
  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Refuses bytes that no table of at most `sessions_max` sessions gives.
  [[nodiscard]] static Result<SessionTable> decode(std::span<const std::byte> bytes,
                                                   std::size_t sessions_max);
  friend bool operator==(const SessionTable&, const SessionTable&) = default;

 private:
  SessionOutcome apply(std::uint64_t position, const SessionOpen& record, bool has_topic);
  /// Request 0 asks: it is never delivered, and its outcome says what the session's last one is.
  SessionOutcome apply(std::uint64_t position, const ClientSample& record, bool has_topic);
  SessionOutcome apply(std::uint64_t position, const SessionClose& record, bool has_topic);
  SessionOutcome apply(std::uint64_t position, const SessionExpire& record, bool has_topic);
  [[nodiscard]] bool has_room_for(const ClientId& client) const;
  void erase(std::uint64_t number);
  [[nodiscard]] bool add(std::uint64_t number, Session session);

  std::size_t sessions_max_;
  std::map<std::uint64_t, Session> sessions_{};
  std::map<std::pair<ClientId, std::uint64_t>, std::uint64_t> numbers_{};  // by client and nonce
};

}  // namespace tutti::dds
