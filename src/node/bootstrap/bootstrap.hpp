/// \file bootstrap.hpp
/// How the members of a cluster find each other: once, at start, until a deadline.
///
/// Every node listens on its own address; of each pair the higher rank calls the lower. Both say
/// hello, compare all that must agree, answer with a verdict, and choose shared memory or TCP for
/// the pair. A pair on one host then swaps descriptors over a unix socket. Last, each member tells
/// the others that all its pairs agree: whoever returns from meet() without an error knows that
/// every member has met every other, and that all of them started with the same options.
/// A contradiction ends the start of all members, with the same reason; a stranger's connection is
/// closed and does no harm.
/// Not authenticated yet: who can reach the address and speaks the protocol can end the start.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "fabric/connection.hpp"
#include "fabric/segment.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

struct BootstrapRequest {
  const NodeOptions& node;                  ///< valid
  const std::vector<GroupOptions>& groups;  ///< checked against the node, see check_group
  const Segment& own_row;
  int doorbell_fd;
  /// How long a connection may be silent in the middle of the handshake.
  std::chrono::nanoseconds silence_limit = std::chrono::seconds(5);
};

struct Cluster {
  std::uint64_t epoch = 0;  ///< the same at every member, different at each start, never 0
  std::vector<ShmConnection> shm;
  std::vector<TcpConnection> tcp;
  /// By rank: what that member declared, resolved (see resolve_group), on_delivery empty.
  std::vector<std::vector<GroupOptions>> groups;
};

/// Blocks until every member is met, an error, or NodeOptions::start_timeout. Resolving a host
/// name cannot be interrupted: only while it hangs may this return late.
[[nodiscard]] Result<Cluster> meet(const BootstrapRequest& request);

}  // namespace tutti
