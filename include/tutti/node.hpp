/// \file node.hpp
/// One member of a cluster: joins groups, meets the other members, drives the protocol, stops.
///
/// Life: create, join (once per group), start, then Group calls from any thread, then stop.
/// Membership is fixed from start to stop: if a member dies, the others deliver nothing more, and
/// every later call says which one was lost. Several nodes may live in one process.
/// Threads: create, join, start, stop and the destructor from one thread at a time.
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

namespace tutti {

class NodeCore;

class TUTTI_API Node {
 public:
  using Timeout = std::chrono::nanoseconds;

  /// Checks the options; opens nothing yet.
  [[nodiscard]] static Result<Node> create(NodeOptions options);

  /// Declares a group this member takes part in; before start only. Every member named in it must
  /// join it with the same options [same].
  [[nodiscard]] Result<Group> join(GroupOptions options);

  /// Meets all other members, compares options, maps or connects the tables. Blocks until all are
  /// there or NodeOptions::start_timeout; then the error names who is missing or what differs.
  [[nodiscard]] Result<void> start();

  /// Drive::caller: makes one pass over all groups and returns how much was done, 0 if nothing.
  /// Delivery callbacks run inside. One thread at a time.
  std::size_t poll();

  /// Drive::caller: sleeps until there may be something to do for poll, or the time-out.
  void wait(Timeout timeout);

  /// Finishes all groups, waits until every member did so and all is delivered everywhere, and
  /// leaves in order. On a time-out or a lost member it leaves at once and returns why.
  [[nodiscard]] Result<void> stop(Timeout timeout);

  /// The error that ended the groups, if one did: a lost member, a corrupt peer.
  [[nodiscard]] std::optional<Error> failure() const;

  [[nodiscard]] NodeStatistics statistics() const;

  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;
  /// Leaves at once if stop was not called: the others see a lost member.
  ~Node();

 private:
  explicit Node(std::unique_ptr<NodeCore> core);
  std::unique_ptr<NodeCore> core_;
};

}  // namespace tutti
