/// \file event.hpp
/// One record of a history: what a member did or saw, in 64 bytes, little-endian, the same in
/// memory and in a file. make_event.hpp builds them; docs/histories.md lists which kind uses which
/// field.
///
/// The checker takes the order of events of different members from the messages, never from
/// time_ns: times serve bounds ("within 5 s") and people only. Nothing here allocates; an Event is
/// copied as bytes.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tutti::history {

static_assert(std::endian::native == std::endian::little, "histories are little-endian");

enum class EventKind : std::uint8_t {
  none,            ///< a slot that was never written
  send,            ///< an application thread hands a message over; recorded before the commit
  send_ok,         ///< the sender was told: delivered
  send_fail,       ///< the sender was told: will never be delivered
  deliver,         ///< recorded when the delivery callback starts
  deliver_end,     ///< recorded only if the payload had changed when the callback ended
  wedge,           ///< this member froze its counters: it takes in nothing more of this view
  decide,          ///< this member learnt what ends the view: it delivers up to the cut, no further
  cut,             ///< this member learnt the cut: `position` is the first ordinal after the view
  install,         ///< a view is installed; the next records say which members it has
  view_member,     ///< one per member of the view just installed, in rank order
  view_left,       ///< one per member of the previous view that is not in this one
  group_member,    ///< one per member of a group that not all members of the view belong to
  suspect,         ///< this member suspects another, for the first time in the view
  leave,           ///< the application asked to leave
  evicted,         ///< this member learnt that the others went on without it
  stopped,         ///< this member stopped and told its application why; its last event
  snapshot_out,    ///< state given to joiners, as of the cut
  snapshot_in,     ///< state taken over by a joiner, before its first delivery
  nulls,           ///< the number of nulls since the last such record
  data_pushes,     ///< the number of pushes of messages, nulls or acknowledgements since the last
  heartbeats,      ///< the number of heartbeats since the last
  quiet_begin,     ///< the harness: all members delivered everything, and none sends from now on
  quiet_end,       ///< the harness: the quiet time ends
  heal,            ///< the harness: faults ended; a core is connected and correct from now on
  heal_core,       ///< one per member of that core
  write_landed,    ///< a remote write changed bytes that this member reads
  write_rejected,  ///< a remote write was fenced off
  resources,       ///< how much of something bounded is in use
  fault_begin,     ///< the harness: a fault begins
  fault_end,       ///< the harness: a fault ends
  accept,          ///< this member accepted a proposal of the next view
  barrier,         ///< the application calls a barrier; recorded before its null is placed
  barrier_ok,      ///< that call returned: nothing that is read from now on is stale
};
inline constexpr std::uint8_t kEventKinds = static_cast<std::uint8_t>(EventKind::barrier_ok) + 1;

/// Event::node of a harness (simulator, nemesis): it belongs to no view.
inline constexpr std::uint16_t kHarnessNode = std::numeric_limits<std::uint16_t>::max();
/// No node, where a node id is optional.
inline constexpr std::uint16_t kNoNode = std::numeric_limits<std::uint16_t>::max();

/// Event::group of a wedge that holds for all groups.
inline constexpr std::uint16_t kAllGroups = std::numeric_limits<std::uint16_t>::max();

// What `detail` says, by kind.
enum class FailReason : std::uint8_t { view_change, stopped, too_late };  // send_fail
enum class LeftReason : std::uint8_t { leave, suspected };                // view_left
enum class SuspectReason : std::uint8_t { connection, heartbeat, told, transport, process };
/// Why a member wedged. suspicion, leave, join, groups: the first of these that it saw; groups:
/// members wish to be in others. told: it saw only that others had wedged. unsaid: its recorder
/// does not say.
enum class WedgeReason : std::uint8_t { unsaid, told, suspicion, leave, join, groups };  // wedge
enum class StopReason : std::uint8_t { minority, left, failure, shutdown };              // stopped
enum class ResourceKind : std::uint8_t { memory, fds, threads, queue };  // resources
/// link, slow: what the first node writes to the second (to any, if there is no second) does not
/// arrive, or arrives late. minority: the harness says that the node can reach no majority of its
/// view; the second node is the same node if the faults that cut it off are recorded as well.
/// doorbell_lost: one doorbell to the node was lost (a moment, not a period). lost: the second node
/// lost its connection to the first, or believes so, until it is connected again.
enum class FaultKind : std::uint8_t {
  crash,
  pause,
  partition,
  link,
  slow,
  minority,
  doorbell_lost,
  lost
};
/// What a remote write changed: a row of the table, or something else that an epoch guards.
enum class WriteClass : std::uint8_t { row, session, sequencer, token, leader };
inline constexpr std::uint8_t kMemberJoined = 1;  ///< view_member: it was not in the previous view
inline constexpr std::uint8_t kMemberSends = 2;   ///< view_member, group_member: it may send

struct Event {
  EventKind kind = EventKind::none;
  std::uint8_t detail = 0;             ///< a reason, a level, flags: by kind
  std::uint16_t node = 0;              ///< the node that recorded it; set by the Recorder
  std::uint16_t group = 0;             ///< the group, 0 if the event concerns none
  std::uint16_t peer = 0;              ///< another node: sender, suspect, member, source
  std::uint64_t incarnation = 0;       ///< of that node; set by the Recorder
  std::uint64_t view = 0;              ///< id of the view the node is in
  std::uint64_t time_ns = 0;           ///< virtual or monotonic; a run uses one clock
  std::uint64_t number = 0;            ///< ticket, digest, count, value or the peer's incarnation
  std::uint64_t position = 0;          ///< ordinal, cut, limit or offset
  std::uint32_t peer_incarnation = 0;  ///< of the peer, folded to 32 bits (fold)
  std::uint32_t length = 0;            ///< in bytes; install: number of members
  std::uint32_t crc = 0;               ///< CRC32C of the payload
  std::uint32_t extra = 0;             ///< round, rank, ballot, epoch or second node

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 64 && alignof(Event) == 8);
static_assert(std::is_trivially_copyable_v<Event>);

/// An incarnation in 32 bits, for fields without room for 64. The checker takes two incarnations of
/// one node for the same if they fold to the same value (one pair in 2^32).
[[nodiscard]] constexpr std::uint32_t fold(std::uint64_t incarnation) {
  return static_cast<std::uint32_t>(incarnation ^ (incarnation >> 32));
}

// A deliver event packs two values into `detail`: the level, and how many views after its send view
// the message was delivered.
inline constexpr std::uint8_t kLevelBits = 2;
inline constexpr std::uint8_t kViewsLateMax = 63;  ///< this many or more

/// Of a `deliver` event. In a group at `agreed` it may be `atomic`: the message was sent as safe.
[[nodiscard]] constexpr std::uint8_t level_of(const Event& deliver) {
  return deliver.detail & ((1U << kLevelBits) - 1);
}

/// The view in which the message of a `deliver` event was sent, or last sent again.
[[nodiscard]] constexpr std::uint64_t send_view(const Event& deliver) {
  return deliver.view - (deliver.detail >> kLevelBits);
}

}  // namespace tutti::history
