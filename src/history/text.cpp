#include "history/text.hpp"

#include <array>
#include <cstdio>

namespace tutti::history {
namespace {

constexpr std::array<std::string_view, kEventKinds> kKinds = {
    "none",         "send",      "send_ok",      "send_fail",      "deliver",     "deliver_end",
    "wedge",        "decide",    "cut",          "install",        "view_member", "view_left",
    "group_member", "suspect",   "leave",        "evicted",        "stopped",     "snapshot_out",
    "snapshot_in",  "nulls",     "data_pushes",  "heartbeats",     "quiet_begin", "quiet_end",
    "heal",         "heal_core", "write_landed", "write_rejected", "resources",   "fault_begin",
    "fault_end",    "accept",    "barrier",      "barrier_ok"};

template <std::size_t N>
std::string word(const std::array<std::string_view, N>& words, unsigned value) {
  return value < N ? std::string(words[value]) : std::to_string(value);
}

std::string hex(std::uint64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(number));
  return digits;
}

std::string seconds(std::uint64_t time_ns) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.6f s", static_cast<double>(time_ns) / 1e9);
  return digits;
}

std::string node_name(std::uint16_t node) {
  return node == kHarnessNode ? "harness" : std::to_string(node);
}

std::string peer(const Event& event) { return to_string(NodeRef{event.peer, event.number}); }

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string payload(const Event& event) {
  return number(event.length) + " bytes, crc " + hex(event.crc);
}

std::string delivery(const Event& event) {
  static constexpr std::array<std::string_view, 3> kLevels = {"unordered", "agreed", "atomic"};
  return "ordinal " + number(event.position) + " is ticket " + number(event.number) + " of " +
         node_name(event.peer) + ":" + hex(event.peer_incarnation) + " sent in view " +
         number(send_view(event)) + ", round " + number(event.extra) + ", " + payload(event) +
         ", " + word(kLevels, event.detail & ((1U << kLevelBits) - 1));
}

std::string flags(const Event& event) {
  return std::string((event.detail & kMemberJoined) != 0 ? ", joined" : "") +
         ((event.detail & kMemberSends) != 0 ? ", sends" : "");
}

std::string fault(const Event& event) {
  static constexpr std::array<std::string_view, 8> kFaults = {
      "crash", "pause", "partition", "link", "slow", "minority", "doorbell_lost", "lost"};
  std::string text = word(kFaults, event.detail) + " of " + node_name(event.peer);
  if (event.extra != kNoNode) text += " and " + number(event.extra);
  return text;
}

std::string write(const Event& event) {
  static constexpr std::array<std::string_view, 5> kWrites = {"row", "session", "sequencer",
                                                              "token", "leader"};
  return word(kWrites, event.detail) + " from " + peer(event) + ", epoch " + number(event.extra) +
         ", " + number(event.length) + " bytes at " + number(event.position);
}

std::string reason(const Event& event) {
  static constexpr std::array<std::string_view, 3> kFails = {"view_change", "stopped", "too_late"};
  static constexpr std::array<std::string_view, 2> kLefts = {"leave", "suspected"};
  static constexpr std::array<std::string_view, 5> kSuspects = {"connection", "heartbeat", "told",
                                                                "transport", "process"};
  static constexpr std::array<std::string_view, 4> kStops = {"minority", "left", "failure",
                                                             "shutdown"};
  static constexpr std::array<std::string_view, 6> kWedges = {"unsaid", "told", "suspicion",
                                                              "leave",  "join", "groups"};
  switch (event.kind) {
    case EventKind::wedge:
      return word(kWedges, event.detail) +
             (event.detail == static_cast<std::uint8_t>(WedgeReason::join) ? " " + peer(event)
                                                                           : std::string());
    case EventKind::send_fail:
      return "ticket " + number(event.number) + ", " + word(kFails, event.detail);
    case EventKind::view_left:
      return peer(event) + ", " + word(kLefts, event.detail);
    case EventKind::suspect:
      return peer(event) + ", " + word(kSuspects, event.detail);
    default:
      return word(kStops, event.detail);
  }
}

std::string contents(const Event& event) {
  static constexpr std::array<std::string_view, 4> kResources = {"memory", "fds", "threads",
                                                                 "queue"};
  switch (event.kind) {
    case EventKind::send:
      return "ticket " + number(event.number) + ", " + payload(event);
    case EventKind::send_ok:
    case EventKind::barrier:
    case EventKind::barrier_ok:
      return "ticket " + number(event.number);
    case EventKind::wedge:
    case EventKind::send_fail:
    case EventKind::view_left:
    case EventKind::suspect:
    case EventKind::stopped:
      return reason(event);
    case EventKind::deliver:
    case EventKind::deliver_end:
      return delivery(event);
    case EventKind::cut:
      return "before ordinal " + number(event.position) + ", digest " + hex(event.number);
    case EventKind::install:
      return number(event.length) + " members, leader of rank " + number(event.extra) +
             ", digest " + hex(event.number);
    case EventKind::view_member:
    case EventKind::group_member:
      return peer(event) + " of rank " + number(event.extra) + flags(event);
    case EventKind::snapshot_out:
    case EventKind::snapshot_in:
      return "before ordinal " + number(event.position) + ", digest " + hex(event.number);
    case EventKind::accept:
      return "ballot " + number(event.extra) + ", digest " + hex(event.number);
    case EventKind::nulls:
    case EventKind::data_pushes:
    case EventKind::heartbeats:
      return number(event.number);
    case EventKind::heal_core:
      return peer(event);
    case EventKind::write_landed:
    case EventKind::write_rejected:
      return write(event);
    case EventKind::resources:
      return word(kResources, event.detail) + " " + number(event.number) + " of " +
             number(event.position);
    case EventKind::fault_begin:
    case EventKind::fault_end:
      return fault(event);
    default:
      return {};
  }
}

}  // namespace

std::string_view to_string(EventKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kKinds.size() ? kKinds[index] : "unknown";
}

std::string to_string(NodeRef node) {
  if (node.node == kHarnessNode) return "harness";
  return std::to_string(node.node) + ":" + hex(node.incarnation);
}

std::string to_string(const Event& event) {
  const std::string text = contents(event);
  return std::string(to_string(event.kind)) + " of group " + number(event.group) + " in view " +
         number(event.view) + " at " + seconds(event.time_ns) + (text.empty() ? "" : ": ") + text;
}

}  // namespace tutti::history
