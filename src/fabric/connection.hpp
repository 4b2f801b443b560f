/// \file connection.hpp
/// What a handshake hands to a fabric for one peer: connected, and nothing sent on it by us yet
/// but the handshake, which ended with the other side's last byte. `peer` is the peer's slot in the
/// list of nodes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/unique_fd.hpp"
#include "fabric/slot.hpp"

namespace tutti {

namespace verbs {
struct Pair;
}  // namespace verbs

/// A peer reached through shared memory. The unix socket stays open: its hang-up is the kernel's
/// word that the peer is gone.
struct ShmConnection {
  Slot peer;
  UniqueFd socket;    ///< unix SOCK_SEQPACKET, connected
  UniqueFd row_fd;    ///< the peer's segment, read-only
  UniqueFd doorbell;  ///< the peer's Sleeper
  std::size_t row_bytes = 0;
};

/// A peer reached through TCP.
struct TcpConnection {
  Slot peer;
  UniqueFd socket;  ///< connected, TCP_NODELAY, non-blocking
  std::size_t row_bytes = 0;
  std::uint64_t epoch = 0;  ///< tags the frames: the same at both ends, never used before
};

/// A peer reached by RDMA. It may have written through the queue pair already.
struct VerbsConnection {
  Slot peer;
  std::shared_ptr<verbs::Pair> pair;
  std::size_t row_bytes = 0;
};

/// A peer reached through libfabric. On the TCP connection the two tell each other where to write;
/// its end is the end of the peer.
struct OfiConnection {
  Slot peer;
  UniqueFd socket;  ///< connected
  std::size_t row_bytes = 0;
  std::uint64_t epoch = 0;  ///< the same at both ends, never used before
};

/// One of these, for whoever only passes it on: the carrier that made it knows of what kind it is.
struct Connection {
  virtual ~Connection() = default;
};

template <class Kind>
struct ConnectionOf final : Connection {
  explicit ConnectionOf(Kind connection) : made(std::move(connection)) {}
  Kind made;
};

}  // namespace tutti
