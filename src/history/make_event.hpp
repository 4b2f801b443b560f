/// \file make_event.hpp
/// Builds each kind of event from named values. The Recorder adds the node and its incarnation.
#pragma once
#include <algorithm>
#include <cstdint>

#include "history/event.hpp"
#include "tutti/types.hpp"

namespace tutti::history {

/// View, time and group of an event. Kinds that concern no group leave `group` 0.
struct At {
  std::uint64_t view = 0;
  std::uint64_t time_ns = 0;
  std::uint16_t group = 0;
};

/// One incarnation of a node.
struct NodeRef {
  std::uint16_t node = 0;
  std::uint64_t incarnation = 0;
  friend auto operator<=>(const NodeRef&, const NodeRef&) = default;
};

[[nodiscard]] constexpr Event make_event(EventKind kind, At at) {
  Event event;
  event.kind = kind;
  event.group = at.group;
  event.view = at.view;
  event.time_ns = at.time_ns;
  return event;
}

template <class Detail>
[[nodiscard]] constexpr Event make_event(EventKind kind, At at, Detail detail) {
  Event event = make_event(kind, at);
  event.detail = static_cast<std::uint8_t>(detail);
  return event;
}

/// An event about another node; the whole incarnation of that node is in `number`.
template <class Detail>
[[nodiscard]] constexpr Event make_event(EventKind kind, At at, Detail detail, NodeRef peer) {
  Event event = make_event(kind, at, detail);
  event.peer = peer.node;
  event.number = peer.incarnation;
  return event;
}

/// `at.view`: the view in which the message is sent, as far as the sending thread knows. Append the
/// event before the commit, so that no delivery of the message is recorded earlier.
[[nodiscard]] constexpr Event make_send(At at, Ticket ticket, std::uint32_t length,
                                        std::uint32_t crc) {
  Event event = make_event(EventKind::send, at);
  event.number = ticket.value;
  event.length = length;
  event.crc = crc;
  return event;
}

[[nodiscard]] constexpr Event make_send_ok(At at, Ticket ticket) {
  Event event = make_event(EventKind::send_ok, at);
  event.number = ticket.value;
  return event;
}

[[nodiscard]] constexpr Event make_send_fail(At at, Ticket ticket, FailReason reason) {
  Event event = make_event(EventKind::send_fail, at, reason);
  event.number = ticket.value;
  return event;
}

struct Delivery {
  NodeRef sender{};
  Ticket ticket{};              ///< the n-th message of that incarnation in the group, from 1
  SeqNo ordinal{};              ///< continues across views; per sender at Level::unordered
  std::uint32_t length = 0;     ///< in bytes
  std::uint32_t crc = 0;        ///< of the payload, computed when the callback starts
  Level level = Level::atomic;  ///< atomic too if the message was sent as safe
  std::uint64_t send_view = 0;  ///< in which it was sent, or last sent again
  std::uint64_t round = 0;      ///< of the round-robin order, if it is to be checked; low 32 bits
};

[[nodiscard]] constexpr Event make_deliver(At at, const Delivery& delivery) {
  const std::uint64_t late = at.view - delivery.send_view;
  const auto bits = static_cast<std::uint8_t>(std::min<std::uint64_t>(late, kViewsLateMax));
  Event event = make_event(EventKind::deliver, at);
  // Histories do not tell of disks.
  const Level level = delivery.level == Level::durable ? Level::atomic : delivery.level;
  event.detail = static_cast<std::uint8_t>(static_cast<std::uint8_t>(level) |
                                           static_cast<std::uint8_t>(bits << kLevelBits));
  event.peer = delivery.sender.node;
  event.peer_incarnation = fold(delivery.sender.incarnation);
  event.number = delivery.ticket.value;
  event.position = delivery.ordinal.value;
  event.length = delivery.length;
  event.crc = delivery.crc;
  event.extra = static_cast<std::uint32_t>(delivery.round);
  return event;
}

/// Recorded only if the CRC at the end of the callback, which is passed as `delivery.crc`, is not
/// the one at its start.
[[nodiscard]] constexpr Event make_deliver_end(At at, const Delivery& delivery) {
  Event event = make_deliver(at, delivery);
  event.kind = EventKind::deliver_end;
  return event;
}

/// barrier or barrier_ok; `null`: the ticket of the null that the barrier places. Append the first
/// before the null is committed, the second before the application does anything else.
[[nodiscard]] constexpr Event make_barrier(EventKind kind, At at, Ticket null) {
  Event event = make_event(kind, at);
  event.number = null.value;
  return event;
}

/// `at.view`: the view that is to end. `digest`: of the proposal, as in the decision. A later
/// leader has a higher ballot.
[[nodiscard]] constexpr Event make_accept(At at, std::uint64_t digest, std::uint32_t ballot) {
  Event event = make_event(EventKind::accept, at);
  event.number = digest;
  event.extra = ballot;
  return event;
}

/// `at.view` ends before ordinal `position`; `digest` covers the whole decision.
[[nodiscard]] constexpr Event make_cut(At at, std::uint64_t digest, std::uint64_t position) {
  Event event = make_event(EventKind::cut, at);
  event.number = digest;
  event.position = position;
  return event;
}

/// `digest` covers members with incarnations, ranks, leader, senders, layout and the previous cut.
[[nodiscard]] constexpr Event make_install(At at, std::uint64_t digest, std::uint32_t members,
                                           std::uint32_t leader_rank) {
  Event event = make_event(EventKind::install, at);
  event.number = digest;
  event.length = members;
  event.extra = leader_rank;
  return event;
}

/// `flags`: kMemberJoined, kMemberSends.
[[nodiscard]] constexpr Event make_view_member(At at, NodeRef member, std::uint32_t rank,
                                               std::uint8_t flags) {
  Event event = make_event(EventKind::view_member, at, flags, member);
  event.extra = rank;
  return event;
}

/// Only for groups that not all members belong to; such a group lists all of its members in each
/// view.
[[nodiscard]] constexpr Event make_group_member(At at, NodeRef member, std::uint32_t rank,
                                                std::uint8_t flags) {
  Event event = make_event(EventKind::group_member, at, flags, member);
  event.extra = rank;
  return event;
}

[[nodiscard]] constexpr Event make_view_left(At at, NodeRef member, LeftReason reason) {
  return make_event(EventKind::view_left, at, reason, member);
}

[[nodiscard]] constexpr Event make_suspect(At at, NodeRef whom, SuspectReason reason) {
  return make_event(EventKind::suspect, at, reason, whom);
}

/// A wedge of all groups; `joiner`: the node that asks to join, if that is the reason.
[[nodiscard]] constexpr Event make_wedge(At at, WedgeReason reason, NodeRef joiner = {}) {
  at.group = kAllGroups;
  return make_event(EventKind::wedge, at, reason, joiner);
}

[[nodiscard]] constexpr Event make_stopped(At at, StopReason reason) {
  return make_event(EventKind::stopped, at, reason);
}

/// snapshot_out or snapshot_in; `at.view`: the view of the joiners; `ordinal`: the first message
/// that is not in the state.
[[nodiscard]] constexpr Event make_snapshot(EventKind kind, At at, std::uint64_t digest,
                                            std::uint64_t ordinal) {
  Event event = make_event(kind, at);
  event.number = digest;
  event.position = ordinal;
  return event;
}

/// nulls, data_pushes or heartbeats.
[[nodiscard]] constexpr Event make_count(EventKind kind, At at, std::uint64_t count) {
  Event event = make_event(kind, at);
  event.number = count;
  return event;
}

/// Incarnation 0: whichever incarnation of the node runs.
[[nodiscard]] constexpr Event make_heal_core(At at, NodeRef member) {
  return make_event(EventKind::heal_core, at, 0, member);
}

struct Write {
  NodeRef source{};
  std::uint64_t epoch = 0;  ///< the view it belongs to; low 32 bits are kept
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  WriteClass what = WriteClass::row;
};

/// write_landed or write_rejected, in the history of the member written to.
[[nodiscard]] constexpr Event make_write(EventKind kind, At at, const Write& write) {
  Event event = make_event(kind, at, write.what, write.source);
  event.position = write.offset;
  event.length = write.length;
  event.extra = static_cast<std::uint32_t>(write.epoch);
  return event;
}

/// To check that a value returned to an earlier one, pass the earlier one as `limit`.
[[nodiscard]] constexpr Event make_resources(At at, ResourceKind kind, std::uint64_t value,
                                             std::uint64_t limit) {
  Event event = make_event(EventKind::resources, at, kind);
  event.number = value;
  event.position = limit;
  return event;
}

/// fault_begin or fault_end, in the harness's history.
[[nodiscard]] constexpr Event make_fault(EventKind kind, At at, FaultKind fault, std::uint16_t node,
                                         std::uint16_t second_node = kNoNode) {
  Event event = make_event(kind, at, fault, NodeRef{node, 0});
  event.extra = second_node;
  return event;
}

}  // namespace tutti::history
