/// \file node.hpp
/// One member of a cluster: joins groups, meets the other members, drives the protocol, stops.
///
/// Life: create, join (once per group), start, then Group calls from any thread, then stop or
/// leave. If members die, are cut off or leave, those that are a majority of the last view go on
/// without them in the next; a minority stops and says so. Whoever was removed may be started
/// again. Several nodes may live in one process. Threads: create, join, start and the destructor
/// from one thread at a time; stop and leave from any, also at the same time.
///
/// Callbacks: inside a callback of a node (delivery, view, log, snapshot, what reads it and its
/// destructor, save, load; NodeOptions::slow_after warns of slow ones), on whichever thread it
/// runs, that node's calls that wait return at once with ErrorCode::in_callback, which names the
/// call and the callback: start, stop, leave, Group::wait, wait_complete, and a claim or send that
/// finds no space. So they do inside Replicated::query. All other calls, and all calls of other
/// nodes, are allowed. A delivery, view or log callback that throws fails the node: failure() names
/// callback and group, nothing more is delivered, and the others go on without this member. A node
/// that was moved from does nothing and says so.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/group.hpp"
#include "tutti/options.hpp"
#include "tutti/statistics.hpp"
#include "tutti/view.hpp"

namespace tutti {

class NodeCore;

/// fork(): the child has no thread that drives a node. It must call nothing of Tutti, destructors
/// included, and soon exec or _exit: till then it keeps the nodes' connections open, and if the
/// parent dies, the others see so only after their NodeOptions::suspect_after. All descriptors are
/// closed on exec, but for those that libfabric opens for itself: no member relies on their end.
class TUTTI_API Node {
 public:
  using Timeout = std::chrono::nanoseconds;

  /// Checks the options; opens nothing yet.
  [[nodiscard]] static Result<Node> create(NodeOptions options);

  /// Declares a group; before start only. Every node joins every group with the same options
  /// [same], those too that are not among its members: they are delivered nothing.
  [[nodiscard]] Result<Group> join(GroupOptions options);

  /// Meets the others, compares options, maps or connects the tables, and founds a group with them
  /// or joins the one that there is. Blocks until it is in a view or NodeOptions::start_timeout;
  /// then the error names who is missing or what differs. on_view has returned from the first view
  /// by then, unless it takes longer than there is time.
  [[nodiscard]] Result<void> start();

  /// Drive::caller: makes one pass over all groups and returns how much was done, 0 if nothing.
  /// Delivery callbacks run inside. One thread at a time. Nothing else makes this member answer
  /// the others: it must be called, or waited in, at least four times per
  /// NodeOptions::suspect_after, the time in callbacks included, or they remove it; the log tells
  /// of a call that comes half of suspect_after or more after the one before it. Without wait() in
  /// between, it is to be called as often as messages are to be moved. Inside a callback: does
  /// nothing, and says so in the log.
  std::size_t poll();

  /// Drive::caller: sleeps until there may be something to do for poll, or the time-out.
  void wait(Timeout timeout);

  /// Ends the groups together: finishes all of them, waits until every member did so and all is
  /// delivered everywhere. On a time-out or a failure it leaves at once and returns why; at a
  /// time-out after everything was delivered everywhere it returns no error, though the last
  /// acknowledgements may not have reached all others, which report this member as lost then. Nodes
  /// that join after that are waited for only while they take the state from here. Two threads may
  /// stop or leave at the same time.
  /// While a callback runs, the node cannot end; at the time-out this returns all the same, with an
  /// error that names the callback (ErrorCode::timed_out, or the failure). From then on no callback
  /// begins but the log's and the destructors of snapshots, sends are refused as on a stopped node,
  /// and the others go on without this member: they see it leave, or, if it is not a delivery that
  /// runs, lose it, and do not wait for the callback. Once that has returned, another stop or
  /// leave, or the destructor, ends the rest; with Drive::caller, poll until then. A callback that
  /// Drive::caller makes inside this call must return first; while one runs inside poll(), nobody
  /// tells the others, and they wait for suspect_after.
  [[nodiscard]] Result<void> stop(Timeout timeout);

  /// Leaves the others, who go on: finishes all groups, waits until what this member has sent is
  /// delivered and the next view is without it. If it gives its state to members that join, it
  /// first waits until they have taken all of it, or are gone. On a time-out or a failure it leaves
  /// at once and returns why; what it sent last may then be delivered or not, and a joiner that
  /// finds no other member with the state starts anew. With callbacks it deals as stop() does.
  [[nodiscard]] Result<void> leave(Timeout timeout);

  /// The view this node is in, as ViewCallback was told; its number is 0 before the first.
  [[nodiscard]] ViewChange view() const;

  /// The error that ended the groups, if one did: a majority lost, removed by the others, a
  /// corrupt peer.
  [[nodiscard]] std::optional<Error> failure() const;

  [[nodiscard]] NodeStatistics statistics() const;

  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;
  /// Leaves at once if stop was not called: the others see a lost member, or one that leaves if a
  /// delivery runs. Waits for callbacks that run, however long, names the one that takes long in
  /// the log, waits for what the log callback has still to be told, and destroys them. Inside one
  /// of them it returns at once: from then on no callback begins but the log's, and a thread of its
  /// own ends the node once this one has returned; the log says so, unless it is the log's
  /// callback.
  ~Node();

 private:
  explicit Node(std::shared_ptr<NodeCore> core);
  std::shared_ptr<NodeCore> core_;
};

}  // namespace tutti
