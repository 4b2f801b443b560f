/// \file node.hpp
/// One member of a cluster: joins groups, meets the other members, drives the protocol, stops.
///
/// Order of calls: create, join (once per group) and reserve, start (or begin_start, which does not
/// wait), then Group calls from any thread, and joins of further groups, then stop or leave. If
/// members crash, are cut off or leave, a majority of the last view goes on without them in the
/// next; a minority stops and says so. A removed member may be started again. One process may have
/// several nodes. Threads: create, join before start, start and the destructor from one thread at a
/// time; stop, leave and a join after start from any, also at the same time.
///
/// Callbacks: delivery, view, log, snapshot, the function that reads a snapshot and its destructor,
/// save, load, requests, handlers (NodeOptions::slow_after warns of slow ones). Inside a callback,
/// on any thread, the calls of the same node that wait return at once with ErrorCode::in_callback,
/// which names the call and the callback: start, a join with a time-out, stop, leave, a send_to
/// that waits, Group::wait, leave, wait_complete, barrier, a take that waits, and a claim or send
/// that finds no space. The same holds inside Replicated::query. All other calls, and all calls of
/// other nodes, are allowed. If a delivery, view, request or log callback or a handler throws, the
/// node fails: failure() names callback and group, the node delivers nothing more, and the others
/// go on without this member. A node that was moved from does nothing and says so.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/group.hpp"
#include "tutti/options.hpp"
#include "tutti/request.hpp"
#include "tutti/statistics.hpp"
#include "tutti/view.hpp"

namespace tutti {

class NodeCore;

/// fork(): the child has no thread that drives a node. It must call nothing of Tutti, destructors
/// included, and must soon call exec or _exit: until then it keeps the nodes' connections open, and
/// if the parent dies, the others notice only after their NodeOptions::suspect_after. exec closes
/// all descriptors except those that libfabric opens for itself; no member relies on their end.
class TUTTI_API Node {
 public:
  using Timeout = std::chrono::nanoseconds;

  /// Checks the options; opens nothing yet.
  [[nodiscard]] static Result<Node> create(NodeOptions options);

  /// Declares a group; before start only. Every node joins every group with the same options
  /// [same]; a node that is not among the group's members delivers nothing of it.
  [[nodiscard]] Result<Group> join(GroupOptions options);

  /// Reserves places for `count` groups that are joined after start, 64 at most in all; before
  /// start only, and in the same order at all nodes [same]. They have the options of `shape`, whose
  /// name and callbacks count for nothing: order `round_robin` at level `atomic`; no
  /// members or senders named; no log, state, ticks or delivery thread of their own. Each costs the
  /// memory of a group (window_bytes for each node), whether it is joined or not.
  [[nodiscard]] Result<void> reserve(const GroupOptions& shape, std::size_t count);

  /// Joins a group after start: opens it if nobody is in it. Its options are those of a shape that
  /// was reserved; its name has at most 64 bytes. Waits for a view in which this node is in it.
  /// From that view on this node sends, and delivers what is sent, so on_delivery may be called
  /// before this returns; it is given no earlier message. The nodes that have joined are its
  /// members and senders; Group::members and Message::sender count all nodes. Numbers
  /// (Message::seq) rise by one, from any. Errors: mismatch (the group is open with other options),
  /// invalid_argument, timed_out (also if all places are in use; it says so), and those of a node
  /// that has ended. After an error this node is not in the group. Any thread; not inside a
  /// callback of the node.
  [[nodiscard]] Result<Group> join(GroupOptions options, Timeout timeout);

  /// Calls `watcher` as NodeOptions::on_view, after it and on the same thread; before start only.
  /// For layers above a node that its application does not see.
  [[nodiscard]] Result<void> watch_views(ViewCallback watcher);
  /// Calls `watcher`, once or more, when the node begins no further callback: it has failed, or
  /// stop(), leave() or ~Node ends it, and waits for the callbacks that run. So one that waits for
  /// something must be woken here. On any thread; it must not block. Before start only.
  [[nodiscard]] Result<void> watch_end(std::function<void()> watcher);

  [[nodiscard]] const std::string& name() const;       ///< NodeOptions::name
  [[nodiscard]] const std::string& state_dir() const;  ///< NodeOptions::state_dir

  /// Connects to the other nodes, compares options, maps or connects the tables, and founds a group
  /// or joins the existing one. Blocks until this node is in a view and on_view has returned from
  /// it, at most for NodeOptions::start_timeout, behind what it takes to read its logs; if it is in
  /// no view then, the error names what is missing or what differs.
  [[nodiscard]] Result<void> start();

  /// Begins a start and returns at once, for an event loop: a thread of the node's goes on as
  /// start() would, with the same callbacks, time-out and errors. Returns a descriptor, which
  /// becomes readable once the start has ended, well or not, and stays so; started() says how. Do
  /// not read from it or close it; it lasts as long as the Node and its Groups. An error means that
  /// nothing was begun. stop, leave and the destructor end a start that is under way, which then
  /// has failed with ErrorCode::stopped; each waits for that, a second or so at most. Inside a
  /// callback of the node it is refused as start() is. With Drive::caller the start goes on only
  /// while the application calls poll() and wait(), and makes its callbacks there.
  [[nodiscard]] Result<int> begin_start();

  /// How the start has ended, by start() or begin_start(): what start() has returned. Empty before,
  /// and while it is under way. Never blocks; any thread.
  [[nodiscard]] std::optional<Result<void>> started() const;

  /// Drive::caller: makes one pass over all groups and returns how much was done, 0 if nothing.
  /// Delivery callbacks run inside. One thread at a time. This member answers the others only in
  /// poll() and wait(): call one of them at least four times per NodeOptions::suspect_after, the
  /// time in callbacks included, or the others remove this member; the log reports a call that
  /// comes half of suspect_after or more after the last one. Without wait() in between, call poll()
  /// as often as messages should move. Inside a callback it does nothing, and the log says so.
  std::size_t poll();

  /// Drive::caller: sleeps until poll() may have something to do, or until the time-out.
  void wait(Timeout timeout);

  /// Ends the groups together: finishes all of them, then waits until every member has finished and
  /// delivered everything. On a time-out or a failure this node leaves at once and returns why. If
  /// all members had delivered everything before the time-out, it returns no error; but its last
  /// acknowledgements may not have reached all others, which then report this member as lost. It
  /// waits for nodes that join after that only while they take the state from here. Two threads may
  /// stop or leave at the same time.
  /// While a callback runs, the node cannot end; at the time-out this call still returns, with an
  /// error that names the callback (ErrorCode::timed_out, or the failure). From then on the node
  /// calls only the log callback, handlers and the destructors of snapshots, it refuses sends as a
  /// stopped node does, and the others go on without this member and do not wait for the callback:
  /// they see it leave if a delivery runs, or else lose it. Once the callback has returned, another
  /// stop or leave, or the destructor, ends the rest; with Drive::caller, poll until then. A
  /// callback that Drive::caller makes inside this call must return first; while one runs inside
  /// poll(), the others are not told, and wait for suspect_after.
  [[nodiscard]] Result<void> stop(Timeout timeout);

  /// Leaves while the others go on: finishes all groups, then waits until what this member has sent
  /// is delivered and the next view is without it. If it gives its state to joiners, it first waits
  /// until they have taken all of it, or are gone. On a time-out or a failure it leaves at once and
  /// returns why; the others may then deliver its last messages or not, and a joiner that finds no
  /// other member with the state starts anew. It treats callbacks as stop() does.
  [[nodiscard]] Result<void> leave(Timeout timeout);

  /// Sends a request to one other member and waits for its reply (request.hpp). Each request is
  /// handled at most once. An error says why there is no reply: invalid_argument (no such member,
  /// this node itself, too long, or request_max_bytes is 0), unreachable (the member is in no view
  /// with this node), refused (its handler answered with an error; the message is the handler's),
  /// peer_lost (it was lost, or left), timed_out, stopped (this node ends, or has failed). After
  /// timed_out and peer_lost the request may have been handled, or may yet be; a reply that comes
  /// late is dropped. A member whose handler is slow has space for some requests; beyond that the
  /// call waits for space. Any thread; with Drive::caller it makes the passes while it waits.
  [[nodiscard]] Result<Reply> send_to(std::string_view member, std::span<const std::byte> bytes,
                                      Timeout timeout);
  [[nodiscard]] Result<Reply> send_to(std::string_view member, std::string_view text,
                                      Timeout timeout);
  /// The same without waiting: `handler` is called once with the outcome, at the latest some
  /// milliseconds after the time-out or when the node ends, on a thread of the node. An error means
  /// that nothing was sent and that it is not called: no_space if there is none right now, or one
  /// of the errors above. Allowed inside callbacks.
  [[nodiscard]] Result<void> send_to(std::string_view member, std::span<const std::byte> bytes,
                                     Timeout timeout, ReplyHandler handler);

  /// Nothing where a call of this node may wait; else the error that `call` would return inside a
  /// callback. For what waits by other means, as bindings to other languages do.
  [[nodiscard]] Result<void> may_wait(std::string_view call) const;

  /// The view this node is in, as passed to ViewCallback; its number is 0 before the first one.
  [[nodiscard]] ViewChange view() const;

  /// The error that ended the groups, if one did: a majority lost, removed by the others, a
  /// corrupt peer.
  [[nodiscard]] std::optional<Error> failure() const;

  [[nodiscard]] NodeStatistics statistics() const;

  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;
  /// Leaves at once if stop was not called: the others lose this member, or see it leave if a
  /// delivery runs. Waits for callbacks that run, however long, and names a slow one in the log;
  /// waits until the log callback has taken all lines, and destroys the callbacks. Inside a
  /// callback it returns at once: from then on the node calls only the log callback and handlers,
  /// and a thread of its own ends the node once this callback has returned; the log says so, unless
  /// this is the log callback.
  ~Node();

 private:
  explicit Node(std::shared_ptr<NodeCore> core);
  std::shared_ptr<NodeCore> core_;
};

}  // namespace tutti
